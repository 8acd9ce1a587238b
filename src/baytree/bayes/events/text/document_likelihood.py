"""Likelihoods of documents: what each word adds to the scores when it is there, and when it is not."""

from __future__ import annotations

from typing import Literal

import numpy as np

from baytree import _core
from baytree.bayes.events.text.word_likelihood import (
    WordLikelihood,
    against_others,
    check_schema,
    check_words,
    drawn_documents,
    drawn_sets,
    entries,
    rows,
    unless_missing,
    word_lines,
)
from baytree.formula.expressions import Case, Compare, Expression, Named, OverWords, Sum, When
from baytree.formula.steps import Effects, Steps, bag, constant, matrix, where_known
from baytree.model import Evidence
from baytree.table.schema import Schema
from baytree.table.table import Table


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

    def formula(self, steps: Steps) -> Effects:
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
