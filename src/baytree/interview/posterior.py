"""Class probabilities while some columns are unknown, for any model but a single tree (`tree_posterior`).

A model with likelihoods of its own (naive Bayes) is evaluated with the unknown columns missing. Any other model is evaluated
on simulated rows: classes by their proportions, each column by its distribution in that class; an answer replaces the
simulated value, and rows are weighted by the probability of the answer in their class (likelihood weighting). The more
columns are answered, the more equal the rows become; with every column known, all rows are one, and the result is the
model's own prediction. The page has the same algorithm in JavaScript (`rendering/page/templates/scripts/ask.js`), with the
same simulated rows.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.base.predictor import Predictor
from baytree.data.schema.column import Kind
from baytree.interview.answer_cells import AnswerCells, own_shares, rows_of

Known = float | tuple[float, float] | None

"""An answer: a number or the code of a level, an interval low < x ≤ high, or None if it is unknown."""

MAX_IMAGINED, MIN_IMAGINED = 256, 32

_EVALUATIONS = 20_000  # evaluations of the model per question


class QuestionValue(msgspec.Struct, frozen=True):
    """Value of a question: expected gain, P(cell), and whether the model distinguishes each cell from the next."""

    gain: float
    probability: np.ndarray  # [n_cells]
    is_like_next: np.ndarray  # bool [n_cells − 1]


class SimulatedRows:
    """Rows that are consistent with the answers, and the model's predictions for them."""

    def __init__(
        self, predictor: Predictor, cells: tuple[AnswerCells, ...], prior: np.ndarray, predictions: dict[int, Known]
    ):
        self.predictor, self.schema = predictor, predictor.schema
        own = own_shares(predictor, cells)
        self.has_likelihoods, self.cells = own is not None, own or cells
        n = 1 if own else int(np.clip(_EVALUATIONS // max(sum(map(len, cells)), 1), MIN_IMAGINED, MAX_IMAGINED))
        self.values, self.weight = self._drawn(n, prior)
        self.factor = np.ones(len(prior))  # likelihood of interval answers, if the model has likelihoods
        for column, answer in predictions.items():
            self._learn(column, answer)
        self.answers = self._answered(self.values)

    @property
    def belief(self) -> np.ndarray:
        """Probability of each class: [n_classes]."""
        own = self.weight.sum(axis=1)
        return own @ self.answers / own.sum()

    @property
    def choice(self) -> int:
        """The predicted class if it is the same in all rows, else the one that the belief decides."""
        chosen = np.unique(self.predictor.predict_codes(rows_of(self.schema, self.values)))
        return int(chosen[0]) if len(chosen) == 1 and (self.factor == 1).all() else int(self.predictor.choose(self.belief))

    def questions(self) -> list[int]:
        """Columns that the model prescribes as the next question: none, any column may be asked for."""
        return []

    def ask(self, column: int, among: np.ndarray) -> QuestionValue:
        """Value of asking for a column whose value lies in these cells: bool [n_cells]."""
        cells, n_rows = self.cells[column], len(self.weight)
        positions = np.flatnonzero(among)
        values = [np.tile(each, len(positions)) for each in self.values]
        values[column] = np.repeat(cells.point[positions], n_rows)
        predictions = self._answered(values).reshape(len(positions), n_rows, -1)
        weight = self._weight_now() @ cells.share[positions].T  # [n_rows, n_places]
        probability = weight.sum(axis=0) / max(weight.sum(), np.finfo(float).tiny)
        after = np.einsum("sv,vsc->vc", weight, predictions) / np.maximum(weight.sum(axis=0), np.finfo(float).tiny)[:, None]
        gain = entropy(probability @ after) - float(probability @ np.array([entropy(each) for each in after]))
        gain = min(gain, entropy(self.belief))  # `after` averages to the belief only up to sampling error
        like_next = np.abs(predictions[1:] - predictions[:-1]).max(axis=(1, 2), initial=0.0) <= 1e-12
        return QuestionValue(max(gain, 0.0), probability, like_next)

    def _weight_now(self) -> np.ndarray:
        return self.answers * self.weight.sum() if self.has_likelihoods else self.weight

    def _drawn(self, n: int, prior: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
        if self.has_likelihoods:
            missing = [np.full(n, np.nan if c.kind is Kind.NUMERIC else -1.0) for c in self.schema.columns]
            return missing, np.full((n, len(prior)), 1 / len(prior))
        label = np.searchsorted(np.cumsum(prior / prior.sum()), (np.arange(n) + 0.5) / n).clip(0, len(prior) - 1)
        weight = np.zeros((n, len(prior)))
        weight[np.arange(n), label] = 1 / n
        return [self._imagined(j, label, 0) for j in range(len(self.schema))], weight

    def _imagined(self, column: int, label: np.ndarray, turn: int, among: np.ndarray | None = None) -> np.ndarray:
        """Simulated value of each row, from the column's distribution in the row's class, restricted to these cells."""
        cells, n_columns = self.cells[column], len(self.schema)
        if not len(cells):
            return np.full(len(label), np.nan)
        probability = cells.share if among is None else cells.share * among[:, None] + np.finfo(float).tiny * among[:, None]
        cumulative = np.cumsum(probability, axis=0) / probability.sum(axis=0)
        rows = np.arange(len(label))
        draw = uniform((turn * len(label) + rows) * n_columns + column)
        position = (cumulative[:, label] <= draw).sum(axis=0).clip(0, len(cells) - 1)
        return cells.point[position]

    def _learn(self, column: int, answer: Known) -> None:
        cells, label = self.cells[column], self.weight.argmax(axis=1)
        if answer is None:
            missing = np.nan if self.schema.columns[column].kind is Kind.NUMERIC else -1.0
            self.values[column] = np.full(len(label), missing)
        elif isinstance(answer, tuple):
            self._learn_interval(column, *answer)
        else:
            self.values[column] = np.full(len(label), float(answer))
            position = cells.place(answer)
            if position >= 0 and not self.has_likelihoods:
                self._weigh(cells.share[position])

    def _learn_interval(self, column: int, low: float, high: float) -> None:
        cells, label = self.cells[column], self.weight.argmax(axis=1)
        overlapping = cells.within(low, high)
        probability = cells.share[overlapping].sum(axis=0)
        if self.has_likelihoods:
            self.factor = self.factor * probability
            return
        self._weigh(probability)
        inside = self._imagined(column, label, 1 + column, overlapping)
        self.values[column] = np.clip(inside, np.nextafter(low, np.inf), high)

    def _weigh(self, proportion: np.ndarray) -> None:
        weight = self.weight * proportion
        if weight.sum() > 0:
            self.weight = weight / weight.sum()

    def _answered(self, values: list[np.ndarray]) -> np.ndarray:
        predictions = self.predictor.model.predict(rows_of(self.schema, values)) * self.factor
        total = predictions.sum(axis=1, keepdims=True)
        return np.where(total > 0, predictions / np.where(total > 0, total, 1), 1 / predictions.shape[1])


def entropy(p: np.ndarray) -> float:
    """Entropy −Σ p log₂ p in bits."""
    known = p[p > 0]
    return float(-(known * np.log2(known)).sum())


def uniform(position: np.ndarray) -> np.ndarray:
    """Deterministic uniform numbers in [0, 1): the finaliser of MurmurHash3 of each index, identical in every language."""
    x = ((position.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B1)).astype(np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    return (x ^ (x >> np.uint32(16))) / 2.0**32
