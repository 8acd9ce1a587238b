"""The columns of rows that are elsewhere, as an estimator asks for them: read, packed and looked at in one round."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import accumulate
from typing import Any

import msgspec

from baytree._typing import TargetLike, WeightsLike
from baytree.data.encoding.sample import ReadLabels, warn_of_unlabelled, with_target
from baytree.data.inference.infer import TableProfile
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.engine.blocks import BlockInspection, collect_vocabularies, inspect_block, reinspect_block
from baytree.engine.remote import BlockCollection, BlockEncoder, RemotePartitions, RemoteSource


def open_remote_frame(
    source: RemoteSource, y: TargetLike, sample_weight: WeightsLike, read_labels: ReadLabels
) -> RemoteFrame:
    """The columns of rows elsewhere; target and weights are columns among them."""
    if not isinstance(y, str):
        raise ValueError("rows that are not in memory have their target as a column: give its name, as in fit(rows, 'y')")
    if sample_weight is not None and not isinstance(sample_weight, str):
        raise ValueError("rows that are not in memory have their weights as a column: give its name as sample_weight")
    return RemoteFrame(source, y, sample_weight, read_labels)


class RemoteFrame:
    """The columns of rows that are elsewhere, with their target and weights, as an estimator asks for them."""

    is_named = True
    matrix = None

    def __init__(self, source: RemoteSource, target: str, weight: str | None, read_labels: ReadLabels):
        self.source, self.target, self.weight, self._read_labels = source, target, weight, read_labels
        for name, what in ((target, "target"), (weight, "sample_weight")):
            if name is not None and name not in source.columns:
                raise ValueError(f"no {what} column {name!r}; the columns are {', '.join(map(repr, source.columns))}")
        self.columns: dict[str, Any] = {name: None for name in source.columns if name not in (target, weight)}
        self._packs: BlockCollection | None = None
        self._seen: BlockInspection | None = None
        self._declared: Mapping[str, Any] | None = None  # what the first round was told of columns

    def census(self, declared: Mapping[str, Any] | None) -> TableProfile:
        """What each column holds: found on the way where the rows have not been read yet."""
        if self._packs is None or self._seen is None:
            found = self._read(declared).census
        elif declared == self._declared:
            found = self._seen.census
        else:
            found = self._packs.map_reduce(partial(reinspect_block, declared)).census
        if found is None:
            raise ValueError("there is no row")
        return found

    @property
    def seen(self) -> BlockInspection:
        """What the first round saw."""
        return self._seen or self._read(None)

    def parts(self, schema: Schema, accepts_infinite: bool, n_jobs: int | None) -> RemotePartitions:
        """The rows as parts of a schema, with the vocabularies of its text columns."""
        seen = self.seen
        packs, target = self._packs, seen.target
        assert packs is not None
        assert target is not None
        schema = with_target(schema, target, seen.n_rows)
        if any(column.kind is Kind.TEXT and not column.levels for column in schema.columns):
            words = packs.map_reduce(partial(collect_vocabularies, schema))
            columns = zip(schema.columns, words.vocabularies, strict=True)
            known = tuple(msgspec.structs.replace(c, levels=v) if c.kind is Kind.TEXT else c for c, v in columns)
            schema = msgspec.structs.replace(schema, columns=known)
        ends = accumulate(seen.sizes.values())
        first = {place: end - size for (place, size), end in zip(seen.sizes.items(), ends, strict=True)}
        encoding = BlockEncoder(schema, first, seen.is_unweighted, accepts_infinite)
        return RemotePartitions(packs, encoding, seen.n_rows, n_jobs, self.source)

    def _read(self, declared: Mapping[str, Any] | None) -> BlockInspection:
        looking = partial(inspect_block, declared, self.target, self.weight, self._read_labels)
        self._declared = declared
        self._packs, self._seen = self.source.pack_blocks(looking)
        _tell(self._seen, self.target)
        return self._seen


def _tell(seen: BlockInspection, target: str) -> None:
    if not seen.n_given:
        raise ValueError("Found array with 0 sample(s): there is no row to learn from")
    if not seen.n_rows:
        raise ValueError(f"no row has a label in the target column {target!r}")
    if seen.n_unlabelled:
        warn_of_unlabelled(seen.n_unlabelled, target)
