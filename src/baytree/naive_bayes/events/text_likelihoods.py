"""What the likelihoods of text columns share: words as evidence, the words that tell most, and drawn documents.

Likelihoods of documents: what each word adds to the scores when it is there, and when it is not.

The exact predictive of documents, whose words do not factor.
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
from baytree.summary.naive_bayes import MOST_WORDS, TellingWords

SHOWN_WORDS = 10  # in an explanation; the rest of a document is one line


class WordLikelihood(ColumnLikelihood, frozen=True):
    """The distribution of the words of a text column in each class."""

    def weights(self) -> np.ndarray:
        """How much each word speaks for each class: [n_words, n_classes]."""
        raise NotImplementedError(f"{type(self).__name__} must weigh its words")

    def word_evidence(self, table: Table) -> list[tuple[Evidence, ...]]:
        """The lines of each row's ledger: the words that tell most, then all others."""
        raise NotImplementedError(f"{type(self).__name__} must say what its words tell")

    def evidence(self, table: Table) -> dict[int, list[tuple[Evidence, ...]]]:
        """A line for each telling word of a row."""
        return {self.column: self.word_evidence(table)}

    def summary(self, schema: Schema) -> list[TellingWords]:
        """The words that speak most for each class."""
        column = schema.columns[self.column]
        return [TellingWords(column.name, tuple(map(tuple, top_words(self.weights(), column.levels, MOST_WORDS))))]


def top_words(weights: np.ndarray, vocabulary: tuple, n: int) -> list[list[str]]:
    """For each class the words that speak most for it."""
    order = np.argsort(-weights, axis=0, kind="stable")[:n]
    return [[str(vocabulary[k]) for k in column if np.isfinite(weights[k, c])] for c, column in enumerate(order.T)]


def entries(tokens: Tokens, scale: np.ndarray, is_unit: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What the kernels take of documents."""
    return tokens.start, tokens.code, weighed(tokens, scale, is_unit), tokens.missing


def rows(tokens: Tokens, scale: np.ndarray, is_unit: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each row its kept words and their scaled counts."""
    rows = []
    count = weighed(tokens, scale, is_unit)
    for first, last in zip(tokens.start[:-1], tokens.start[1:], strict=True):
        code = tokens.code[first:last]
        kept = scale[code] > 0
        rows.append((code[kept], count[first:last][kept]))
    return rows


def word_lines(column: Column, code: np.ndarray, count: np.ndarray, effect: np.ndarray) -> list[Evidence]:
    """A line for each of the words that tell most, and one for all others."""
    spread = effect.max(axis=1) - effect.min(axis=1) if len(effect) else np.zeros(0)
    order = np.argsort(-np.nan_to_num(spread, nan=np.inf), kind="stable")
    shown, rest = order[:SHOWN_WORDS], order[SHOWN_WORDS:]
    lines = [Evidence(column.name, f"‘{column.levels[code[k]]}’ × {count[k]:g}", effect[k]) for k in shown]
    if len(rest):
        lines.append(Evidence(column.name, f"{len(rest)} other words", effect[rest].sum(axis=0)))
    return lines or [Evidence(column.name, "no known word", np.zeros(effect.shape[1]))]


def unless_missing(
    ledgers: list[tuple[Evidence, ...]], tokens: Tokens, name: str, n_classes: int
) -> list[tuple[Evidence, ...]]:
    """The ledgers, that of a missing document empty."""
    missing = (Evidence(name, "missing", np.zeros(n_classes)),)
    return [missing if is_missing else lines for lines, is_missing in zip(ledgers, tokens.missing, strict=True)]


def against_others(score: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Each class's score less the mean of the other classes'; −∞ for a word that is left out."""
    n_others = max(score.shape[1] - 1, 1)
    finite = np.maximum(score, -1e300)
    others = (finite.sum(axis=1, keepdims=True) - finite) / n_others
    return np.where(scale[:, None] > 0, finite - others if score.shape[1] > 1 else finite, -np.inf)


def drawn_documents(
    random: np.random.Generator, label: np.ndarray, share: np.ndarray, length: np.ndarray, column: Column
) -> np.ndarray:
    """A document for each row of a class: as many words as they have on average, drawn one by one."""
    documents = np.empty(len(label), object)
    for row, c in enumerate(label):
        n_words = random.poisson(min(length[c], 1e6))
        chosen = random.choice(len(share), n_words, p=share[:, c] / share[:, c].sum())
        documents[row] = " ".join(str(column.levels[k]) for k in chosen)
    return documents


def drawn_sets(random: np.random.Generator, label: np.ndarray, chance: np.ndarray, column: Column) -> np.ndarray:
    """A document for each row of a class: each word is there or not."""
    documents = np.empty(len(label), object)
    for row, c in enumerate(label):
        chosen = np.flatnonzero(random.random(len(chance)) < chance[:, c])
        documents[row] = " ".join(str(column.levels[k]) for k in chosen)
    return documents


def check_words(scale: np.ndarray, length: np.ndarray, table: np.ndarray) -> None:
    """Raises an error unless scales and lengths are numbers that can be meant."""
    for array in (scale, length):
        if array.dtype != np.float64 or array.ndim != 1 or not np.isfinite(array).all() or (array < 0).any():
            raise ValueError("scales and lengths of documents are finite and not negative")
    if len(length) != table.shape[1]:
        raise ValueError("documents have a length in each class")


def check_schema(column: int, table: np.ndarray, schema: Schema) -> None:
    """Raises an error unless the column has these words and the target these classes."""
    known = schema.columns[column]
    if known.kind is not Kind.TEXT or table.shape != (len(known.levels), len(schema.classes)):
        raise ValueError(f"the likelihood of column {known.name!r} does not fit its words")


class DocumentLikelihood(WordLikelihood, frozen=True, tag="documents"):
    """What a word adds to the scores when it is there (times its count, unless only presence counts) and when it is not."""

    rule: Literal["binary", "count", "amount"]
    scale: np.ndarray  # [n_words]: 0 for a word that is left out, 1, or its idf
    absent: np.ndarray  # [n_words, n_classes]
    present: np.ndarray  # [n_words, n_classes]
    length: np.ndarray  # [n_classes]: the mean number of words of a document
    is_unit: bool = False  # whether a document is brought to length 1

    def __post_init__(self) -> None:
        for table in (self.absent, self.present):
            if table.dtype != np.float64 or table.ndim != 2 or len(table) != len(self.scale) or np.isnan(table).any():
                raise ValueError("documents have a score for each word and class")
        check_words(self.scale, self.length, self.present)
        if self.absent.shape != self.present.shape or np.isposinf(self.absent).any() or np.isposinf(self.present).any():
            raise ValueError("the scores of documents do not fit")

    def check(self, schema: Schema) -> None:
        """Raises an error unless the column has these words and the target these classes."""
        check_schema(self.column, self.present, schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Adds each document's scores; a missing document adds nothing."""
        none = np.zeros_like(self.present)
        base, slope = (self.present, none) if self.rule == "binary" else (none, self.present)
        fields = entries(table.values[self.column], self.scale, self.is_unit)
        _core.add_sparse_amount_scores(*fields, self.absent, base, slope, none + np.inf, 0.0, self.rule, scores)

    def formula(self, steps: FormulaBuilder) -> Effects:
        """Σ amount · weight over the words that are there; or a probability for each word that is there, and that is not."""
        j, kept = self.column, self.scale > 0
        present, absent = self.present[kept], self.absent[kept]
        if self.rule == "binary":
            words = bag(steps, j, np.ones_like(self.scale) * kept, False)
            value = _of_a_set(words, present, absent)
        else:
            words = bag(steps, j, self.scale, self.is_unit)
            value = OverWords(words, "amount", matrix(present))
        return [(j, where_known(j, value, present.shape[1]))]

    def word_evidence(self, table: Table) -> list[tuple[Evidence, ...]]:
        """For each row the words that tell most, then all others, then the words that are not there."""
        column = table.schema.columns[self.column]
        ledgers = []
        for code, count in rows(table.values[self.column], self.scale, self.is_unit):
            effect = self.present[code] - self.absent[code] if self.rule == "binary" else count[:, None] * self.present[code]
            lines = word_lines(column, code, count, effect)
            if self.rule == "binary":
                lines.append(Evidence(column.name, "words that are absent", self.absent.sum(axis=0)))
            ledgers.append(tuple(lines))
        return unless_missing(ledgers, table.values[self.column], column.name, self.present.shape[1])

    def weights(self) -> np.ndarray:
        """How much each word speaks for each class: [n_words, n_classes]."""
        return against_others(self.present - self.absent if self.rule == "binary" else self.present, self.scale)

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """The probability (or the weight) of each word in each class."""
        kept = np.flatnonzero(self.scale > 0)
        words = [str(schema.columns[column].levels[k]) for k in kept]
        return words, self.present[kept] if self.rule == "amount" else np.exp(self.present[kept])

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """A document for each row of a class."""
        column = schema.columns[self.column]
        share = np.exp(self.present) * (self.scale > 0)[:, None]
        if self.rule == "amount":
            raise ValueError(f"column {column.name!r}: complement weights are no probabilities, so rows cannot be drawn")
        if self.rule == "binary":
            return [drawn_sets(random, label, share, column)]
        return [drawn_documents(random, label, share, self.length, column)]


def _of_a_set(words: Named, present: np.ndarray, absent: np.ndarray) -> Expression:
    """Σ absent over all words, + present − absent for each that is there; what is impossible is counted apart."""
    never, always = np.isneginf(present), np.isneginf(absent)
    base, raised = np.where(always, 0.0, absent), np.where(never, 0.0, present)
    score = Sum((constant(base.sum(axis=0)), OverWords(words, "presence", matrix(raised - base))))
    if not (never.any() or always.any()):
        return score
    change = OverWords(words, "presence", matrix(never.astype(np.float64) - always))
    impossible = Sum((constant(always.sum(axis=0)), change))
    return Case((When(Compare(impossible, ">", constant(0.0)), constant(-np.inf)),), score)


class DirichletMultinomialText(WordLikelihood, frozen=True, tag="document_urns"):
    """The exact predictive of a document: its words drawn from an urn that the words before have filled (Pólya)."""

    scale: np.ndarray  # [n_words]
    concentration: np.ndarray  # [n_words, n_classes]
    length: np.ndarray  # [n_classes]
    is_unit: bool = False

    def __post_init__(self) -> None:
        check_concentration(self.concentration)
        if len(self.concentration) != len(self.scale):
            raise ValueError("urns have a number for each word and class")
        check_words(self.scale, self.length, self.concentration)

    def check(self, schema: Schema) -> None:
        """Raises an error unless the column has these words and the target these classes."""
        check_schema(self.column, self.concentration, schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Adds each document's log-probability to its scores; a missing document adds nothing."""
        fields = entries(table.values[self.column], self.scale, self.is_unit)
        _core.add_sparse_urn_scores(*fields, self.concentration, self.concentration.sum(axis=0), scores)

    def formula(self, steps: FormulaBuilder) -> Effects:
        """Σ log Γ(a + x)/Γ(a), less log Γ(A + n)/Γ(A), with x of each word, n of all."""
        j, urn = self.column, self.concentration
        words = bag(steps, j, self.scale, self.is_unit)
        drawn, size = steps.add_step(OverWords(words, "amount")), steps.add_step(constant(urn.sum(axis=0)))
        rising = OverWords(words, "rising", matrix(urn[self.scale > 0]))
        return [(j, where_known(j, Sum((rising, less_size(size, drawn))), urn.shape[1]))]

    def word_evidence(self, table: Table) -> list[tuple[Evidence, ...]]:
        """For each row the words that tell most, then all others; what the length costs is shared out by count."""
        column = table.schema.columns[self.column]
        n_classes = self.concentration.shape[1]
        ledgers = []
        for code, count in rows(table.values[self.column], self.scale, self.is_unit):
            effect = np.zeros((len(code), n_classes))
            single = self.concentration[code], count[:, None]
            for k in range(len(code)):
                _core.add_urn_scores(single[1][k : k + 1], single[0][k : k + 1], np.zeros(n_classes), effect[k : k + 1])
            whole = np.zeros((1, n_classes))
            if count.sum() > 0:
                urn = np.ascontiguousarray(self.concentration.sum(axis=0)[None])
                _core.add_urn_scores(np.array([[count.sum()]]), urn, np.zeros(n_classes), whole)
                effect -= count[:, None] / count.sum() * whole
            ledgers.append(tuple(word_lines(column, code, count, effect)))
        return unless_missing(ledgers, table.values[self.column], column.name, n_classes)

    def weights(self) -> np.ndarray:
        """How much each word speaks for each class: [n_words, n_classes]."""
        with np.errstate(divide="ignore"):
            return against_others(np.log(self._shares()), self.scale)

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """The expected share of each word in each class."""
        kept = np.flatnonzero(self.scale > 0)
        return [str(schema.columns[column].levels[k]) for k in kept], self._shares()[kept]

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """A document for each row of a class."""
        return [drawn_documents(random, label, self._shares(), self.length, schema.columns[self.column])]

    def _shares(self) -> np.ndarray:
        return self.concentration / self.concentration.sum(axis=0)
