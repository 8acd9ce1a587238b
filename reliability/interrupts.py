"""E6: Ctrl-C at any moment of a long fit is answered at once and leaves the model as it was."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np

from figure import Figure, Scope

CHILD = """
import hashlib, time, warnings
import numpy as np, pandas as pd
import baytree as bt
from baytree import storage
warnings.simplefilter("ignore")
random = np.random.default_rng(0)
n = 200_000
X = pd.DataFrame(random.normal(size=(n, 12)), columns=[f"x{{i}}" for i in range(12)])
X["level"] = pd.Categorical(random.choice(list("abcdefgh"), n))
y = (X.x0 + X.x1 * X.x2 + random.normal(size=n) > 0).to_numpy().astype(int)
model = {model}.fit(X[:500], y[:500])
for _ in range({n}):
    before = hashlib.sha256(storage.dumps(model)).hexdigest()
    print("ready", flush=True)
    try:
        while True:
            model.fit(X, y)
            before = None  # this fit came to its end: the model is another
    except KeyboardInterrupt:
        print(time.time(), before in (None, hashlib.sha256(storage.dumps(model)).hexdigest()), flush=True)
        model.fit(X[:500], y[:500])
"""
MODELS = [
    "bt.NaiveBayesClassifier()",
    "bt.DecisionTreeClassifier()",
    "bt.CARTClassifier(pruning='1se')",
    "bt.C45Classifier()",
    "bt.CHAIDClassifier()",
    "bt.LinearDiscriminantAnalysis()",
    "bt.QuadraticDiscriminantAnalysis()",
    "bt.LogisticRegression()",
    "bt.LogisticRegression(penalty='l1')",
    "bt.LogisticRegressionCV()",
]


def interrupts(scope: Scope) -> Iterator[Figure]:
    """KeyboardInterrupt within 200 ms, estimator as before the call."""
    random = np.random.default_rng(scope.seed)
    for model in MODELS:
        answers = _interrupted(model, 0.05 + 2 * random.random(scope.cases(10)))
        late, is_whole = max(seconds for seconds, _ in answers), all(whole for _, whole in answers)
        found = f"latest after {1e3 * late:.0f} ms, model {'as before' if is_whole else 'changed'}"
        promise = "Ctrl-C is answered within 200 ms and the model is as it was"
        yield Figure("E6", model.removeprefix("bt."), promise, len(answers), found, late <= 0.2 and is_whole)


def _interrupted(model: str, moments: np.ndarray) -> list[tuple[float, bool]]:
    """For each moment of a long fit the seconds until Ctrl-C was answered, and whether the model was as before."""
    code, answers = CHILD.format(model=model, n=len(moments)), []
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for moment in moments:
            assert child.stdout.readline() == "ready\n"
            time.sleep(moment)
            sent = time.time()
            child.send_signal(signal.SIGINT)
            at, is_same = child.stdout.readline().split()
            answers.append((float(at) - sent, is_same == "True"))
    return answers


CHECKS = {"E6": interrupts}
