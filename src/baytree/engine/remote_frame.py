"""Columns of remote rows, as an estimator needs them: read, packed and inspected in one pass."""

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
    source: RemoteSource, y: TargetLike, sample_weight: WeightsLike, read_labels: ReadLabels, reader: str = "this model"
) -> RemoteFrame:
    """Validate the names of target and weight columns and return the remote frame; `reader` names the model in errors."""
    if not isinstance(y, str):
        raise ValueError("remote rows need their target as a column: give its name, as in fit(rows, 'y')")
    if sample_weight is not None and not isinstance(sample_weight, str):
        raise ValueError("remote rows need their weights as a column: give its name as sample_weight")
    open_frame = getattr(source, "open_frame", None)  # rows that an engine does not pack into blocks
    if open_frame is not None:
        return open_frame(y, sample_weight, read_labels, reader)
    return RemoteFrame(source, y, sample_weight, read_labels)


class RemoteFrame:
    """Columns, target and weights of remote rows; the remote counterpart of `data.frames.raw.RawFrame`.

    The rows are read and packed by the first call that needs them.
    """

    is_named = True
    matrix = None

    def __init__(self, source: RemoteSource, target: str, weight: str | None, read_labels: ReadLabels):
        self.source, self.target, self.weight, self._read_labels = source, target, weight, read_labels
        for name, role in ((target, "target"), (weight, "sample_weight")):
            if name is not None and name not in source.columns:
                raise ValueError(f"no {role} column {name!r}; the columns are {', '.join(map(repr, source.columns))}")
        self.columns: dict[str, Any] = {name: None for name in source.columns if name not in (target, weight)}
        self._blocks: BlockCollection | None = None
        self._inspection: BlockInspection | None = None
        self._declarations: Mapping[str, Any] | None = None  # column declarations that the first pass used

    def census(self, declared: Mapping[str, Any] | None) -> TableProfile:
        """Profile of each column. Reads and packs the rows if that has not happened yet."""
        if self._blocks is None or self._inspection is None:
            profile = self._read(declared).profile
        elif declared == self._declarations:
            profile = self._inspection.profile
        else:
            profile = self._blocks.map_reduce(partial(reinspect_block, declared)).profile
        if profile is None:
            raise ValueError("the table has no rows")
        return profile

    @property
    def inspection(self) -> BlockInspection:
        """Inspection of the first pass."""
        return self._inspection or self._read(None)

    def parts(self, schema: Schema, accepts_infinite: bool, n_jobs: int | None) -> RemotePartitions:
        """Rows as partitions under a schema; collects the vocabularies of its text columns if needed (one more pass)."""
        inspection = self.inspection
        blocks, target = self._blocks, inspection.target
        assert blocks is not None
        assert target is not None
        schema = with_target(schema, target, inspection.n_rows)
        if any(column.kind is Kind.TEXT and not column.levels for column in schema.columns):
            collected = blocks.map_reduce(partial(collect_vocabularies, schema))
            columns = zip(schema.columns, collected.vocabularies, strict=True)
            with_words = tuple(msgspec.structs.replace(c, levels=v) if c.kind is Kind.TEXT else c for c, v in columns)
            schema = msgspec.structs.replace(schema, columns=with_words)
        ends = accumulate(inspection.sizes.values())
        first = {position: end - size for (position, size), end in zip(inspection.sizes.items(), ends, strict=True)}
        encoding = BlockEncoder(schema, first, inspection.is_unweighted, accepts_infinite)
        return RemotePartitions(blocks, encoding, inspection.n_rows, n_jobs, self.source)

    def _read(self, declarations: Mapping[str, Any] | None) -> BlockInspection:
        inspect = partial(inspect_block, declarations, self.target, self.weight, self._read_labels)
        self._declarations = declarations
        self._blocks, self._inspection = self.source.pack_blocks(inspect)
        _check_rows(self._inspection, self.target)
        return self._inspection


def _check_rows(inspection: BlockInspection, target: str) -> None:
    if not inspection.n_given:
        raise ValueError("Found array with 0 sample(s): the table has no rows")
    if not inspection.n_rows:
        raise ValueError(f"no row has a label in the target column {target!r}")
    if inspection.n_unlabelled:
        warn_of_unlabelled(inspection.n_unlabelled, target)
