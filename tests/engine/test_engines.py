"""The same model from memory, from disk, from Dask and from Spark."""

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree.storage import dumps

COLUMNS = ["age", "colour", "size", "width", "y"]
SAME = {
    "naive Bayes": (lambda: bt.NaiveBayesClassifier(), COLUMNS),
    "GaussianNB": (lambda: bt.GaussianNB(), ["age", "width", "y"]),
    "CategoricalNB": (lambda: bt.CategoricalNB(), ["colour", "size", "y"]),
    "joint table": (lambda: bt.JointDistribution(), ["colour", "size", "y"]),
    "open tree": (lambda: bt.DecisionTreeClassifier(max_depth=4), COLUMNS),
    "CART": (lambda: bt.CARTClassifier(max_surrogates=0), COLUMNS),
    "CHAID": (lambda: bt.CHAIDClassifier(), COLUMNS),
}
CLOSE = {
    "linear discriminant": lambda: bt.LinearDiscriminantAnalysis(),
    "quadratic discriminant": lambda: bt.QuadraticDiscriminantAnalysis(),
    "logistic regression": lambda: bt.LogisticRegression(),
    "lasso": lambda: bt.LogisticRegression(penalty="l1", C=0.05),
    "logistic regression of a path": lambda: bt.LogisticRegressionCV(Cs=3, cv=3),
}
NUMBERS = {
    "linear regression": lambda: bt.LinearRegression(),
    "linear regression of a path": lambda: bt.LinearRegressionCV(cv=3),
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.filterwarnings("ignore::baytree.BaytreeWarning")
def test_the_engine_and_the_borders_of_pieces_change_no_bit(name, place, table):
    make, columns = SAME[name]
    here = dumps(make().fit(table.select(columns), "y"))
    assert all(dumps(make().fit(place(table.select(columns), pieces), "y")) == here for pieces in (1, 7))


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * n.endswith("path")) for n in CLOSE])
def test_what_is_summed_in_doubles_is_the_same_to_the_tenth_digit(name, place, table):
    here = CLOSE[name]().fit(table.select(COLUMNS), "y").predict_proba(table)
    for pieces in (1, 7):
        there = CLOSE[name]().fit(place(table.select(COLUMNS), pieces), "y").predict_proba(table)
        assert np.abs(here - there).max() <= 1e-10


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_predicted_the_same_to_the_tenth_digit(name, place, table):
    rows = table.select("age", "colour", "size", "width").filter(pl.col("width").is_not_null())
    here, there = (NUMBERS[name]().fit(each, "width").predict(rows) for each in (rows, place(rows, 7)))
    assert np.abs(here - there).max() <= 1e-10


def test_weights_are_a_column_and_rows_of_weight_0_do_not_count(place, table):
    here = bt.NaiveBayesClassifier().fit(table.drop("w"), "y", sample_weight=table["w"])
    there = bt.NaiveBayesClassifier().fit(place(table), "y", sample_weight="w")
    assert dumps(here) == dumps(there)


def test_text_is_learnt_with_the_words_of_all_pieces(place):
    words = [f"{'good' if k % 2 else 'bad'} word{k % 7}" for k in range(60)]
    rows = pl.DataFrame({"review": words, "y": ["yes", "no"] * 30})
    models = [bt.NaiveBayesClassifier(schema={"review": "text"}).fit(each, "y") for each in (rows, place(rows))]
    assert dumps(models[0]) == dumps(models[1])


def test_rows_without_a_label_are_left_out_and_told(place, table):
    gone = table.drop("w").with_columns(pl.when(pl.col("age") != 30).then(pl.col("y")).alias("y"))
    n = gone["y"].null_count()
    with pytest.warns(bt.BaytreeWarning, match=f"{n} rows have no value in the target column 'y'"):
        there = bt.NaiveBayesClassifier().fit(place(gone), "y")
    with pytest.warns(bt.BaytreeWarning):
        assert dumps(there) == dumps(bt.NaiveBayesClassifier().fit(gone, "y"))


def test_a_model_is_scored_where_the_rows_are(place, table):
    rows = table.drop("w")
    model = bt.NaiveBayesClassifier().fit(rows, "y")
    assert model.score(place(rows, 7), "y") == pytest.approx(model.score(rows, "y"), abs=1e-12)
    numbers = rows.filter(pl.col("width").is_not_null())
    line = bt.DecisionTreeRegressor(max_depth=3).fit(numbers, "width")
    assert line.score(place(numbers), "width") == pytest.approx(line.score(numbers, "width"), abs=1e-12)


def test_columns_are_ranked_and_additive_models_validated_from_any_engine(place, table):
    rows = table.drop("w")
    ranks = [[(rank.column, rank.score) for rank in bt.rank_features(each, "y").ranks] for each in (rows, place(rows))]
    assert ranks[0] == ranks[1]
    scores = [bt.cross_validate(bt.NaiveBayesClassifier(), each, "y", cv=3).mean("accuracy") for each in (rows, place(rows))]
    assert scores[0] == scores[1]


def test_answers_are_those_of_memory_and_a_piece_without_rows_has_none(place, table):
    rows = table.select(COLUMNS)
    model = bt.NaiveBayesClassifier().fit(rows, "y")
    there = place(rows, 7)  # one of seven is empty
    assert answered(model.predict(there), ["prediction"]).ravel().tolist() == model.predict(rows).tolist()
    names = [f"P({label})" for label in model.classes_]
    assert np.array_equal(answered(model.predict_proba(there), names).astype(float), model.predict_proba(rows))


def answered(answers, names):
    """Answers in memory: of Dask they are computed, of Spark they are columns beside the rows."""
    if hasattr(answers, "toPandas"):
        return answers.select(*(f"`{name}`" for name in names)).toPandas().to_numpy()
    return np.asarray(answers.compute() if hasattr(answers, "compute") else answers)
