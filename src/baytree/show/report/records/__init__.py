"""What stands on a page: a record for each section, of names and numbers only. `page.SECTIONS` has the template of each."""

from __future__ import annotations

from typing import Any

import msgspec

from baytree.show.report.records.comparison_views import LeaderboardView
from baytree.show.report.records.difference_views import ChangesView, FlipsView
from baytree.show.report.records.distribution_views import EllipsesView, JointView
from baytree.show.report.records.hybrid_views import BayesLeavesView
from baytree.show.report.records.interactive_views import AskView, BoundaryView, ImpurityView, RowsView, WhatIfView
from baytree.show.report.records.model_views import (
    BayesView,
    CoefficientsView,
    DrawingView,
    NomogramView,
    ProseView,
    RulesView,
    TreeView,
)
from baytree.show.report.records.spline_views import FunctionsView
from baytree.show.report.records.table_views import Overview, TableView
from baytree.show.report.records.vote_views import TrialsView, VotingRulesView

Section = (
    Overview | TableView | TreeView | RulesView | BayesView | CoefficientsView | NomogramView | ProseView | WhatIfView
    | AskView | BoundaryView | ImpurityView | RowsView | LeaderboardView | FunctionsView
    | VotingRulesView | TrialsView | EllipsesView | JointView | DrawingView | BayesLeavesView | ChangesView | FlipsView
)  # fmt: skip


class Page(msgspec.Struct, frozen=True):
    """A whole page: its title, its sections in order, and of each model what scripts read and its formula as JavaScript."""

    title: str
    lead: str
    sections: tuple[Section, ...]
    payloads: tuple[dict[str, Any], ...] = ()
    programs: tuple[str, ...] = ()
    has_rows: bool = False
