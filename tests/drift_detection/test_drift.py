"""What is said to have changed has changed, and what has not is not."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import baytree as bt
from baytree.drift_detection.batch import MAX_STORED_LEVELS
from baytree.drift_detection.distribution_tests import missing_chance

MODELS = [bt.CARTClassifier, bt.NaiveBayesClassifier, bt.LogisticRegression]


@pytest.fixture(scope="module")
def penguins():
    return bt.datasets.load("penguins")


@pytest.fixture(scope="module")
def model(penguins):
    return bt.CARTClassifier().fit(penguins, "species")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["penguins", "titanic", "iris", pytest.param("mushroom", marks=pytest.mark.slow)])
def test_draws_from_the_same_table_raise_no_alarm_in_95_of_100(name):
    frame, random = bt.datasets.load(name), np.random.default_rng(0)
    model = bt.CARTClassifier().fit(frame, bt.datasets.describe(name).target)
    drawn = [frame.iloc[random.integers(0, len(frame), len(frame) // (1 + k % 4))] for k in range(100)]
    assert sum(bool(bt.drift(model, rows).alarms) for rows in drawn) <= 5


@pytest.mark.parametrize("kind", MODELS)
def test_the_other_half_of_a_table_raises_no_alarm(penguins, kind):
    random, alarms = np.random.default_rng(1), 0
    for _ in range(10):
        order = random.permutation(len(penguins))
        model = kind().fit(penguins.iloc[order[:172]], "species")
        alarms += bool(bt.drift(model, penguins.iloc[order[172:]]).alarms)
    assert alarms <= 1


def test_another_unit_names_the_column(model, penguins):
    assert bt.drift(model, penguins.assign(flipper_length_mm=penguins.flipper_length_mm / 10)).alarms == [
        "flipper_length_mm"
    ]


def test_a_renamed_level_names_the_column_and_the_level(model, penguins):
    found = bt.drift(model, penguins.assign(island=penguins.island.replace({"Biscoe": "Biscoe Island"})))
    assert found.alarms == ["island"]
    assert found.columns[0].new_levels == ("Biscoe Island",)
    assert found.out_of_range == found.columns[0].new > 0.4


@pytest.mark.parametrize("gone", [lambda f: f.assign(bill_depth_mm=np.nan), lambda f: f.drop(columns="bill_depth_mm")])
def test_a_column_that_goes_missing_is_named(model, penguins, gone):
    found = bt.drift(model, gone(penguins))
    assert found.alarms == ["bill_depth_mm"]
    assert found.columns[0].missing == 1


def test_the_column_that_moves_the_answers_comes_first(model, penguins):
    moved = penguins.assign(
        flipper_length_mm=penguins.flipper_length_mm + 40, body_mass_g=penguins.body_mass_g + 3000, year=2030
    )
    found = bt.drift(model, moved[[name for name in moved if name in {*model.schema_.inputs}]])
    assert found.columns[0].column == "flipper_length_mm"  # the root of the tree
    assert found.columns[0].effect > 0.2
    assert next(c.effect for c in found.columns if c.column == "body_mass_g") == 0


@pytest.mark.parametrize("kind", MODELS)
def test_the_drift_of_parts_adds_up_to_that_of_the_whole(penguins, kind):
    model = kind().fit(penguins, "species")
    moved = penguins.assign(
        island=[f"place {k % 7}" for k in range(len(penguins))], bill_length_mm=penguins.bill_length_mm * 1.1
    )
    parts = [bt.drift(model, moved[a:b]) for a, b in ((0, 5), (5, 5), (5, 200), (200, 344))]
    whole = bt.drift(model, moved).to_dict()
    assert (parts[0] + parts[1] + parts[2] + parts[3]).to_dict() == whole
    assert (parts[3] + parts[0] + parts[2] + parts[1]).to_dict() == whole


def test_new_levels_without_number_add_up_and_stay_few(model, penguins):
    names = [f"{k * 7919 % 344:04}" for k in range(len(penguins))]
    moved = penguins.assign(island=names)
    parts = bt.drift(model, moved[:100]) + bt.drift(model, moved[100:])
    whole = bt.drift(model, moved)
    assert parts.to_dict() == whole.to_dict()
    assert len(whole.batch.new[model.schema_.names.index("island")].named) == MAX_STORED_LEVELS


def test_numbers_are_watched_in_regression_too():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.normal(size=500), "b": random.normal(size=500)})
    model = bt.LinearRegression().fit(frame.assign(y=3 * frame.a), "y")
    found = bt.drift(model, frame.assign(a=frame.a + 2, b=frame.b + 2))
    assert set(found.alarms) == {"a", "b"}
    assert found.columns[0].column == "a"
    assert found.columns[0].effect > 1


def test_the_frame_library_does_not_matter(model, penguins):
    assert bt.drift(model, pl.from_pandas(penguins)).to_dict() == bt.drift(model, penguins).to_dict()


def test_a_model_without_a_profile_says_so(model, penguins):
    import msgspec

    bare = msgspec.structs.replace(model._predictor, profile=None)
    with pytest.raises(ValueError, match="stores no profile"):
        bt.drift(bare, penguins)


def test_drifts_of_different_models_do_not_add_up(model, penguins):
    other = bt.CARTClassifier().fit(bt.datasets.load("iris"), "species")
    with pytest.raises(ValueError, match="different models"):
        bt.drift(model, penguins) + bt.drift(other, bt.datasets.load("iris"))


def test_what_is_printed_names_the_changed_column(model, penguins):
    text = str(bt.drift(model, penguins.assign(flipper_length_mm=penguins.flipper_length_mm / 10)))
    assert "1 of " in text
    assert "flipper_length_mm  yes" in text


def test_a_profile_of_some_rows_raises_no_alarm_on_more_rows_of_the_same_table(monkeypatch):
    for name in ("MAX_COMPLETE_CELLS", "MAX_SAMPLED_CELLS"):
        monkeypatch.setattr(f"baytree.statistics.profile.{name}", 2000)
    random = np.random.default_rng(5)

    def drawn(n):
        return {"a": random.normal(size=n), "k": random.choice(["p", "q", "r"], n), "y": random.choice(["no", "yes"], n)}

    model = bt.NaiveBayesClassifier().fit(drawn(40_000), "y")
    assert model.profile_.n_sampled < 1001
    assert sum(bool(bt.drift(model, drawn(20_000)).alarms) for _ in range(10)) <= 2


def with_missing(choice, n_rows, proportion):
    """Return rows with a numeric and a nominal column; `proportion` of the cells of both are missing, exactly."""
    n_missing = round(n_rows * proportion)
    frame = pd.DataFrame({"number": choice.normal(size=n_rows), "level": choice.choice(list("abcde"), n_rows)})
    for name in frame:
        frame.loc[choice.permutation(n_rows)[:n_missing], name] = None
    return frame.assign(other=choice.normal(size=n_rows), y=choice.choice(["no", "yes"], n_rows))


@pytest.mark.parametrize("n_before", [300, 10_000])
@pytest.mark.parametrize("n_now", [300, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_a_proportion_of_missing_values_that_rises_from_1_to_8_percent_is_found(n_before, n_now, seed):
    choice = np.random.default_rng(seed)
    model = bt.NaiveBayesClassifier().fit(with_missing(choice, n_before, 0.01), "y")
    assert set(bt.drift(model, with_missing(choice, n_now, 0.08)).alarms) == {"number", "level"}


def test_a_proportion_of_missing_values_that_falls_is_found():
    choice = np.random.default_rng(0)
    model = bt.NaiveBayesClassifier().fit(with_missing(choice, 1000, 0.2), "y")
    assert set(bt.drift(model, with_missing(choice, 500, 0.0)).alarms) == {"number", "level"}


@pytest.mark.parametrize(("n_before", "n_now"), [(300, 300), (2000, 50), (50, 2000)])
@pytest.mark.parametrize("proportion", [0.002, 0.01, 0.08, 0.5, 0.99])
def test_missing_values_at_random_raise_an_alarm_in_about_1_of_100_tables(n_before, n_now, proportion):
    choice, n_alarms = np.random.default_rng(7), 0
    for _ in range(100):
        before, now = (choice.random(n) < proportion for n in (n_before, n_now))
        n_alarms += missing_chance(before.sum(), n_before - before.sum(), now.sum(), n_now - now.sum()) < 0.01
    assert n_alarms <= 4


def test_the_chance_of_missing_values_is_that_of_exact_counting_where_few_are_expected():
    from scipy.stats import hypergeom

    for counts in ((3, 297, 9, 41), (0, 40, 5, 100), (60, 2, 30, 9), (5, 0, 7, 3)):
        missing_before, _, missing_now, known_now = counts
        drawn = hypergeom(sum(counts), missing_before + missing_now, missing_now + known_now)
        tail = min(drawn.cdf(missing_now), drawn.sf(missing_now - 1))
        assert missing_chance(*counts) == pytest.approx(min(1.0, 2 * tail), rel=1e-9)
