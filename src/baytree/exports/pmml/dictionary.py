"""What a PMML file tells of its columns: names, levels, what is refused, and what comes out."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from baytree.exports.pmml.elements import OURS, check_name, made, text_of
from baytree.formula import Formula
from baytree.formula.inputs import Input, in_cases
from baytree.table.schema import Kind

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
