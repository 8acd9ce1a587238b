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
