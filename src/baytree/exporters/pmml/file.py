"""Formulas as PMML 4.4: a tree is a TreeModel with its shares, everything else derived fields that a RegressionModel reads.

Where trees are a part of more (votes, costs), they stand first in a chain of models and hand on the number of the node
where a row rests. A value that `predict` would refuse makes the answers missing.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, indent, tostring

from msgspec import Struct

from baytree.exporters.pmml.elements import (
    OURS,
    check_names,
    chosen,
    compared,
    dictionary,
    made,
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
from baytree.formula.expressions import Expression, FirstHighest, Named, Pick, Route
from baytree.formula.transforms import may_abstain
from baytree.version import __version__

NAMESPACE = "http://www.dmg.org/PMML-4_4"


def document(formula: Formula) -> str:
    """A file with the outputs `prediction` and, for classes, `P(class)` of each."""
    check_names(formula)
    if may_abstain(formula):
        raise ValueError("reject: a model of PMML names a class for every row; leave reject out, and use P(class)")
    application = made("Application", name="baytree", version=__version__)
    header = made("Header", (application,), description=formula.title)
    model = _whole_tree(formula) or _chain(formula)
    whole = made("PMML", (header, dictionary(formula), model), version="4.4", xmlns=NAMESPACE)
    indent(whole, " ")
    written = tostring(whole, "unicode").replace("\r", "&#13;")  # in texts readers take it for the end of a line
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{written}\n'


# --- a model that is one tree -----------------------------------------------------------------------------------------


def _whole_tree(formula: Formula) -> Element | None:
    """The tree whose nodes hold the answers; None where a model is more than that."""
    answers, choice = _meant(formula, formula.answers), _meant(formula, formula.choice)
    if not isinstance(answers, Pick) or not isinstance(route := _meant(formula, answers.of), Route):
        return None
    if choice is not None and not (isinstance(choice, Pick) and _meant(formula, choice.of) == route):
        return None
    classes, chosen_rows = formula.classes or (), choice.table if isinstance(choice, Pick) else ()

    def leaf(n: int) -> tuple[str, list[Element]]:
        row = answers.table[n]
        if not classes:
            return text_of(row[0]), []
        shares = [_share(name, share) for name, share in zip(classes, row, strict=True)]
        return classes[int(chosen_rows[n][0])], shares

    fields = Fields(formula)
    root = tree(formula.trees[route.tree], fields.tested(), fields, leaf)
    return _tree_model(formula, fields, root, outputs(formula), "classification" if classes else "regression")


def _share(name: str, share: float) -> Element:
    return made("ScoreDistribution", value=name, recordCount=text_of(share), probability=text_of(share))


def _meant(formula: Formula, expression: Expression | None) -> Expression | None:
    """What a name stands for."""
    while isinstance(expression, Named):
        expression = formula.steps[expression.step].value
    return expression


def _tree_model(formula: Formula, fields: Fields, root: Element, output: Element, function: str) -> Element:
    inside = (mining_schema(formula), output, *_transformations(fields), root)
    rules = {"noTrueChildStrategy": "returnLastPrediction", "splitCharacteristic": "multiSplit"}
    return made("TreeModel", inside, functionName=function, missingValueStrategy="none", **rules)


def _transformations(fields: Fields) -> list[Element]:
    return [made("LocalTransformations", fields.derived)] if fields.derived else []


# --- a chain of trees and a regression --------------------------------------------------------------------------------


def _chain(formula: Formula) -> Element:
    """Trees that tell where a row rests, then the model that reads it; that model alone where there are no trees."""
    routes = _routes(formula)
    names = [f"{OURS}tree {k}" for k in routes]
    places = [_place(formula, k, name) for k, name in zip(routes, names, strict=True)]  # first: a deep tree is refused
    last = _regression(formula, names)
    if not routes:
        return last
    models = [*places, last]
    segments = [made("Segment", (made("True"), model), id=str(k)) for k, model in enumerate(models)]
    chain = made("Segmentation", segments, multipleModelMethod="modelChain")
    return made("MiningModel", (mining_schema(formula), chain), functionName=last.get("functionName", ""))


def _routes(formula: Formula) -> list[int]:
    """The trees in which the place of a row is asked for."""
    asked = [formula.answers, formula.choice, *(formula.steps[k].value for k in required_steps(formula))]
    rest: list[Struct] = [each for each in asked if each is not None]
    found: set[int] = set()
    while rest:
        each = rest.pop()
        if isinstance(each, Route):
            found.add(each.tree)
        rest.extend(parts(each))
    return sorted(found)


def _place(formula: Formula, k: int, name: str) -> Element:
    """The tree that gives the number of the node where a row rests."""
    fields = Fields(formula)
    root = tree(formula.trees[k], fields.tested(), fields, lambda n: (text_of(float(n)), []))
    output = made("Output", (output_field(name, "predictedValue", "continuous"),))
    return _tree_model(formula, fields, root, output, "regression")


def _regression(formula: Formula, names: list[str]) -> Element:
    """The answers as fields, each a predictor with the coefficient 1."""
    fields = Fields(formula)
    fields.run()
    answers = [fields.keep(each) for each in fields.vector(formula.answers)]
    if formula.classes is None:
        inside, output, function = [_table(answers[0])], outputs(formula), "regression"
    else:
        # of the last class readers take what the others leave of 1, which must not decide between the leaves of a tree
        is_highest = formula.choice == FirstHighest(formula.answers) and not formula.trees
        shown = answers if is_highest else _indicators(formula, fields)
        inside = [_table(each, name) for each, name in zip(shown, formula.classes, strict=True)]
        output, function = outputs(formula, None if is_highest else answers), "classification"
    schema = mining_schema(formula)
    schema.extend(made("MiningField", name=name) for name in names)
    return made("RegressionModel", (schema, output, *_transformations(fields), *inside), functionName=function)


def _indicators(formula: Formula, fields: Fields) -> list[Element]:
    """1 for the class that is chosen, which need not be the likeliest, 0 for the others."""
    assert formula.choice is not None
    place = fields.keep(fields.element(formula.choice, 0))
    return [
        fields.keep(chosen(compared(place, "==", number(float(k))), number(1.0), number(0.0)))
        for k in range(len(formula.classes or ()))
    ]


def _table(predictor: Element, name: str | None = None) -> Element:
    known = {} if name is None else {"targetCategory": name}
    if predictor.tag == "Constant":
        return made("RegressionTable", intercept=predictor.text or "0", **known)
    term = made("NumericPredictor", name=predictor.get("field", ""), coefficient="1")
    return made("RegressionTable", (term,), intercept="0", **known)
