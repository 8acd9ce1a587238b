"""Laws of the difference of two models: empty of a model and itself, a mirror image the other way round, and complete."""

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from test_saving import CLASSIFIERS, COLUMNS, LABEL, NOISE, NUMBER, REGRESSORS

NAMES = [*CLASSIFIERS, *REGRESSORS]
FRAME = pd.DataFrame({kind: COLUMNS[kind] for kind in ("numeric", "whole", "ordinal", "nominal", "date")} | {"noise": NOISE})
HALF = np.arange(len(FRAME)) % 3 > 0

pytestmark = pytest.mark.filterwarnings("ignore")


def fitted(name: str, rows: np.ndarray):
    estimator, label = (CLASSIFIERS[name], LABEL) if name in CLASSIFIERS else (REGRESSORS[name], NUMBER)
    frame = FRAME[["nominal", "ordinal"]] if name == "joint" else FRAME
    return estimator.__class__(**estimator.get_params()).set_params(schema=None).fit(frame[rows], label[rows])


@pytest.fixture(scope="module")
def pairs() -> dict:
    return {name: (fitted(name, HALF), fitted(name, np.ones(len(FRAME), bool))) for name in NAMES}


def mirrored(change: dict) -> dict:
    swap = {"old": "new", "new": "old", "old_where": "new_where", "new_where": "old_where"}
    return {swap.get(key, key): value for key, value in change.items()}


def by_words(changes) -> list[dict]:
    return sorted(changes, key=lambda change: sorted(map(str, change.items())))


def negated(flip: dict, is_number: bool) -> dict:
    sign = 1 if is_number else -1
    effects = {"old_effect": sign * flip["new_effect"], "new_effect": sign * flip["old_effect"]}
    return {**flip, "old": flip["new"], "new": flip["old"], **effects}


@pytest.mark.parametrize("name", NAMES)
def test_the_difference_of_a_model_and_itself_is_empty(name, pairs):
    model = pairs[name][1]
    found = bt.diff(model, model, FRAME)
    assert found.is_empty
    assert found.to_dict()["rows"] == {"n_rows": len(FRAME), "flipped": [], "are_numbers": name in REGRESSORS}


@pytest.mark.parametrize("name", NAMES)
def test_a_model_that_was_saved_and_loaded_is_no_different(name, pairs, tmp_path):
    old, new = pairs[name]
    loaded = []
    for k, model in enumerate((old, new)):
        bt.save(model, tmp_path / f"{k}.baytree")
        loaded.append(bt.load(tmp_path / f"{k}.baytree"))
        assert bt.diff(model, loaded[k], FRAME).is_empty
    assert bt.diff(*loaded, FRAME).to_dict() == bt.diff(old, new, FRAME).to_dict()


@pytest.mark.parametrize("name", NAMES)
def test_the_difference_the_other_way_round_is_its_mirror_image(name, pairs):
    there, back = bt.diff(*pairs[name], FRAME).to_dict(), bt.diff(*pairs[name][::-1], FRAME).to_dict()
    assert [*map(mirrored, there["model"])] == back["model"]
    assert by_words(map(mirrored, there["schema"])) == by_words(back["schema"])
    assert [negated(flip, name in REGRESSORS) for flip in there["rows"]["flipped"]] == back["rows"]["flipped"]


@pytest.mark.parametrize("name", NAMES)
def test_a_row_is_among_the_flips_exactly_if_its_answers_differ(name, pairs):
    old, new = pairs[name]
    before, after = old.predict(FRAME), new.predict(FRAME)
    flips = bt.diff(old, new, FRAME).rows
    assert [flip.row for flip in flips.flipped] == np.flatnonzero(before != after).tolist()
    assert [(flip.old, flip.new) for flip in flips.flipped] == [
        pair for pair in zip(before.tolist(), after.tolist(), strict=True) if pair[0] != pair[1]
    ]


@pytest.mark.parametrize("name", NAMES)
def test_models_that_answer_otherwise_are_told_to_differ(name, pairs):
    old, new = pairs[name]
    answer = "predict_proba" if name in CLASSIFIERS else "predict"
    if not np.array_equal(getattr(old, answer)(FRAME), getattr(new, answer)(FRAME)):
        assert not bt.diff(old, new).is_empty


@pytest.mark.parametrize("name", NAMES)
def test_flips_of_parts_add_up_to_those_of_the_whole(name, pairs):
    old, new = pairs[name]
    parts = [bt.diff(old, new, FRAME[rows]).rows for rows in (slice(0, 7), slice(7, 7), slice(7, 60), slice(60, None))]
    added, whole = parts[0] + parts[1] + parts[2] + parts[3], bt.diff(old, new, FRAME).rows
    assert added.n_rows == whole.n_rows
    assert [(flip.row, flip.column) for flip in added.flipped] == [(flip.row, flip.column) for flip in whole.flipped]
    effects = [[(flip.old_effect, flip.new_effect) for flip in flips.flipped] for flips in (added, whole)]
    np.testing.assert_allclose(*effects, rtol=1e-9, atol=1e-12)  # products of matrices depend on their size in last bits


@pytest.mark.parametrize("other", ["naive Bayes", "logistic", "qda", "joint"])
def test_models_of_different_kinds_are_compared_by_schema_and_rows(other, pairs):
    tree, model = pairs["cart"][1], pairs[other][1]
    found = bt.diff(tree, model, FRAME)
    assert [change.what for change in found.model] in (["algorithm", "kind"], ["kind"])
    assert found.rows.n_flipped == (tree.predict(FRAME) != model.predict(FRAME)).sum()
