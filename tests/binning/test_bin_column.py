"""Optimal bins of a column: exact, additive, and editable."""

from itertools import combinations

import numpy as np
import pytest

import baytree as bt
from baytree.binning.objective import OBJECTIVE_OF, rates
from baytree.binning.optimal import SHAPES, Intervals, optimal_partition

SPECIAL = -999.0


def follows(rate, shape):
    """Whether the rates have the shape."""
    steps = np.diff(rate)
    turns = range(len(rate))
    return {
        None: True,
        "up": (steps >= 0).all(),
        "down": (steps <= 0).all(),
        "peak": any((steps[:t] >= 0).all() and (steps[t:] <= 0).all() for t in turns),
        "valley": any((steps[:t] <= 0).all() and (steps[t:] >= 0).all() for t in turns),
    }[shape]


def best_by_trying_all(sums, objective, max_bins, min_weight, shape, *, is_number):
    """Largest objective of all partitions that are allowed."""
    n, total, best = len(sums), sums.sum(axis=0), -np.inf
    for k in range(min(max_bins, n)):
        for cuts in combinations(range(1, n), k):
            bins = np.array([part.sum(axis=0) for part in np.split(sums, cuts)])
            weight = bins[:, 0] if is_number else bins.sum(axis=1)
            is_allowed = k == 0 or (weight >= min_weight).all()
            if is_allowed and follows(rates(bins, is_number=is_number), shape):
                best = max(best, float(OBJECTIVE_OF[objective](bins, total).sum()))
    return best


@pytest.mark.parametrize("shape", [None, *SHAPES])
@pytest.mark.parametrize("objective", list(OBJECTIVE_OF))
@pytest.mark.parametrize("seed", range(4))
def test_no_partition_is_better_than_the_one_found(shape, objective, seed):
    rng = np.random.default_rng(seed)
    is_number = objective == "squared_error"
    sums = rng.integers(0, 9, (9, 2)).astype(float)
    if is_number:
        weight = rng.integers(1, 9, 9)
        total = rng.integers(-9, 9, 9) * weight
        sums = np.stack([weight, total, total * total + 1], axis=1).astype(float)
    cumulative = np.concatenate([np.zeros((1, sums.shape[1])), np.cumsum(sums, axis=0)])
    of_bin = cumulative[None] - cumulative[:, None]
    of_bin[np.tril_indices(10)] = 0.0
    weight = of_bin[..., 0] if is_number else of_bin.sum(axis=-1)
    gain = OBJECTIVE_OF[objective](of_bin, sums.sum(axis=0))
    intervals = Intervals.of(gain, rates(of_bin, is_number=is_number), weight, 6.0)
    for max_bins in (1, 2, 4, 9):
        found = optimal_partition(intervals, max_bins, shape)
        bins = np.array([sums[a:b].sum(axis=0) for a, b in zip(found.bounds, found.bounds[1:], strict=False)])
        assert len(bins) <= max_bins
        assert follows(rates(bins, is_number=is_number), shape)
        expected = best_by_trying_all(sums, objective, max_bins, 6.0, shape, is_number=is_number)
        assert found.objective == pytest.approx(expected, abs=1e-9)


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n).astype(float)
    owes = rng.random(n) < 1 / (1 + np.exp((age - 45) / 12))
    age[rng.random(n) < 0.1] = np.nan
    return {
        "age": age,
        "job": rng.choice(["clerk", "cook", "judge", "nurse"], n, p=[0.5, 0.3, 0.195, 0.005]),
        "size": rng.choice(["S", "M", "L"], n),
        "owes": np.where(owes, "yes", "no"),
        "amount": np.where(owes, 100.0, 20.0) + rng.normal(size=n),
        "grade": rng.choice(["a", "b", "c"], n),
    }


def test_bins_do_not_depend_on_the_order_of_the_rows():
    frame, order = rows(), np.random.default_rng(1).permutation(400)
    mixed = {name: values[order] for name, values in frame.items()}
    assert str(bt.bin_column(frame, "age", "owes")) == str(bt.bin_column(mixed, "age", "owes"))


def test_a_weight_of_two_is_a_row_twice():
    frame = rows()
    twice = {name: np.concatenate([values, values]) for name, values in frame.items()}
    weighted = bt.bin_column(frame, "age", "owes", sample_weight=np.full(400, 2.0))
    assert str(weighted) == str(bt.bin_column(twice, "age", "owes"))


@pytest.mark.parametrize("target", ["owes", "amount", "grade"])
@pytest.mark.parametrize("column", ["age", "job", "size"])
def test_bins_of_a_file_on_disk_equal_those_in_memory(column, target, tmp_path):
    import pandas as pd

    pd.DataFrame(rows()).to_csv(tmp_path / "rows.csv", index=False)
    frame = bt.read(tmp_path / "rows.csv")
    expected = bt.bin_column(frame, column, target)
    assert str(bt.bin_column(bt.scan(tmp_path / "rows.csv"), column, target)) == str(expected)


def test_missing_and_special_values_are_bins_of_their_own():
    frame = rows()
    frame["age"][:40] = SPECIAL
    bins = bt.bin_column(frame, "age", "owes", special=[SPECIAL])
    assert bins.names[-2:] == ["-999", "missing"]
    assert bins.cuts[0] > 0
    assert sum(bins.to_dict()["rows"]) == 400


def test_rare_levels_are_pooled_and_levels_are_in_the_order_of_their_rates():
    frame = rows(2000)
    bins = bt.bin_column(frame, "job", "owes", min_bin=0.0)
    rate = bins.to_dict()["P(yes)"]
    assert rate == sorted(rate)
    assert {"clerk", "cook", "judge", "nurse"} == set(", ".join(bins.names).split(", "))


@pytest.mark.parametrize("shape", [*SHAPES, None])
def test_rates_follow_the_shape(shape):
    bins = bt.bin_column(rows(), "age", "owes", monotone=shape, max_bins=5)
    rate = bins.to_dict()["P(yes)"][:-1]
    assert follows(np.array(rate), shape)


def test_auto_takes_a_peak_only_where_the_rates_turn():
    frame = rows(2000)
    assert bt.bin_column(frame, "age", "owes").shape == "down"
    age = np.nan_to_num(frame["age"], nan=40)
    frame["owes"] = np.where((age > 35) & (age < 60), "yes", "no")
    assert bt.bin_column(frame, "age", "owes").shape == "peak"


def test_information_value_and_weight_of_evidence_follow_their_definitions():
    bins = bt.bin_column({"x": [1.0] * 10 + [2.0] * 10, "y": ["a"] * 8 + ["b"] * 2 + ["a"] * 3 + ["b"] * 7}, "x", "y")
    woe = np.log([(2 / 9) / (8 / 11), (7 / 9) / (3 / 11)])
    assert bins.woe == pytest.approx(woe)
    assert bins.information_value == pytest.approx((2 / 9 - 8 / 11) * woe[0] + (7 / 9 - 3 / 11) * woe[1])


def test_edits_change_the_bins_and_show_their_price():
    bins = bt.bin_column(rows(), "age", "owes", max_bins=4)
    merged = bins.merge(2, 3)
    assert len(merged.names) == len(bins.names) - 1
    assert merged.value <= bins.value
    back = merged.split_at(bins.cuts[1])
    assert back.cuts == bins.cuts
    assert back.value == pytest.approx(bins.value)
    assert "merge(2, 3): information value" in str(back)
    assert "split_at" in back._repr_html_()
    with pytest.raises(ValueError, match="not neighbours"):
        bins.merge(1, 3)
    with pytest.raises(ValueError, match="no rows of one bin"):
        bins.split_at(bins.cuts[0])


def test_every_value_of_the_training_rows_falls_into_its_bin():
    frame = rows()
    bins = bt.bin_column(frame, "age", "owes")
    counted = np.bincount(bins.bins_of(frame["age"]), minlength=len(bins.names))
    assert counted.tolist() == bins.to_dict()["rows"]


def test_bins_draw_a_plot():
    ax = bt.bin_column(rows(), "age", "owes").plot()
    assert ax.get_title() == "age for owes"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_bins": 1}, "a single bin tells nothing"),
        ({"min_bin": 0.9}, "min_bin=0.9"),
        ({"monotone": "sideways"}, "monotone='sideways'"),
        ({"objective": "squared_error"}, "has 2 classes; use 'information_value'"),
        ({"column": "job", "monotone": "up"}, "have no order"),
        ({"column": "job", "special": [1.0]}, "has levels"),
        ({"column": "jobs"}, "did you mean 'job'"),
        ({"column": "owes"}, "is the target itself"),
        ({"target": "grade", "monotone": "up"}, "3 classes have no single rate"),
    ],
)
def test_bad_settings_are_answered_with_a_remedy(settings, message):
    with pytest.raises(ValueError, match=message):
        bt.bin_column(rows(), **{"column": "age", "target": "owes", **settings})


def test_a_constant_target_is_refused():
    with pytest.raises(ValueError, match="only one class"):
        bt.bin_column({"x": [1.0, 2.0], "y": ["a", "a"]}, "x", "y")


def test_columns_rank_by_the_information_value_of_their_bins(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(rows())[["age", "job", "size", "owes"]]
    ranking = bt.rank_features(frame, "owes", by="information_value")
    assert ranking.columns[0] == "age"
    assert ranking.ranks[0].score == pytest.approx(bt.bin_column(frame, "age", "owes").information_value)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    remote = bt.rank_features(bt.scan(tmp_path / "rows.csv"), "owes", by="information_value")
    assert [rank.score for rank in remote.ranks] == [rank.score for rank in ranking.ranks]
    with pytest.raises(ValueError, match="needs two classes"):
        bt.rank_features(rows(), "grade", by="information_value")
