"""C5.0's models as formulas: the mixture where a row comes to rest, or the rules that hold, and votes that are added."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from baytree.formula import Formula
from baytree.formula.expressions import (
    Apply,
    Case,
    Compare,
    Expression,
    FirstHighest,
    Named,
    Pick,
    Product,
    Quotient,
    Spread,
    Sum,
    Total,
    When,
)
from baytree.formula.inputs import class_names, inputs
from baytree.formula.node_table import Node
from baytree.formula.steps import Steps, constant, matrix
from baytree.table.schema import Schema
from baytree.tree.boost.rule_formula import of_rules
from baytree.tree.boost.rules import RuleTrials
from baytree.tree.boost.soft_formula import unrolled
from baytree.tree.boost.vote_formula import MINUS, ONE, ZERO, Voted, complement, leading
from baytree.tree.boost.voting_trees import FINE, TreeTrials, prior, told
from baytree.tree.formula import nodes_of


def tree_trials(model: TreeTrials, schema: Schema) -> Formula:
    """The smoothed shares of one tree, or the shares of the votes of several."""
    steps, nodes = Steps(schema), []
    trials = []
    for k, tree in enumerate(model.trees):
        nodes.append(nodes_of(tree, schema))
        trials.append(_Trial(steps, model, k).voted())
    return _formula(model.title, steps, trials, model.first_class, tuple(nodes))


def rule_trials(model: RuleTrials, schema: Schema) -> Formula:
    """How sure the rules that hold are of each class, or the shares of the votes of several sets."""
    steps = Steps(schema)
    trials = [of_rules(steps, rules) for rules in model.sets]
    return _formula(model.title, steps, trials, model.sets[0].default, ())


def _formula(title: str, steps: Steps, trials: Sequence[Voted], first: int, trees: tuple[tuple[Node, ...], ...]) -> Formula:
    schema = steps.schema
    answers, choice, _ = trials[0]
    if len(trials) > 1:
        votes = steps.keep(Sum(tuple(vote for _, _, vote in trials)))
        answers, choice = steps.keep(Quotient(votes, Total(votes))), leading(votes, first, len(schema.classes))[0]
    columns = inputs(schema, "any")
    return Formula(title, columns, schema.target.name, class_names(schema), answers, choice, tuple(steps.done), trees)


class _Trial:
    """The steps of one tree."""

    def __init__(self, steps: Steps, model: TreeTrials, k: int) -> None:
        self.steps, self.model, self.k, self.tree = steps, model, k, model.trees[k]
        self.n_classes = self.tree.n_classes

    def voted(self) -> Voted:
        """The smoothed shares, the class of most weight or of least cost, and the vote for it."""
        table = told(self.tree)
        plain, weight = self._mixture(table[:, :-1]), self._mixture(table[:, -1:])
        smooth = Quotient(Sum((Product((weight, plain)), constant(prior(self.tree)))), Sum((weight, ONE)))
        kept = self.steps.keep(smooth)
        answers = self.steps.keep(Quotient(kept, Total(kept)))
        choice, chosen = self._choice(self._compared(plain))
        return answers, choice, self._vote(answers, plain, self.steps.keep(chosen))

    def _mixture(self, table: np.ndarray) -> Named:
        """Σ share · row over the nodes that parts of a row reach."""
        if not self.model.soft:
            return self.steps.keep(Spread(self.k, matrix(table)))
        return unrolled(self.steps, self.tree, self.model.soft[self.k], table)

    def _compared(self, plain: Named) -> Named:
        """The shares as they are compared: soft ones in fine steps, whatever the order of their sums."""
        return self.steps.keep(Apply("round", Product((plain, constant(FINE))))) if self.model.soft else plain

    def _choice(self, plain: Named) -> tuple[Expression, Expression]:
        """The class by its place, and 1 for it beside 0 for the others."""
        if self.model.costs is None:
            return leading(plain, int(self.tree.prediction[0]), self.n_classes)
        cheapest = FirstHighest(self.steps.keep(self._gains(plain)))
        return cheapest, Pick(cheapest, matrix(np.eye(self.n_classes)))

    def _expected(self, plain: Named) -> Expression:
        """The expected cost of each class."""
        costs = np.zeros((self.n_classes, self.n_classes)) if self.model.costs is None else self.model.costs
        shares = [Total(Product((plain, constant(unit)))) for unit in np.eye(self.n_classes)]
        return Sum(tuple(Product((share, constant(costs[:, true]))) for true, share in enumerate(shares)))

    def _gains(self, plain: Named) -> Expression:
        """Minus the expected costs; a class that no row supports is out."""
        units = np.eye(self.n_classes)
        out = tuple(_unless_shared(plain, unit) for unit in units)
        return Sum((Product((MINUS, self.steps.keep(self._expected(plain)))), *out))

    def _vote(self, answers: Named, plain: Named, chosen: Named) -> Expression:
        if self.model.costs is None or len(self.model.trees) == 1:
            return Product((chosen, answers))
        expected = self.steps.keep(self._expected(plain))
        sure = complement(Quotient(Total(Product((chosen, expected))), Total(expected)))
        return Product((chosen, Case((When(Compare(Total(expected), ">", ZERO), sure),), ONE)))


def _unless_shared(plain: Named, unit: np.ndarray) -> Expression:
    """Nothing for a class that a part of the row supports, and what no cost reaches for another."""
    share = Total(Product((plain, constant(unit))))
    return Case((When(Compare(share, ">", ZERO), constant(0.0 * unit)),), constant(-1e300 * unit))
