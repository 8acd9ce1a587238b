"""The laws of naive Bayes: parts are the whole, forgetting is exact, weight 2 is the row twice, no value is the prior."""

import pickle
import threading
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import baytree as bt
from baytree.statistics.text import DocumentBags
from baytree.storage import dumps

RNG = np.random.default_rng(3)
N = 90
WORDS = ["good", "bad", "awful", "nice", "food", "the"]
ROWS = pd.DataFrame(
    {
        "age": RNG.normal(40, 10, N),
        "clicks": RNG.poisson(3, N).astype(float),
        "left": RNG.poisson(2, N).astype(float),
        "right": RNG.poisson(4, N).astype(float),
        "member": RNG.integers(0, 2, N).astype(float),
        "colour": RNG.choice(["red", "green", "blue"], N),
        "size": pd.Categorical(RNG.choice(["S", "M", "L"], N), ["S", "M", "L"], ordered=True),
        "review": [" ".join(RNG.choice(WORDS, RNG.integers(0, 7))) for _ in range(N)],
    }
)
ROWS.loc[::9, ["age", "clicks"]] = np.nan
ROWS.loc[::11, "colour"] = None
LABELS = RNG.choice(["x", "y", "z"], N)
EVENTS = {"clicks": "poisson", "left": "multinomial", "right": "multinomial", "member": "bernoulli"}
SETTINGS = [
    {},
    {"estimate": "mle"},
    {"estimate": "map", "alpha": 2.0},
    {"numeric": "kernel"},
    {"numeric": "discretized"},
    {"conventions": "e1071"},
    {"conventions": "weka"},
    {"conventions": "weka", "numeric": "kernel"},
    {"conventions": "sklearn"},
    {"events": {**EVENTS, "review": "bernoulli"}},
    {"events": {**EVENTS, "review": "complement", "left": "complement", "right": "complement"}},
    {"schema": {"review": bt.Text(tfidf=True)}},
    {"schema": {"review": bt.Text(tfidf=True, norm=None)}},
    {"schema": {"review": bt.Text(tfidf=True, min_df=10, max_df=0.6)}, "events": {**EVENTS, "review": "complement"}},
]


def model_of(setting):
    return bt.NaiveBayesClassifier(**{"events": EVENTS, "schema": {"review": "text"}, **setting})


@pytest.fixture(params=SETTINGS, ids=str)
def setting(request):
    return request.param


def test_learning_in_parts_is_learning_at_once(setting):
    whole, parts = model_of(setting).fit(ROWS, LABELS), model_of(setting)
    for rows in np.array_split(np.arange(N), 5):
        parts.partial_fit(ROWS.iloc[rows], LABELS[rows])
    assert (parts.predict_proba(ROWS) == whole.predict_proba(ROWS)).all()


def test_merging_is_learning_at_once(setting):
    halves = [model_of(setting).fit(ROWS.iloc[rows], LABELS[rows]) for rows in (slice(0, 40), slice(40, N))]
    assert (halves[0].merge(halves[1]).predict_proba(ROWS) == model_of(setting).fit(ROWS, LABELS).predict_proba(ROWS)).all()


def test_forgetting_is_never_having_seen(setting):
    forgetful = model_of(setting).fit(ROWS, LABELS).forget(ROWS.iloc[60:], LABELS[60:])
    fresh = model_of(setting).fit(ROWS.iloc[:60], LABELS[:60])
    assert (forgetful.predict_proba(ROWS) == fresh.predict_proba(ROWS)).all()


def test_a_weight_of_two_is_the_row_twice(setting):
    weight = RNG.integers(1, 4, N)
    twice = np.repeat(np.arange(N), weight)
    weighted = model_of(setting).fit(ROWS, LABELS, sample_weight=weight.astype(float)).predict_proba(ROWS)
    assert np.abs(weighted - model_of(setting).fit(ROWS.iloc[twice], LABELS[twice]).predict_proba(ROWS)).max() <= 1e-12


def test_a_row_that_knows_nothing_gets_the_prior(setting):
    model = model_of(setting).fit(ROWS, LABELS)
    nothing = pd.DataFrame({name: [None] for name in ROWS})
    assert np.allclose(model.predict_proba(nothing)[0], np.exp(model.model_.log_prior), atol=1e-15)


def test_what_is_saved_is_what_is_loaded(setting, tmp_path):
    model = model_of(setting).fit(ROWS, LABELS)
    bt.save(model, tmp_path / "m.baytree")
    loaded = bt.load(tmp_path / "m.baytree")
    assert (loaded.predict_proba(ROWS) == model.predict_proba(ROWS)).all()
    assert (
        loaded.partial_fit(ROWS, LABELS).predict_proba(ROWS) == model.partial_fit(ROWS, LABELS).predict_proba(ROWS)
    ).all()


def test_the_ledger_adds_up_to_the_answer(setting):
    model = model_of(setting).fit(ROWS, LABELS)
    for explanation, answer in zip(model.explain(ROWS.iloc[:12]), model.predict_proba(ROWS.iloc[:12]), strict=True):
        odds = np.exp(explanation.scores - explanation.scores.max())
        assert np.allclose(odds / odds.sum(), answer, atol=1e-11)
        assert str(explanation)


def test_every_model_reads_as_a_table(setting):
    text = str(model_of(setting).fit(ROWS, LABELS))
    assert all(name in text for name in ROWS)


def test_predict_is_the_most_probable_class(setting):
    model = model_of(setting).fit(ROWS, LABELS)
    assert (model.predict(ROWS) == model.classes_[model.predict_proba(ROWS).argmax(axis=1)]).all()


def test_new_classes_levels_and_words_may_come_at_any_time():
    model = model_of({}).fit(ROWS, LABELS)
    new = ROWS.iloc[:3].assign(colour="violet", review="unheard words")
    model.partial_fit(new, ["new"] * 3)
    whole = model_of({}).fit(pd.concat([ROWS, new]), [*LABELS, *["new"] * 3])
    assert (model.predict_proba(ROWS) == whole.predict_proba(ROWS)).all()
    assert "new" in model.classes_


def test_four_threads_lose_no_row():
    model = bt.NaiveBayesClassifier().fit(ROWS[["age", "colour"]], LABELS)
    work = [
        threading.Thread(target=lambda: [model.partial_fit(ROWS[["age", "colour"]], LABELS) for _ in range(5)])
        for _ in range(4)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert model.seen_.classes.known().sum() == 21 * N


@pytest.mark.parametrize("estimate", ["mle", "map", "bayes"])
def test_leaving_a_row_out_is_fitting_without_it(estimate):
    columns = ROWS.drop(columns="review")
    model = bt.NaiveBayesClassifier(estimate=estimate, events=EVENTS).fit(columns, LABELS)
    answer = model.leave_one_out(columns, LABELS)
    for row in range(0, N, 10):
        rest = np.arange(N) != row
        fresh = bt.NaiveBayesClassifier(estimate=estimate, events=EVENTS, schema=model.schema_).fit(
            columns[rest], LABELS[rest]
        )
        assert np.allclose(answer[row], fresh.predict_proba(columns.iloc[row : row + 1])[0], atol=1e-12)


@pytest.mark.parametrize("model", [bt.NaiveBayesClassifier(), bt.GaussianNB(), bt.LinearDiscriminantAnalysis()])
def test_leave_one_out_needs_no_fit_and_leaves_the_model_alone(model):
    X, y = RNG.normal(size=(40, 3)), np.arange(40) % 3
    answer = clone(model).leave_one_out(X, y)
    assert np.array_equal(answer, clone(model).fit(X, y).leave_one_out(X, y))
    other = clone(model).fit(X[:20], y[:20])
    before = other.predict_proba(X)
    assert np.array_equal(answer, other.leave_one_out(X, y))
    assert np.array_equal(before, other.predict_proba(X))


@pytest.mark.parametrize("estimate", ["mle", "map", "bayes"])
def test_leaving_a_row_out_with_a_constant_column_is_fitting_without_it(estimate):
    X, y = RNG.normal(size=(40, 3)), np.arange(40) % 3 // 2
    X[:, 1], X[:, 2] = 2.0, np.where(np.arange(40) == 7, 3.0, 2.0)  # constant; and but for one row
    answer = bt.NaiveBayesClassifier(estimate=estimate).leave_one_out(X, y)
    for row in range(40):
        rest = np.arange(40) != row
        fresh = bt.NaiveBayesClassifier(estimate=estimate).fit(X[rest], y[rest])
        assert np.allclose(answer[row], fresh.predict_proba(X[row : row + 1])[0], atol=1e-11)


@pytest.mark.parametrize("estimate", ["mle", "map", "bayes"])
@pytest.mark.parametrize("n_columns", [1, 8, 11])
def test_leaving_a_weighted_row_out_is_fitting_without_it(estimate, n_columns):
    X, y, weight = RNG.normal(size=(40, n_columns)), np.arange(40) % 3, RNG.choice([0.5, 1.0, 3.0], 40)
    X[RNG.random(X.shape) < 0.1] = np.nan
    model = bt.NaiveBayesClassifier(estimate=estimate)
    answer = model.fit(X, y, sample_weight=weight).leave_one_out(X, y, sample_weight=weight)
    for row in range(40):
        rest = np.arange(40) != row
        fresh = bt.NaiveBayesClassifier(estimate=estimate).fit(X[rest], y[rest], sample_weight=weight[rest])
        assert np.allclose(answer[row], fresh.predict_proba(X[row : row + 1])[0], atol=1e-11)


@pytest.mark.parametrize("weight", [2.0**-992, 1e-300, 5e-324, 1e307])
@pytest.mark.parametrize("estimate", ["mle", "map", "bayes"])
def test_weights_of_any_size_are_learnt_from(weight, estimate):
    X, y = np.repeat([[0.0], [1.0], [5.0], [6.0]], 20, axis=0), np.repeat(["low", "low", "high", "high"], 20)
    model = bt.NaiveBayesClassifier(estimate=estimate).fit(X, y, sample_weight=np.full(80, weight))
    assert (model.predict(X) == y).all()
    if weight == 2.0**-992:  # a whole number of limbs: only proportions count, so nothing has changed
        assert np.array_equal(model.predict_proba(X), bt.NaiveBayesClassifier(estimate=estimate).fit(X, y).predict_proba(X))


@pytest.mark.slow
@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-300, 1.0, 1e300, 1.7e306])
@pytest.mark.parametrize("model", [bt.GaussianNB(), *(bt.NaiveBayesClassifier(estimate=e) for e in ("mle", "map", "bayes"))])
def test_columns_at_both_ends_of_the_doubles_are_learnt_from(scale, model):
    y = np.arange(200) % 2
    X = ((np.where(y, 50.0, -50.0) + np.arange(200) % 31 - 15) * scale).reshape(-1, 1)
    assert (model.fit(X, y).predict(X) == y).all()
    assert (model.leave_one_out(X, y).argmax(axis=1) == y).all()


@pytest.mark.slow
def test_a_hundred_thousand_columns_do_not_underflow():
    X = RNG.normal(size=(8, 100_000)) + np.arange(8)[:, None] % 2
    answer = bt.GaussianNB().fit(X, np.arange(8) % 2).predict_proba(X)
    assert np.isfinite(answer).all()
    assert (answer.argmax(axis=1) == np.arange(8) % 2).all()


def test_gaussian_is_quadratic_discriminant_analysis_with_diagonal_covariances():
    X, y = RNG.normal(size=(60, 3)) * [1, 2, 3] + RNG.integers(0, 2, 60)[:, None], RNG.integers(0, 2, 60)
    scores = []
    for label in (0, 1):
        mean, variance = X[y == label].mean(axis=0), X[y == label].var(axis=0)
        scores.append(-0.5 * (((X - mean) ** 2 / variance) + np.log(variance)).sum(axis=1) + np.log((y == label).mean()))
    odds = np.exp(np.array(scores).T - np.max(scores, axis=0)[:, None])
    model = bt.NaiveBayesClassifier(estimate="mle").fit(X, y)
    assert np.allclose(model.predict_proba(X), odds / odds.sum(axis=1, keepdims=True), atol=1e-12)


@pytest.mark.parametrize("kind", [bt.MultinomialNB, bt.BernoulliNB])
def test_counts_are_linear_in_log_space(kind):
    X = RNG.integers(0, 2, size=(40, 6)).astype(float)
    model = kind().fit(X, np.arange(40) % 2)
    log_odds = np.diff(model.predict_joint_log_proba(X), axis=1)[:, 0]
    design = np.column_stack([X, np.ones(40)])
    assert np.allclose(design @ np.linalg.lstsq(design, log_odds, rcond=None)[0], log_odds, atol=1e-9)


@pytest.mark.parametrize("norm", ["l2", None])
@pytest.mark.parametrize("limits", [{}, {"min_df": 3, "max_df": 0.9}, {"stop_words": "english", "ngrams": (1, 2)}], ids=str)
def test_limits_and_weights_of_words_follow_all_documents(limits, norm):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.naive_bayes import MultinomialNB

    text = bt.Text(tfidf=True, norm=norm, **limits)
    documents = ROWS[["review"]].assign(review=[f"{r} rare{i}" for i, r in enumerate(ROWS["review"])])
    model = bt.NaiveBayesClassifier(conventions="sklearn", schema={"review": text})
    for rows in np.array_split(np.arange(N), 3):
        model.partial_fit(documents.iloc[rows], LABELS[rows])
    settings = {"ngram_range" if name == "ngrams" else name: value for name, value in limits.items()}
    vectorizer = TfidfVectorizer(norm=norm, **settings)
    peer = MultinomialNB().fit(vectorizer.fit_transform(documents["review"]), LABELS)
    assert np.allclose(
        model.predict_proba(documents), peer.predict_proba(vectorizer.transform(documents["review"])), atol=1e-12
    )


def test_batches_of_documents_are_added_up_few_times_and_weighed_when_somebody_asks(monkeypatch):
    added, add = [], DocumentBags.__add__
    monkeypatch.setattr(DocumentBags, "__add__", lambda one, other: added.append(len(other.documents)) or add(one, other))
    documents = pd.DataFrame({"review": [f"word{i} word{i % 7} word{i // 5}" for i in range(256)]})
    labels = np.arange(256) % 2
    make = partial(bt.NaiveBayesClassifier, schema={"review": bt.Text(tfidf=True)})
    model, forgetful = make(), make()
    for rows in np.array_split(np.arange(256), 64):
        model.partial_fit(documents.iloc[rows], labels[rows])
        assert "model_" not in vars(model) or rows[0] == 0
    assert sum(added) <= 256 * np.log2(64)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(documents) == model.predict_proba(documents)).all()
    assert dumps(model) == dumps(make().fit(documents, labels))
    for rows in (slice(0, 150), slice(150, 256)):
        forgetful.partial_fit(documents[rows], labels[rows])
    forgetful.forget(documents[100:], labels[100:])
    assert dumps(forgetful) == dumps(make().fit(documents[:100], labels[:100]))


def test_a_model_that_is_made_later_has_the_parameters_of_its_batch():
    text = {"review": ["good food", "bad food", "good", "bad"]}
    model, late = (bt.NaiveBayesClassifier(schema={"review": bt.Text(tfidf=True)}) for _ in range(2))
    for _ in range(2):
        model.partial_fit(text, list("xyxy")), late.partial_fit(text, list("xyxy"))
    assert (late.set_params(estimate="mle").predict_proba(text) == model.predict_proba(text)).all()


def test_a_word_of_a_document_that_weighs_little_is_kept():
    text = {"review": ["good food", "bad food", "good", "bad"]}
    light, plain = (bt.NaiveBayesClassifier(estimate="mle", schema={"review": "text"}) for _ in range(2))
    light.fit(text, list("xyxy"), sample_weight=np.full(4, 0.125))
    assert (light.predict_proba(text) == plain.fit(text, list("xyxy")).predict_proba(text)).all()


STRANGERS = {
    "a level too often": ({"colour": "red"}, 60),
    "a number": ({"age": 400.0}, 1),
    "a document": ({"review": "the the the the the the the the the the the"}, 40),
    "a count": ({"clicks": 1000.0}, 1),
}


@pytest.mark.parametrize("stranger", STRANGERS)
def test_rows_that_were_never_learnt_are_not_forgotten(stranger, setting):
    model = model_of(setting).fit(ROWS, LABELS)
    before = model.predict_proba(ROWS)
    values, n_times = STRANGERS[stranger]
    rows = pd.concat([ROWS.iloc[[0]].assign(**values)] * n_times)
    try:
        model.forget(rows, LABELS[[0] * n_times])
    except ValueError as refusal:
        assert "only learnt rows can be forgotten" in str(refusal)
    else:  # a sum may hide a stranger among many, but what is left is then what some rows have
        assert n_times == 1
        assert np.isfinite(model.predict_proba(ROWS)).all()
        return
    assert (model.predict_proba(ROWS) == before).all()


def test_a_document_that_was_never_learnt_is_not_forgotten():
    text = {"review": ["good food", "bad food", "good", "bad"]}
    model = bt.NaiveBayesClassifier(schema={"review": bt.Text(tfidf=True)}).fit(text, list("xyxy"))
    with pytest.raises(ValueError, match="only learnt rows can be forgotten"):
        model.forget({"review": ["food"]}, ["x"])


@pytest.mark.parametrize("parameter", ["events", "priors"])
def test_a_column_that_is_not_there_is_named(parameter):
    with pytest.raises(ValueError, match=f"{parameter} names 'Age', but the columns are 'age'"):
        bt.NaiveBayesClassifier(**{parameter: {"Age": "gaussian"}}).fit(ROWS, LABELS)
    with pytest.raises(ValueError, match="give a dict by the names of columns"):
        bt.NaiveBayesClassifier(**{parameter: "gaussian"}).fit(ROWS, LABELS)


@pytest.mark.parametrize("model", [bt.NaiveBayesClassifier, bt.MultinomialNB, bt.CategoricalNB, bt.ComplementNB])
def test_a_misspelt_class_in_the_prior_is_named(model):
    with pytest.raises(ValueError, match="class_prior names 'yse', but the classes are 'no', 'yes'"):
        model(class_prior={"no": 0.5, "yse": 0.5}).fit([[0], [1], [1]], ["no", "yes", "yes"])


def test_a_prior_that_names_a_class_survives_forgetting_it():
    model = bt.NaiveBayesClassifier(class_prior={"a": 1, "b": 1, "c": 2}).fit({"x": [1.0, 2.0, 3.0]}, ["a", "b", "c"])
    model.forget({"x": [3.0]}, ["c"])
    assert np.exp(model.model_.log_prior).tolist() == [0.5, 0.5]


def test_an_event_of_distinct_values_or_words_says_that_rows_cannot_be_taken_away():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "t": ["a b", "b c", "c d", "d e"], "y": [0, 1, 0, 1]})
    for parameters, columns, answer in [
        ({}, ["x", "y"], True),
        ({"events": {"x": "poisson"}}, ["x", "y"], True),
        ({"events": {"x": "bernoulli"}}, ["x", "y"], True),
        ({"conventions": "e1071"}, ["x", "y"], True),
        ({"conventions": "weka"}, ["x", "y"], False),
        ({"numeric": "kernel"}, ["x", "y"], False),
        ({"numeric": "discretized"}, ["x", "y"], False),
        ({"schema": {"t": "text"}}, ["x", "t", "y"], False),
    ]:
        model = bt.NaiveBayesClassifier(**parameters).fit(frame[columns], "y")
        assert model._learner(model.schema_).can_subtract(model.schema_) is answer, parameters
