"""What sets two models apart, as their summaries tell it, and whether there is more than they tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import msgspec
import numpy as np

from baytree.diffs.change import Change, changes_of, sorted_changes
from baytree.diffs.facts import FACTS, bayes_leaves
from baytree.diffs.node_changes import tree_changes
from baytree.predictor import Predictor
from baytree.summary import Summary
from baytree.summary.hybrid import BayesTreeSummary
from baytree.summary.tree import TreeSummary, TrialsSummary


def model_changes(old: Predictor, new: Predictor) -> tuple[Change, ...]:
    """The name of the algorithm and the kind of the model, then whatever differs between models of one kind."""
    summaries = old.model.summary(old.schema), new.model.summary(new.schema)
    old_kind, new_kind = map(_kind, summaries)
    changes = [] if old.name == new.name else [Change("model", "algorithm", old.name, new.name)]
    if old_kind != new_kind:
        return (*changes, Change("model", "kind", old_kind, new_kind))
    return (*changes, *_summary_changes(*summaries))


def are_equal(old: Any, new: Any) -> bool:
    """Whether two records hold the same numbers and words, all the way down."""
    if isinstance(old, np.ndarray) or isinstance(new, np.ndarray):
        return _are_equal_arrays(np.asarray(old), np.asarray(new))
    if isinstance(old, msgspec.Struct):
        return type(old) is type(new) and all(are_equal(*pair) for pair in zip(_fields(old), _fields(new), strict=True))
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return old.keys() == new.keys() and all(are_equal(old[key], new[key]) for key in old)
    if isinstance(old, Sequence) and not isinstance(old, str) and isinstance(new, Sequence):
        return len(old) == len(new) and all(are_equal(*pair) for pair in zip(old, new, strict=True))
    return bool(old == new or (old != old and new != new))


def _kind(summary: Summary | None) -> str | None:
    return None if summary is None else str(type(summary).__struct_config__.tag).replace("_", " ")


def _summary_changes(old: Summary, new: Summary) -> tuple[Change, ...]:
    if isinstance(old, TreeSummary) and isinstance(new, TreeSummary):
        return tree_changes(old, new)
    if isinstance(old, TrialsSummary) and isinstance(new, TrialsSummary):
        return _of_trials(old, new)
    if isinstance(old, BayesTreeSummary) and isinstance(new, BayesTreeSummary):
        return sorted_changes([*tree_changes(old.tree, new.tree), *changes_of(bayes_leaves(old), bayes_leaves(new))])
    facts = FACTS[type(old)]
    return changes_of(facts(old), facts(new))


def _of_trials(old: TrialsSummary, new: TrialsSummary) -> tuple[Change, ...]:
    """The changes of each trial, under its number."""
    found = list[Change]()
    for k, (before, after) in enumerate(zip_longest(old.trials, new.trials), 1):
        if before is None or after is None:
            found.append(Change(f"trial {k}", "trial", _kind(before), _kind(after)))
        elif type(before) is not type(after):
            found.append(Change(f"trial {k}", "kind", _kind(before), _kind(after)))
        else:
            found += [_numbered(k, change) for change in _summary_changes(before, after)]
    return sorted_changes(found)


def _numbered(k: int, change: Change) -> Change:
    return msgspec.structs.replace(change, place=f"trial {k}, {change.place}")


def _are_equal_arrays(old: np.ndarray, new: np.ndarray) -> bool:
    return np.array_equal(old, new, equal_nan=old.dtype.kind == "f" and new.dtype.kind == "f")


def _fields(record: msgspec.Struct) -> list[Any]:
    return [getattr(record, name) for name in record.__struct_fields__]
