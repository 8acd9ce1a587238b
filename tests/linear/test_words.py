"""The lasso on words: compressed rows, more words than rows, and words that some rows alone have."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import baytree as bt
from baytree.engine.partitions import LocalPartitionValues
from baytree.linear.design.sparse import SparseMatrix
from baytree.linear.logistic.objective import Penalty, Start, Tolerance
from baytree.linear.logistic.rows import SparseRows
from baytree.linear.logistic.solvers import minimize
from baytree.linear.logistic.sparse_block import SparseBlock


def messages(seed, n=300):
    """Texts of common and rare words; two of the words tell spam nearly without fail."""
    random = np.random.default_rng(seed)
    y = random.random(n) < 0.2
    texts = [" ".join(f"w{i}" for i in random.zipf(1.4, 12).clip(max=3000)) for _ in range(n)]
    texts = [f"{text} {random.choice(['prize', 'claim'])}" if spam else text for text, spam in zip(texts, y, strict=True)]
    return {"note": texts}, np.where(y ^ (random.random(n) < 0.01), "spam", "ham")


@pytest.mark.parametrize("C", [1e-4, 0.1, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("seed", range(3))
def test_the_lasso_of_words_converges_at_any_strength(C, seed):
    frame, y = messages(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = bt.LogisticRegression(penalty="l1", C=C, schema={"note": "text"}).fit(frame, y)
    assert model.score(frame, y) >= (y == "ham").mean()


@pytest.mark.parametrize("norm", ["l2", None])
@pytest.mark.parametrize("limits", [{}, {"min_df": 5, "max_df": 0.3}, {"min_df": 0.02}], ids=str)
def test_words_are_weighed_and_limited_as_by_scikit_learn(limits, norm):
    frame, y = messages(0)
    vectorizer = TfidfVectorizer(norm=norm, **limits)
    features = vectorizer.fit_transform(frame["note"])
    peer = LogisticRegression(tol=1e-10, max_iter=10_000).fit(features, y)
    text = bt.Text(norm=norm, **limits)
    model = bt.LogisticRegression(standardize=False, schema={"note": text}).fit(frame, y)
    assert np.abs(model.predict_proba(frame) - peer.predict_proba(features)).max() <= 1e-6
    new = {"note": ["prize w1 w2 unheard", "claim w2999", "unheard"]}
    assert np.abs(model.predict_proba(new) - peer.predict_proba(vectorizer.transform(new["note"]))).max() <= 1e-6


def compressed(seed, n=300, p=500):
    """Rare features of large values: a step is soon too far, and many rows are soon sure of their class."""
    random = np.random.default_rng(seed)
    x = np.where(random.random((n, p)) < 0.02, 15 * random.random((n, p)), 0.0)
    x[:, -1] = 1.0
    row, code = np.nonzero(x)
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))]).astype(np.int64)
    label = (x @ random.normal(size=p) + random.normal(size=n) > 0).astype(np.int32)
    piece = SparseBlock(SparseMatrix(start, code.astype(np.int32), x[row, code], p), label, np.full(n, 1 / n), 1)
    return SparseRows(LocalPartitionValues([piece]), n, p, 1)


def lasso(q, price):
    return Penalty(np.zeros(q), np.append(np.full(q - 1, price), 0.0))


@pytest.mark.parametrize("price", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("seed", range(3))
def test_a_start_is_left_as_it_was_and_features_of_rows_that_do_not_count_go_to_0(price, seed):
    rows = compressed(seed)
    penalty, aim = lasso(rows.q, price), Tolerance(1e-8, 1000, 1e-9)
    whole = minimize(rows, penalty, aim)
    before = whole.theta.copy()
    counts = np.arange(rows.n_rows) % 3 > 0
    part = minimize(rows.in_folds(counts.astype(np.int64)).without(0), penalty, aim, Start.at(whole))
    assert np.array_equal(whole.theta, before)
    assert max(whole.kkt_violation, part.kkt_violation) <= aim.tol
    x = rows.gathered().x
    seen = np.bincount(x.code, np.repeat(counts, np.diff(x.start)), minlength=rows.q) > 0
    assert not part.theta[0, ~seen].any()
