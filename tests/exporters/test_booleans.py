"""Boolean columns in every export: every spelling that `predict` accepts gets the answer of `predict`."""

import shutil
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from database_servers import DATABASES
from export_runners import NEEDS, RUNNERS, Cell, compiled

import baytree as bt

SERVERS = ("postgres", "mysql")
TRUE = [True, 1, 1.0, "True", "true", "TRUE", " true ", "1", "1.0", "yes", "Y", "t", "on", "ja", "sí", "SÍ", "✓"]
FALSE = [False, 0, 0.0, "False", "false", "FALSE", "\tfalse", "0", "0.0", "no", "N", "f", "off", "Nein"]
NEITHER = ["maybe", "2", "", None]
KINDS = {
    "booleans": [True, False],
    "words": ["true", "false"],
    "capitals": ["True", "False"],
    "spellings": ["yes", "N", "Y", "no"],
}
TRIED = [(value, True) for value in TRUE] + [(value, False) for value in FALSE] + [(value, None) for value in NEITHER]


def fitted(kind: str, unseen: str = "missing"):
    """A model that answers b for true, a for false, and neither for sure where the value is missing."""
    values = KINDS[kind] * (240 // len(KINDS[kind]))
    is_true = np.array([value in (True, "true", "True", "yes", "Y") for value in values])
    label = np.where(np.arange(240) % 10 < 2, ~is_true, is_true)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bt.NaiveBayesClassifier(unseen=unseen).fit({"flag": values, "size": [0.5] * 240}, np.where(label, "b", "a"))


def probability(model, value: object) -> float:
    """P(b) of a value by `predict_proba`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(model.predict_proba({"flag": [value], "size": [0.5]})[0, 1])


@pytest.fixture(scope="module", params=KINDS)
def model(request: pytest.FixtureRequest):
    return fitted(request.param)


def test_predict_reads_every_spelling(model):
    for value, truth in TRIED:
        found = probability(model, value) if truth is not None or value in ("", None) else 0.5
        assert found == pytest.approx({True: 0.8, False: 0.2, None: 0.5}[truth], abs=0.02), value


@pytest.mark.parametrize("target", ["python", "javascript"])
def test_a_program_reads_values_as_predict_does(target, model, tmp_path):
    values = [value for value, _ in TRIED]
    source = bt.export(model, target)
    if target == "python":
        exec(source, module := {})
        found = [module["predict_proba"]({"flag": value, "size": 0.5})["b"] for value in values]
    else:
        if not shutil.which("node"):
            pytest.skip("node is not installed")
        found = RUNNERS[target](source, [{"flag": value, "size": 0.5} for value in values], ["a", "b"], tmp_path)[1][:, 1]
    assert found == pytest.approx(
        [{True: probability(model, True), False: probability(model, False)}.get(t, 0.5) for _, t in TRIED]
    )


@pytest.mark.parametrize("target", ["c", "onnx", pytest.param("pmml", marks=pytest.mark.databases)])
def test_a_program_of_texts_reads_the_texts_of_predict(target, model, tmp_path):
    if NEEDS.get(target) and not shutil.which(NEEDS[target]):
        pytest.skip(f"{NEEDS[target]} is not installed")
    texts = [
        (value, truth) for value, truth in TRIED if isinstance(value, str) and (value == value.strip() or target == "c")
    ]
    texts = [(value, truth) for value, truth in texts if value or target != "c"]
    source = bt.export(model, target)
    found = RUNNERS[target](source, [{"flag": value, "size": 0.5} for value, _ in texts], ["a", "b"], tmp_path)[1][:, 1]
    assert found == pytest.approx(
        [{True: probability(model, True), False: probability(model, False)}.get(t, 0.5) for _, t in texts]
    )


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.databases if n in SERVERS else ()) for n in DATABASES])
def test_a_query_reads_booleans_whole_numbers_and_texts(name):
    models = {kind: fitted(kind) for kind in KINDS}
    with tempfile.TemporaryDirectory(prefix="baytree") as folder:
        Path(folder).chmod(0o755)
        with DATABASES[name](Path(folder)) as database:
            text = "VARCHAR(40)" if name == "mysql" else "TEXT"
            columns = {
                "BOOLEAN": [(True, True), (False, False), (None, None)],
                "INTEGER": [(1, True), (0, False), (2, None), (None, None)],
                database.number: [(1.0, True), (0.0, False), (0.5, None)],
                text: [
                    (value, truth) for value, truth in TRIED if isinstance(value, str) and value.strip(" ") == value.strip()
                ],
            }
            for kind, values in columns.items():
                database.fill({"flag": kind, "size": database.number}, [(value, 0.5) for value, _ in values])
                for model in models.values():
                    cursor = database.connection.cursor()
                    query = bt.export(model, "sql", dialect=database.dialect)
                    cursor.execute(f"SELECT {database.quoted('P(b)')} FROM ({query}) answers ORDER BY row_id")
                    right = {True: probability(model, True), False: probability(model, False)}
                    assert [row[0] for row in cursor.fetchall()] == pytest.approx([right.get(t, 0.5) for _, t in values])


def test_with_unseen_error_a_word_that_is_neither_is_refused(tmp_path):
    model = fitted("booleans", unseen="error")
    exec(bt.export(model, "python"), module := {})
    assert module["predict"]({"flag": "YES", "size": 0.5}) == "b"
    with pytest.raises(ValueError, match="'maybe' was not seen"):
        module["predict"]({"flag": "maybe", "size": 0.5})
    if shutil.which("cc"):
        library = compiled(bt.export(model, "c"), tmp_path)
        found = [
            library.model_predict((Cell * 2)(Cell(0, text), Cell(0.5, None))) for text in (b" Yes", b"maybe", b"x" * 99)
        ]
        assert found == [1, -1, -1]
