"""Export of formulas to JavaScript: a script without dependencies for Node.js (CommonJS) or a web page.

The source is plain ASCII without "<": names of columns, levels and classes occur only as escaped literals, so that none can
become code or end a script element.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from baytree.data.schema.column import Kind
from baytree.exporters.imperative.language import camel, functions_of, needed
from baytree.exporters.imperative.statements import StatementWriter
from baytree.formula import Formula
from baytree.formula.expressions import Bag
from baytree.formula.inputs import Input, WeightedSum, spellings
from baytree.formula.transforms import may_abstain

_MATH = ("exp", "log", "log1p", "sqrt", "abs")

_NAMES = {"smaller": "Math.min", "greater": "Math.max", "round": "roundEven", "whole": "Math.trunc"}

_NAMES |= {name: f"Math.{name}" for name in _MATH}


def script(formula: Formula) -> str:
    """Script with `model.predict(row)`, `model.effects(row)` and, for classification, `model.predictProba(row)`."""
    writer = StatementWriter(formula, JavaScript(formula))
    writer.steps(range(len(formula.steps)))
    evaluation = [*_evaluation(formula, writer)]
    runtime_functions = needed("\n".join(evaluation), _runtime())
    body = [*_header(formula), *writer.tables.lines, "", *runtime_functions, *evaluation, *_api_functions(formula)]
    lines = ["const model = (function () {", '  "use strict";', *_indented(body), "})();"]
    return "\n".join([_title(formula), *lines, 'if (typeof module !== "undefined") module.exports = model;', ""])


def _runtime() -> dict[str, str]:
    return functions_of(*(Path(__file__).with_name(name) for name in ("reading.js", "runtime.js")))


def literal(value: object) -> str:
    """Literal of a value: ASCII, without the character "<" that could end a script element."""
    if isinstance(value, float) and value - value != 0:
        return "Infinity" if value > 0 else "-Infinity"
    return json.dumps(value).replace("<", "\\u003c")


class JavaScript:
    """JavaScript syntax for `StatementWriter` (a `Language`)."""

    def __init__(self, formula: Formula) -> None:
        self.formula = formula

    def number(self, value: float) -> str:
        """Literal of a number."""
        return literal(float(value))

    def doubles(self, name: str, values: Iterable[float]) -> str:
        """Constant array of doubles."""
        return f"const {name} = {listed(map(float, values))};"

    def integers(self, name: str, values: Iterable[int]) -> str:
        """Constant array of integers."""
        return f"const {name} = {listed(map(int, values))};"

    def local(self, name: str, value: str) -> str:
        """Definition of a local number."""
        return f"const {name} = {value};"

    place = local

    def array(self, name: str, n: int) -> str:
        """Declaration of a local array that the following statements fill."""
        return f"const {name} = new Float64Array({n});"

    def loop(self, n: int, statement: str) -> str:
        """Loop that runs a statement for each k below n."""
        return f"for (let k = 0; k < {n}; k++) {statement}"

    def call(self, function: str, *arguments: str) -> str:
        """Call of a runtime function, or of a function of `Math`."""
        return f"{_NAMES.get(function) or camel(function)}({', '.join(arguments)})"

    def table(self, name: str) -> str:
        """Name under which a constant array is read."""
        return name

    def is_observed(self, column: int, kind: Kind) -> str:
        """Condition that a column has a value."""
        if kind is Kind.TEXT:
            return f"x[{column}] !== null"
        return f"x[{column}] === x[{column}]" if kind is Kind.NUMERIC else f"x[{column}] >= 0"

    def tree(self, tree: int, formula: Formula) -> tuple[str, str] | None:
        """None: the runtime's loop walks the tree. Nested conditions would not make a page shorter."""
        return None

    def bag(self, bag: Bag, k: int) -> tuple[list[str], list[str]]:
        """Indices and scales of the words, and the call that fills their weighted counts."""
        words = f"const words{k} = {_map((word, position) for position, word in enumerate(bag.words))};"
        fill_call = f"bag(x[{bag.column}], words{k}, scale{k}, {literal(bag.is_unit)}, s{k});"
        return [words, self.doubles(f"scale{k}", bag.scale)], [self.array(f"s{k}", len(bag.words)), fill_call]


def listed(values: Iterable[object]) -> str:
    """Array literal."""
    return f"[{', '.join(map(literal, values))}]"


def _map(pairs: Iterable[tuple[object, object]]) -> str:
    return f"new Map([{', '.join(listed(pair) for pair in pairs)}])"


def _title(formula: Formula) -> str:
    """Comment at the top, without names of columns or classes, which could end the comment."""
    return f"// {formula.title}, exported by baytree; a row is an object keyed by column name."


def _header(formula: Formula) -> Iterator[str]:
    yield f"const columns = {listed(column.name for column in formula.columns)};"
    if formula.classes is not None:
        yield f"const classes = {listed(formula.classes)};"
    for j, column in enumerate(formula.columns):
        if column.kind in (Kind.NOMINAL, Kind.ORDINAL):
            yield f"const levels{j} = {_map(_level_keys(column))};"


def _level_keys(column: Input) -> Iterator[tuple[object, int]]:
    """Each level as given and as text, with its code; for a boolean column, each spelling."""
    if column.is_boolean:
        yield from spellings(column).items()
        return
    for code, level in enumerate(column.levels):
        if not isinstance(level, str):
            yield level, code
        yield str(level), code


def _evaluation(formula: Formula, written: StatementWriter) -> Iterator[str]:
    readers = (f"    {_reader(j, column, formula.unseen)}," for j, column in enumerate(formula.columns))
    yield from ("function read(row) {", "  return [", *readers, "  ];", "}", "")
    predictions = (
        written.vector(formula.answers) if formula.classes and len(formula.classes) > 1 else written.number(formula.answers)
    )
    choice = "null" if formula.choice is None else written.number(formula.choice)
    effects = [f"[{step.effect_of}, s{k}]" for k, step in enumerate(formula.steps) if step.effect_of is not None]
    yield "function evaluate(row) {"
    yield from _indented(["const x = read(row);", *map(_sum, formula.made), *written.lines])
    yield f"  return {{ answers: {predictions}, choice: {choice}, effects: [{', '.join(effects)}] }};"
    yield from ("}", "")


def _sum(weighted: WeightedSum) -> str:
    """Statement that appends a weighted sum of columns; NaN where one of them is missing."""
    return (
        f"x.push({' + '.join(f'{literal(w)} * x[{j}]' for j, w in zip(weighted.columns, weighted.weights, strict=True))});"
    )


def _reader(j: int, column: Input, unseen: str) -> str:
    name = literal(column.name)
    if column.part:  # a page has an input of its own for a part of a date
        computed = f"readDatePart(row, {literal(column.given)}, {literal(column.unit)}, {literal(column.part)})"
        own = _reader(j, msgspec.structs.replace(column, part=msgspec.UNSET, unit=None), unseen)
        return f"valueOf(row, {name}) === null ? {computed} : {own}"
    if column.kind is Kind.TEXT and column.tokens is not None:
        options = column.tokens
        stops = f"new Set({listed(options.stop_words)})"
        given = (literal(options.lowercase), *map(str, options.ngrams), stops, literal(options.buckets))
        return f"readWords(row, {name}, {', '.join(given)})"
    if column.kind is not Kind.NUMERIC:
        return f"{'readTruth' if column.is_boolean else 'readLevel'}(row, {name}, levels{j}, {literal(unseen)})"
    if column.unit is not None:
        return f"readDate(row, {name}, {literal(column.domain)}, {literal(column.unit)})"
    return f"readNumber(row, {name}, {literal(column.domain)})"


def _api_functions(formula: Formula) -> Iterator[str]:
    yield from ("// Contribution of each column to the scores, one number per score.", "function effects(row) {")
    yield "  const listed = (effect) => (typeof effect === 'number' ? [effect] : Array.from(effect));"
    yield "  return evaluate(row).effects.map(([j, effect]) => ({ column: columns[j], effect: listed(effect) }));"
    yield from ("}", "")
    if formula.classes is None:
        yield from ("function predict(row) {", "  return evaluate(row).answers;", "}", "")
        yield "return { columns, predict, effects };"
        return
    default = " ?? null" if may_abstain(formula) else ""
    yield from ("function predict(row) {", f"  return classes[evaluate(row).choice]{default};", "}", "")
    yield from ("function predictProba(row) {", "  const { answers } = evaluate(row);")
    probability = "answers[c]" if len(formula.classes) > 1 else "answers"
    yield from (f"  return Object.fromEntries(classes.map((name, c) => [name, {probability}]));", "}", "")
    yield "return { columns, classes, predict, predictProba, effects };"


def _indented(lines: Iterable[str]) -> Iterator[str]:
    for block in lines:
        for line in block.split("\n"):
            yield f"  {line}" if line else ""
