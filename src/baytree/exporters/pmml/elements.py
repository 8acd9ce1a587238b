"""XML elements of PMML: expressions, predicates, the data dictionary, the mining schema and the outputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from xml.etree.ElementTree import Element

from baytree.data.schema.column import Kind
from baytree.formula import Formula
from baytree.formula.inputs import Input, in_cases
from baytree.formula.limits import MAX_DOUBLE, MINUS_INFINITY

OURS = "baytree:"  # prefix of names that are not columns

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_RELATIONS = {"<": "lessThan", "<=": "lessOrEqual", "==": "equal", ">": "greaterThan", ">=": "greaterOrEqual"}


def build_element(tag: str, children: Iterable[Element] = (), /, **attributes: str) -> Element:
    """XML element with its children."""
    element = Element(tag, attributes)
    element.extend(children)
    return element


def check_name(name: str) -> None:
    """Raise ValueError for a name that XML cannot represent."""
    if _NOT_IN_XML.search(name):
        raise ValueError(f"{name!r} contains a character that XML cannot represent; rename it")


def text_of(value: float) -> str:
    """Shortest decimal that reads back as the same double; ±∞ becomes ±`MINUS_INFINITY`."""
    return repr(float(max(min(value, -MINUS_INFINITY), MINUS_INFINITY) if value - value != 0 else value))


# --- expressions ------------------------------------------------------------------------------------------------------


def number(value: float) -> Element:
    """Constant."""
    element = build_element("Constant", dataType="double")
    element.text = text_of(value)
    return element


def value_of(expression: Element) -> float | None:
    """Number of a constant element; None for any other element."""
    return float(expression.text or "nan") if expression.tag == "Constant" else None


def field(name: str) -> Element:
    """Reference to a field."""
    return build_element("FieldRef", field=name)


def apply(function: str, *arguments: Element) -> Element:
    """Apply element: a function of its arguments."""
    return build_element("Apply", arguments, function=function)


def added(terms: Sequence[Element]) -> Element:
    """Sum."""
    return terms[0] if len(terms) == 1 else apply("+" if len(terms) == 2 else "sum", *terms)


def multiplied(factors: Sequence[Element]) -> Element:
    """Product."""
    return terms_of("*", factors)


def terms_of(function: str, terms: Sequence[Element]) -> Element:
    """Left fold of a binary function over several arguments."""
    first, *rest = terms
    for other in rest:
        first = apply(function, first, other)
    return first


def compared(left: Element, relation: str, right: Element) -> Element:
    """Comparison of two numbers."""
    return apply(_RELATIONS[relation], left, right)


def if_else(condition: Element, value: Element, otherwise: Element) -> Element:
    """Conditional expression: `value` if the condition holds, else `otherwise`."""
    return apply("if", condition, value, otherwise)


def mapped(name: str, pairs: Mapping[str, float], missing: float | None = None) -> Element:
    """MapValues element: the number assigned to a field's value; `missing` for a missing or unlisted value, if given."""
    known = {} if missing is None else {"mapMissingTo": text_of(missing), "defaultValue": text_of(missing)}
    return _map(name, {k: text_of(v) for k, v in pairs.items()}, dataType="double", **known)


def mapped_texts(name: str, pairs: Mapping[str, str]) -> Element:
    """MapValues element: the text assigned to a field's value; missing if none is assigned."""
    return _map(name, pairs, dataType="string")


def _map(name: str, pairs: Mapping[str, str], **attributes: str) -> Element:
    rows = build_element("InlineTable", (build_element("row", (_cell("from", k), _cell("to", v))) for k, v in pairs.items()))
    pair = build_element("FieldColumnPair", field=name, column="from")
    return build_element("MapValues", (pair, rows), outputColumn="to", **attributes)


def discretized(name: str, cuts: Sequence[float], values: Sequence[float], missing: float) -> Element:
    """Discretize element: the number of the interval that contains a field's value; `cuts` are the upper ends."""
    bins = [_bin(low, high, v) for low, high, v in zip((None, *cuts), (*cuts, None), values, strict=True)]
    return build_element("Discretize", bins, field=name, dataType="double", mapMissingTo=text_of(missing))


def _cell(tag: str, text: str) -> Element:
    cell = build_element(tag)
    cell.text = text
    return cell


def _bin(low: float | None, high: float | None, value: float) -> Element:
    margins = {"leftMargin": low, "rightMargin": high}
    attributes = {name: text_of(margin) for name, margin in margins.items() if margin is not None}
    interval = build_element("Interval", closure="openClosed" if high is not None else "openOpen", **attributes)
    return build_element("DiscretizeBin", (interval,), binValue=text_of(value))


# --- predicates -------------------------------------------------------------------------------------------------------


def holds(name: str, relation: str, value: str) -> Element:
    """Predicate that compares a field with a value; unknown if the field is missing."""
    return build_element("SimplePredicate", field=name, operator=_RELATIONS[relation], value=value)


def is_missing(name: str) -> Element:
    """Predicate that a field has no value."""
    return build_element("SimplePredicate", field=name, operator="isMissing")


def joined(operator: str, predicates: Sequence[Element]) -> Element:
    """Compound predicate of several predicates."""
    return (
        predicates[0] if len(predicates) == 1 else build_element("CompoundPredicate", predicates, booleanOperator=operator)
    )


def check_names(formula: Formula) -> None:
    """Raise ValueError for columns and names that PMML cannot represent."""
    for column in formula.columns:
        if column.kind is Kind.TEXT:
            raise ValueError(
                f"column {column.name!r} is text: PMML splits text into words differently; export to Python or JavaScript"
            )
        if column.name in ("", "prediction", formula.target) or column.name.startswith(OURS):
            raise ValueError(f"column {column.name!r}: the name is reserved in PMML exports; rename the column")
    levels = (str(level) for column in formula.columns for level in column.levels)
    for name in (formula.target, *(column.name for column in formula.columns), *(formula.classes or ()), *levels):
        check_name(name)


def dictionary(formula: Formula) -> Element:
    """Data dictionary: the columns and the target."""
    fields = [*map(_data_field, _raw_columns(formula)), _target(formula)]
    return build_element("DataDictionary", fields, numberOfFields=str(len(fields)))


def mining_schema(formula: Formula) -> Element:
    """Mining schema: a level that did not occur in training is missing, unless it is an error."""
    read = [
        build_element("MiningField", name=c.name, invalidValueTreatment=_invalid(c, formula.unseen))
        for c in _raw_columns(formula)
    ]
    return build_element(
        "MiningSchema", (*read, build_element("MiningField", name=target_name(formula), usageType="target"))
    )


def _raw_columns(formula: Formula) -> list[Input]:
    """Columns of the table; a column of which only date parts are read is numeric."""
    direct = {column.name: column for column in formula.columns if not column.part}
    return [direct.get(name) or Input(name, Kind.NUMERIC) for name in formula.given]


def outputs(formula: Formula, predictions: Sequence[Element] | None = None) -> Element:
    """Output element with `prediction` and `P(class)` of each class: the model's, or those in `predictions`."""
    if formula.classes is None:
        return build_element("Output", (output_field("prediction", "predictedValue", "continuous"),))
    fields = [output_field("prediction", "predictedValue", "categorical")]
    for k, name in enumerate(formula.classes):
        if predictions is None:
            fields.append(output_field(f"P({name})", "probability", "continuous", value=name))
        else:
            fields.append(output_field(f"P({name})", "transformedValue", "continuous"))
            fields[-1].append(predictions[k])
    return build_element("Output", fields)


def output_field(name: str, feature: str, optype: str, **more: str) -> Element:
    """Output field."""
    kind = "double" if optype == "continuous" else "string"
    return build_element("OutputField", name=name, feature=feature, optype=optype, dataType=kind, **more)


def target_name(formula: Formula) -> str:
    """Name of the target; changed if it would clash with an output."""
    return f"{OURS}target" if formula.target in ("", "prediction") else formula.target


def _target(formula: Formula) -> Element:
    if formula.classes is None:
        return build_element("DataField", name=target_name(formula), optype="continuous", dataType="double")
    values = [build_element("Value", value=name) for name in formula.classes]
    return build_element("DataField", values, name=target_name(formula), optype="categorical", dataType="string")


def _data_field(column: Input) -> Element:
    if column.kind is not Kind.NUMERIC:
        optype = "ordinal" if column.kind is Kind.ORDINAL else "categorical"
        levels = in_cases(column) if column.is_boolean else map(str, column.levels)
        values = [build_element("Value", value=level) for level in levels]
        return build_element("DataField", values, name=column.name, optype=optype, dataType="string")
    return build_element("DataField", _allowed(column), name=column.name, optype="continuous", dataType="double")


def _allowed(column: Input) -> list[Element]:
    if column.domain == "any":
        return []
    minimum = 0.0 if column.domain == "count" else -MAX_DOUBLE
    return [build_element("Interval", closure="closedClosed", leftMargin=text_of(minimum), rightMargin=text_of(MAX_DOUBLE))]


def _invalid(column: Input, unseen: str) -> str:
    if column.kind is Kind.NUMERIC:
        return "asIs" if column.domain == "any" else "returnInvalid"
    return "returnInvalid" if unseen == "error" else "asMissing"
