"""C5.0's models as formulas: the mixture where a row comes to rest, or the rules that hold, and votes that are added.

A rule set as expressions: rules that hold or not, as 1 and 0, and what their votes come to.

Votes as expressions: who leads, and the numbers that all of C5.0's formulas share.

A tree with soft thresholds as an expression: the value of every node from those of its branches, from the leaves up.
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
from baytree.tree.boosting.tree_votes import FINE, TreeTrials, prior, told
from baytree.tree.model.conditions import Condition, ValueRange
from baytree.tree.model.formula import nodes_of
from baytree.tree.model.tree import Tree


def tree_trials(model: TreeTrials, schema: Schema) -> Formula:
    """The smoothed shares of one tree, or the shares of the votes of several."""
    steps, nodes = FormulaBuilder(schema), []
    trials = []
    for k, tree in enumerate(model.trees):
        nodes.append(nodes_of(tree, schema))
        trials.append(_Trial(steps, model, k).voted())
    return _formula(model.title, steps, trials, model.first_class, tuple(nodes))


def rule_trials(model: RuleTrials, schema: Schema) -> Formula:
    """How sure the rules that hold are of each class, or the shares of the votes of several sets."""
    steps = FormulaBuilder(schema)
    trials = [of_rules(steps, rules) for rules in model.sets]
    return _formula(model.title, steps, trials, model.sets[0].default, ())


def _formula(
    title: str, steps: FormulaBuilder, trials: Sequence[Voted], first: int, trees: tuple[tuple[FormulaNode, ...], ...]
) -> Formula:
    schema = steps.schema
    answers, choice, _ = trials[0]
    if len(trials) > 1:
        votes = steps.add_step(Sum(tuple(vote for _, _, vote in trials)))
        answers, choice = steps.add_step(Quotient(votes, Total(votes))), leading(votes, first, len(schema.classes))[0]
    columns = inputs(schema, "any")
    return Formula(title, columns, schema.target.name, class_names(schema), answers, choice, tuple(steps.done), trees)


class _Trial:
    """The steps of one tree."""

    def __init__(self, steps: FormulaBuilder, model: TreeTrials, k: int) -> None:
        self.steps, self.model, self.k, self.tree = steps, model, k, model.trees[k]
        self.n_classes = self.tree.n_classes

    def voted(self) -> Voted:
        """The smoothed shares, the class of most weight or of least cost, and the vote for it."""
        table = told(self.tree)
        plain, weight = self._mixture(table[:, :-1]), self._mixture(table[:, -1:])
        smooth = Quotient(Sum((Product((weight, plain)), constant(prior(self.tree)))), Sum((weight, ONE)))
        kept = self.steps.add_step(smooth)
        answers = self.steps.add_step(Quotient(kept, Total(kept)))
        choice, chosen = self._choice(self._compared(plain))
        return answers, choice, self._vote(answers, plain, self.steps.add_step(chosen))

    def _mixture(self, table: np.ndarray) -> Named:
        """Σ share · row over the nodes that parts of a row reach."""
        if not self.model.soft:
            return self.steps.add_step(Spread(self.k, matrix(table)))
        return unrolled(self.steps, self.tree, self.model.soft[self.k], table)

    def _compared(self, plain: Named) -> Named:
        """The shares as they are compared: soft ones in fine steps, whatever the order of their sums."""
        return self.steps.add_step(Apply("round", Product((plain, constant(FINE))))) if self.model.soft else plain

    def _choice(self, plain: Named) -> tuple[Expression, Expression]:
        """The class by its place, and 1 for it beside 0 for the others."""
        if self.model.costs is None:
            return leading(plain, int(self.tree.prediction[0]), self.n_classes)
        cheapest = FirstHighest(self.steps.add_step(self._gains(plain)))
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
        return Sum((Product((MINUS, self.steps.add_step(self._expected(plain)))), *out))

    def _vote(self, answers: Named, plain: Named, chosen: Named) -> Expression:
        if self.model.costs is None or len(self.model.trees) == 1:
            return Product((chosen, answers))
        expected = self.steps.add_step(self._expected(plain))
        sure = complement(Quotient(Total(Product((chosen, expected))), Total(expected)))
        return Product((chosen, Case((When(Compare(Total(expected), ">", ZERO), sure),), ONE)))


def _unless_shared(plain: Named, unit: np.ndarray) -> Expression:
    """Nothing for a class that a part of the row supports, and what no cost reaches for another."""
    share = Total(Product((plain, constant(unit))))
    return Case((When(Compare(share, ">", ZERO), constant(0.0 * unit)),), constant(-1e300 * unit))


def of_rules(steps: FormulaBuilder, rules: VotingRules) -> Voted:
    """The shares that the rules which hold come to, the class of most votes, and the vote for it."""
    n, units = len(steps.schema.classes), np.eye(len(steps.schema.classes))
    holds = [steps.add_step(_holds(rule, steps.schema)) for rule in rules]
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
    sure = steps.add_step(Sum((winner, Product((complement(chosen), Smallest((specific, mean)))))))
    none = Compare(firing, "<", HALF)
    unsure = np.full(n, 1.0 / n) if len(rules) or rules.proportions is None else rules.proportions
    answers = steps.add_step(Case((When(none, constant(unsure)),), Quotient(sure, Total(sure))))
    own = steps.add_step(Total(winner))
    doubted = Case((When(Compare(own, ">", ZERO), own),), HALF)
    return answers, choice, Product((chosen, doubted))


def _specific(rules: VotingRules, holds: Sequence[Named], label: int) -> Expression:
    """The vote of the most specific rule of a class that holds, 0 where none does."""
    order = sorted(range(len(rules)), key=lambda k: (-rules[k].cover, rules[k].vote), reverse=True)
    whens = [When(Compare(holds[k], ">", HALF), constant(rules[k].vote)) for k in order if rules[k].label == label]
    return Case(tuple(whens), ZERO) if whens else ZERO


def _holds(rule: VotingRule, schema: Schema) -> Expression:
    """1 where all conditions hold, 0 elsewhere."""
    return Product((ONE, *(_condition(each, schema) for each in rule.conditions)))


def _condition(condition: Condition, schema: Schema) -> Lookup:
    missing = (float(condition.missing),)
    if not isinstance(condition.allowed, ValueRange):
        codes = range(len(schema.columns[condition.column].levels)) or range(1)  # of numbers only missing ones are asked for
        return Lookup(condition.column, tuple((float(code in condition.allowed),) for code in codes), missing)
    edges, passes = _edges(condition.allowed)
    return Lookup(condition.column, tuple((each,) for each in passes), missing, edges)


def _edges(allowed: ValueRange) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Cuts as a lookup reads them, where a number that equals a cut lies below it, and which pieces pass."""
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

Voted = tuple[Expression, Expression, Expression]  # the answers of a trial alone, its choice, its vote for each class


def leading(votes: Expression, first: int, n_classes: int) -> tuple[Expression, Expression]:
    """The first class with most votes, `first` unless another has more; by its place, and as 1 beside 0 for the others."""
    units, place = np.eye(n_classes), FirstHighest(votes)
    is_beaten = Compare(Highest(votes), ">", Total(Product((votes, constant(units[first])))))
    choice = Case((When(is_beaten, place),), Constant((float(first),)))
    return choice, Case((When(is_beaten, Pick(place, matrix(units))),), constant(units[first]))


def complement(share: Expression) -> Expression:
    """1 − share."""
    return Sum((ONE, Product((MINUS, share))))


def unrolled(steps: FormulaBuilder, tree: Tree, soft: np.ndarray, table: np.ndarray) -> Named:
    """The value of every node from those of its branches, the last first."""
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
        taken = tree.branch_of[tree.start[node] : tree.start[node] + tree.levels[node]]
        parts = [Product((_is_level(column, taken == b), value[c])) for b, c in enumerate(children)]
        known = Sum((_is_level(column, taken >= 0), ZERO))
        return Case((When(Compare(known, ">", ZERO), Sum(tuple(parts))),), spread)
    below = _share_below(column, *soft.tolist())
    mixed = Sum((Product((below, value[children[0]])), Product((complement(below), value[children[1]]))))
    return Case((When(Known(column), mixed),), spread)


def _is_level(column: int, taken: np.ndarray) -> Lookup:
    return Lookup(column, tuple((float(each),) for each in taken), (0.0,))


def _share_below(column: int, low: float, middle: float, high: float, grid: float) -> Expression:
    """1 up to the low bound, ½ at the middle, 0 from the high bound on."""
    x = near(column, low, high, high - low + 4 * grid)
    if grid > 0:
        x = Product((Apply("round", Quotient(x, constant(grid))), constant(grid)))
    falling = Quotient(Product((HALF, Sum((x, constant(-low))))), constant(middle - low))
    rest = Quotient(Product((HALF, Sum((constant(high), Product((MINUS, x)))))), constant(high - middle))
    whens = [When(Compare(x, "<=", constant(low)), ONE), When(Compare(x, ">=", constant(high)), ZERO)]
    if middle > low:
        whens.append(When(Compare(x, "<=", constant(middle)), complement(falling)))
    return Case(tuple(whens), rest if high > middle else ZERO)
