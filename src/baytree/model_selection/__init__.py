"""Cross-validation and what follows from it: results with intervals, learning curves, significance tests.

`problem` holds a table with its target, encoded once; `trials` fits and predicts folds; `cross_validate` is the public
function, `result` what it returns; `significance` has intervals and paired tests; `learning_curve` varies the number of
rows; `model_registry` names the models of `fit --model` and `compare`; `frame_rows` selects rows and columns of raw frames.
"""
