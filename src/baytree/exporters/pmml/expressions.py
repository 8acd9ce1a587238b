"""Formula expressions as derived fields of PMML: a vector has one field per class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element

import msgspec

from baytree.data.schema.column import Kind
from baytree.exporters.pmml import functions
from baytree.exporters.pmml.dates import part
from baytree.exporters.pmml.elements import (
    OURS,
    added,
    apply,
    build_element,
    compared,
    discretized,
    field,
    if_else,
    mapped,
    mapped_texts,
    multiplied,
    number,
    terms_of,
)
from baytree.exporters.pmml.trees import mixed
from baytree.formula import Formula
from baytree.formula.builder import required_steps, width, widths
from baytree.formula.expressions import (
    Apply,
    Case,
    Compare,
    Constant,
    Expression,
    FirstHighest,
    Greatest,
    Highest,
    Kernels,
    Known,
    LogDensity,
    LogRising,
    Lookup,
    Matching,
    Named,
    Number,
    Pick,
    Product,
    Quotient,
    Route,
    Smallest,
    Softmax,
    Spread,
    Sum,
    Total,
)
from baytree.formula.inputs import PER_DAY, Input, WeightedSum, in_cases
from baytree.formula.limits import MAX_JOINT_CELLS, MINUS_INFINITY


class Fields:
    """Writes values as derived fields (`derived`), each under a unique name."""

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        self.widths = widths(formula)
        self.derived: list[Element] = []
        self._steps: dict[int, list[Element]] = {}
        self._codes: dict[int, str] = {}
        self.formula = msgspec.structs.replace(formula, columns=tuple(map(self._column, formula.columns)))

    def _column(self, column: Input) -> Input:
        """Input under the name of its field; a part of a date, or the level of a boolean, is derived first."""
        if column.is_boolean:
            names = {text: str(column.levels[code]) for text, code in in_cases(column).items()}
            return msgspec.structs.replace(column, name=self._named(column.name, names))
        if not column.part:
            return column
        derived = part(self, column.given, PER_DAY[column.unit or "us"], column.part).get("field", "")
        if column.part == "weekday":
            derived = self._named(derived, {repr(float(code)): str(level) for code, level in enumerate(column.levels)})
        return msgspec.structs.replace(column, name=derived)

    def _named(self, of: str, levels: Mapping[str, str]) -> str:
        """Name of a derived field that holds the level for each value of a field."""
        name = f"{OURS}{len(self.derived) + 1}"
        self.derived.append(
            build_element("DerivedField", (mapped_texts(of, levels),), name=name, optype="categorical", dataType="string")
        )
        return name

    def run(self) -> None:
        """Compute the steps that the predictions need."""
        for k in required_steps(self.formula):
            self._steps[k] = self._store_all(self.vector(self.formula.steps[k].value))

    def store(self, value: Element) -> Element:
        """Reference to a derived field that holds a value; constants and field references are returned unchanged."""
        if value.tag in ("FieldRef", "Constant"):
            return value
        name = f"{OURS}{len(self.derived) + 1}"
        self.derived.append(build_element("DerivedField", (value,), name=name, optype="continuous", dataType="double"))
        return field(name)

    def tested(self) -> tuple[Input, ...]:
        """Inputs that tree tests read: the columns, then the weighted sums as derived fields."""
        return (*self.formula.columns, *map(self._sum, self.formula.made))

    def _sum(self, build_element: WeightedSum) -> Input:
        terms = zip(build_element.columns, build_element.weights, strict=True)
        parts = [multiplied([number(weight), field(self.formula.columns[j].name)]) for j, weight in terms]
        total = self.store(terms_of("+", parts))  # the function `sum` would skip missing values
        return Input(total.get("field", ""), Kind.NUMERIC, domain="any")

    def vector(self, expression: Expression) -> list[Element]:
        """Elements of a value: one per class, or one."""
        match expression:
            case Named(step):
                return self._steps[step]
            case Softmax(of):
                return functions.softmax(self, self._store_all(self.vector(of)))
            case Spread(tree, table):
                return mixed(self.formula.trees[tree], table, self.tested(), self)
            case Matching():
                return self._matched(expression)
            case Kernels(of, classes):
                functions.check_kernels(expression)
                x = self.store(self.element(of, 0))
                return [functions.kernel_sum(self, bumps, x) for bumps in classes]
        return [self.element(expression, k) for k in range(width(expression, self.widths))]

    def element(self, expression: Expression, k: int) -> Element:
        """Element `k` of a value; a number is the same for every k."""
        match expression:
            case Constant(values):
                return number(values[k % len(values)])
            case Named(step):
                return self._steps[step][k % len(self._steps[step])]
            case Number(column):
                return field(self.formula.columns[column].name)
            case Sum(of):
                return added([self.element(each, k) for each in of])
            case Product(of):
                return multiplied([self.element(each, k) for each in of])
            case Quotient(above, below):
                return apply("/", self.element(above, k), self.element(below, k))
            case Smallest(of) | Greatest(of):
                name = "min" if isinstance(expression, Smallest) else "max"
                return apply(name, *(self.element(each, k) for each in of))
            case Case(whens, otherwise):
                result = self.element(otherwise, k)
                for when in reversed(whens):
                    result = if_else(self._holds(when.condition, k), self.element(when.value, k), result)
                return result
        return self._call(expression, k)

    def _call(self, expression: Expression, k: int) -> Element:
        match expression:
            case Lookup(column, table, missing, cuts):
                k %= len(missing)  # a single number holds for every class
                return self._looked_up(column, [row[k] for row in table], missing[k], cuts)
            case Pick(of, table):
                index = self.store(self.element(of, 0)).get("field")
                rows = {repr(float(n)): row[k % len(row)] for n, row in enumerate(table)}
                return number(table[0][k % len(table[0])]) if index is None else mapped(index, rows)
            case Route(tree):
                return field(f"{OURS}tree {tree}")
            case Total(of):
                return added(self._store_all(self.vector(of)))
            case Highest(of):
                return apply("max", *self._store_all(self.vector(of)))
            case FirstHighest(of):
                return functions.first_highest(self, self._store_all(self.vector(of)))
            case Apply(function, of):
                return functions.applied(function, self.store(self.element(of, k)))
            case LogDensity(of=of):
                return functions.log_density(self, expression, k, self.store(self.element(of, k)))
            case LogRising(shape, amount):
                return functions.log_rising(self, self.element(shape, k), self.store(self.element(amount, k)))
            case Softmax() | Spread() | Matching() | Kernels():
                value = self.vector(expression)
                return value[k % len(value)]
        raise TypeError(f"PMML has no {type(expression).__name__}")

    def _store_all(self, values: Sequence[Element]) -> list[Element]:
        return [self.store(value) for value in values]

    def _holds(self, condition: Known | Compare, k: int) -> Element:
        if isinstance(condition, Known):
            return apply("isNotMissing", field(self.formula.columns[condition.column].name))
        left, right = self.element(condition.left, k), self.element(condition.right, k)
        if condition.relation == "==" and condition.right == Constant((-float("inf"),)):
            return compared(left, "<=", number(MINUS_INFINITY / 10))
        return compared(left, condition.relation, right)

    def _looked_up(self, j: int, values: list[float], missing: float, cuts: Sequence[float]) -> Element:
        column = self.formula.columns[j]
        if column.kind is Kind.NUMERIC:
            return discretized(column.name, cuts, values, missing)
        if not column.levels:
            return number(missing)
        return mapped(self.code(j), {repr(float(code)): value for code, value in enumerate(values)}, missing)

    def code(self, j: int) -> str:
        """Name of the field that holds the code of a level, −1 if it is missing or did not occur in training."""
        if j not in self._codes:
            column = self.formula.columns[j]
            codes = mapped(column.name, {str(level): float(code) for code, level in enumerate(column.levels)}, -1.0)
            self._codes[j] = self.store(codes).get("field", "")
        return self._codes[j]

    def _matched(self, matching: Matching) -> list[Element]:
        if len(matching.codes) > MAX_JOINT_CELLS:
            raise ValueError(
                f"PMML: a joint table of more than {MAX_JOINT_CELLS:,} combinations makes the file too long; export to "
                "Python or C"
            )
        x = [field(self.code(j)) for j in matching.columns]
        is_missing = [self.store(if_else(compared(each, "<", number(0.0)), number(1.0), number(0.0))) for each in x]
        n_possible = [
            if_else(compared(u, "==", number(1.0)), number(float(n)), number(1.0))
            for u, n in zip(is_missing, matching.n_levels, strict=True)
        ]
        start = self.store(multiplied([number(matching.added), *n_possible]))
        parts: list[list[Element]] = [[start] for _ in range(matching.n_classes)]
        for codes, label, weight in zip(matching.codes, matching.classes, matching.weight, strict=True):
            parts[label].append(if_else(_agrees(x, codes), number(weight), number(0.0)))
        return [added(each) for each in parts]


def _agrees(x: Sequence[Element], codes: Sequence[int]) -> Element:
    """Condition that every code equals that of a combination or is missing."""
    conditions = [
        apply("or", compared(each, "<", number(0.0)), compared(each, "==", number(float(code))))
        for each, code in zip(x, codes, strict=True)
    ]
    return conditions[0] if len(conditions) == 1 else apply("and", *conditions)
