"""Files that were damaged: refused by their name, or read as they were."""

import errno
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

import baytree as bt
from baytree.engine import scan as scanning
from baytree.storage import dumps

ROWS = pl.DataFrame({"x": np.arange(900.0), "colour": ["red", "green", "blue"] * 300, "y": ["no", "yes"] * 450})


@pytest.fixture
def path(tmp_path) -> Path:
    pq.write_table(ROWS.to_arrow(), tmp_path / "part-17.parquet", write_page_checksum=True, row_group_size=300)
    return tmp_path / "part-17.parquet"


@pytest.mark.parametrize("seed", range(12))
def test_with_checksums_a_flipped_bit_is_refused_or_changes_nothing(seed, path):
    expected, content = dumps(bt.NaiveBayesClassifier().fit(ROWS, "y")), bytearray(path.read_bytes())
    bit = int(np.random.default_rng(seed).integers(8 * len(content)))
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
    try:
        assert dumps(bt.NaiveBayesClassifier().fit(bt.scan(path, verify=True), "y")) == expected
    except ValueError as error:
        assert str(error).startswith("part-17.parquet")


def test_a_damaged_page_is_told_with_its_row_group(path):
    content = bytearray(path.read_bytes())
    column = pq.ParquetFile(path).metadata.row_group(1).column(0)
    content[column.dictionary_page_offset + column.total_compressed_size - 5] ^= 8
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"^part-17\.parquet, row group 1: .*damaged"):
        bt.scan(path, verify=True)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.999])
def test_a_file_that_is_cut_anywhere_is_refused_by_its_name(share, path):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match=r"part-17\.parquet"):
        bt.NaiveBayesClassifier().fit(bt.scan(path), "y")


def test_the_error_of_a_full_disk_keeps_its_number(path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(scanning, "_BLOCK_MEMORY_DIVISOR", 1 << 60)  # no piece is held in memory
    with pytest.raises(OSError) as told:
        bt.NaiveBayesClassifier().fit(bt.scan(path), "y")
    assert told.value.errno == errno.ENOSPC
