"""HTML reports of models and comparisons: `report` gathers the page's records and renders them with `rendering.page`.

`model_page` and `comparison_page` decide which sections a page has; the other modules compute the records of sections. The
package is called `reporting`, so that `bt.report` stays a function.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from baytree._typing import FrameLike
from baytree.base.predictor import FittedEstimator, Predictor
from baytree.file_io.atomic import write_file
from baytree.rendering.page.html_page import Page
from baytree.reporting.comparison_page import ComparisonLike
from baytree.reporting.rejection import PredictionSetsLike
from baytree.reporting.subject import predictor_of

if TYPE_CHECKING:
    from typing_extensions import TypeIs

# Length of the page of a comparison: longer pages open slowly, so the sections of the last models are left out.
MAX_COMPARISON_CHARACTERS = 1_000_000

Reported = FittedEstimator | Predictor | ComparisonLike


def report(
    model: Reported,
    frame: FrameLike = None,
    path: str | os.PathLike = "page.html",
    *,
    rows: int | Sequence[int] | None = None,
    sets: PredictionSetsLike | None = None,
) -> Path:
    """Write a self-contained HTML page about a model or a comparison; it makes no network requests.

    The page draws the model, evaluates its formula for rows that a reader enters ("what if"), and asks twenty questions.
    It contains aggregates, and rows only if they are requested.

    Parameters
    ----------
    model : fitted estimator or Comparison
        Model or comparison to show.
    frame : data frame, optional
        Rows with their target, on which the model is evaluated, and whose columns are described. Without them the page
        shows the profile of the training rows that the model stores.
    path : path, default="page.html"
        The file to write.
    rows : int or list of int, optional
        Rows of the frame that are explained on the page: a number of the worst errors and of the least certain
        predictions, or a list of row indices.
    sets : PredictionSets or PredictionIntervals, optional
        Result of ``bt.conformal(model, held_out, target, cv="fitted")`` for this model: "what if" then shows the
        prediction set or interval of the row.

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
    """Page of a model or a comparison without rows, as text."""
    return _page(model, None, None, None)


def notebook_view(model: Reported) -> str | None:
    """Page of a fitted model or a comparison for notebooks, without scripts; None without jinja2."""
    from baytree.rendering.page.html_page import fragment

    try:
        return fragment(_static(model))
    except ModuleNotFoundError:
        return None


def _static(model: Reported) -> Page:
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
        return next(text for text in texts if len(text) <= MAX_COMPARISON_CHARACTERS or "<template " not in text)
    from baytree.reporting.model_page import model_page

    return to_html(model_page(model, frame, rows, sets))
