"""C5.0's trees and rule sets as formulas, the expressions that exporters print.

A trial becomes the probabilities of its leaf, or the votes of the rules that hold; several trials add their votes.
Rules that hold or fail are the numbers 1 and 0. A tree with soft thresholds is unrolled into an expression per node,
from the leaves up.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from baytree.data.schema.schema import Schema
from baytree.formula import Formula
from baytree.formula.builder import FormulaBuilder, constant, matrix, near
from baytree.formula.expressions import (
    Apply,
    Case,
    Compare,
    Constant,
    Expression,
    FirstHighest,
    Greatest,
    Highest,
    Known,
    Lookup,
    Named,
    Pick,
    Product,
    Quotient,
    Smallest,
    Spread,
    Sum,
    Total,
    When,
)
from baytree.formula.inputs import FormulaNode, class_names, inputs
from baytree.tree.boosting.rule_votes import RuleTrials, VotingRule, VotingRules
from baytree.tree.boosting.tree_votes import PROPORTION_GRID, TreeTrials, node_proportions, prior
from baytree.tree.model.conditions import Condition, ValueRange
from baytree.tree.model.formula import nodes_of
from baytree.tree.model.tree import Tree


def tree_trials(model: TreeTrials, schema: Schema) -> Formula:
    """Formula of C5.0 trees: smoothed proportions of a single tree, or vote proportions of several."""
    steps, nodes = FormulaBuilder(schema), []
    trials = []
    for k, tree in enumerate(model.trees):
        nodes.append(nodes_of(tree, schema))
        trials.append(_Trial(steps, model, k).voted())
    return _formula(model.title, steps, trials, model.first_class, tuple(nodes))


def rule_trials(model: RuleTrials, schema: Schema) -> Formula:
    """Formula of C5.0 rules: confidence in each class of a single set, or vote proportions of several sets."""
    steps = FormulaBuilder(schema)
    trials = [of_rules(steps, rules) for rules in model.sets]
    return _formula(model.title, steps, trials, model.sets[0].default, ())


def _formula(
    title: str, steps: FormulaBuilder, trials: Sequence[Voted], first: int, trees: tuple[tuple[FormulaNode, ...], ...]
) -> Formula:
    schema = steps.schema
    values, choice, _ = trials[0]
    if len(trials) > 1:
        votes = steps.add_step(Sum(tuple(vote for _, _, vote in trials)))
        values, choice = steps.add_step(Quotient(votes, Total(votes))), leading(votes, first, len(schema.classes))[0]
    columns = inputs(schema, "any")
    return Formula(title, columns, schema.target.name, class_names(schema), values, choice, tuple(steps.done), trees)


class _Trial:
    """Builds the expressions of one tree."""

    def __init__(self, steps: FormulaBuilder, model: TreeTrials, k: int) -> None:
        self.steps, self.model, self.k, self.tree = steps, model, k, model.trees[k]
        self.n_classes = self.tree.n_classes

    def voted(self) -> Voted:
        """Smoothed proportions, the predicted class (of most weight or least cost), and the vote for it."""
        node_table = node_proportions(self.tree)
        plain, weight = self._mixture(node_table[:, :-1]), self._mixture(node_table[:, -1:])
        smooth = Quotient(Sum((Product((weight, plain)), constant(prior(self.tree)))), Sum((weight, ONE)))
        smoothed = self.steps.add_step(smooth)
        values = self.steps.add_step(Quotient(smoothed, Total(smoothed)))
        choice, chosen = self._choice(self._compared(plain))
        return values, choice, self._vote(values, plain, self.steps.add_step(chosen))

    def _mixture(self, table: np.ndarray) -> Named:
        """Σ weight · row of `table` over the nodes that a row reaches."""
        if not self.model.soft:
            return self.steps.add_step(Spread(self.k, matrix(table)))
        return unrolled(self.steps, self.tree, self.model.soft[self.k], table)

    def _compared(self, plain: Named) -> Named:
        """Proportions as they are compared: with soft thresholds rounded, so that the order of summation does not matter."""
        return self.steps.add_step(Apply("round", Product((plain, constant(PROPORTION_GRID))))) if self.model.soft else plain

    def _choice(self, plain: Named) -> tuple[Expression, Expression]:
        """Predicted class by its index, and as a one-hot vector."""
        if self.model.costs is None:
            return leading(plain, int(self.tree.prediction[0]), self.n_classes)
        cheapest = FirstHighest(self.steps.add_step(self._gains(plain)))
        return cheapest, Pick(cheapest, matrix(np.eye(self.n_classes)))

    def _expected(self, plain: Named) -> Expression:
        """Expected cost of predicting each class."""
        costs = np.zeros((self.n_classes, self.n_classes)) if self.model.costs is None else self.model.costs
        proportions = [Total(Product((plain, constant(unit)))) for unit in np.eye(self.n_classes)]
        return Sum(tuple(Product((proportion, constant(costs[:, true]))) for true, proportion in enumerate(proportions)))

    def _gains(self, plain: Named) -> Expression:
        """Minus the expected costs; a class without support cannot be chosen."""
        units = np.eye(self.n_classes)
        excluded = tuple(_penalty_without_support(plain, unit) for unit in units)
        return Sum((Product((MINUS, self.steps.add_step(self._expected(plain)))), *excluded))

    def _vote(self, predictions: Named, plain: Named, chosen: Named) -> Expression:
        if self.model.costs is None or len(self.model.trees) == 1:
            return Product((chosen, predictions))
        expected = self.steps.add_step(self._expected(plain))
        certainty = complement(Quotient(Total(Product((chosen, expected))), Total(expected)))
        return Product((chosen, Case((When(Compare(Total(expected), ">", ZERO), certainty),), ONE)))


def _penalty_without_support(plain: Named, unit: np.ndarray) -> Expression:
    """0 for a class with support, −1e300 for a class without."""
    proportion = Total(Product((plain, constant(unit))))
    return Case((When(Compare(proportion, ">", ZERO), constant(0.0 * unit)),), constant(-1e300 * unit))


def of_rules(steps: FormulaBuilder, rules: VotingRules) -> Voted:
    """Class proportions of the rules that hold, the class of most votes, and the vote for it."""
    n, units = len(steps.schema.classes), np.eye(len(steps.schema.classes))
    holds = [steps.add_step(_rule_holds(rule, steps.schema)) for rule in rules]
    firing = steps.add_step(Sum((ZERO, *holds)))
    voters = [
        Product((hold, constant(rule.thousandths * units[rule.label]))) for hold, rule in zip(holds, rules, strict=True)
    ]
    votes = steps.add_step(Quotient(Sum((constant(np.zeros(n)), *voters)), Constant((1000.0,))))
    by_class = (Product((_specific(rules, holds, c), constant(units[c]))) for c in range(n))
    specific = steps.add_step(Sum((constant(np.zeros(n)), *by_class)))
    choice, is_chosen = leading(votes, rules.default, n)
    mean = steps.add_step(Quotient(votes, Greatest((firing, ONE))))
    chosen = steps.add_step(is_chosen)
    winner = Product((chosen, Greatest((specific, mean))))
    confidence = steps.add_step(Sum((winner, Product((complement(chosen), Smallest((specific, mean)))))))
    none = Compare(firing, "<", HALF)
    uninformed = np.full(n, 1.0 / n) if len(rules) or rules.proportions is None else rules.proportions
    predictions = steps.add_step(Case((When(none, constant(uninformed)),), Quotient(confidence, Total(confidence))))
    winner_vote = steps.add_step(Total(winner))
    vote = Case((When(Compare(winner_vote, ">", ZERO), winner_vote),), HALF)
    return predictions, choice, Product((chosen, vote))


def _specific(rules: VotingRules, holds: Sequence[Named], label: int) -> Expression:
    """Vote of the most specific rule of a class that holds, 0 if none does."""
    order = sorted(range(len(rules)), key=lambda k: (-rules[k].cover, rules[k].vote), reverse=True)
    whens = [When(Compare(holds[k], ">", HALF), constant(rules[k].vote)) for k in order if rules[k].label == label]
    return Case(tuple(whens), ZERO) if whens else ZERO


def _rule_holds(rule: VotingRule, schema: Schema) -> Expression:
    """1 if all conditions hold, else 0."""
    return Product((ONE, *(_condition(each, schema) for each in rule.conditions)))


def _condition(condition: Condition, schema: Schema) -> Lookup:
    missing = (float(condition.missing),)
    if not isinstance(condition.allowed, ValueRange):
        # numeric columns have no codes; their condition allows only missing values
        codes = range(len(schema.columns[condition.column].levels)) or range(1)
        return Lookup(condition.column, tuple((float(code in condition.allowed),) for code in codes), missing)
    edges, passes = _edges(condition.allowed)
    return Lookup(condition.column, tuple((each,) for each in passes), missing, edges)


def _edges(allowed: ValueRange) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Thresholds of a lookup, in which a number equal to a threshold is below it, and whether each interval passes."""
    low = np.nextafter(allowed.low, -inf) if allowed.from_low else allowed.low
    high = np.nextafter(allowed.high, -inf) if allowed.below_high else allowed.high
    cuts: list[float] = []
    passes = [1.0]
    if allowed.low > -inf or allowed.from_low:
        cuts, passes = [float(low)], [0.0, 1.0]
    if allowed.high < inf or allowed.below_high:
        cuts, passes = [*cuts, float(high)], [*passes, 0.0]
    return tuple(cuts), tuple(passes)


ZERO, HALF, ONE, MINUS = Constant((0.0,)), Constant((0.5,)), Constant((1.0,)), Constant((-1.0,))

Voted = tuple[Expression, Expression, Expression]  # probabilities of a single trial, its choice, its vote for each class


def leading(votes: Expression, first: int, n_classes: int) -> tuple[Expression, Expression]:
    """Class of most votes, `first` unless another has more: its index, and a one-hot vector."""
    units, index = np.eye(n_classes), FirstHighest(votes)
    is_beaten = Compare(Highest(votes), ">", Total(Product((votes, constant(units[first])))))
    choice = Case((When(is_beaten, index),), Constant((float(first),)))
    return choice, Case((When(is_beaten, Pick(index, matrix(units))),), constant(units[first]))


def complement(proportion: Expression) -> Expression:
    """1 − share."""
    return Sum((ONE, Product((MINUS, proportion))))


def unrolled(steps: FormulaBuilder, tree: Tree, soft: np.ndarray, table: np.ndarray) -> Named:
    """Values of the nodes of a tree with soft thresholds, from the leaves up."""
    value: dict[int, Expression] = {}
    for node in range(len(tree) - 1, -1, -1):
        if tree.column[node] < 0:
            value[node] = constant(table[node])
        else:
            value[node] = steps.add_step(_inner(tree, node, soft[node], value))
    return value[0] if isinstance(value[0], Named) else steps.add_step(value[0])


def _inner(tree: Tree, node: int, soft: np.ndarray, value: dict[int, Expression]) -> Expression:
    column, children = int(tree.column[node]), range(tree.first[node], tree.first[node] + tree.branches[node])
    spread = Sum(tuple(Product((constant(tree.share[c]), value[c])) for c in children if tree.share[c] > 0))
    if tree.levels[node]:
        branch_of = tree.branch_of[tree.start[node] : tree.start[node] + tree.levels[node]]
        parts = [Product((_is_level(column, branch_of == b), value[c])) for b, c in enumerate(children)]
        is_known = Sum((_is_level(column, branch_of >= 0), ZERO))
        return Case((When(Compare(is_known, ">", ZERO), Sum(tuple(parts))),), spread)
    weight_below = _weight_below(column, *soft.tolist())
    mixed = Sum((Product((weight_below, value[children[0]])), Product((complement(weight_below), value[children[1]]))))
    return Case((When(Known(column), mixed),), spread)


def _is_level(column: int, selected: np.ndarray) -> Lookup:
    return Lookup(column, tuple((float(each),) for each in selected), (0.0,))


def _weight_below(column: int, low: float, middle: float, high: float, grid: float) -> Expression:
    """Weight of the branch below a soft threshold: 1 up to the low bound, ½ at the middle, 0 from the high bound on."""
    x = near(column, low, high, high - low + 4 * grid)
    if grid > 0:
        x = Product((Apply("round", Quotient(x, constant(grid))), constant(grid)))
    falling = Quotient(Product((HALF, Sum((x, constant(-low))))), constant(middle - low))
    upper_part = Quotient(Product((HALF, Sum((constant(high), Product((MINUS, x)))))), constant(high - middle))
    whens = [When(Compare(x, "<=", constant(low)), ONE), When(Compare(x, ">=", constant(high)), ZERO)]
    if middle > low:
        whens.append(When(Compare(x, "<=", constant(middle)), complement(falling)))
    return Case(tuple(whens), upper_part if high > middle else ZERO)
