"""The audit: what it finds, that clean tables raise no alarm, that partitions add up, and where its findings are shown."""

from __future__ import annotations

import json
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from baytree.auditing.audit import Statistics, audit_problem
from baytree.auditing.counts import AuditCounts, r_squared, skill_of_classes
from baytree.auditing.result import KINDS
from baytree.engine.partitions import LocalPartitions
from baytree.model_selection.problem import SupervisedProblem


def people(n: int = 400, seed: int = 0) -> pd.DataFrame:
    """A table without traps: three columns that tell a little about the target, and one that tells nothing."""
    rng = np.random.default_rng(seed)
    is_sick = rng.random(n) < 0.4
    return pd.DataFrame(
        {
            "pressure": rng.normal(120, 15, n) + 12 * is_sick,
            "weight": rng.normal(80, 12, n) + 5 * is_sick,
            "smokes": np.where(rng.random(n) < 0.3 + 0.2 * is_sick, "yes", "no"),
            "eyes": rng.choice(["blue", "brown", "green"], n),
            "sick": np.where(is_sick, "yes", "no"),
        }
    )


def kinds(audit: bt.Audit) -> set[str]:
    return {finding.kind for finding in audit.findings}


def found(audit: bt.Audit, kind: str) -> bt.Finding:
    return next(finding for finding in audit.findings if finding.kind == kind)


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.mark.parametrize("seed", range(10))
def test_a_clean_table_has_no_finding(seed):
    assert bt.audit(people(seed=seed), "sick").findings == []


def test_a_column_that_alone_decides_the_target_is_a_leak_with_both_scores():
    frame = people()
    leak = found(bt.audit(frame.assign(stay=np.where(frame.sick == "yes", 3.0, 0.0) + rng().random(400)), "sick"), "leak")
    assert leak.columns == ("stay",)
    assert leak.figure["alone"] > 0.99 > 0.9 > leak.figure["others"] > leak.figure["always_the_same"] - 0.1
    assert "schema={'stay': 'drop'}" in leak.remedy


def test_a_value_that_is_missing_for_one_class_is_a_leak():
    frame = people()
    leak = found(bt.audit(frame.assign(died=np.where(frame.sick == "yes", rng().normal(size=400), np.nan)), "sick"), "leak")
    assert leak.message.startswith("whether 'died' is missing alone predicts")


def test_a_missing_value_that_follows_from_one_of_three_classes_is_a_leak():
    frame = people().assign(sick=rng().choice(["a", "b", "c"], 400))
    frame["closed"] = np.where(frame.sick == "a", 1.5, np.nan)
    assert found(bt.audit(frame, "sick"), "leak").columns == ("closed",)


def test_a_level_that_occurs_in_the_smaller_class_only_is_a_leak():
    frame = people()
    way = np.where((frame.sick == "yes") & (rng().random(400) < 0.5), "ward", rng().choice(["car", "bus", "foot"], 400))
    leak = found(bt.audit(frame.assign(way=way), "sick"), "leak")
    assert "'way' is 'ward'" in leak.message
    assert leak.figure["of_class"] > 0.3


@pytest.mark.parametrize("transform", [np.log, np.sqrt, lambda y: -y, lambda y: np.round(y, 1)])
def test_a_monotone_transform_of_a_number_is_a_leak(transform):
    frame = people().assign(cost=np.exp(rng().normal(4, 1, 400)))
    frame["code"] = transform(frame.cost)
    leak = found(bt.audit(frame, "cost"), "leak")
    assert leak.columns == ("code",)
    assert leak.figure["alone"] > 0.9 > leak.figure["others"]


@pytest.mark.parametrize("seed", range(3))
def test_a_strong_column_of_a_number_is_no_leak(seed):
    frame = people(seed=seed)
    frame["cost"] = 3 * frame.pressure + np.random.default_rng(seed).normal(0, 20, len(frame))
    assert "leak" not in kinds(bt.audit(frame.drop(columns="sick"), "cost"))


def test_bands_of_a_number_are_a_leak():
    frame = people().assign(cost=rng().normal(size=400))
    frame["band"] = pd.qcut(frame.cost, 3, labels=["low", "mid", "top"]).astype(str)
    assert "is determined by 'cost'" in found(bt.audit(frame, "cost"), "leak").message


def test_a_strong_column_is_no_leak_if_the_others_are_as_good():
    assert "leak" not in kinds(bt.audit(bt.datasets.load("mushroom"), "class"))


def test_copies_are_found_and_those_with_another_target_counted():
    frame = people()
    frame = pd.concat([frame, frame[:40]], ignore_index=True)
    frame.loc[435:, "sick"] = frame.loc[435:, "sick"].map({"yes": "no", "no": "yes"})
    finding = found(bt.audit(frame, "sick"), "duplicates")
    assert finding.figure == {"rows": 35, "conflicts": 10}


def test_copies_in_all_columns_but_a_number_are_found():
    frame = pd.concat([people(), people()[:40]], ignore_index=True).assign(receipt=rng().permutation(4400)[:440] * 3)
    finding = found(bt.audit(frame, "sick"), "duplicates")
    assert finding.columns == ("receipt",)
    assert finding.figure["rows"] == 40


def test_equal_rows_of_columns_with_few_values_are_ordinary():
    assert "duplicates" not in kinds(bt.audit(bt.datasets.load("titanic"), "survived"))


def test_groups_that_keep_copies_together_are_no_remedy_left():
    frame = pd.concat([people(), people()[:40]], ignore_index=True)
    number = np.r_[np.arange(400), np.arange(40)]
    assert found(bt.audit(frame, "sick", groups=number), "duplicates").remedy == "groups= keeps them in one fold"


def test_blocks_of_one_customer_are_groups():
    holder = np.repeat([f"H{k}" for k in rng().permutation(80)], 5)
    finding = found(bt.audit(people().assign(holder=holder), "sick"), "groups")
    assert finding.columns == ("holder",)
    assert "groups='holder'" in finding.remedy
    assert "groups" not in kinds(bt.audit(people().assign(holder=holder), "sick", groups="holder"))


def test_rows_that_share_their_other_columns_are_groups_in_any_order():
    who = rng().integers(0, 60, 400)
    home = rng().integers(0, 6, 60)[who]
    frame = people().assign(ref=[f"r{k}" for k in who], home=[f"h{k}" for k in home])
    assert found(bt.audit(frame, "sick"), "groups").columns == ("ref",)


def test_a_date_is_a_time_and_the_drift_along_it_is_measured():
    day = rng().integers(0, 700, 400)
    dates = pd.Timestamp("2020-01-01") + pd.to_timedelta(day, "D")
    drifting = people().assign(signed=dates, price=day / 100 + rng().normal(size=400))
    finding = found(bt.audit(drifting, "sick"), "time")
    assert finding.columns == ("signed",)
    assert finding.figure["changed"] == 1
    assert "'price'" in finding.message
    assert found(bt.audit(people().assign(signed=dates), "sick"), "time").figure["changed"] == 0
    strings = drifting.assign(signed=dates.strftime("%d.%m.%Y"))
    assert found(bt.audit(strings, "sick"), "time").figure == finding.figure


def test_a_time_that_is_given_is_only_examined_for_drift():
    dates = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng().integers(0, 700, 400), "D")
    assert "time" not in kinds(bt.audit(people().assign(signed=dates), "sick", time="signed"))


def test_birthdays_are_no_order_in_time():
    dates = pd.Timestamp("1960-01-01") + pd.to_timedelta(rng().integers(0, 9000, 400), "D")
    assert "time" not in kinds(bt.audit(people().assign(birthday=dates), "sick"))


def test_one_class_in_twenty_is_an_imbalance_that_names_what_accuracy_hides():
    frame = people()
    frame["sick"] = np.where(np.arange(400) % 20, "no", "yes")
    finding = found(bt.audit(frame, "sick"), "imbalance")
    assert "accuracy 0.95 and never finds 'yes'" in finding.message


def test_columns_that_need_care_are_named_once():
    frame = people().assign(
        firm=[f"firm {k}" for k in rng().integers(0, 300, 400)],
        country="DE",
        extra=np.where(np.arange(400) < 4, 1.0, np.nan),
        age=np.where(np.arange(400) % 9, rng().integers(20, 80, 400), -999),
        income=np.where(np.arange(400) == 7, 1e9, rng().normal(3000, 400, 400)),
        code=[f"C-{k:05d}" for k in rng().permutation(400)],
    )
    frame.loc[:8, "sick"] = "unsure"
    frame.loc[9:29, "sick"] = None
    with pytest.warns(bt.BaytreeWarning, match="21 rows have no value"):
        audit = bt.audit(frame, "sick")
    named = {finding.kind: finding.columns for finding in audit.findings}
    assert named["many_levels"] == ("firm",)
    assert named["constant"] == ("country",)
    assert named["missing_code"] == ("age",)
    assert named["outlier"] == ("income",)
    assert named["identifier"] == ("code",)
    assert named["rare_class"] == ("sick",)
    assert {each.columns for each in audit.findings if each.kind == "nearly_empty"} == {("extra",), ("sick",)}


def test_whole_numbers_as_classes_and_numbers_with_few_values_are_named():
    stars = people().assign(sick=rng().integers(1, 6, 400))
    assert "task='regression'" in found(bt.audit(stars, "sick"), "numeric_target").remedy
    assert "task='classification'" in found(bt.audit(stars, "sick", task="regression"), "numeric_target").remedy


def test_counts_of_partitions_add_up():
    table = SupervisedProblem.of(people().assign(x=rng().integers(0, 9, 400)), "sick").table
    whole = Statistics.of(LocalPartitions(table))
    parts = [AuditCounts.of(whole.bins, 0.0, table.rows(k, k + 100)) for k in range(0, 400, 100)]
    total = parts[0] + parts[1] + parts[2] + parts[3]
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(total.columns, whole.counts.columns, strict=True))
    assert total.extremes == whole.counts.extremes


def test_scores_of_a_column_alone_equal_those_of_fits():
    table = SupervisedProblem.of(people(), "sick").table
    counts = Statistics.of(LocalPartitions(table)).counts.columns[2]
    assert counts.sum() == 400
    assert skill_of_classes(counts) <= skill_of_classes(counts.sum(axis=0, keepdims=True).repeat(2, axis=0)) + 1e-12
    y = rng().normal(size=400)
    sums = np.stack([[[1.0, v, v * v]] for v in y])
    loo = ((y - (y.sum() - y) / 399) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert r_squared(sums) == pytest.approx(1 - loo)


def test_rows_on_disk_have_the_same_findings_and_say_what_is_left_out(tmp_path):
    frame = people(6000).assign(country="DE")
    frame["stay"] = np.where(frame.sick == "yes", 3.0, 0.0) + rng().random(6000)
    frame.to_csv(tmp_path / "people.csv", index=False)
    remote = bt.audit(bt.scan(tmp_path / "people.csv"), "sick")
    local = bt.audit(frame, "sick")
    assert [(each.kind, each.columns) for each in remote.findings] == [("leak", ("stay",)), ("constant", ("country",))]
    assert [each.kind for each in local.findings] == ["leak", "constant"]
    assert remote.findings[0].figure["alone"] == pytest.approx(local.findings[0].figure["alone"])
    assert "duplicates, groups and time" in remote.left_out[-1]
    assert "not checked" in str(remote)


def test_an_audit_prints_is_a_dict_and_a_page(tmp_path):
    frame = people().assign(country="<b>DE</b>")
    audit = bt.audit(frame, "sick")
    assert max(map(len, str(audit).splitlines())) <= 80
    assert json.loads(json.dumps(audit.to_dict()))["findings"][0]["kind"] == "constant"
    page = audit.report(tmp_path / "audit.html").read_text()
    assert "country" in page
    assert "<table" in audit._repr_html_()
    assert set(KINDS) >= kinds(audit)


def test_compare_shows_the_most_serious_findings_above_the_leaderboard_and_all_of_them_elsewhere(tmp_path):
    random = rng()
    frame = people(150).assign(**{f"c{k}": [f"{k}-{j}" for j in random.integers(0, 75, 150)] for k in range(7)})
    frame["stay"] = np.where(frame.sick == "yes", 3.0, 0.0) + rng().random(150)
    compared = bt.compare(frame, "sick", ["majority", "nb"], cv=3, repeats=1)
    head = str(compared).split("worse")[0]
    assert "leak: 'stay' alone predicts" in head
    assert head.count("many levels: ") == 4
    assert "… 3 more findings" in head
    assert len(compared.to_dict()["audit"]["findings"]) == 8
    assert compared.report(tmp_path / "page.html").read_text().count('data-testid="finding"') == 8


def test_the_audit_of_a_comparison_is_fast():
    problem = SupervisedProblem.of(bt.datasets.load("mushroom"), "class")
    problem.table  # noqa: B018  encoded once, as in the comparison
    audit_problem(problem)
    start = time.process_time()
    audit_problem(problem)
    assert time.process_time() - start < 0.4  # a fiftieth of the comparison; measured 0.1


@pytest.mark.parametrize("n", [1, 2, 5, 19])
def test_tiny_and_odd_tables_are_audited(n):
    bt.audit(people(400)[:n], "sick")
    bt.audit({"x": [np.nan] * n, "y": list(range(n))}, "y")
    bt.audit(np.arange(2.0 * n).reshape(n, 2), np.arange(n) % 2)


def test_texts_are_named_as_not_checked():
    assert any("text" in each for each in bt.audit(bt.datasets.load("sms-spam")[:600], "type").left_out)


def test_statistics_are_one_pass_after_the_sample():
    passes = []

    class Counting(LocalPartitions):
        def map_reduce(self, observe, rows_per_part=None):
            passes.append(observe)
            return super().map_reduce(observe, rows_per_part)

    Statistics.of(Counting(SupervisedProblem.of(people(), "sick").table))
    assert len(passes) == 1
    assert isinstance(passes[0], partial)


def test_infinite_numbers_do_not_stop_an_audit_or_a_comparison():
    frame = people().assign(ratio=np.where(np.arange(400) % 50, 1.5, np.inf) * rng().random(400))
    assert bt.audit(frame, "sick").findings == []
    assert bt.compare(frame, "sick", ["majority", "cart"], cv=3, repeats=1).audit is not None


def test_rows_in_a_regular_order_have_random_folds():
    label = np.arange(200) % 5 == 2
    frame = {
        "x": np.arange(200) % 5 + 0.1 * rng().normal(size=200),
        "z": rng().normal(size=200),
        "y": np.where(label, "p", "q"),
    }
    assert found(bt.audit(frame, "y"), "leak").figure["alone"] == 1.0
