"""Likelihoods of text columns: log-probabilities of words, explanations by word, and random documents.

`DocumentLikelihood` scores present and absent words independently. `DirichletMultinomialText` is the exact predictive of a
document, which does not factor over its words.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from baytree import _core
from baytree.base.model import Evidence
from baytree.data.encoding.bags import weighed
from baytree.data.encoding.table import Table, Tokens
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.formula.builder import Effects, FormulaBuilder, bag, constant, matrix, where_known
from baytree.formula.expressions import Case, Compare, Expression, Named, OverWords, Sum, When
from baytree.naive_bayes.events.base import ColumnLikelihood
from baytree.naive_bayes.events.count_likelihoods import check_concentration, less_size
from baytree.summary.naive_bayes import MAX_WORDS_PER_CLASS, TellingWords

MAX_SHOWN_WORDS = 10  # words in an explanation; the others are summed in one line


class WordLikelihood(ColumnLikelihood, frozen=True):
    """Distribution of the words of a text column in each class."""

    def weights(self) -> np.ndarray:
        """Weight of each word for each class, relative to the others: [n_words, n_classes]."""
        raise NotImplementedError(f"{type(self).__name__} must define weights")

    def word_evidence(self, table: Table) -> list[tuple[Evidence, ...]]:
        """Lines of each row's explanation: the most influential words, then all others."""
        raise NotImplementedError(f"{type(self).__name__} must define word_evidence")

    def evidence(self, table: Table) -> dict[int, list[tuple[Evidence, ...]]]:
        """Lines of each row's explanation: one per influential word."""
        return {self.column: self.word_evidence(table)}

    def summary(self, schema: Schema) -> list[TellingWords]:
        """Words with the largest weight for each class."""
        column = schema.columns[self.column]
        return [TellingWords(column.name, tuple(map(tuple, top_words(self.weights(), column.levels, MAX_WORDS_PER_CLASS))))]


def top_words(weights: np.ndarray, vocabulary: tuple, n: int) -> list[list[str]]:
    """Words with the largest weight for each class."""
    order = np.argsort(-weights, axis=0, kind="stable")[:n]
    return [[str(vocabulary[k]) for k in column if np.isfinite(weights[k, c])] for c, column in enumerate(order.T)]


def entries(tokens: Tokens, scale: np.ndarray, is_unit: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Document arguments of the C++ kernels."""
    return tokens.start, tokens.code, weighed(tokens, scale, is_unit), tokens.missing


def rows(tokens: Tokens, scale: np.ndarray, is_unit: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    """Codes and scaled counts of the words in use, for each row."""
    rows = []
    count = weighed(tokens, scale, is_unit)
    for first, last in zip(tokens.start[:-1], tokens.start[1:], strict=True):
        code = tokens.code[first:last]
        in_use = scale[code] > 0
        rows.append((code[in_use], count[first:last][in_use]))
    return rows


def word_lines(column: Column, code: np.ndarray, count: np.ndarray, effect: np.ndarray) -> list[Evidence]:
    """One line for each of the most influential words, and one for all others."""
    contrast = effect.max(axis=1) - effect.min(axis=1) if len(effect) else np.zeros(0)
    order = np.argsort(-np.nan_to_num(contrast, nan=np.inf), kind="stable")
    shown, rest = order[:MAX_SHOWN_WORDS], order[MAX_SHOWN_WORDS:]
    lines = [Evidence(column.name, f"‘{column.levels[code[k]]}’ × {count[k]:g}", effect[k]) for k in shown]
    if len(rest):
        lines.append(Evidence(column.name, f"{len(rest)} other words", effect[rest].sum(axis=0)))
    return lines or [Evidence(column.name, "no known word", np.zeros(effect.shape[1]))]


def unless_missing(
    ledgers: list[tuple[Evidence, ...]], tokens: Tokens, name: str, n_classes: int
) -> list[tuple[Evidence, ...]]:
    """Lines of each row, replaced by a single line for missing documents."""
    missing = (Evidence(name, "missing", np.zeros(n_classes)),)
    return [missing if is_missing else lines for lines, is_missing in zip(ledgers, tokens.missing, strict=True)]


def relative_to_others(score: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Score of each class minus the mean of the other classes; −∞ for words that are not used."""
    n_others = max(score.shape[1] - 1, 1)
    finite = np.maximum(score, -1e300)
    others = (finite.sum(axis=1, keepdims=True) - finite) / n_others
    return np.where(scale[:, None] > 0, finite - others if score.shape[1] > 1 else finite, -np.inf)


def drawn_documents(
    random: np.random.Generator, label: np.ndarray, proportion: np.ndarray, length: np.ndarray, column: Column
) -> np.ndarray:
    """Random document for each row, given its class: Poisson many words, drawn independently."""
    documents = np.empty(len(label), object)
    for row, c in enumerate(label):
        n_words = random.poisson(min(length[c], 1e6))
        chosen = random.choice(len(proportion), n_words, p=proportion[:, c] / proportion[:, c].sum())
        documents[row] = " ".join(str(column.levels[k]) for k in chosen)
    return documents


def drawn_sets(random: np.random.Generator, label: np.ndarray, chance: np.ndarray, column: Column) -> np.ndarray:
    """Random document for each row, given its class: each word is present or not."""
    documents = np.empty(len(label), object)
    for row, c in enumerate(label):
        chosen = np.flatnonzero(random.random(len(chance)) < chance[:, c])
        documents[row] = " ".join(str(column.levels[k]) for k in chosen)
    return documents


def check_words(scale: np.ndarray, length: np.ndarray, table: np.ndarray) -> None:
    """Raise ValueError unless scales and lengths are finite and not negative."""
    for array in (scale, length):
        if array.dtype != np.float64 or array.ndim != 1 or not np.isfinite(array).all() or (array < 0).any():
            raise ValueError("scales and lengths of documents must be finite and not negative")
    if len(length) != table.shape[1]:
        raise ValueError("documents need a length in each class")


def check_schema(column: int, table: np.ndarray, schema: Schema) -> None:
    """Raise ValueError unless the column has these words and the target these classes."""
    described = schema.columns[column]
    if described.kind is not Kind.TEXT or table.shape != (len(described.levels), len(schema.classes)):
        raise ValueError(f"the likelihood of column {described.name!r} does not fit its words")


class DocumentLikelihood(WordLikelihood, frozen=True, tag="documents"):
    """Score of a word when it is present (times its count, unless the rule is `binary`) and when it is absent."""

    rule: Literal["binary", "count", "amount"]
    scale: np.ndarray  # [n_words]: 0 for unused words, otherwise 1 or the idf
    absent: np.ndarray  # [n_words, n_classes]
    present: np.ndarray  # [n_words, n_classes]
    length: np.ndarray  # [n_classes]: mean number of words per document
    is_unit: bool = False  # whether documents are scaled to length 1

    def __post_init__(self) -> None:
        for table in (self.absent, self.present):
            if table.dtype != np.float64 or table.ndim != 2 or len(table) != len(self.scale) or np.isnan(table).any():
                raise ValueError("documents need a score for each word and class")
        check_words(self.scale, self.length, self.present)
        if self.absent.shape != self.present.shape or np.isposinf(self.absent).any() or np.isposinf(self.present).any():
            raise ValueError("the scores of documents do not fit")

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the column has these words and the target these classes."""
        check_schema(self.column, self.present, schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Add each document's scores; missing documents contribute nothing."""
        zeros = np.zeros_like(self.present)
        base, slope = (self.present, zeros) if self.rule == "binary" else (zeros, self.present)
        fields = entries(table.values[self.column], self.scale, self.is_unit)
        _core.add_sparse_amount_scores(*fields, self.absent, base, slope, zeros + np.inf, 0.0, self.rule, scores)

    def formula(self, steps: FormulaBuilder) -> Effects:
        """Σ amount · weight over the words present; for `binary`, the log-probability of each word's presence or absence."""
        j, in_use = self.column, self.scale > 0
        present, absent = self.present[in_use], self.absent[in_use]
        if self.rule == "binary":
            words = bag(steps, j, np.ones_like(self.scale) * in_use, False)
            value = _set_score(words, present, absent)
        else:
            words = bag(steps, j, self.scale, self.is_unit)
            value = OverWords(words, "amount", matrix(present))
        return [(j, where_known(j, value, present.shape[1]))]

    def word_evidence(self, table: Table) -> list[tuple[Evidence, ...]]:
        """Lines for each row: the most influential words, all others, and for `binary` the absent words."""
        column = table.schema.columns[self.column]
        explanations = []
        for code, count in rows(table.values[self.column], self.scale, self.is_unit):
            effect = self.present[code] - self.absent[code] if self.rule == "binary" else count[:, None] * self.present[code]
            lines = word_lines(column, code, count, effect)
            if self.rule == "binary":
                lines.append(Evidence(column.name, "absent words", self.absent.sum(axis=0)))
            explanations.append(tuple(lines))
        return unless_missing(explanations, table.values[self.column], column.name, self.present.shape[1])

    def weights(self) -> np.ndarray:
        """Weight of each word for each class, relative to the others: [n_words, n_classes]."""
        return relative_to_others(self.present - self.absent if self.rule == "binary" else self.present, self.scale)

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Probability (or weight) of each word in each class."""
        in_use = np.flatnonzero(self.scale > 0)
        words = [str(schema.columns[column].levels[k]) for k in in_use]
        return words, self.present[in_use] if self.rule == "amount" else np.exp(self.present[in_use])

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """Random document for each row, given its class."""
        column = schema.columns[self.column]
        probability = np.exp(self.present) * (self.scale > 0)[:, None]
        if self.rule == "amount":
            raise ValueError(f"column {column.name!r}: complement weights are not probabilities, so rows cannot be drawn")
        if self.rule == "binary":
            return [drawn_sets(random, label, probability, column)]
        return [drawn_documents(random, label, probability, self.length, column)]


def _set_score(words: Named, present: np.ndarray, absent: np.ndarray) -> Expression:
    """Σ absent over all words, + present − absent for each word present; impossible events are counted separately."""
    never, always = np.isneginf(present), np.isneginf(absent)
    base, finite_present = np.where(always, 0.0, absent), np.where(never, 0.0, present)
    score = Sum((constant(base.sum(axis=0)), OverWords(words, "presence", matrix(finite_present - base))))
    if not (never.any() or always.any()):
        return score
    change = OverWords(words, "presence", matrix(never.astype(np.float64) - always))
    impossible = Sum((constant(always.sum(axis=0)), change))
    return Case((When(Compare(impossible, ">", constant(0.0)), constant(-np.inf)),), score)


class DirichletMultinomialText(WordLikelihood, frozen=True, tag="document_urns"):
    """Exact predictive of a document under a Dirichlet–multinomial (Pólya urn): each word makes itself more probable."""

    scale: np.ndarray  # [n_words]
    concentration: np.ndarray  # [n_words, n_classes]
    length: np.ndarray  # [n_classes]
    is_unit: bool = False

    def __post_init__(self) -> None:
        check_concentration(self.concentration)
        if len(self.concentration) != len(self.scale):
            raise ValueError("concentrations need one number per word and class")
        check_words(self.scale, self.length, self.concentration)

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the column has these words and the target these classes."""
        check_schema(self.column, self.concentration, schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Add each document's log-probability to its scores; missing documents contribute nothing."""
        fields = entries(table.values[self.column], self.scale, self.is_unit)
        _core.add_sparse_urn_scores(*fields, self.concentration, self.concentration.sum(axis=0), scores)

    def formula(self, steps: FormulaBuilder) -> Effects:
        """Σ log Γ(a + x)/Γ(a) − log Γ(A + n)/Γ(A), with x the count of each word and n of all."""
        j, concentration = self.column, self.concentration
        words = bag(steps, j, self.scale, self.is_unit)
        sampled, size = steps.add_step(OverWords(words, "amount")), steps.add_step(constant(concentration.sum(axis=0)))
        rising = OverWords(words, "rising", matrix(concentration[self.scale > 0]))
        return [(j, where_known(j, Sum((rising, less_size(size, sampled))), concentration.shape[1]))]

    def word_evidence(self, table: Table) -> list[tuple[Evidence, ...]]:
        """Lines for each row: the most influential words, then all others. The length term is distributed by word count."""
        column = table.schema.columns[self.column]
        n_classes = self.concentration.shape[1]
        explanations = []
        for code, count in rows(table.values[self.column], self.scale, self.is_unit):
            effect = np.zeros((len(code), n_classes))
            single = self.concentration[code], count[:, None]
            for k in range(len(code)):
                _core.add_urn_scores(single[1][k : k + 1], single[0][k : k + 1], np.zeros(n_classes), effect[k : k + 1])
            length_term = np.zeros((1, n_classes))
            if count.sum() > 0:
                total = np.ascontiguousarray(self.concentration.sum(axis=0)[None])
                _core.add_urn_scores(np.array([[count.sum()]]), total, np.zeros(n_classes), length_term)
                effect -= count[:, None] / count.sum() * length_term
            explanations.append(tuple(word_lines(column, code, count, effect)))
        return unless_missing(explanations, table.values[self.column], column.name, n_classes)

    def weights(self) -> np.ndarray:
        """Weight of each word for each class, relative to the others: [n_words, n_classes]."""
        with np.errstate(divide="ignore"):
            return relative_to_others(np.log(self._shares()), self.scale)

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Expected proportion of each word in each class."""
        in_use = np.flatnonzero(self.scale > 0)
        return [str(schema.columns[column].levels[k]) for k in in_use], self._shares()[in_use]

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """Random document for each row, given its class."""
        return [drawn_documents(random, label, self._shares(), self.length, schema.columns[self.column])]

    def _shares(self) -> np.ndarray:
        return self.concentration / self.concentration.sum(axis=0)
