"""Export of formulas to Python: a module that imports only the standard library, for Python 3.9 or later.

Names of columns, levels and classes occur only as literals, so none of them can become code. A vector is a tuple or list
with one number per class; arithmetic on vectors is a comprehension over zipped vectors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from baytree.data.schema.column import Kind
from baytree.exporters.python.expressions import PythonExpressions
from baytree.exporters.python.literals import literal, needed, rows
from baytree.formula import Formula
from baytree.formula.builder import widths
from baytree.formula.inputs import FormulaNode, FormulaTest, Input, spellings
from baytree.formula.transforms import may_abstain
from baytree.summary.tree import SPREAD, STOP

_MODULES = ("bisect", "datetime", "math", "re")  # modules that runtime functions may need


def module(formula: Formula) -> str:
    """Python module with `predict(row)` and, for classification, `predict_proba(row)`."""
    expressions = PythonExpressions(formula, widths(formula))
    functions = [*_evaluation(formula, expressions), "", "", *_predict_functions(formula)]
    trees = [line for k, nodes in enumerate(formula.trees) for line in _tree(k, nodes, formula)]
    constants = [*_header(formula), *trees, *expressions.tables.lines]
    readers = [*_columns(formula)]
    helpers = "\n\n".join(needed("\n".join([*readers, *functions])))
    imports = [f"import {name}" for name in _MODULES if re.search(rf"\b{name}\.", "\n".join([helpers, *functions]))]
    head = [_title(formula), "", "from __future__ import annotations", "", *imports, ""]
    return "\n".join([*head, *constants, "", "", helpers, "", *readers, "", "", *functions]) + "\n"


def _title(formula: Formula) -> str:
    """Docstring of the module; a literal like any other, whatever the name of the target."""
    return literal(f"{formula.title} for {formula.target}, exported by baytree; a row is a dict keyed by column name.")


def _header(formula: Formula) -> Iterator[str]:
    yield "INF = float('inf')"
    if formula.classes is not None:
        yield f"CLASSES = {rows(map(literal, formula.classes))}"


def _columns(formula: Formula) -> Iterator[str]:
    """Definition of COLUMNS: how each column is read, and its levels."""
    yield "COLUMNS = {"
    for column in formula.columns:
        if not column.part:
            yield f"    {literal(column.name)}: {_reader(column, formula.unseen)},"
    yield "}"


def _reader(column: Input, unseen: str) -> str:
    if column.kind is Kind.TEXT and column.tokens is not None:
        options = column.tokens
        stops = rows(map(literal, options.stop_words))
        return f"(_words, {options.lowercase}, {options.ngrams}, frozenset({stops}), {options.buckets})"
    if column.is_boolean:
        keys = (f"{literal(word)}: {literal(str(column.levels[code]))}" for word, code in spellings(column).items())
        return f"(_truth, {{{', '.join(keys)}}}, {literal(unseen)})"
    if column.kind is not Kind.NUMERIC:
        return f"(_level, {{{', '.join(_level_keys(column))}}}, {literal(unseen)})"
    unit = [] if column.unit is None else [literal(column.unit)]
    return rows(["_date" if unit else "_number", literal(column.domain), *unit])


def _level_keys(column: Input) -> Iterator[str]:
    """Each level as given and as text, mapped to its text."""
    for level in column.levels:
        if not isinstance(level, str):
            yield f"{literal(level)}: {literal(str(level))}"
        yield f"{literal(str(level))}: {literal(str(level))}"


def _evaluation(formula: Formula, written: PythonExpressions) -> Iterator[str]:
    yield "def _evaluate(row: dict) -> tuple:"
    yield '    """Predictions, and the index of the chosen class."""'
    yield "    x = _read(row, COLUMNS)"
    for column in formula.columns:
        if column.part:
            given = literal(column.given)
            read = f"{given}, row.get({given}), {literal(column.unit)}, {literal(column.part)}"
            yield f"    x[{literal(column.name)}] = _date_part({read})"
    for weighted_sum in formula.made:
        terms = zip(weighted_sum.columns, weighted_sum.weights, strict=True)
        terms_source = rows(rows([literal(formula.columns[j].name), literal(weight)]) for j, weight in terms)
        yield f"    x[{literal(weighted_sum.name)}] = _sum(x, {terms_source})"
    for k, step in enumerate(formula.steps):
        note = "" if step.effect_of is None else f"  # what {literal(formula.columns[step.effect_of].name)} adds"
        yield f"    s{k} = {written.value(step.value)}{note}"
    choice = "None" if formula.choice is None else written.value(formula.choice)
    yield f"    return {written.value(formula.answers)}, {choice}"


def _predict_functions(formula: Formula) -> Iterator[str]:
    answer = " -> float" if formula.classes is None else "" if may_abstain(formula) else " -> str"
    yield f"def predict(row: dict){answer}:"
    if formula.classes is None:
        yield from ('    """Predicted value of a row."""', "    return _evaluate(row)[0]")
        return
    if may_abstain(formula):
        yield '    """Predicted class of a row; None if its probability is below the minimum."""'
        yield from ("    place = int(_evaluate(row)[1])", "    return None if place < 0 else CLASSES[place]")
    else:
        yield from ('    """Predicted class of a row."""', "    return CLASSES[int(_evaluate(row)[1])]")
    yield from ("", "", "def predict_proba(row: dict) -> dict:", '    """Class probabilities by class name."""')
    predictions = "_evaluate(row)[0]" if len(formula.classes) > 1 else "[_evaluate(row)[0]]"
    yield f"    return dict(zip(CLASSES, {predictions}))"


def _tree(k: int, nodes: tuple[FormulaNode, ...], formula: Formula) -> Iterator[str]:
    yield f"TREE_{k} = (  # tests in order of preference, first child, branch of rows that no test can place; () is a leaf"
    for number, node in enumerate(nodes):
        yield f"    {_node(node, formula)},  # node {number}"
    yield ")"


def _node(node: FormulaNode, formula: Formula) -> str:
    if not node.tests:
        return "()"
    missing = {STOP: "'stop'", SPREAD: "'spread'"}.get(node.missing, str(node.missing))
    tests = rows(_test(test, formula) for test in node.tests)
    return rows([tests, str(node.first), missing, *map(literal, node.shares)])


def _test(test: FormulaTest, formula: Formula) -> str:
    column = formula.tested[test.column]
    if column.kind is Kind.NUMERIC:
        relation = "<" if test.is_strict else "<="
        return rows([literal(column.name), literal(relation), rows(map(literal, test.cuts)), *map(str, test.branches)])
    pairs = zip(column.levels, test.branches, strict=True)
    branches = ", ".join(f"{literal(str(level))}: {branch}" for level, branch in pairs if branch >= 0)
    return rows([literal(column.name), literal("in"), f"{{{branches}}}"])
