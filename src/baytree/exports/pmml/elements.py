"""Elements of PMML: expressions and predicates, each an element of XML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from xml.etree.ElementTree import Element

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
