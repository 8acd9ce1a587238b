"""Audit of a table before models are chosen: `baytree.audit`.

`counts` are the additive statistics, `leaks`, `columns`, `rows` and `time_order` turn them into findings, `result` is what
users see. The package is called `auditing`, so that `bt.audit` stays a function.
"""
