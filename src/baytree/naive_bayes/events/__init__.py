"""Event models: the distribution of one kind of column in each class, from an additive statistic.

Each event is a class with `observe` (rows to statistic) and `estimate` (statistic to likelihood); `base` has the
interfaces, `registry` the events by name and the conventions of e1071, Weka and scikit-learn.

- numeric: `gaussian` (densities in `normal`), `kernel`, `binned`; `weka` and `e1071` reproduce those programs;
- counts and binary: `counts` (likelihoods in `count_likelihoods`);
- nominal and ordinal: `categorical`;
- text: `text` (likelihoods in `text_likelihoods`).

`estimation` has estimators, pseudo-counts and priors; `row_updates` the closed forms with one row more or less.
"""
