"""How exports are held against the models they came from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from export_runners import Answers

Run = Callable[[Sequence[dict], list[str] | None], Answers]


def difference_of(model: Any, columns: tuple[str, ...], rows: list[dict], run: Run) -> float:
    """The largest difference of the answers; the classes must be the same unless two are as good as equal."""
    table = {name: [row[name] for row in rows] for name in columns}
    classes = [str(label) for label in model.classes_] if hasattr(model, "classes_") else None
    predicted, probability = run([{name: row[name] for name in columns} for row in rows], classes)
    want = model.predict(table)
    if probability is None or classes is None:
        return float(np.abs(np.array(predicted, float) - want).max() / max(1.0, np.abs(want).max()))
    right = model.predict_proba(table)
    for row, chosen, label in zip(right, predicted, want, strict=True):
        assert chosen == str(label) or abs(row[classes.index(chosen)] - row[classes.index(str(label))]) <= 1e-12
    return float(np.abs(probability - right).max())


def refusal_of(target: str, columns: tuple[str, ...], parameters: dict) -> str:
    """The words in which a target refuses a model that it cannot hold; none where it holds it."""
    if target in ("sql", "onnx", "pmml") and "review" in columns:
        return "'review' is text"
    is_kernel, is_weka = parameters.get("numeric") == "kernel", parameters.get("conventions") == "weka"
    if target in ("sql", "onnx", "pmml") and is_weka and is_kernel:
        return "Weka's kernel sum"
    if target == "onnx" and is_weka:
        return "error function"
    is_urn = "multinomial" in str(parameters) and parameters.get("estimate") == "bayes"
    return "a Dirichlet-multinomial" if target in ("sql", "onnx", "pmml") and is_urn else ""
