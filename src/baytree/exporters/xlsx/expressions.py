"""Formula expressions as formulas of cells: a vector has one cell per class."""

from __future__ import annotations

import math
from collections.abc import Sequence

from baytree.data.schema.column import Kind
from baytree.exporters.xlsx.inputs import InputCells
from baytree.exporters.xlsx.sheets import MAX_LENGTH, Calculation, ModelSheet, number
from baytree.exporters.xlsx.trees import TreeCells
from baytree.formula import Formula
from baytree.formula.builder import required_steps, width, widths
from baytree.formula.expressions import (
    Apply,
    Bag,
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
    OverWords,
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
from baytree.formula.limits import MAX_JOINT_CELLS, MAX_KERNELS, MINUS_INFINITY

_MAX_TERMS = 60  # of a sum, product or list of arguments in one cell

_MAX_CASES = 15  # conditions that are nested in one cell

_FAR = 1e150  # distance from a mean in standard deviations beyond which a square would overflow


class Expressions:
    """Writes values as formulas; what is used again or would be long is stored in cells of its own."""

    def __init__(self, formula: Formula, inputs: InputCells, model: ModelSheet, calculation: Calculation) -> None:
        self.formula, self.inputs, self.model, self.calculation = formula, inputs, model, calculation
        self.widths = widths(formula)
        self.steps: dict[int, list[str]] = {}
        tested = [*inputs.values, *(self._weighted_sum(k) for k in range(len(formula.made)))]
        self.trees = TreeCells(formula.tested, tested, model, calculation)
        self._routes: dict[int, str] = {}

    def run(self) -> None:
        """Compute the steps that the predictions need."""
        for k in required_steps(self.formula):
            step = self.formula.steps[k]
            name = "" if step.effect_of is None else f"effect of {self.formula.columns[step.effect_of].name}"
            self.steps[k] = self.calculation.store_all(self.vector(step.value), name)

    def vector(self, expression: Expression) -> list[str]:
        """Elements of a value: one per class, or one."""
        match expression:
            case Named(step):
                return self.steps[step]
            case Softmax(of):
                return self._softmax(self.stored(of))
            case Spread(tree, table):
                return self.trees.spread(self.formula.trees[tree], table)
            case Matching():
                return self._matched(expression)
        return [self.element(expression, k) for k in range(width(expression, self.widths))]

    def stored(self, expression: Expression) -> list[str]:
        """References to the elements of a value, in cells next to each other."""
        if isinstance(expression, Named):
            return self.steps[expression.step]
        return self.calculation.store_all(self.vector(expression))

    def element(self, expression: Expression, k: int) -> str:
        """Element `k` of a value; a number is the same for every k."""
        match expression:
            case Constant(values):
                return number(values[k % len(values)])
            case Named(step):
                return self.steps[step][k % len(self.steps[step])]
            case Number(column):
                return self.inputs.values[column]
            case Sum(of):
                return self._joined([self.element(each, k) for each in of], "+")
            case Product(of):
                return self._joined([self.element(each, k) for each in of], "*")
            case Quotient(above, below):
                return f"({self._short(above, k)}/{self._short(below, k)})"
            case Smallest(of) | Greatest(of):
                name = "MIN" if isinstance(expression, Smallest) else "MAX"
                return self._listed(name, [self._short(each, k) for each in of])
            case Case():
                return self._case(expression, k)
            case Lookup():
                return self._looked_up(expression, k)
        return self._call(expression, k)

    # --- functions ----------------------------------------------------------------------------------------------------

    def _call(self, expression: Expression, k: int) -> str:
        match expression:
            case Pick(of, table):
                (rows,) = self.model.add("values by node", ("value",), ([row[k % len(row)] for row in table],))
                return f"INDEX({rows},{self.calculation.short(self.element(of, 0))}+1)"
            case Route(tree):
                if tree not in self._routes:
                    self._routes[tree] = self.trees.route(self.formula.trees[tree])
                return self._routes[tree]
            case Total(of):
                return self._listed("SUM", self.stored(of))
            case Highest(of):
                return self._listed("MAX", self.stored(of))
            case FirstHighest(of):
                cells = self.stored(of)
                return f"MATCH(MAX({cells[0]}:{cells[-1]}),{cells[0]}:{cells[-1]},0)-1" if len(cells) > 1 else "0"
            case Apply(function, of):
                return _applied(function, self.calculation.store(self.element(of, k)))
            case LogDensity():
                return self._log_density(expression, k)
            case Kernels():
                return self._kernels(expression, k)
            case Softmax() | Spread() | Matching():
                value = self.vector(expression)
                return value[k % len(value)]
            case LogRising():
                raise ValueError("Excel: differences of log Γ lose digits in a sheet; export to Python, C or SQL")
            case Bag() | OverWords():
                raise ValueError("Excel: a sheet cannot count the words of a text; export to Python, JavaScript or C")
        raise TypeError(f"Excel has no {type(expression).__name__}")

    def _softmax(self, scores: list[str]) -> list[str]:
        highest = self.calculation.store(self._listed("MAX", scores))
        powers = self.calculation.store_all([f"EXP({each}-{highest})" for each in scores])
        total = self.calculation.store(self._listed("SUM", powers))
        return [f"{each}/{total}" for each in powers]

    def _log_density(self, density: LogDensity, k: int) -> str:
        mean, scale, degrees, constant = (
            values[k % len(values)] for values in (density.mean, density.scale, density.degrees, density.constant)
        )
        z = self.calculation.store(f"({self._short(density.of, k)}-{number(mean)})/{number(scale)}")
        if math.isinf(degrees):
            near = f"{number(constant)}-{z}^2/2"
            far = f"-{number(2.0**990)}*(1+LN(ABS({z}))/2048)"
        else:
            near = f"{number(constant)}-{number((degrees + 1) / 2)}*LN(1+{z}^2/{number(degrees)})"
            far = f"{number(constant)}-{number(degrees + 1)}*(LN(ABS({z}))-{number(math.log(degrees) / 2)})"
        return f"IF(ABS({z})<{number(_FAR)},{near},{far})"

    def _kernels(self, kernels: Kernels, k: int) -> str:
        if kernels.precision is not None:
            raise ValueError("Excel: Weka's kernels add up in an order of their own; export to Python or C")
        own = kernels.classes[k % len(kernels.classes)]
        if sum(len(each.centre) for each in kernels.classes) > MAX_KERNELS:
            raise ValueError(f"Excel: more than {MAX_KERNELS:,} kernels make a sheet slow; export to Python or C")
        x = self.calculation.store(self.element(kernels.of, k))
        centres, weights = self.model.add("kernels", ("centre", "weight"), (own.centre, own.weight))
        square = f"(({x}-{centres})/{number(own.width)})^2"
        nearest = self.calculation.store(f"SUMPRODUCT(MIN({square}))")
        total = self.calculation.store(f"SUMPRODUCT({weights},EXP(({nearest}-{square})/2))")
        shift = math.log(own.width * math.sqrt(2 * math.pi) * sum(own.weight))
        return f"LN({total})-{nearest}/2-{number(shift)}"

    def _matched(self, matching: Matching) -> list[str]:
        if len(matching.codes) > MAX_JOINT_CELLS:
            raise ValueError(
                f"Excel: a joint table of more than {MAX_JOINT_CELLS:,} combinations makes a sheet slow; export to Python"
            )
        x = [self.inputs.values[j] for j in matching.columns]
        ways = [f"IF({each}<0,{n},1)" for each, n in zip(x, matching.n_levels, strict=True)]
        start = self.calculation.store(self._joined([number(matching.added), *ways], "*"))
        if not matching.codes:
            return [start] * matching.n_classes
        columns = [[float(codes[k]) for codes in matching.codes] for k in range(len(x))]
        header = [self.formula.columns[j].name for j in matching.columns]
        *ranges, labels, weights = self.model.add(
            "combinations",
            (*header, "class", "weight"),
            (*columns, [float(c) for c in matching.classes], matching.weight),
        )
        agrees = "".join(f",--(({own}={each})+({each}<0)>0)" for own, each in zip(ranges, x, strict=True))
        return [f"{start}+SUMPRODUCT({weights},--({labels}={c}){agrees})" for c in range(matching.n_classes)]

    # --- tables and conditions ----------------------------------------------------------------------------------------

    def _looked_up(self, lookup: Lookup, k: int) -> str:
        column = self.formula.columns[lookup.column]
        k %= len(lookup.missing)
        if not lookup.table:
            return number(lookup.missing[k])
        code = self._position(lookup, is_number=column.kind is Kind.NUMERIC)
        rows = [lookup.missing, *lookup.table]
        header = [str(c) for c in range(len(lookup.missing))]
        values = self.model.add(f"values of {column.name}, missing first", header, list(zip(*rows, strict=True)))
        return f"INDEX({values[k]},{code}+2)"

    def _position(self, lookup: Lookup, *, is_number: bool) -> str:
        """Reference to the row of a lookup, −1 for a missing value."""
        x = self.inputs.values[lookup.column]
        if not is_number:
            return x
        name = self.formula.columns[lookup.column].name
        if not lookup.cuts:
            return self.calculation.store(f'IF({x}="",-1,0)', f"bin of {name}")
        (cuts,) = self.model.add(f"cuts of {name}", ("up to",), (lookup.cuts,))
        return self.calculation.store(f'IF({x}="",-1,SUMPRODUCT(--({cuts}<{x})))', f"bin of {name}")

    def _case(self, case: Case, k: int) -> str:
        result = self.element(case.otherwise, k)
        for position, when in enumerate(reversed(case.whens), 1):
            value = self.calculation.short(self.element(when.value, k))
            result = f"IF({self._holds(when.condition, k)},{value},{result})"
            if position % _MAX_CASES == 0 or len(result) > MAX_LENGTH // 2:
                result = self.calculation.store(result)
        return result

    def _holds(self, condition: Known | Compare, k: int) -> str:
        if isinstance(condition, Known):
            x = self.inputs.values[condition.column]
            return f'{x}<>""' if self.formula.columns[condition.column].kind is Kind.NUMERIC else f"{x}>=0"
        left, right = self._short(condition.left, k), self._short(condition.right, k)
        if condition.relation == "==" and condition.right == Constant((-math.inf,)):
            return f"{left}<={number(MINUS_INFINITY / 10)}"
        return f"{left}{'=' if condition.relation == '==' else condition.relation}{right}"

    def _weighted_sum(self, k: int) -> str:
        """Reference to a weighted sum of columns, "" if one of them is missing."""
        made = self.formula.made[k]
        x = [self.inputs.values[j] for j in made.columns]
        terms = "+".join(f"{number(w)}*{each}" for w, each in zip(made.weights, x, strict=True))
        blank = ",".join(f'{each}=""' for each in x)
        return self.calculation.store(f'IF(OR({blank}),"",{terms})')

    # --- long lists ---------------------------------------------------------------------------------------------------

    def _short(self, expression: Expression, k: int) -> str:
        return self.calculation.short(self.element(expression, k))

    def _joined(self, terms: list[str], operator: str) -> str:
        """Terms from left to right, in cells of their own where there are many or they are long."""
        short = [self.calculation.short(each) for each in terms]
        while len(short) > _MAX_TERMS:
            short = [self.calculation.store(operator.join(short[:_MAX_TERMS])), *short[_MAX_TERMS:]]
        joined = operator.join(short)
        if len(joined) > MAX_LENGTH:
            middle = len(short) // 2
            joined = operator.join([self.calculation.store(operator.join(short[:middle])), *short[middle:]])
        return f"({joined})" if len(short) > 1 else joined

    def _listed(self, name: str, arguments: Sequence[str]) -> str:
        rest = list(arguments)
        while len(rest) > _MAX_TERMS:
            rest = [self.calculation.store(f"{name}({','.join(rest[:_MAX_TERMS])})"), *rest[_MAX_TERMS:]]
        return f"{name}({','.join(rest)})"


def _applied(function: str, x: str) -> str:
    """Function of a reference."""
    match function:
        case "log":
            return f"IF({x}<=0,{number(MINUS_INFINITY)},LN({x}))"
        case "log1p":
            return f"IF(ABS({x})<0.0001,{x}-{x}^2/2+{x}^3/3-{x}^4/4,LN(1+{x}))"
        case "round":
            return f"IF(ABS({x}-TRUNC({x}))=0.5,2*ROUND({x}/2,0),ROUND({x},0))"
        case "exp":
            return f"IF({x}<-740,0,IF({x}>700,{number(1e304)},EXP({x})))"
        case "erfc":
            return f"IF({x}>25,0,ERFC({x}))"
    return f"{function.upper()}({x})"
