"""Nomogram of a fitted model, for plots; pages use the same record."""

from __future__ import annotations

from baytree.base.predictor import Predictor
from baytree.rendering.page.model_views import NomogramView
from baytree.reporting.coefficients import MAX_NOMOGRAM_COLUMNS, nomograms
from baytree.reporting.subject import ReportSubject


def nomogram_of(predictor: Predictor) -> NomogramView:
    """Nomogram of two classes; raises ValueError for a model that has none."""
    schema, terms = predictor.schema, getattr(predictor.model, "terms", ())
    if len(schema.classes) != 2:
        raise ValueError("plot_nomogram needs two classes; use plot for the curves of one column after the other")
    if any(len(term.columns) > 1 for term in terms):
        raise ValueError("plot_nomogram: pairs of columns have no scale of their own; fit with interactions=0")
    found = nomograms(ReportSubject.of(predictor, None))
    if not found:
        raise ValueError(
            f"plot_nomogram needs a profile of the training rows and 2 to {MAX_NOMOGRAM_COLUMNS} columns with values; fit "
            "with profile=True, and leave out columns"
        )
    return found[0]
