"""Dask frames as an engine: a partition is packed where it lies, and a round is a task for each of them.

With a client of `distributed` the packed pieces stay on the workers that made them; what a lost worker had is made again
from its partition. Without one, they are in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import dask
import numpy as np

from baytree.engine.budget import bytes_of
from baytree.engine.elsewhere import SPACE, Look, refuse_more_than_fits
from baytree.engine.gathering import Perhaps
from baytree.engine.sighting import Sighting
from baytree.engine.threads import S, added
from baytree.engine.told import Told, telling
from baytree.engine.watching import told
from baytree.given import FrameLike

if TYPE_CHECKING:
    import dask.dataframe as dd
    import pandas as pd

TOGETHER = 8  # answers of so many pieces are added on a worker before they travel


class DaskFrame:
    """A Dask frame."""

    memory = bytes_of("2GB")
    advice = "take fewer rows or columns"

    def __init__(self, frame: dd.DataFrame):
        self.frame = frame
        self.columns = tuple(map(str, frame.columns))

    def packed(self, look: Look) -> tuple[Persisted, Sighting]:
        """Every partition packed on its worker, and what was seen in it added up."""
        looking = dask.delayed(partial(telling, look), pure=False)
        looked = [looking(part, f"partition {k}") for k, part in enumerate(self.frame.to_delayed())]
        looked = dask.persist(*looked)
        packs = Persisted(looked)
        return packs, packs.sum(_sighting, looked)

    def total(self, work: Callable[[FrameLike], S]) -> S:
        """One round over the rows as they are: what `work` makes of each partition that has rows, added up."""
        answers = Persisted(self.frame.to_delayed()).sum(partial(_where_rows, work), self.frame.to_delayed())
        return answers.value

    def first(self, column: str) -> pd.Series:
        """A column of the first rows."""
        return self.frame[[column]].head(1000, npartitions=-1)[column]

    def whole(self) -> pd.DataFrame:
        """All rows in memory, where they fit."""
        refuse_more_than_fits(int(self.frame.memory_usage(deep=True).sum().compute()) * SPACE, self)
        return self.frame.compute()

    def predicted(self, answer: Callable[[FrameLike], np.ndarray], names: Sequence[str], empty: np.ndarray) -> Any:
        """The answers for each row, as a lazy series or frame."""
        meta = _labelled(empty, names, self.frame._meta.index[:0])
        return self.frame.map_partitions(partial(_answered, answer, tuple(names)), meta=meta)


class Persisted:
    """Packed pieces on the workers that made them."""

    def __init__(self, pieces: Sequence[Any]):
        self.pieces = tuple(pieces)

    def total(self, work: Callable[[bytes], S]) -> S:
        """One round: what `work` makes of each piece, added up in the order of the pieces."""
        return self.sum(partial(_of_content, work), self.pieces)

    def sum(self, work: Callable[[Any], S], pieces: Sequence[Any]) -> S:
        """What `work` makes of these, added up in their order, neighbours first."""
        shared = dask.delayed(partial(telling, work), pure=False)  # travels once to each worker
        level = [shared(piece) for piece in pieces]
        while len(level) > 1:
            level = [dask.delayed(added)(level[k : k + TOGETHER]) for k in range(0, len(level), TOGETHER)]
        (answer,) = told([level[0].compute()], 1)
        return answer.heard()


def source_of(rows: dd.DataFrame) -> DaskFrame:
    """The frame as a source of pieces."""
    if not hasattr(rows, "columns") or getattr(rows, "ndim", 2) != 2:
        raise TypeError(f"a Dask {type(rows).__name__} is no table; give a frame, with the target as one of its columns")
    return DaskFrame(rows)


def _sighting(looked: Told) -> Sighting:
    _, seen = looked.heard()
    return seen


def _of_content(work: Callable[[bytes], S], looked: Told) -> S:
    return work(looked.value[0])


def _where_rows(work: Callable[[FrameLike], Any], frame: pd.DataFrame) -> Perhaps:
    return Perhaps(work(frame) if len(frame) else None)


def _answered(answer: Callable[[FrameLike], np.ndarray], names: tuple[str, ...], frame: pd.DataFrame) -> Any:
    return _labelled(answer(frame), names, frame.index)


def _labelled(answers: np.ndarray, names: Sequence[str], index: pd.Index) -> pd.Series | pd.DataFrame:
    import pandas as pd

    if answers.ndim == 1:
        return pd.Series(answers, index=index, name=names[0])
    return pd.DataFrame(answers, index=index, columns=list(names))
