"""Elements of PMML: expressions and predicates, each an element of XML.

What a PMML file tells of its columns: names, levels, what is refused, and what comes out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from xml.etree.ElementTree import Element

from baytree.data.schema.column import Kind
from baytree.formula import Formula
from baytree.formula.inputs import Input, in_cases

FAR_BELOW = -1e305  # stands for −∞, which numbers in XML have no common spelling for

OURS = "baytree:"  # how names begin that are no columns'

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_RELATIONS = {"<": "lessThan", "<=": "lessOrEqual", "==": "equal", ">": "greaterThan", ">=": "greaterOrEqual"}


def made(tag: str, children: Iterable[Element] = (), /, **attributes: str) -> Element:
    """An element with its children."""
    element = Element(tag, attributes)
    element.extend(children)
    return element


def check_name(name: str) -> None:
    """Refuses what XML has no way to write."""
    if _NOT_IN_XML.search(name):
        raise ValueError(f"{name!r} holds a character that XML cannot; rename it")


def text_of(value: float) -> str:
    """A double to the last bit."""
    return repr(float(max(min(value, -FAR_BELOW), FAR_BELOW) if value - value != 0 else value))


# --- expressions ------------------------------------------------------------------------------------------------------


def number(value: float) -> Element:
    """A constant."""
    constant = made("Constant", dataType="double")
    constant.text = text_of(value)
    return constant


def value_of(expression: Element) -> float | None:
    """The number of a constant, None of anything else."""
    return float(expression.text or "nan") if expression.tag == "Constant" else None


def field(name: str) -> Element:
    """The value of a field."""
    return made("FieldRef", field=name)


def apply(function: str, *arguments: Element) -> Element:
    """A function of its arguments."""
    return made("Apply", arguments, function=function)


def added(terms: Sequence[Element]) -> Element:
    """A sum."""
    return terms[0] if len(terms) == 1 else apply("+" if len(terms) == 2 else "sum", *terms)


def multiplied(factors: Sequence[Element]) -> Element:
    """A product."""
    return terms_of("*", factors)


def terms_of(function: str, terms: Sequence[Element]) -> Element:
    """A function of two arguments over several, from the left."""
    first, *rest = terms
    for other in rest:
        first = apply(function, first, other)
    return first


def compared(left: Element, relation: str, right: Element) -> Element:
    """Whether two numbers stand in a relation."""
    return apply(_RELATIONS[relation], left, right)


def chosen(condition: Element, value: Element, otherwise: Element) -> Element:
    """A value where a condition holds, else another."""
    return apply("if", condition, value, otherwise)


def mapped(name: str, pairs: Mapping[str, float], missing: float | None = None) -> Element:
    """The number that stands beside a value of a field; that of a missing one where it has a number."""
    known = {} if missing is None else {"mapMissingTo": text_of(missing), "defaultValue": text_of(missing)}
    return _map(name, {k: text_of(v) for k, v in pairs.items()}, dataType="double", **known)


def mapped_texts(name: str, pairs: Mapping[str, str]) -> Element:
    """The text that stands beside a value of a field; missing where there is none."""
    return _map(name, pairs, dataType="string")


def _map(name: str, pairs: Mapping[str, str], **attributes: str) -> Element:
    rows = made("InlineTable", (made("row", (_cell("from", k), _cell("to", v))) for k, v in pairs.items()))
    pair = made("FieldColumnPair", field=name, column="from")
    return made("MapValues", (pair, rows), outputColumn="to", **attributes)


def discretized(name: str, cuts: Sequence[float], values: Sequence[float], missing: float) -> Element:
    """The number of the interval that a field's value lies in, each with its upper end."""
    bins = [_bin(low, high, v) for low, high, v in zip((None, *cuts), (*cuts, None), values, strict=True)]
    return made("Discretize", bins, field=name, dataType="double", mapMissingTo=text_of(missing))


def _cell(tag: str, text: str) -> Element:
    cell = made(tag)
    cell.text = text
    return cell


def _bin(low: float | None, high: float | None, value: float) -> Element:
    margins = {"leftMargin": low, "rightMargin": high}
    given = {name: text_of(margin) for name, margin in margins.items() if margin is not None}
    interval = made("Interval", closure="openClosed" if high is not None else "openOpen", **given)
    return made("DiscretizeBin", (interval,), binValue=text_of(value))


# --- predicates -------------------------------------------------------------------------------------------------------


def holds(name: str, relation: str, value: str) -> Element:
    """Whether a field stands in a relation to a value; not known where it is missing."""
    return made("SimplePredicate", field=name, operator=_RELATIONS[relation], value=value)


def is_missing(name: str) -> Element:
    """Whether a field has no value."""
    return made("SimplePredicate", field=name, operator="isMissing")


def joined(operator: str, predicates: Sequence[Element]) -> Element:
    """Several predicates as one."""
    return predicates[0] if len(predicates) == 1 else made("CompoundPredicate", predicates, booleanOperator=operator)


LARGEST = 1.7976931348623157e308


def check_names(formula: Formula) -> None:
    """Refuses columns and names that PMML cannot hold."""
    for column in formula.columns:
        if column.kind is Kind.TEXT:
            raise ValueError(
                f"column {column.name!r} is text: PMML's text indexes part words otherwise; export to Python or JavaScript"
            )
        if column.name in ("", "prediction", formula.target) or column.name.startswith(OURS):
            raise ValueError(f"column {column.name!r}: PMML needs this name for itself; rename it")
    levels = (str(level) for column in formula.columns for level in column.levels)
    for name in (formula.target, *(column.name for column in formula.columns), *(formula.classes or ()), *levels):
        check_name(name)


def dictionary(formula: Formula) -> Element:
    """The columns and the target."""
    fields = [*map(_data_field, _given(formula)), _target(formula)]
    return made("DataDictionary", fields, numberOfFields=str(len(fields)))


def mining_schema(formula: Formula) -> Element:
    """How a model reads the columns: a level that was never seen is missing unless that is an error."""
    read = [made("MiningField", name=c.name, invalidValueTreatment=_invalid(c, formula.unseen)) for c in _given(formula)]
    return made("MiningSchema", (*read, made("MiningField", name=target_name(formula), usageType="target")))


def _given(formula: Formula) -> list[Input]:
    """The columns of the table; one of which only parts are read is a number."""
    read = {column.name: column for column in formula.columns if not column.part}
    return [read.get(name) or Input(name, Kind.NUMERIC) for name in formula.given]


def outputs(formula: Formula, answers: Sequence[Element] | None = None) -> Element:
    """`prediction`, and `P(class)` of each class: the model's own, or those of fields."""
    if formula.classes is None:
        return made("Output", (output_field("prediction", "predictedValue", "continuous"),))
    found = [output_field("prediction", "predictedValue", "categorical")]
    for k, name in enumerate(formula.classes):
        if answers is None:
            found.append(output_field(f"P({name})", "probability", "continuous", value=name))
        else:
            found.append(output_field(f"P({name})", "transformedValue", "continuous"))
            found[-1].append(answers[k])
    return made("Output", found)


def output_field(name: str, feature: str, optype: str, **more: str) -> Element:
    """A value that comes out."""
    kind = "double" if optype == "continuous" else "string"
    return made("OutputField", name=name, feature=feature, optype=optype, dataType=kind, **more)


def target_name(formula: Formula) -> str:
    """The target; under another name where its own is that of an output."""
    return f"{OURS}target" if formula.target in ("", "prediction") else formula.target


def _target(formula: Formula) -> Element:
    if formula.classes is None:
        return made("DataField", name=target_name(formula), optype="continuous", dataType="double")
    values = [made("Value", value=name) for name in formula.classes]
    return made("DataField", values, name=target_name(formula), optype="categorical", dataType="string")


def _data_field(column: Input) -> Element:
    if column.kind is not Kind.NUMERIC:
        optype = "ordinal" if column.kind is Kind.ORDINAL else "categorical"
        levels = in_cases(column) if column.is_boolean else map(str, column.levels)
        values = [made("Value", value=level) for level in levels]
        return made("DataField", values, name=column.name, optype=optype, dataType="string")
    return made("DataField", _allowed(column), name=column.name, optype="continuous", dataType="double")


def _allowed(column: Input) -> list[Element]:
    if column.domain == "any":
        return []
    least = 0.0 if column.domain == "count" else -LARGEST
    return [made("Interval", closure="closedClosed", leftMargin=text_of(least), rightMargin=text_of(LARGEST))]


def _invalid(column: Input, unseen: str) -> str:
    if column.kind is Kind.NUMERIC:
        return "asIs" if column.domain == "any" else "returnInvalid"
    return "returnInvalid" if unseen == "error" else "asMissing"
