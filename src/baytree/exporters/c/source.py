"""Export of formulas to C: one C99 file that needs only the math library and allocates no memory.

For a row that `predict` would refuse (an infinite number, a negative count, with `unseen="error"` a new level), the class is
−1 and the probabilities are NAN. Names of columns, levels and classes occur only as escaped ASCII literals, never in
comments.
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

MAX_VOCABULARY_WORDS = 65_536  # words of all text columns: their counts are on the stack

_RUNTIME = ("runtime.c", "words.c")

_CELL = "typedef struct { double number; const char *text; } model_cell;"


def file(formula: Formula) -> str:
    """C file with `model_predict` and, for classification, `model_predict_proba`; a row is an array of cells."""
    _check_supported(formula)
    deduplicated, leaf_rows = deduplicate_leaves(formula)
    if all(map(is_nested, formula.trees)):
        formula = deduplicated
    writer = StatementWriter(formula, C(formula, leaf_rows if formula is deduplicated else {}))
    writer.steps(required_steps(formula))
    functions = [*_row_reader(formula), *_evaluation(formula, writer), *_predict_functions(formula)]
    runtime_functions = needed("\n".join(functions), functions_of(*(Path(__file__).with_name(name) for name in _RUNTIME)))
    head = [_title(formula), "#include <math.h>", "#include <stdint.h>", "#include <string.h>", "", _CELL, ""]
    characters = [literals.tables()] if any("model_letters" in function for function in runtime_functions) else []
    return (
        "\n".join([*head, *_names(formula), "", *writer.tables.lines, *characters, "", *runtime_functions, *functions])
        + "\n"
    )


class C:
    """C syntax for `StatementWriter` (a `Language`)."""

    def __init__(self, formula: Formula | None = None, leaf_rows: Mapping[int, Sequence[int]] | None = None) -> None:
        self.formula, self.leaf_rows = formula, leaf_rows or {}

    def number(self, value: float) -> str:
        """Literal; negative numbers in parentheses."""
        if value - value != 0:
            return "INFINITY" if value > 0 else "(-INFINITY)"
        return repr(float(value)) if value >= 0 else f"({float(value)!r})"

    def doubles(self, name: str, values: Iterable[float]) -> str:
        """Constant array of doubles."""
        return array_of("double", f"model_{name}", [self.number(value) for value in values])

    def integers(self, name: str, values: Iterable[int]) -> str:
        """Constant array of integers."""
        return array_of("int", f"model_{name}", [str(value) for value in values])

    def local(self, name: str, value: str) -> str:
        """Definition of a local double."""
        return f"const double {name} = {value};"

    def place(self, name: str, value: str) -> str:
        """Definition of a local integer."""
        return f"const long {name} = {value};"

    def array(self, name: str, n: int) -> str:
        """Declaration of a local array that the following statements fill."""
        return f"double {name}[{n}];"

    def loop(self, n: int, statement: str) -> str:
        """Loop that runs a statement for each k below n."""
        return f"for (int k = 0; k < {n}; k++) {statement}"

    def call(self, function: str, *arguments: str) -> str:
        """Call of a runtime function or of the math library."""
        return f"{_LIBM.get(function) or f'model_{function}'}({', '.join(arguments)})"

    def table(self, name: str) -> str:
        """Name under which a constant array is read; the prefix avoids clashes with names of the including program."""
        return f"model_{name}"

    def is_observed(self, column: int, kind: Kind) -> str:
        """Condition that a column has a value."""
        return f"x[{column}] == x[{column}]" if kind is Kind.NUMERIC else f"x[{column}] >= 0"

    def tree(self, tree: int, formula: Formula) -> tuple[str, str] | None:
        """Nested conditions for a tree that is not too deep, as (function, call); None for other trees."""
        nodes, name = formula.trees[tree], f"model_tree{tree}"
        leaf_rows = self.leaf_rows.get(tree, range(len(nodes)))
        return (nested(name, nodes, formula, leaf_rows), f"{name}(row, x)") if is_nested(nodes) else None

    def bag(self, bag: Bag, k: int) -> tuple[list[str], list[str]]:
        """Tables of the words, and the calls that count and weight them."""
        tokens = None if self.formula is None else self.formula.columns[bag.column].tokens
        if self.formula is None or tokens is None:
            raise TypeError(f"column {bag.column} has no words")
        tables, calls = counted(bag, tokens, self.formula.place(bag.column), k)
        return [*tables, self.doubles(f"scale{k}", bag.scale)], [self.array(f"s{k}", max(len(bag.words), 1)), *calls]


def _check_supported(formula: Formula) -> None:
    if (
        n_words := sum(len(step.value.words) for step in formula.steps if isinstance(step.value, Bag))
    ) > MAX_VOCABULARY_WORDS:
        raise ValueError(
            f"C: {n_words:,} words are more than the {MAX_VOCABULARY_WORDS:,} that fit on the stack; "
            "fit with a higher min_df or fewer buckets, or export to Python or JavaScript"
        )
    names = [
        *(c.name for c in formula.columns),
        *(formula.classes or ()),
        *(str(v) for c in formula.columns for v in c.levels),
    ]
    for name in names:
        if "\0" in name:
            raise ValueError(f"{name!r} contains the NUL character, which ends a string in C; rename it")


def _title(formula: Formula) -> str:
    return f"/* {formula.title}, exported by baytree: C99, link with -lm. Missing is NAN in number, NULL in text (UTF-8). */"


def _names(formula: Formula) -> Iterator[str]:
    """Constants that describe the model to the caller; non-static, so that other files can declare them."""
    columns, classes = [*map(literal, formula.given)], [*map(literal, formula.classes or ())]
    yield f"const int model_n_columns = {len(columns)};"
    yield f"const int model_n_classes = {len(classes)};"
    yield f"const char *const model_columns[{max(len(columns), 1)}] = {{{', '.join(columns) or '0'}}};"
    yield f"const char *const model_classes[{max(len(classes), 1)}] = {{{', '.join(classes) or '0'}}};"


def _row_reader(formula: Formula) -> Iterator[str]:
    """Function that reads a row into `x` and returns whether the model accepts it.

    It returns only after reading all columns: compilers warn about values that an early return would leave unset.
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
    lines += [
        _sum(len(formula.columns) + k, source_lines, formula) for k, source_lines in enumerate(formula.made)
    ] + refusals
    yield from ("", "static int model_read(const model_cell *row, double *x) {", *(f"  {line}" for line in lines))
    yield from ("  (void)row, (void)x;", "  return 1;", "}", "")


def _sum(j: int, source_lines: WeightedSum, formula: Formula) -> str:
    """Statement that computes a weighted sum of columns; NAN where one of them is missing."""
    terms = zip(source_lines.columns, source_lines.weights, strict=True)
    return f"x[{j}] = {' + '.join(f'{C().number(weight)} * {number_of(formula, k)}' for k, weight in terms)};"


def _levels(j: int, column: Input) -> Iterator[str]:
    """Levels of a column, sorted by their bytes, and their codes."""
    codes_by_spelling = spellings(column) if column.is_boolean else {}
    if codes_by_spelling:
        yield from listed(f"model_levels{j}", f"model_codes{j}", [*codes_by_spelling], [*codes_by_spelling.values()])
    elif column.levels:
        yield from listed(f"model_levels{j}", f"model_codes{j}", [*map(str, column.levels)])


def _code(j: int, cell: str, column: Input) -> str:
    reader = "truth" if column.is_boolean else "level"
    n_levels = len(spellings(column) if column.is_boolean else column.levels)
    return f"model_read_{reader}({cell}.text, model_levels{j}, model_codes{j}, {n_levels})" if n_levels else "-1"


def _refusals(j: int, column: Input) -> list[str]:
    conditions = {"any": [], "finite": [f"isinf(x[{j}])"], "count": [f"isinf(x[{j}])", f"x[{j}] < 0"]}[column.domain]
    return [f"if ({' || '.join(conditions)}) return 0;"] if conditions else []


def _evaluation(formula: Formula, written: StatementWriter) -> Iterator[str]:
    n_outputs = len(formula.classes or (1,))
    answer = written.number(formula.answers)
    choice = "0" if formula.choice is None else f"(int){written.number(formula.choice)}"
    yield "static inline int model_evaluate(const model_cell *row, double *out) {"
    yield f"  double x[{max(len(formula.tested), 1)}];"
    yield "  if (!model_read(row, x)) {"
    yield f"    for (int k = 0; k < {n_outputs}; k++) out[k] = NAN;"
    yield from ("    return -1;", "  }", *(f"  {line}" for line in written.lines))
    yield f"  {C().loop(n_outputs, f'out[k] = {answer};')}" if n_outputs > 1 else f"  out[0] = {answer};"
    yield from (f"  return {choice};", "}", "")


def _predict_functions(formula: Formula) -> Iterator[str]:
    if formula.classes is None:
        yield from ("double model_predict(const model_cell *row) {", "  double out[1];", "  model_evaluate(row, out);")
        yield from ("  return out[0];", "}")
        return
    yield from ("int model_predict(const model_cell *row) {", f"  double out[{len(formula.classes)}];")
    yield from ("  return model_evaluate(row, out);", "}", "")
    yield from ("void model_predict_proba(const model_cell *row, double *out) {", "  model_evaluate(row, out);", "}")
