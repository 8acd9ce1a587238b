"""Dask frames as an engine: a partition is packed where it lies, and a round is a task for each worker that holds pieces.

With a client of `distributed` the packed pieces stay on the workers that made them; what a lost worker had is made again
from its partition. Without one, they are in this process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import dask
import msgspec
import numpy as np

from baytree._typing import FrameLike
from baytree.engine.blocks import BlockInspection, packed_bytes
from baytree.engine.progress import is_watched, track_blocks, track_pass
from baytree.engine.remote import SPACE, Look, check_memory
from baytree.engine.worker_results import (
    AT_ONCE,
    OptionalStatistic,
    Sent,
    WorkerError,
    WorkerResult,
    as_bytes,
    capture_errors,
    combine_large_results,
    combine_results,
)
from baytree.parallel.system import parse_memory_size
from baytree.parallel.threads import S

if TYPE_CHECKING:
    import dask.dataframe as dd
    import pandas as pd
    from distributed import Future

TOGETHER = 8  # answers of so many workers are brought here as they are; those of more are put together on workers first

_STALE = 5.0  # seconds for which it is believed who holds what: to ask costs a third of a round

SMALL = 100_000  # bytes of a work that travels with each of its tasks; a larger one travels once, and then among workers


class DaskFrame:
    """A Dask frame."""

    memory = parse_memory_size("2GB")
    advice = "take fewer rows or columns"

    def __init__(self, frame: dd.DataFrame):
        self.frame = frame
        self.columns = tuple(map(str, frame.columns))

    def pack_blocks(self, look: Look) -> tuple[LocalBlocks | WorkerBlocks, BlockInspection]:
        """Every partition packed on its worker, and what was seen in it added up."""
        looking = dask.delayed(partial(capture_errors, _packed, look), pure=False)
        looked = [looking(part, f"partition {k}") for k, part in enumerate(self.frame.to_delayed())]
        packs = kept(dask.persist(*looked))
        seen = packs.sum(_sighting)
        sizes = sorted(seen.sizes.items(), key=lambda size: int(size[0].split()[1]))  # by the number of the partition
        return packs, msgspec.structs.replace(seen, sizes=dict(sizes))

    def map_reduce(self, work: Callable[[FrameLike], S]) -> S:
        """One round over the rows as they are: what `work` makes of each partition that has rows, added up."""
        return LocalBlocks(self.frame.to_delayed()).sum(partial(_where_rows, work)).value

    def first(self, column: str) -> pd.Series:
        """A column of the first rows."""
        return self.frame[[column]].head(1000, npartitions=-1)[column]

    def read_all(self) -> pd.DataFrame:
        """All rows in memory, where they fit."""
        check_memory(int(self.frame.memory_usage(deep=True).sum().compute()) * SPACE, self)
        return self.frame.compute()

    def map_rows(self, answer: Callable[[FrameLike], np.ndarray], names: Sequence[str], empty: np.ndarray) -> Any:
        """The answers for each row, as a lazy series or frame."""
        from dask.dataframe.dispatch import make_meta

        meta = _labelled(empty, names, make_meta(self.frame).index[:0])
        return self.frame.map_partitions(partial(_answered, answer, tuple(names)), meta=meta)


class LocalBlocks:
    """Packed pieces in this process."""

    def __init__(self, pieces: Sequence[Any]):
        self.pieces = tuple(pieces)

    def map_reduce(self, work: Callable[[bytes], S]) -> S:
        """One round: what `work` makes of each piece, added up in the order of the pieces."""
        return self.sum(partial(_of_content, work))

    gather = map_reduce

    def apply(self, make: Callable[[bytes], bytes]) -> LocalBlocks:
        """What `make` makes of each piece, kept in this process."""
        making = dask.delayed(partial(_made, make), pure=False)
        return LocalBlocks(dask.persist(*(making(piece) for piece in self.pieces)))

    def sum(self, work: Callable[[Any], S]) -> S:
        """What `work` makes of these, added up in their order."""
        answered = dask.delayed(partial(_sent, work), pure=False)
        answers = [answered(k, piece) for k, piece in enumerate(self.pieces)]
        return combine_results(track_pass(partial(dask.compute, *answers)))


class WorkerBlocks:
    """Packed pieces on the workers of a cluster that made them."""

    def __init__(self, pieces: Sequence[Future]):
        self.pieces, self.client = tuple(pieces), pieces[0].client
        self._groups: list[tuple[str | None, list[int]]] = []
        self._asked = -_STALE  # when the scheduler last told who holds what

    def map_reduce(self, work: Callable[[bytes], S]) -> S:
        """One round: what `work` makes of each piece, added up in the order of the pieces."""
        return self.sum(partial(_of_content, work))

    gather = map_reduce

    def apply(self, make: Callable[[bytes], bytes]) -> WorkerBlocks:
        """What `make` makes of each piece, on the worker that holds it; what a lost worker had is made again."""
        from distributed import wait

        at = {k: worker for worker, own in self._held() for k in own}
        carried = self._carried(make)
        futures = [self._task(_made_of_carried, carried, piece, at=at[k]) for k, piece in enumerate(self.pieces)]
        wait(futures)
        return WorkerBlocks(futures)

    def sum(self, work: Callable[[Any], S]) -> S:
        """What `work` makes of these: a task for each worker that holds some."""
        groups = self._held()
        most, carried = AT_ONCE // len(groups), self._carried(work)
        level = [
            self._task(_of_pieces, carried, tuple(own), [self.pieces[k] for k in own], most, at=worker)
            for worker, own in groups
        ]
        _tell(level)
        while len(level) > TOGETHER:
            level = [self._task(_together, level[k : k + TOGETHER], most) for k in range(0, len(level), TOGETHER)]
        return combine_results([answer for answers in self.client.gather(level) for answer in answers])

    def _held(self) -> list[tuple[str | None, list[int]]]:
        """Who holds what, as of some seconds ago: a task for a worker that is gone is done by another."""
        if time.monotonic() - self._asked > _STALE:
            self._groups, self._asked = self._by_worker(), time.monotonic()
        return self._groups

    def _by_worker(self) -> list[tuple[str | None, list[int]]]:
        """The places of the pieces that each worker holds; None is where those are that are being made again."""
        holders, groups = self.client.who_has(self.pieces), {}
        for k, piece in enumerate(self.pieces):
            groups.setdefault(next(iter(holders.get(piece.key, ())), None), []).append(k)
        return list(groups.items())

    def _carried(self, work: Callable[[Any], Any]) -> Any:
        """The work as bytes, pickled once; a large one is an answer of its own, which workers fetch from each other."""
        from distributed.protocol import pickle

        content = pickle.dumps(work)
        return content if len(content) <= SMALL else self._task(bytes, content)

    def _task(self, function: Callable[..., Any], *arguments: Any, at: str | None = None) -> Future:
        place = {} if at is None else {"workers": [at], "allow_other_workers": True}
        return self.client.submit(function, *arguments, pure=False, **place)


def kept(pieces: Sequence[Any]) -> LocalBlocks | WorkerBlocks:
    """Persisted pieces, on a cluster or in this process."""
    try:
        from distributed import futures_of, wait
    except ImportError:
        return LocalBlocks(pieces)
    known = {future.key: future for future in futures_of(pieces)}
    if not known:
        return LocalBlocks(pieces)
    futures = [known[piece.key] for piece in pieces]
    _tell(futures)
    wait(futures)
    return WorkerBlocks(futures)


def _tell(futures: Sequence[Future]) -> None:
    """Tells whoever watches of each task that ends."""
    if is_watched():
        from distributed import as_completed

        for _ in track_blocks(as_completed(futures), len(futures)):
            pass


def source_of(rows: dd.DataFrame) -> DaskFrame:
    """The frame as a source of pieces."""
    if not hasattr(rows, "columns") or getattr(rows, "ndim", 2) != 2:
        raise TypeError(f"a Dask {type(rows).__name__} is no table; give a frame, with the target as one of its columns")
    return DaskFrame(rows)


def _packed(look: Look, frame: pd.DataFrame, place: str) -> tuple[bytes, BlockInspection]:
    content, seen = look(frame, place)
    return packed_bytes(content), seen


def _sighting(looked: WorkerResult) -> BlockInspection:
    _, seen = looked.unwrap()
    return seen


def _sent(work: Callable[[Any], Any], k: int, piece: Any) -> Sent:
    return k, as_bytes(capture_errors(work, piece))


def _of_pieces(content: bytes, places: Sequence[int], pieces: Sequence[Any], most: int) -> list[Sent]:
    """What the work makes of the pieces of a worker, added up there where that is more than `most` bytes."""
    from distributed.protocol import pickle

    work = pickle.loads(content)
    return combine_large_results([_sent(work, k, piece) for k, piece in zip(places, pieces, strict=True)], most)


def _together(several: Sequence[Sequence[Sent]], most: int) -> list[Sent]:
    return combine_large_results([answer for answers in several for answer in answers], most)


def _of_content(work: Callable[[bytes], S], looked: WorkerResult) -> S:
    if isinstance(looked.value, WorkerError):
        raise looked.value.kind(looked.value.words)
    return work(looked.value[0])


def _made(make: Callable[[bytes], bytes], looked: WorkerResult) -> WorkerResult:
    """A piece that was made of another; where that failed, the error comes with the first round."""
    made = capture_errors(make, looked.value[0]) if not isinstance(looked.value, WorkerError) else looked
    return made if isinstance(made.value, WorkerError) else WorkerResult((made.value, None), made.notices)


def _made_of_carried(content: bytes, looked: WorkerResult) -> WorkerResult:
    from distributed.protocol import pickle

    return _made(pickle.loads(content), looked)


def _where_rows(work: Callable[[FrameLike], Any], frame: pd.DataFrame) -> OptionalStatistic:
    return OptionalStatistic(work(frame) if len(frame) else None)


def _answered(answer: Callable[[FrameLike], np.ndarray], names: tuple[str, ...], frame: pd.DataFrame) -> Any:
    return _labelled(answer(frame), names, frame.index)


def _labelled(answers: np.ndarray, names: Sequence[str], index: pd.Index) -> pd.Series | pd.DataFrame:
    import pandas as pd

    if answers.ndim == 1:
        return pd.Series(answers, index=index, name=names[0])
    return pd.DataFrame(answers, index=index, columns=list(names))
