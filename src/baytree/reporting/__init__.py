"""Pages about models and comparisons: what is on them is gathered here, as records; `show.report` prints these.

The room is called `reports`, so that `bt.report` stays a function.

What stands in each section of a page, as records.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from baytree._typing import FrameLike
from baytree.base.predictor import Predictor
from baytree.file_io.atomic import write_file
from baytree.rendering.page.html_page import Page
from baytree.reporting.comparison_page import ComparisonLike
from baytree.reporting.rejection import PredictionSetsLike
from baytree.reporting.subject import FittedEstimator, predictor_of

if TYPE_CHECKING:
    from typing_extensions import TypeIs

MOST_LETTERS = 1_000_000  # of the page of a comparison

Reported = FittedEstimator | Predictor | ComparisonLike


def report(
    model: Reported,
    frame: FrameLike = None,
    path: str | os.PathLike = "page.html",
    *,
    rows: int | Sequence[int] | None = None,
    sets: PredictionSetsLike | None = None,
) -> Path:
    """One self-contained HTML file that shows a model or a comparison: it opens anywhere and asks nothing of the network.

    The page draws the model for what it is, answers "what if" by the model's own formula, and asks twenty questions. It
    holds aggregates, never rows, unless these are asked for.

    Parameters
    ----------
    model : fitted estimator or Comparison
        What is shown.
    frame : data frame, optional
        Rows with their target, on which the model is judged, and whose columns are described. Without them the page tells
        what the model has kept of the rows that it has learnt from.
    path : path, default="page.html"
        The file to write.
    rows : int or list of int, optional
        Rows of the frame that are explained on the page: so many of the worst mistakes and of the most doubtful rows, or
        those at these places.
    sets : PredictionSets or PredictionIntervals, optional
        What ``bt.conformal(model, held_out, target, cv="fitted")`` gave for this model: "what if" then shows the set of
        classes, or the interval, of the row.

    Returns
    -------
    pathlib.Path
        The file that was written.

    Examples
    --------
    >>> import baytree as bt, tempfile, os
    >>> model = bt.CARTClassifier().fit({"size": [1.0, 2.0, 9.0] * 9, "y": ["a", "a", "b"] * 9}, "y")
    >>> page = bt.report(model, path=os.path.join(tempfile.mkdtemp(), "page.html"))
    >>> page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    text = _page(model, frame, rows, sets)
    write_file(path, text.encode("utf-8", "backslashreplace"))
    return Path(path)


def page_of(model: Reported) -> str:
    """The page of a model or a comparison, without rows, as it would stand in a file."""
    return _page(model, None, None, None)


def notebook_view(model: Reported) -> str | None:
    """What a notebook shows of a fitted model or a comparison: the page's templates without scripts; None without jinja2."""
    from baytree.rendering.page.html_page import fragment

    try:
        return fragment(_still(model))
    except ModuleNotFoundError:
        return None


def _still(model: Reported) -> Page:
    if _is_comparison(model):
        from baytree.reporting.comparison_page import comparison_page

        return comparison_page(model)
    from baytree.reporting.model_page import static_page

    return static_page(predictor_of(model))


def _is_comparison(model: Reported) -> TypeIs[ComparisonLike]:
    return hasattr(model, "entries") and hasattr(model, "advice")


def _page(model: Reported, frame: FrameLike, rows: int | Sequence[int] | None, sets: PredictionSetsLike | None) -> str:
    from baytree.rendering.page.html_page import to_html

    if _is_comparison(model):
        from baytree.reporting.comparison_page import compared_pages

        texts = (to_html(page) for page in compared_pages(model))
        return next(text for text in texts if len(text) <= MOST_LETTERS or "<template " not in text)
    from baytree.reporting.model_page import model_page

    return to_html(model_page(model, frame, rows, sets))
