"""Values that are missing for the first time when rows are predicted."""

import numpy as np
import pytest

import baytree as bt

RANKED = [
    bt.LinearDiscriminantAnalysis,
    bt.QuadraticDiscriminantAnalysis,
    bt.LogisticRegression,
    bt.MARSClassifier,
]


@pytest.mark.parametrize("estimator", RANKED)
@pytest.mark.parametrize("names", [("size", "grade"), ("price", "grade")], ids=["ranks alone", "ranks and numbers"])
def test_a_rank_that_is_missing_for_the_first_time_is_the_mean_rank(estimator, names):
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 200)
    schema = {"size": ["S", "M", "L"], "grade": ["low", "mid", "high", "top"]}
    table = {
        "size": np.array(schema["size"])[(label + rng.integers(0, 2, 200)) % 3],
        "grade": np.array(schema["grade"])[label + rng.integers(0, 3, 200)],
        "price": rng.normal(label, 1.0),
    }
    model = estimator(schema={n: schema[n] for n in names if n in schema}).fit({n: table[n] for n in names}, label)
    exec(bt.export(model, "python"), program := {})
    for lost in names:
        row = {n: None if n == lost else table[n][0] for n in names}
        found = model.predict_proba({n: [value] for n, value in row.items()})[0]
        np.testing.assert_allclose(found, list(program["predict_proba"](row).values()), atol=1e-12)
        if estimator is not bt.QuadraticDiscriminantAnalysis and estimator is not bt.MARSClassifier:
            (line,) = (each for each in model.explain({n: [v] for n, v in row.items()})[0].evidence if each.column == lost)
            np.testing.assert_allclose(line.effect, 0.0, atol=1e-12)
