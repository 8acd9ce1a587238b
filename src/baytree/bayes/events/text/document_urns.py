"""The exact predictive of documents, whose words do not factor."""

from __future__ import annotations

import numpy as np

from baytree import _core
from baytree.bayes.events.text.word_likelihood import (
    WordLikelihood,
    against_others,
    check_schema,
    check_words,
    drawn_documents,
    entries,
    rows,
    unless_missing,
    word_lines,
)
from baytree.bayes.events.urns import check_concentration, less_size
from baytree.formula.expressions import OverWords, Sum
from baytree.formula.steps import Effects, Steps, bag, constant, matrix, where_known
from baytree.model import Evidence
from baytree.table.schema import Schema
from baytree.table.table import Table


class DocumentUrns(WordLikelihood, frozen=True, tag="document_urns"):
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

    def formula(self, steps: Steps) -> Effects:
        """Σ log Γ(a + x)/Γ(a), less log Γ(A + n)/Γ(A), with x of each word, n of all."""
        j, urn = self.column, self.concentration
        words = bag(steps, j, self.scale, self.is_unit)
        drawn, size = steps.keep(OverWords(words, "amount")), steps.keep(constant(urn.sum(axis=0)))
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
