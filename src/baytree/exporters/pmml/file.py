"""Export of formulas to a PMML 4.4 file.

A model that is one tree becomes a TreeModel with class probabilities at its nodes. Everything else becomes derived fields
that a RegressionModel reads; if trees are part of such a model (votes, costs), they come first in a chain of models and pass
on the number of the node in which a row ends. A value that `predict` would refuse makes the outputs missing.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, indent, tostring

from msgspec import Struct

from baytree.exporters.pmml.elements import (
    OURS,
    build_element,
    check_names,
    compared,
    dictionary,
    if_else,
    mining_schema,
    number,
    output_field,
    outputs,
    text_of,
)
from baytree.exporters.pmml.expressions import Fields
from baytree.exporters.pmml.trees import tree
from baytree.formula import Formula
from baytree.formula.builder import parts, required_steps
from baytree.formula.expressions import FirstHighest, Pick, Route
from baytree.formula.transforms import may_abstain, resolve
from baytree.version import __version__

NAMESPACE = "http://www.dmg.org/PMML-4_4"


def document(formula: Formula) -> str:
    """PMML document with the outputs `prediction` and, for classification, `P(class)` of each class."""
    check_names(formula)
    if may_abstain(formula):
        raise ValueError(
            "reject: a PMML model predicts a class for every row; omit reject, and compare P(class) with a threshold"
        )
    application = build_element("Application", name="baytree", version=__version__)
    header = build_element("Header", (application,), description=formula.title)
    model = _whole_tree(formula) or _chain(formula)
    root = build_element("PMML", (header, dictionary(formula), model), version="4.4", xmlns=NAMESPACE)
    indent(root, " ")
    text = tostring(root, "unicode").replace("\r", "&#13;")  # an XML parser would normalise it to a line feed
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


# --- a model that is one tree -----------------------------------------------------------------------------------------


def _whole_tree(formula: Formula) -> Element | None:
    """TreeModel of a formula whose predictions are the values of one tree's nodes; None for any other formula."""
    values, choice = resolve(formula, formula.answers), formula.choice and resolve(formula, formula.choice)
    if not isinstance(values, Pick) or not isinstance(route := resolve(formula, values.of), Route):
        return None
    if choice is not None and not (isinstance(choice, Pick) and resolve(formula, choice.of) == route):
        return None
    classes, chosen_rows = formula.classes or (), choice.table if isinstance(choice, Pick) else ()

    def leaf(n: int) -> tuple[str, list[Element]]:
        row = values.table[n]
        if not classes:
            return text_of(row[0]), []
        distribution = [_proportion(name, probability) for name, probability in zip(classes, row, strict=True)]
        return classes[int(chosen_rows[n][0])], distribution

    fields = Fields(formula)
    root = tree(formula.trees[route.tree], fields.tested(), fields, leaf)
    return _tree_model(formula, fields, root, outputs(formula), "classification" if classes else "regression")


def _proportion(name: str, proportion: float) -> Element:
    return build_element("ScoreDistribution", value=name, recordCount=text_of(proportion), probability=text_of(proportion))


def _tree_model(formula: Formula, fields: Fields, root: Element, output: Element, function: str) -> Element:
    inside = (mining_schema(formula), output, *_transformations(fields), root)
    rules = {"noTrueChildStrategy": "returnLastPrediction", "splitCharacteristic": "multiSplit"}
    return build_element("TreeModel", inside, functionName=function, missingValueStrategy="none", **rules)


def _transformations(fields: Fields) -> list[Element]:
    return [build_element("LocalTransformations", fields.derived)] if fields.derived else []


# --- a chain of trees and a regression --------------------------------------------------------------------------------


def _chain(formula: Formula) -> Element:
    """Chain of the trees and the model that reads their node numbers; only that model if there are no trees."""
    routes = _routes(formula)
    names = [f"{OURS}tree {k}" for k in routes]
    node_models = [
        _node_number_model(formula, k, name) for k, name in zip(routes, names, strict=True)
    ]  # first, so that a tree that is too deep is refused
    regression = _regression(formula, names)
    if not routes:
        return regression
    models = [*node_models, regression]
    segments = [build_element("Segment", (build_element("True"), model), id=str(k)) for k, model in enumerate(models)]
    chain = build_element("Segmentation", segments, multipleModelMethod="modelChain")
    return build_element("MiningModel", (mining_schema(formula), chain), functionName=regression.get("functionName", ""))


def _routes(formula: Formula) -> list[int]:
    """Indices of the trees whose node number is read."""
    expressions = [formula.answers, formula.choice, *(formula.steps[k].value for k in required_steps(formula))]
    stack: list[Struct] = [each for each in expressions if each is not None]
    trees: set[int] = set()
    while stack:
        each = stack.pop()
        if isinstance(each, Route):
            trees.add(each.tree)
        stack.extend(parts(each))
    return sorted(trees)


def _node_number_model(formula: Formula, k: int, name: str) -> Element:
    """TreeModel that outputs the number of the node in which a row ends."""
    fields = Fields(formula)
    root = tree(formula.trees[k], fields.tested(), fields, lambda n: (text_of(float(n)), []))
    output = build_element("Output", (output_field(name, "predictedValue", "continuous"),))
    return _tree_model(formula, fields, root, output, "regression")


def _regression(formula: Formula, names: list[str]) -> Element:
    """RegressionModel in which each prediction is a field with coefficient 1."""
    fields = Fields(formula)
    fields.run()
    values = [fields.store(each) for each in fields.vector(formula.answers)]
    if formula.classes is None:
        tables, output, function = [_table(values[0])], outputs(formula), "regression"
    else:
        # readers compute the last class as 1 minus the others, and that rounding must not decide between leaves of a tree
        is_highest = formula.choice == FirstHighest(formula.answers) and not formula.trees
        predictors = values if is_highest else _indicators(formula, fields)
        tables = [_table(each, name) for each, name in zip(predictors, formula.classes, strict=True)]
        output, function = outputs(formula, None if is_highest else values), "classification"
    schema = mining_schema(formula)
    schema.extend(build_element("MiningField", name=name) for name in names)
    return build_element("RegressionModel", (schema, output, *_transformations(fields), *tables), functionName=function)


def _indicators(formula: Formula, fields: Fields) -> list[Element]:
    """1 for the chosen class, which need not be the most probable one, 0 for the others."""
    assert formula.choice is not None
    index = fields.store(fields.element(formula.choice, 0))
    return [
        fields.store(if_else(compared(index, "==", number(float(k))), number(1.0), number(0.0)))
        for k in range(len(formula.classes or ()))
    ]


def _table(predictor: Element, name: str | None = None) -> Element:
    attributes = {} if name is None else {"targetCategory": name}
    if predictor.tag == "Constant":
        return build_element("RegressionTable", intercept=predictor.text or "0", **attributes)
    term = build_element("NumericPredictor", name=predictor.get("field", ""), coefficient="1")
    return build_element("RegressionTable", (term,), intercept="0", **attributes)
