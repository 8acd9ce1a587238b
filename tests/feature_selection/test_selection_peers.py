"""Measures, metrics, intervals and curves beside scipy's, scikit-learn's and what the papers say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LinearRegression
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.model_selection import LeaveOneGroupOut, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import baytree as bt
from baytree.feature_selection import measures
from baytree.metrics import scores as metrics
from baytree.metrics.confusion import Confusion
from baytree.model_selection import significance
from baytree.statistics import binning
from baytree.statistics.binning import entropy
from law_settings import settings


def groups(n: int = 90, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return np.column_stack([rng.normal(size=n) + y, rng.normal(size=n), rng.normal(size=n) - 0.5 * y]), y


@given(st.lists(st.lists(st.integers(1, 40), min_size=3, max_size=3), min_size=2, max_size=5))
def test_cramers_v_is_scipys(cells):
    counts = np.array(cells, float)
    theirs = stats.contingency.association(counts.astype(int), method="cramer")
    assert measures.cramers_v(counts).statistic == pytest.approx(theirs, rel=1e-9, abs=1e-12)


def test_correlations_are_scipys_and_named_by_the_kinds_of_the_columns():
    X, y = groups()
    rank = pd.Categorical.from_codes((X[:, 2] > 0).astype(int), ["S", "L"], ordered=True)
    frame = pd.DataFrame({"number": X[:, 0], "rank": rank})
    frame["level"] = np.where(X[:, 1] > 0.5, "high", "low")
    found = {rank.column: rank for rank in bt.rank_features(frame, y, by="correlation").ranks}
    theirs = stats.pointbiserialr(y, X[:, 0])
    assert (found["number"].score, found["number"].p) == pytest.approx((theirs.statistic, theirs.pvalue))
    theirs = stats.spearmanr(frame["rank"].cat.codes, y)
    assert (found["rank"].score, found["rank"].p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert [found[name].how for name in frame] == ["point-biserial", "Spearman", "Cramér's V"]
    ranked = {rank.column: rank for rank in bt.rank_features(frame, X[:, 1], by="spearman", task="regression").ranks}
    assert ranked["number"].score == pytest.approx(stats.spearmanr(X[:, 0], X[:, 1]).statistic)


def test_spearman_of_three_classes_uses_ranks_and_has_the_p_value_of_kruskal_and_wallis():
    X, _ = groups()
    X = np.round(X, 1)  # with ties
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.7])]
    theirs = stats.kruskal(*(X[y == label, 0] for label in np.unique(y)))
    score = np.sqrt(theirs.statistic / (len(X) - 1))
    for number in (X[:, 0], np.exp(3 * X[:, 0])):  # the same ranks
        rank = bt.rank_features({"x": number}, y, by="spearman").ranks[0]
        assert (rank.score, rank.p, rank.how) == (pytest.approx(score), pytest.approx(theirs.pvalue), "η of ranks")
    by_level = bt.rank_features({"level": y}, np.exp(3 * X[:, 0]), by="spearman", task="regression").ranks[0]
    assert (by_level.score, by_level.p) == (pytest.approx(score), pytest.approx(theirs.pvalue))
    two = np.where(X[:, 1] > 0, "up", "down")
    spearman = bt.rank_features({"x": X[:, 0]}, two, by="spearman").ranks[0].score
    code = (two == "up").astype(np.intp)
    assert measures.kruskal_wallis(X[:, 0], code, 2).statistic == pytest.approx(abs(spearman))


def test_f_and_its_corrections_are_scipys():
    X, y = groups()
    ranking = bt.rank_features(X, y, by="anova")
    for rank in ranking.ranks:
        j = int(rank.column[1:])
        assert rank.p == pytest.approx(stats.f_oneway(X[y == 0, j], X[y == 1, j]).pvalue)
    p = np.array([rank.p for rank in ranking.ranks])
    assert [rank.bonferroni for rank in ranking.ranks] == pytest.approx(np.minimum(3 * p, 1))
    assert [rank.fdr for rank in ranking.ranks] == pytest.approx(stats.false_discovery_control(p))


def _mdl(x: np.ndarray, y: np.ndarray) -> list[float]:
    """Fayyad and Irani's recursion, as their paper has it."""
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]

    def bits(labels: np.ndarray) -> float:
        return entropy(np.bincount(labels).astype(float))

    places = [i for i in range(1, len(x)) if x[i] > x[i - 1]]
    if not places or len(x) < 2:
        return []
    cost = [(i * bits(y[:i]) + (len(y) - i) * bits(y[i:])) / len(y) for i in places]
    best = int(np.argmin(cost))
    left, right = y[: places[best]], y[places[best] :]
    k, k1, k2 = (len(np.unique(part)) for part in (y, left, right))
    price = np.log2(3**k - 2) - (k * bits(y) - k1 * bits(left) - k2 * bits(right))
    if bits(y) - cost[best] <= (np.log2(len(y) - 1) + price) / len(y):
        return []
    i = places[best]
    return [*_mdl(x[:i], left), (x[i - 1] + x[i]) / 2, *_mdl(x[i:], right)]


@given(st.integers(0, 200))
@settings(max_examples=30, deadline=None)
def test_mdl_cuts_are_those_of_the_paper(seed):
    rng = np.random.default_rng(seed)
    x = rng.random(80).round(2)
    y = ((x > 0.3) ^ (x > 0.7) ^ (rng.random(80) < 0.1)).astype(np.int32)
    assert binning.mdl_cuts(x, y, 2) == pytest.approx(_mdl(x, y))


def test_mrmr_takes_at_each_step_what_the_definition_asks_for():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    rows = {f"c{j}": np.where(rng.random(300) < 0.15 * (j + 1), y, rng.integers(0, 3, 300)).astype(str) for j in range(4)}
    rows["copy"] = rows["c3"]
    chosen = bt.rank_features(rows, y, by="mrmr").ranks

    def information(one, other):
        return sk.mutual_info_score(one, other) / np.log(2)

    for step, rank in enumerate(chosen):
        before, rest = [r.column for r in chosen[:step]], [r.column for r in chosen[step:]]
        worth = {
            name: information(rows[name], y) - np.mean([information(rows[name], rows[b]) for b in before] or [0.0])
            for name in rest
        }
        assert rank.score == pytest.approx(max(worth.values()), abs=1e-12)
        assert worth[rank.column] == pytest.approx(max(worth.values()), abs=1e-12)


def test_columns_enter_the_lasso_in_the_order_in_which_scikit_learn_lets_them_in():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 5))
    y = (X @ np.array([3.0, 0.0, 1.5, 0.0, 0.7]) + rng.logistic(size=300) > 0).astype(int)
    order = [int(name[1:]) for name in bt.rank_features(X, y, by="lasso").columns]
    enters = np.full(5, np.inf)
    scaled = StandardScaler().fit_transform(X)
    for step, C in enumerate(np.geomspace(1e-3, 10, 60)):
        model = TheirLogistic(solver="saga", C=C, l1_ratio=1.0, tol=1e-6, max_iter=5000).fit(scaled, y)
        enters[(model.coef_[0] != 0) & np.isinf(enters)] = step
    assert order[:3] == np.argsort(enters, kind="stable")[:3].tolist() == [0, 2, 4]


def test_every_metric_of_classes_is_scikit_learns():
    X, y = groups()
    folds = StratifiedKFold(5)
    result = bt.cross_validate(GaussianNB(), X, y, cv=folds)
    label, answer, proba = y[result.pooled[0]], result.pooled[1], result.pooled[2]
    assert np.array_equal(result.confusion, sk.confusion_matrix(label, answer))
    trial = result.trials[2]
    truth = y[trial.rows]
    assert result.scores("Brier score")[2] == pytest.approx(sk.brier_score_loss(truth, trial.probability[:, 1]))
    assert result.scores("accuracy") == pytest.approx(cross_val_score(GaussianNB(), X, y, cv=folds))
    assert result.scores("AUC") == pytest.approx(cross_val_score(GaussianNB(), X, y, cv=folds, scoring="roc_auc"))
    observed, predicted = calibration_curve(label, proba[:, 1], n_bins=10)
    curve = result.calibration()
    assert curve["observed"] == pytest.approx(observed)
    assert curve["predicted"] == pytest.approx(predicted)
    precision, recall, f1, _ = sk.precision_recall_fscore_support(label, answer)
    for k in range(2):
        assert f"{precision[k]:.4f}  {recall[k]:.4f}  {f1[k]:.4f}" in str(result)


@given(st.integers(0, 100), st.integers(2, 4))
@settings(max_examples=20, deadline=None)
def test_what_evaluate_reads_off_the_confusions_is_scikit_learns(seed, n_classes):
    rng = np.random.default_rng(seed)
    truth, answer = rng.integers(0, n_classes, (2, 50))
    truth[:n_classes] = answer[:n_classes] = np.arange(n_classes)
    counts = Confusion.of(truth, answer, np.full((50, n_classes), 1 / n_classes)).counts
    assert metrics.balanced_accuracy(counts) == pytest.approx(sk.balanced_accuracy_score(truth, answer))
    assert metrics.f1(counts) == pytest.approx(sk.f1_score(truth, answer, average=None))
    assert metrics.matthews(counts) == pytest.approx(sk.matthews_corrcoef(truth, answer))


def test_every_metric_of_numbers_is_scikit_learns():
    X, _ = groups()
    y = 2 * X[:, 0] + X[:, 1]
    result = bt.cross_validate(LinearRegression(), X, y, cv=3)
    truth, answer = y[result.trials[0].rows], result.trials[0].answer
    for name, value in {
        "RMSE": sk.root_mean_squared_error(truth, answer),
        "MAE": sk.mean_absolute_error(truth, answer),
        "median error": sk.median_absolute_error(truth, answer),
        "R²": sk.r2_score(truth, answer),
    }.items():
        assert result.scores(name)[0] == pytest.approx(value)


def test_leave_one_out_and_groups_answer_as_scikit_learn_answers():
    X, y = groups(40)
    one_by_one = bt.cross_validate(GaussianNB(), X, y, cv="loo")
    from sklearn.model_selection import LeaveOneOut

    theirs = cross_val_predict(GaussianNB(), X, y, cv=LeaveOneOut())
    assert np.array_equal(one_by_one.pooled[1], theirs)
    of_groups = bt.cross_validate(GaussianNB(), X, y, cv=LeaveOneGroupOut(), groups=np.arange(40) // 10)
    assert [trial.rows.tolist() for trial in of_groups.trials] == np.arange(40).reshape(4, 10).tolist()


def test_the_corrected_interval_and_test_are_those_of_nadeau_and_bengio():
    scores = np.array([0.71, 0.75, 0.68, 0.8, 0.77, 0.74, 0.7, 0.76, 0.73, 0.78])
    error = np.sqrt((1 / 10 + 1 / 9) * scores.var(ddof=1))
    interval = significance.corrected_interval(scores, 1 / 9)
    assert interval[1:] == pytest.approx(stats.t.interval(0.95, 9, scores.mean(), error))
    lower = scores - np.array([0.01, 0.03, -0.01, 0.02, 0.04, 0.0, 0.01, 0.05, -0.02, 0.03])
    gap = scores - lower
    t = gap.mean() / np.sqrt((1 / 10 + 1 / 9) * gap.var(ddof=1))
    assert significance.corrected_t(gap, 1 / 9) == pytest.approx(2 * stats.t.sf(abs(t), 9))


def test_a_learning_curve_learns_from_more_and_more_rows_and_ends_at_the_whole():
    X, y = groups(200)
    curve = bt.learning_curve(bt.NaiveBayesClassifier(), X, y, train_sizes=(0.1, 0.5, 1.0), cv=5)
    assert curve.n_rows == (16, 80, 160)
    assert curve.scores[-1].mean == pytest.approx(bt.cross_validate(bt.NaiveBayesClassifier(), X, y, cv=5).mean("accuracy"))


@pytest.mark.slow
def test_the_root_of_a_tree_is_certain_where_one_column_tells_all_and_not_where_two_tell_the_same():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    noisy = {f"x{j}": y + 0.8 * rng.normal(size=120) for j in range(2)}
    tree = bt.DecisionTreeClassifier(max_depth=2)
    sure = bt.root_stability(
        tree, {**noisy, "key": y + 0.01 * rng.normal(size=120), "y": y.astype(str)}, "y", n_bootstrap=30
    )
    assert sure.shares == (("key", 1.0),)
    torn = bt.root_stability(tree, {**noisy, "y": y.astype(str)}, "y", n_bootstrap=60)
    assert dict(torn.shares).keys() == {"x0", "x1"}
    assert sum(share for _, share in torn.shares) == pytest.approx(1)
    assert min(share for _, share in torn.shares) > 0.05
    assert bt.root_stability(tree, {**noisy, "y": y.astype(str)}, "y", n_bootstrap=60) == torn
    with pytest.raises(ValueError, match="is not a tree"):
        bt.root_stability(bt.NaiveBayesClassifier(), noisy, y)


def test_a_selector_can_be_tuned_inside_a_pipeline():
    from sklearn.model_selection import GridSearchCV

    X, y = groups(120)
    pipeline = make_pipeline(bt.SelectFeatures(by="chi2"), bt.NaiveBayesClassifier())
    grid = {"selectfeatures__k": [1, 2, 3], "selectfeatures__by": ["chi2", "anova"]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_estimator_[0].get_support()[0]


@pytest.mark.parametrize("what", ["ranking", "history", "comparison", "curve", "stability", "validation"])
def test_pictures_are_drawn(what):
    X, y = groups(60)
    bayes = bt.NaiveBayesClassifier()
    result = {
        "ranking": lambda: bt.rank_features(X, y),
        "history": lambda: bt.ForwardSelection(bayes, cv=3, floating=True).fit(X, y),
        "comparison": lambda: bt.compare(X, y, ["majority", "nb"], cv=3),
        "curve": lambda: bt.learning_curve(bayes, X, y, cv=3),
        "stability": lambda: bt.root_stability(bt.DecisionTreeClassifier(max_depth=1), X, y, n_bootstrap=5),
        "validation": lambda: bt.cross_validate(bayes, X, y, cv=3),
    }[what]()
    assert result.plot().figure is not None
    if what != "history":
        assert len(result.to_frame()) >= 1
