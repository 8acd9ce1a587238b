"""Inference of the schema: what each column holds, from mergeable profiles of its values.

`evidence` counts what strings look like and `number_checks` summarizes numbers; `column_profile` holds both for one column,
`infer` for a table. `decide` chooses the string format; `identifiers` finds columns that only identify rows;
`level_matching` compares levels of new rows with those of training.
"""
