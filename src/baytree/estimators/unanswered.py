"""Which rows a classifier does not answer for, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baytree import settings
from baytree.given import FrameLike
from baytree.limits.reject import Reject, first_reasons, not_alone, too_costly, too_odd, too_unsure

if TYPE_CHECKING:
    from baytree.estimators.base import Classifier


def unanswered(model: Classifier, X: FrameLike, given: object, answers: np.ndarray) -> list[str]:
    """The reason for each row that gets no answer, of the classes answered [n_rows]; empty where it gets one."""
    reject, classes = Reject.read(given), model.classes_.tolist()
    probability = model.predict_proba(X)
    place = {label: code for code, label in enumerate(classes)}
    choice = np.array([place[label] for label in answers.tolist()], np.int64)
    rules = []
    if reject.sets is not None:
        rules.append(not_alone(reject.sets.predict_set(X), classes))
    if reject.typicality is not None:
        rules.append(too_odd(typicality(model, X), reject.typicality))
    if reject.cost is not None:
        rules.append(too_costly(_expected(model, probability, choice), reject.cost))
    if reject.confidence is not None:
        rules.append(too_unsure(probability[np.arange(len(choice)), choice], reject.confidence))
    return first_reasons(rules, len(choice))


def typicality(model: Classifier, X: FrameLike) -> np.ndarray:
    """How many rows, as the model expects them, are as unlikely as each row, as a share. [n_rows]"""
    find = getattr(model, "_typicality", None)
    if find is None:
        raise ValueError(
            f"{type(model).__name__} does not say how rows come about, so none is unlike what was seen; naive Bayes and "
            "discriminant analysis do, and prediction sets (bt.conformal) tell odd rows with any model"
        )
    return find(model._predictor.encoded(X))


def _expected(model: Classifier, probability: np.ndarray, choice: np.ndarray) -> np.ndarray:
    """What each answer costs on average: the model's costs, or 1 for a mistake. [n_rows]"""
    costs = settings.costs(getattr(model, "costs", None), model.schema_.classes)
    if costs is None:
        return 1 - probability[np.arange(len(choice)), choice]
    return np.einsum("nk,kn->n", probability, costs.of(model.schema_.classes)[:, choice])
