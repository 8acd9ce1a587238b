"""Formulas as C: one C99 file that needs the mathematical library only, and allocates nothing.

A row that `predict` would refuse (an infinite number, a negative count, with `unseen="error"` a new level) gives −1, and NAN
as probabilities. Every name of the table stands in the source as an escaped ASCII literal, comments hold none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from baytree.data.schema.column import Kind
from baytree.exporters.c import literals
from baytree.exporters.c.literals import array_of, columns_read, counted, listed, literal
from baytree.exporters.c.trees import is_nested, nested, number_of
from baytree.exporters.imperative.language import functions_of, needed
from baytree.exporters.imperative.statements import StatementWriter
from baytree.formula import Formula
from baytree.formula.builder import required_steps
from baytree.formula.expressions import Bag
from baytree.formula.inputs import PER_DAY, Input, WeightedSum, spellings
from baytree.formula.transforms import deduplicate_leaves

_LIBM = {"smaller": "fmin", "greater": "fmax", "round": "rint", "abs": "fabs", "whole": "(long)"}

_LIBM |= {name: name for name in ("exp", "log", "log1p", "sqrt", "erfc")}

MOST_WORDS = 65_536

_RUNTIME = ("runtime.c", "words.c")

_CELL = "typedef struct { double number; const char *text; } model_cell;"


def file(formula: Formula) -> str:
    """A file with `model_predict` and, for classes, `model_predict_proba`; a row is an array of cells."""
    _refuse(formula)
    shorter, places = deduplicate_leaves(formula)
    if all(map(is_nested, formula.trees)):
        formula = shorter
    written = StatementWriter(formula, C(formula, places if formula is shorter else {}))
    written.steps(required_steps(formula))
    functions = [*_reading(formula), *_evaluation(formula, written), *_faces(formula)]
    carried = needed("\n".join(functions), functions_of(*(Path(__file__).with_name(name) for name in _RUNTIME)))
    top = [_title(formula), "#include <math.h>", "#include <stdint.h>", "#include <string.h>", "", _CELL, ""]
    characters = [literals.tables()] if any("model_letters" in function for function in carried) else []
    return "\n".join([*top, *_names(formula), "", *written.tables.lines, *characters, "", *carried, *functions]) + "\n"


class C:
    """How C writes numbers, arrays and loops."""

    def __init__(self, formula: Formula | None = None, places: Mapping[int, Sequence[int]] | None = None) -> None:
        self.formula, self.places = formula, places or {}

    def number(self, value: float) -> str:
        """A literal; a negative one in parentheses."""
        if value - value != 0:
            return "INFINITY" if value > 0 else "(-INFINITY)"
        return repr(float(value)) if value >= 0 else f"({float(value)!r})"

    def doubles(self, name: str, values: Iterable[float]) -> str:
        """A constant array of doubles."""
        return array_of("double", f"model_{name}", [self.number(value) for value in values])

    def integers(self, name: str, values: Iterable[int]) -> str:
        """A constant array of whole numbers."""
        return array_of("int", f"model_{name}", [str(value) for value in values])

    def local(self, name: str, value: str) -> str:
        """A number that is evaluated here."""
        return f"const double {name} = {value};"

    def place(self, name: str, value: str) -> str:
        """A whole number that is evaluated here."""
        return f"const long {name} = {value};"

    def array(self, name: str, n: int) -> str:
        """An array that is filled by what follows."""
        return f"double {name}[{n}];"

    def loop(self, n: int, statement: str) -> str:
        """A statement for each k below n."""
        return f"for (int k = 0; k < {n}; k++) {statement}"

    def call(self, function: str, *arguments: str) -> str:
        """A call of a function of the runtime, or of the mathematical library."""
        return f"{_LIBM.get(function) or f'model_{function}'}({', '.join(arguments)})"

    def table(self, name: str) -> str:
        """The name of a constant array where it is read: no name of the file may meet one of a program."""
        return f"model_{name}"

    def known(self, column: int, kind: Kind) -> str:
        """Whether a column has a value."""
        return f"x[{column}] == x[{column}]" if kind is Kind.NUMERIC else f"x[{column}] >= 0"

    def tree(self, tree: int, formula: Formula) -> tuple[str, str] | None:
        """Nested conditions where they are not too deep."""
        nodes, name = formula.trees[tree], f"model_tree{tree}"
        places = self.places.get(tree, range(len(nodes)))
        return (nested(name, nodes, formula, places), f"{name}(row, x)") if is_nested(nodes) else None

    def bag(self, bag: Bag, k: int) -> tuple[list[str], list[str]]:
        """The tables of the words, and the calls that count and weigh them."""
        tokens = None if self.formula is None else self.formula.columns[bag.column].tokens
        if self.formula is None or tokens is None:
            raise TypeError(f"column {bag.column} has no words")
        tables, calls = counted(bag, tokens, self.formula.place(bag.column), k)
        return [*tables, self.doubles(f"scale{k}", bag.scale)], [self.array(f"s{k}", max(len(bag.words), 1)), *calls]


def _refuse(formula: Formula) -> None:
    if (n_words := sum(len(step.value.words) for step in formula.steps if isinstance(step.value, Bag))) > MOST_WORDS:
        raise ValueError(
            f"C: {n_words:,} words are more than the {MOST_WORDS:,} whose amounts a stack holds without allocation; "
            "learn with a higher min_df or fewer buckets, or export to Python or JavaScript"
        )
    names = [
        *(c.name for c in formula.columns),
        *(formula.classes or ()),
        *(str(v) for c in formula.columns for v in c.levels),
    ]
    for name in names:
        if "\0" in name:
            raise ValueError(f"{name!r} holds the character 0, which ends a text in C; rename it")


def _title(formula: Formula) -> str:
    return f"/* {formula.title}, exported by baytree: C99, link with -lm. Missing is NAN in number, NULL in text (UTF-8). */"


def _names(formula: Formula) -> Iterator[str]:
    """What a program may ask about the model: declared, so that other files can repeat it, and defined."""
    columns, classes = [*map(literal, formula.given)], [*map(literal, formula.classes or ())]
    yield f"const int model_n_columns = {len(columns)};"
    yield f"const int model_n_classes = {len(classes)};"
    yield f"const char *const model_columns[{max(len(columns), 1)}] = {{{', '.join(columns) or '0'}}};"
    yield f"const char *const model_classes[{max(len(classes), 1)}] = {{{', '.join(classes) or '0'}}};"


def _reading(formula: Formula) -> Iterator[str]:
    """The function that reads a row, and says whether the model takes it.

    It returns after all columns are read: compilers warn of values that an earlier return would leave unset.
    """
    lines, refusals, read = [], [], columns_read(formula)
    for j, column in enumerate(formula.columns):
        if j not in read:
            continue
        cell = f"row[{formula.place(j)}]"
        if column.part:
            lines.append(f"x[{j}] = model_date_part({cell}.number, {PER_DAY[column.unit or 'us']}.0, '{column.part[0]}');")
        elif column.kind is Kind.NUMERIC:
            lines.append(f"x[{j}] = {cell}.number;")
            refusals += _refusals(j, column)
        elif column.kind is Kind.TEXT:
            lines.append(f"x[{j}] = {cell}.text ? 0 : -1;")
        else:
            yield from _levels(j, column)
            lines.append(f"x[{j}] = {_code(j, cell, column)};")
            refusals += [f"if ({cell}.text && x[{j}] < 0) return 0;"] if formula.unseen == "error" else []
    lines += [_sum(len(formula.columns) + k, made, formula) for k, made in enumerate(formula.made)] + refusals
    yield from ("", "static int model_read(const model_cell *row, double *x) {", *(f"  {line}" for line in lines))
    yield from ("  (void)row, (void)x;", "  return 1;", "}", "")


def _sum(j: int, made: WeightedSum, formula: Formula) -> str:
    """The sum after the columns; NAN where one of them is missing."""
    terms = zip(made.columns, made.weights, strict=True)
    return f"x[{j}] = {' + '.join(f'{C().number(weight)} * {number_of(formula, k)}' for k, weight in terms)};"


def _levels(j: int, column: Input) -> Iterator[str]:
    """The levels of a column in the order of their bytes, and their codes."""
    spelt = spellings(column) if column.is_boolean else {}
    if spelt:
        yield from listed(f"model_levels{j}", f"model_codes{j}", [*spelt], [*spelt.values()])
    elif column.levels:
        yield from listed(f"model_levels{j}", f"model_codes{j}", [*map(str, column.levels)])


def _code(j: int, cell: str, column: Input) -> str:
    how = "truth" if column.is_boolean else "level"
    n_levels = len(spellings(column) if column.is_boolean else column.levels)
    return f"model_read_{how}({cell}.text, model_levels{j}, model_codes{j}, {n_levels})" if n_levels else "-1"


def _refusals(j: int, column: Input) -> list[str]:
    asked = {"any": [], "finite": [f"isinf(x[{j}])"], "count": [f"isinf(x[{j}])", f"x[{j}] < 0"]}[column.domain]
    return [f"if ({' || '.join(asked)}) return 0;"] if asked else []


def _evaluation(formula: Formula, written: StatementWriter) -> Iterator[str]:
    wide = len(formula.classes or (1,))
    answer = written.number(formula.answers)
    choice = "0" if formula.choice is None else f"(int){written.number(formula.choice)}"
    yield "static inline int model_evaluate(const model_cell *row, double *out) {"
    yield f"  double x[{max(len(formula.tested), 1)}];"
    yield "  if (!model_read(row, x)) {"
    yield f"    for (int k = 0; k < {wide}; k++) out[k] = NAN;"
    yield from ("    return -1;", "  }", *(f"  {line}" for line in written.lines))
    yield f"  {C().loop(wide, f'out[k] = {answer};')}" if wide > 1 else f"  out[0] = {answer};"
    yield from (f"  return {choice};", "}", "")


def _faces(formula: Formula) -> Iterator[str]:
    if formula.classes is None:
        yield from ("double model_predict(const model_cell *row) {", "  double out[1];", "  model_evaluate(row, out);")
        yield from ("  return out[0];", "}")
        return
    yield from ("int model_predict(const model_cell *row) {", f"  double out[{len(formula.classes)}];")
    yield from ("  return model_evaluate(row, out);", "}", "")
    yield from ("void model_predict_proba(const model_cell *row, double *out) {", "  model_evaluate(row, out);", "}")
