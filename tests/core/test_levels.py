"""The vector loops are compiled for several instruction sets; all of them give the same bits."""

import os
import subprocess
import sys

import pytest

from baytree import _core

DIGESTS = """
import hashlib
import numpy as np
import baytree as bt

rng = np.random.default_rng(7)
y = rng.integers(0, 3, 900)
close = rng.normal(size=(900, 21)) + y[:, None]
apart = close * 2.0 ** rng.integers(-60, 60, close.shape)
holes = np.where(rng.random(close.shape) < 0.1, np.nan, close)
holes[:, 3] = np.round(np.abs(holes[:, 3]))
weight = rng.random(900) + 0.01

def digest(*arrays):
    made = hashlib.sha256()
    for array in arrays:
        made.update(np.ascontiguousarray(array, np.float64).tobytes())
    return made.hexdigest()

tables = {"close": close, "apart": apart, "holes": holes, "columns": np.asfortranarray(close), "narrow": close[:, :5]}
for name, X in tables.items():
    for w in (None, weight):
        for model in (bt.GaussianNB(), bt.NaiveBayesClassifier()):
            model.fit(X, y, sample_weight=w)
            seen = model.seen_.statistics[0]
            cells = [part.limbs for part in (seen.weight, seen.total, seen.square)]
            print(name, digest(*cells, model.predict_proba(X), model.predict(X)))
for estimate in ("mle", "map", "bayes"):
    print(estimate, digest(bt.NaiveBayesClassifier(estimate=estimate).fit(close, y).leave_one_out(close, y)))
print("lda", digest(bt.LinearDiscriminantAnalysis().fit(close, y).predict_proba(close)))
for w in (None, weight):
    for depth, most in ((3, 4), (2, None)):
        optimal = bt.OptimalTreeClassifier(max_depth=depth, max_tests=most).fit(holes[:, :6], y, sample_weight=w)
        print("optimal", optimal.certificate_.searched, digest(optimal.tree_.counts, optimal.tree_.cut))
print("logistic", digest(bt.LogisticRegression().fit(close, y == 0).predict_proba(close)))
for penalty in ("l2", "l1"):
    several = bt.LogisticRegressionCV(penalty=penalty, Cs=[0.01, 0.1], cv=3).fit(close[:90], y[:90])
    print("classes", digest(several.coef_, several.curve_.fold_loss))
"""


def run(code: str, level: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "BAYTREE_SIMD": level}, capture_output=True, text=True
    )


@pytest.mark.slow
def test_every_level_of_this_machine_gives_the_same_bits():
    levels = _core.simd_levels()
    if len(levels) < 2:
        pytest.skip("this machine has one level only")
    told = {level: run(DIGESTS, level) for level in levels}
    assert [(level, done.stderr) for level, done in told.items() if done.returncode] == []
    expected = told["baseline"].stdout
    assert expected.count("\n") == 31
    assert {level: done.stdout for level, done in told.items()} == dict.fromkeys(levels, expected)


def test_the_level_that_is_named_is_in_use_else_the_best():
    ask = "from baytree import _core; print(_core.simd_level())"
    assert [run(ask, level).stdout.strip() for level in ("baseline", "")] == ["baseline", _core.simd_levels()[-1]]


def test_a_level_that_this_machine_lacks_is_refused_with_those_it_has():
    done = run("import baytree; baytree.GaussianNB().fit([[0.0], [1.0]], [0, 1])", "v9")
    assert done.returncode
    assert "BAYTREE_SIMD=v9: this machine has baseline" in done.stderr
