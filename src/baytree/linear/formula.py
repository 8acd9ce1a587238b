"""Linear and quadratic scores as formulas: what each column adds, with gaps filled and levels by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.formula import Formula
from baytree.formula.builder import Effects, FormulaBuilder, bag, classification_formula, constant, matrix, number, numbers
from baytree.formula.expressions import (
    Apply,
    Case,
    Expression,
    Greatest,
    Known,
    Lookup,
    Named,
    Number,
    OverWords,
    Product,
    Quotient,
    Smallest,
    Softmax,
    Sum,
    When,
)
from baytree.linear.design.design import FAR, Design
from baytree.linear.design.feature_layout import MISSING, VALUE

if TYPE_CHECKING:
    from baytree.linear.linear_model import LinearModel


def linear(title: str, model: LinearModel, schema: Schema) -> Formula:
    """intercept + Σ effects, and its softmax; of one score against the rest, the share of its sigmoid; a number as it is."""
    steps = FormulaBuilder(schema)
    weight, start = model.weight.T, model.intercept  # [n_features, n_scores]
    if model.link == "sigmoid":
        weight, start = (np.concatenate([np.zeros_like(a), a], axis=-1) for a in (weight, start))
    scores = steps.scores(start, _effects(model.design, weight, steps))
    if model.link == "identity":
        return number(title, steps, scores)
    return classification_formula(title, steps, Softmax(log_sigmoid(scores, steps) if model.link == "ovr" else scores))


def log_sigmoid(scores: Named, steps: FormulaBuilder) -> Expression:
    """−log(1 + e^−s), of any size."""
    away = Apply("log1p", Apply("exp", Product((constant(-1.0), Apply("abs", scores)))))
    below = Greatest((constant(0.0), Product((constant(-1.0), scores))))
    return steps.add_step(Product((constant(-1.0), Sum((below, away)))))


def _effects(design: Design, weight: np.ndarray, steps: FormulaBuilder) -> Effects:
    """What each column adds to the scores; weight [n_features, n_scores]."""
    writers = {Kind.NUMERIC: _number_effect, Kind.TEXT: _text_effect}
    columns = enumerate(steps.schema.columns)
    written = [(j, writers.get(column.kind, _level_effect)(design, j, weight, steps)) for j, column in columns]
    return [(j, effect) for j, effect in written if effect is not None]


def _level_effect(design: Design, j: int, weight: np.ndarray, steps: FormulaBuilder) -> Expression | None:
    own = _own(design, j)
    if not len(own):
        return None
    rows = _standard(design, own, _coded(design, j, len(steps.schema.columns[j].levels))) @ weight[own]
    return Lookup(j, matrix(rows[:-1]), numbers(rows[-1]))


def _number_effect(design: Design, j: int, weight: np.ndarray, _: FormulaBuilder) -> Expression | None:
    own = _own(design, j)
    if not len(own):
        return None
    is_value = design.layout.level[own] == VALUE
    known, gap = _marked(design, own[~is_value], weight)
    terms: list[Expression] = [constant(known)] if (~is_value).any() else []
    for f in own[is_value]:
        terms.insert(0, Product((_distance(design, int(f), Number(j)), constant(weight[f]))))
        gap = gap + _standard(design, np.array([f]), design.layout.fill[[[j]]])[0, 0] * weight[f]
    return Case((When(Known(j), Sum(tuple(terms))),), constant(gap))


def _text_effect(design: Design, j: int, weight: np.ndarray, steps: FormulaBuilder) -> Expression | None:
    own, words = _own(design, j), _word_sum(design, j, weight, steps)
    known, gap = _marked(design, own, weight)
    if not len(own):
        return None if words is None else Case((When(Known(j), words),), constant(gap))
    value = constant(known) if words is None else Sum((constant(known), words))
    return Case((When(Known(j), value),), constant(gap))


def _word_sum(design: Design, j: int, weight: np.ndarray, steps: FormulaBuilder) -> Expression | None:
    """Σ amount · weight over the words of a text column."""
    first = design.n_dense
    for words in design.words:
        own = slice(first, first + len(words.idf))
        if words.column == j:
            idf = words.idf[: len(steps.schema.columns[j].levels)]
            rows = (weight[own] / design.scale[own, None])[: len(idf)][idf > 0]
            return OverWords(bag(steps, j, idf, words.is_unit), "amount", matrix(rows)) if len(rows) else None
        first = own.stop
    return None


def _features(design: Design, schema: Schema) -> Iterator[Expression]:
    """Each dense feature in standard units, by itself."""
    for f, (j, level) in enumerate(zip(design.layout.source.tolist(), design.layout.level.tolist(), strict=True)):
        one, column = np.array([f]), schema.columns[j]
        if column.kind is Kind.NUMERIC and level == VALUE:
            gap = _standard(design, one, design.layout.fill[[[j]]])[0]
            yield Case((When(Known(j), _distance(design, f, Number(j))),), constant(gap))
        elif column.kind in (Kind.NUMERIC, Kind.TEXT):
            known, gap = (_standard(design, one, np.array([[mark]]))[0] for mark in (0.0, 1.0))
            yield Case((When(Known(j), constant(known)),), constant(gap))
        else:
            raw = _coded(design, j, len(column.levels))[:, [f - design.layout.of_column(j).start]]
            rows = _standard(design, one, raw)
            yield Lookup(j, matrix(rows[:-1]), numbers(rows[-1]))


def _own(design: Design, j: int) -> np.ndarray:
    """The dense features of a column."""
    return np.arange(design.n_dense)[design.layout.of_column(j)]


def _coded(design: Design, j: int, n_levels: int) -> np.ndarray:
    """The features of each level and, last, of a gap, as they are. [n_levels + 1, n_own]"""
    level, code = design.layout.level[design.layout.of_column(j)], np.arange(n_levels + 1)
    is_gap = code == n_levels
    marked = np.where(is_gap, design.layout.mode[j], code)[:, None] == level
    value = np.where(is_gap, design.layout.fill[j], code)[:, None]
    return np.where(level == VALUE, value, np.where(level == MISSING, is_gap[:, None], marked & (level >= 0)))


def _marked(design: Design, features: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What marks of gaps add where the value is known, and where it is not. [n_scores] each"""
    known, gap = (_standard(design, features, np.full((1, len(features)), mark)) for mark in (0.0, 1.0))
    return (known @ weight[features])[0], (gap @ weight[features])[0]


def _standard(design: Design, features: np.ndarray, raw: np.ndarray) -> np.ndarray:
    """(raw − centre) / scale as the design takes it. [n_rows, n_own]"""
    centre, scale, divisor = design.centre[features], design.scale[features], _divisor(design)[features]
    with np.errstate(over="ignore", invalid="ignore"):
        return np.clip((raw / divisor - centre / divisor) / (scale / divisor), -FAR, FAR)


def _divisor(design: Design) -> np.ndarray:
    """What keeps the distances of huge features within the doubles, 1 for all others. [n_dense]"""
    divisor = design.divisor
    return np.ones(design.n_dense) if divisor is None else divisor


def _distance(design: Design, f: int, x: Expression) -> Expression:
    """The same of a number that a row has."""
    centre, scale, divisor = (float(a[f]) for a in (design.centre, design.scale, _divisor(design)))
    part = x if divisor == 1 else Quotient(x, constant(divisor))
    apart = Quotient(Sum((part, constant(-centre / divisor))), constant(scale / divisor))
    return Smallest((Greatest((apart, constant(-FAR))), constant(FAR)))
