"""Linear and quadratic scores as `Formula` objects, for export: the effect of each raw column, with missing values imputed.

`linear` writes linear, logistic and linear discriminant models. `_features` yields standardised features one by one, for
quadratic discriminant analysis.
"""

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
from baytree.linear.design.design import MAX_STANDARDIZED, Design
from baytree.linear.design.feature_layout import MISSING, VALUE

if TYPE_CHECKING:
    from baytree.linear.linear_model import LinearModel


def linear(title: str, model: LinearModel, schema: Schema) -> Formula:
    """intercept + Σ column effects, then softmax, normalised sigmoids (one-vs-rest) or the number itself, depending on the
    link.
    """
    steps = FormulaBuilder(schema)
    weight, intercept = model.weight.T, model.intercept  # [n_features, n_scores]
    if model.link == "sigmoid":
        weight, intercept = (np.concatenate([np.zeros_like(a), a], axis=-1) for a in (weight, intercept))
    scores = steps.scores(intercept, _effects(model.design, weight, steps))
    if model.link == "identity":
        return number(title, steps, scores)
    return classification_formula(title, steps, Softmax(log_sigmoid(scores, steps) if model.link == "ovr" else scores))


def log_sigmoid(scores: Named, steps: FormulaBuilder) -> Expression:
    """log sigmoid(s) = −log(1 + e^−s), without overflow."""
    log1p_term = Apply("log1p", Apply("exp", Product((constant(-1.0), Apply("abs", scores)))))
    positive_part = Greatest((constant(0.0), Product((constant(-1.0), scores))))
    return steps.add_step(Product((constant(-1.0), Sum((positive_part, log1p_term)))))


def _effects(design: Design, weight: np.ndarray, steps: FormulaBuilder) -> Effects:
    """Effect of each column on the scores. weight [n_features, n_scores]"""
    writers = {Kind.NUMERIC: _number_effect, Kind.TEXT: _text_effect}
    columns = enumerate(steps.schema.columns)
    effects = [(j, writers.get(column.kind, _level_effect)(design, j, weight, steps)) for j, column in columns]
    return [(j, effect) for j, effect in effects if effect is not None]


def _level_effect(design: Design, j: int, weight: np.ndarray, steps: FormulaBuilder) -> Expression | None:
    """Effect of a nominal or ordinal column: a lookup table by level."""
    own = _own(design, j)
    if not len(own):
        return None
    rows = _standard(design, own, _coded(design, j, len(steps.schema.columns[j].levels))) @ weight[own]
    return Lookup(j, matrix(rows[:-1]), numbers(rows[-1]))


def _number_effect(design: Design, j: int, weight: np.ndarray, _: FormulaBuilder) -> Expression | None:
    """Effect of a numeric column: linear if the value is known, a constant if it is missing."""
    own = _own(design, j)
    if not len(own):
        return None
    is_value = design.layout.level[own] == VALUE
    known, if_missing = _marked(design, own[~is_value], weight)
    terms: list[Expression] = [constant(known)] if (~is_value).any() else []
    for f in own[is_value]:
        terms.insert(0, Product((_distance(design, int(f), Number(j)), constant(weight[f]))))
        if_missing = if_missing + _standard(design, np.array([f]), design.layout.fill[[[j]]])[0, 0] * weight[f]
    return Case((When(Known(j), Sum(tuple(terms))),), constant(if_missing))


def _text_effect(design: Design, j: int, weight: np.ndarray, steps: FormulaBuilder) -> Expression | None:
    """Effect of a text column: Σ word weights, or a constant if the text is missing."""
    own, words = _own(design, j), _word_sum(design, j, weight, steps)
    known, if_missing = _marked(design, own, weight)
    if not len(own):
        return None if words is None else Case((When(Known(j), words),), constant(if_missing))
    value = constant(known) if words is None else Sum((constant(known), words))
    return Case((When(Known(j), value),), constant(if_missing))


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
    """Expression of each dense feature in standard units."""
    for f, (j, level) in enumerate(zip(design.layout.source.tolist(), design.layout.level.tolist(), strict=True)):
        one, column = np.array([f]), schema.columns[j]
        if column.kind is Kind.NUMERIC and level == VALUE:
            if_missing = _standard(design, one, design.layout.fill[[[j]]])[0]
            yield Case((When(Known(j), _distance(design, f, Number(j))),), constant(if_missing))
        elif column.kind in (Kind.NUMERIC, Kind.TEXT):
            known, if_missing = (_standard(design, one, np.array([[indicator]]))[0] for indicator in (0.0, 1.0))
            yield Case((When(Known(j), constant(known)),), constant(if_missing))
        else:
            raw = _coded(design, j, len(column.levels))[:, [f - design.layout.of_column(j).start]]
            rows = _standard(design, one, raw)
            yield Lookup(j, matrix(rows[:-1]), numbers(rows[-1]))


def _own(design: Design, j: int) -> np.ndarray:
    """Indices of the dense features of a column."""
    return np.arange(design.n_dense)[design.layout.of_column(j)]


def _coded(design: Design, j: int, n_levels: int) -> np.ndarray:
    """Raw dense features of each level and, in the last row, of a missing value. [n_levels + 1, n_own]"""
    level, code = design.layout.level[design.layout.of_column(j)], np.arange(n_levels + 1)
    is_missing_row = code == n_levels
    is_level = np.where(is_missing_row, design.layout.mode[j], code)[:, None] == level
    value = np.where(is_missing_row, design.layout.fill[j], code)[:, None]
    return np.where(level == VALUE, value, np.where(level == MISSING, is_missing_row[:, None], is_level & (level >= 0)))


def _marked(design: Design, features: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Contribution of missing indicators if the value is known, and if it is missing. [n_scores] each"""
    known, if_missing = (_standard(design, features, np.full((1, len(features)), indicator)) for indicator in (0.0, 1.0))
    return (known @ weight[features])[0], (if_missing @ weight[features])[0]


def _standard(design: Design, features: np.ndarray, raw: np.ndarray) -> np.ndarray:
    """(raw − centre) / scale, clipped as in `Design.features`. [n_rows, n_own]"""
    centre, scale, divisor = design.centre[features], design.scale[features], _divisor(design)[features]
    with np.errstate(over="ignore", invalid="ignore"):
        return np.clip((raw / divisor - centre / divisor) / (scale / divisor), -MAX_STANDARDIZED, MAX_STANDARDIZED)


def _divisor(design: Design) -> np.ndarray:
    """Divisor that keeps differences of huge features finite; 1 for ordinary ones. [n_dense]"""
    divisor = design.divisor
    return np.ones(design.n_dense) if divisor is None else divisor


def _distance(design: Design, f: int, x: Expression) -> Expression:
    """Expression of a numeric feature in standard units, clipped as in `Design.features`."""
    centre, scale, divisor = (float(a[f]) for a in (design.centre, design.scale, _divisor(design)))
    scaled = x if divisor == 1 else Quotient(x, constant(divisor))
    standardised = Quotient(Sum((scaled, constant(-centre / divisor))), constant(scale / divisor))
    return Smallest((Greatest((standardised, constant(-MAX_STANDARDIZED))), constant(MAX_STANDARDIZED)))
