"""The numbers of a first course: entropies, gains and one-parameter estimates, as they are worked out by hand."""

import numpy as np
import pandas as pd
import pytest

import baytree as bt

TENNIS, GLADIATOR, LOANS, SPORT = map(bt.datasets.load, ("play-tennis", "gladiator", "loans", "enjoy-sport"))
PENGUINS = bt.datasets.load("penguins").dropna()


COINS = [([1, 1], 1.0), ([7], 0.0), ([1] * 8, 3.0), ([1 / 3, 2 / 3], 0.918296), ({"No": 5, "Yes": 9}, 0.940286)]


@pytest.mark.parametrize(("counts", "bits"), COINS)
def test_entropies_of_coins_and_counts(counts, bits):
    assert bt.entropy(counts=counts) == pytest.approx(bits, abs=1e-6)


@pytest.mark.parametrize(
    ("measure", "value"), [(bt.entropy, 0.954434), (bt.gini, 0.46875), (bt.classification_error, 0.375)]
)
def test_numeric_labels_are_labels_and_not_counts(measure, value):
    labels = [0, 0, 0, 1, 1, 1, 1, 1]
    frame = {"y": labels}
    given = [(frame, "y"), (pd.DataFrame(frame), "y"), (np.array(labels),), (pd.Series(labels, dtype=float),)]
    for arguments in given:
        assert measure(*arguments) == pytest.approx(value, abs=1e-6)
    assert measure(labels=labels) == pytest.approx(value, abs=1e-6)
    assert measure({"a": 3, "b": 5}) == measure(counts=[3, 5]) == pytest.approx(value, abs=1e-6)
    assert measure(["a"] * 3 + ["b"] * 5) == measure([True] * 3 + [False] * 5) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("measure", [bt.entropy, bt.gini, bt.classification_error])
def test_a_list_of_numbers_is_refused_with_both_remedies(measure):
    for numbers in ([9, 5], (0.5, 0.5), [1, None, 2], [np.float64(1)]):
        with pytest.raises(ValueError, match=r"labels=\[0, 1, 1\].* counts=\[9, 5\]"):
            measure(numbers)
    for arguments in ({}, {"values": ["a"], "counts": [1]}, {"counts": [1], "labels": ["a"]}):
        with pytest.raises(ValueError, match="exactly one of"):
            measure(**arguments)
    with pytest.raises(ValueError, match="give the name of one of them"):
        measure({"y": [0, 1]})
    with pytest.raises(ValueError, match=r"0\.25 .*counts="):
        measure(np.array([0.25, 0.75]))


def test_entropy_of_majors_and_what_is_left_of_liking_gladiator():
    assert bt.entropy(GLADIATOR, "Major") == 1.5
    assert bt.entropy(GLADIATOR["LikesGladiator"]) == 1.0
    left = bt.conditional_entropy(GLADIATOR, "LikesGladiator", "Major")
    assert left == 0.5
    by_major = {row[0]: row[-2] for row in left.rows}
    assert (by_major["Math"], by_major["History"], by_major["CS"]) == (1.0, 0.0, 0.0)
    assert bt.information_gain(GLADIATOR["LikesGladiator"], GLADIATOR["Major"]) == 0.5


def test_outlook_is_the_root_of_play_tennis():
    gains = {name: bt.information_gain(TENNIS, "PlayTennis", name) for name in TENNIS.columns[:-1]}
    assert max(gains, key=gains.get) == "Outlook"
    assert gains["Outlook"] == pytest.approx(0.2467, abs=5e-5)
    ranks = bt.rank_features(TENNIS, "PlayTennis", by="information_gain").ranks
    assert {rank.column: rank.score for rank in ranks} == pytest.approx(gains, abs=1e-12)
    sunny = {"Outlook": ["Sunny"], "Temperature": ["Hot"], "Humidity": ["High"], "Wind": ["Weak"]}
    assert bt.ID3Classifier().fit(TENNIS, "PlayTennis").predict(sunny) == ["No"]


def test_the_error_of_loans_chooses_credit():
    target = LOANS.columns[-1]
    right = {name: 1 - _left(LOANS, target, name) for name in ("Credit", "Term")}
    assert right["Credit"] == pytest.approx(7 / 9)
    assert right["Term"] == pytest.approx(6 / 9)


def _left(frame, target, name):
    gain = bt.information_gain(frame, target, name, criterion="error")
    return 1 - frame[target].value_counts(normalize=True).max() - gain


def test_two_splits_of_equal_error_are_not_equal_by_gini_and_entropy():
    splits = [[20, 80], [80, 20]], [[40, 100], [60, 0]]
    for criterion in ("entropy", "gini"):
        first, second = (bt.information_gain(split, criterion=criterion) for split in splits)
        assert second > first
    first, second = (bt.information_gain(split, criterion="error") for split in splits)
    assert first == second == pytest.approx(0.3)


def test_x1_tells_more_of_y_than_x2():
    rows = np.array([list(row) for row in ("TTT", "TFT", "TTT", "TFT", "FTT", "FFF", "FTF", "FFF")])
    x1, x2, y = rows.T.tolist()
    assert bt.information_gain(y, x1) == pytest.approx(0.548795, abs=1e-6)
    assert bt.information_gain(y, x2) == pytest.approx(0.048795, abs=1e-6)


@pytest.mark.parametrize("name", ["bill_length_mm", "flipper_length_mm", "body_mass_g", "year"])
def test_the_gain_of_numbers_is_that_of_the_best_threshold_as_in_the_ranking(name):
    gain, threshold = bt.information_gain(PENGUINS, "species", name, full=True)
    rank = next(rank for rank in bt.rank_features(PENGUINS[[name, "species"]], "species").ranks)
    assert gain == pytest.approx(rank.score, abs=1e-12)
    assert gain == bt.information_gain(PENGUINS, "species", name)
    if threshold is None:
        assert gain == 0.0
        return
    side = np.where(PENGUINS[name] <= threshold, "low", "high")
    assert gain == pytest.approx(bt.information_gain(PENGUINS["species"], side), abs=1e-12)


@pytest.mark.parametrize("criterion", ["entropy", "gini", "error"])
def test_no_threshold_gains_more_than_the_best(criterion):
    random = np.random.default_rng(3)
    x, y = random.integers(0, 12, 40).astype(float), random.integers(0, 3, 40).astype(str)
    gain, threshold = bt.information_gain(y, x, criterion=criterion, full=True)
    gains = [bt.information_gain(y, np.where(x <= cut, "low", "high"), criterion=criterion) for cut in np.unique(x)[:-1]]
    assert gain == pytest.approx(max(gains), abs=1e-12)
    assert threshold == np.unique(x)[np.argmax(np.array(gains) > max(gains) - 1e-12)] + 0.5


def test_levels_have_no_threshold_and_infinite_or_missing_numbers_are_allowed():
    assert bt.information_gain(TENNIS, "PlayTennis", "Outlook", full=True).threshold is None
    assert bt.information_gain(["a", "b"], [1.0, 1.0], full=True) == (0.0, None)
    assert bt.information_gain(["a", "a", "b", None], [1.0, 2.0, np.inf, np.nan], full=True) == (
        pytest.approx(0.918296),
        2.0,
    )
    with pytest.raises(ValueError, match="one column has 2 rows, the other 3"):
        bt.information_gain(["a", "b"], [1.0, 2.0, 3.0])
    for y, x in [([], []), (["a", "b"], [np.nan, np.nan]), (["a", None], [None, "x"])]:
        with pytest.raises(ValueError, match="no row has a value in both columns"):
            bt.information_gain(y, x)


def test_laplace_gives_blue_a_share_although_none_was_drawn():
    colours = {"colour": ["red"] * 5 + ["green"] * 7, "y": ["a"] * 12}
    model = bt.NaiveBayesClassifier(schema={"colour": ["red", "blue", "green"]}).fit(
        {"colour": [*colours["colour"], "blue"], "y": [*colours["y"], "b"]}, "y"
    )
    assert np.allclose(model.likelihood("colour")["a"], [6 / 15, 1 / 15, 8 / 15])


def test_enjoying_sport_has_a_zero_that_smoothing_is_for():
    table = bt.NaiveBayesClassifier(estimate="mle").fit(SPORT, SPORT.columns[-1])
    assert np.isclose(np.exp(table.model_.log_prior).max(), 3 / 4)
    sky = table.likelihood("Sky").set_index("Sky")
    yes, no = table.classes_[np.argmax(table.model_.log_prior)], table.classes_[np.argmin(table.model_.log_prior)]
    assert sky.loc["Sunny", yes] == 1.0
    assert sky.loc["Sunny", no] == 0.0


def test_the_table_of_a_gain_adds_up():
    gain = bt.information_gain(TENNIS, "PlayTennis", "Outlook")
    *branches, left, before, last = gain.rows
    assert sum(row[-1] for row in branches) == pytest.approx(left[-1])
    assert before[-1] - left[-1] == pytest.approx(last[-1]) == pytest.approx(gain)
    assert "share × entropy" in str(gain)
    assert "<table" in gain._repr_html_()


def test_what_is_not_a_distribution_is_refused():
    for counts in ([], [-1, 2], [0, 0], [[1, 2]]):
        with pytest.raises(ValueError, match="one count or proportion for each class"):
            bt.entropy(counts=counts)
    with pytest.raises(ValueError, match="there is no column 'Wnd'"):
        bt.entropy(TENNIS, "Wnd")


# --- one parameter ------------------------------------------------------------------------------------------------------


def test_three_of_four_is_three_quarters_and_by_laplace_two_thirds():
    chance = bt.estimate_bernoulli([True, True, True, False])
    assert (chance.mle, chance.map, chance.mean) == (0.75, 0.75, pytest.approx(2 / 3))
    assert bt.estimate_bernoulli(3, 4, alpha=2, beta=2).map == pytest.approx(4 / 6)


def test_a_normal_without_a_prior_has_the_mean_and_variance_of_its_numbers():
    x = [1.0, 2.0, 3.0, 6.0, 8.0]
    found = bt.estimate_normal(x)
    assert found.mle == (4.0, pytest.approx(np.var(x)))
    assert found.b / found.a == pytest.approx(np.var(x, ddof=1))


def test_a_strong_prior_holds_the_mean():
    assert bt.estimate_normal([1.0, 2.0], m0=10, k0=1e9, a0=1, b0=1).mean[0] == pytest.approx(10, abs=1e-6)
