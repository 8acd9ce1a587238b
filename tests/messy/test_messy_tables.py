"""Small messy tables as people have them: what each is read as, and every word that is said of it.

`notes.json` has, for each file, the columns with their kinds, the first row, and the notes. After a change that is meant,
`python tests/messy/test_messy_tables.py` writes it anew; read the difference.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import baytree as bt

HERE = Path(__file__).parent
TABLES = sorted(path.name for path in (HERE / "tables").iterdir())
SNAPSHOT = HERE / "notes.json"


def reading(name: str) -> dict[str, Any]:
    """What a file is read as, and all that is said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        frame = bt.read(HERE / "tables" / name)
        target = "y" if "y" in frame.columns else frame.columns[-1]
        schema = bt.CARTClassifier().fit(frame, target).schema_
    kinds = {column.name: column.kind.value for column in schema.columns}
    notes = list(dict.fromkeys([*(str(each.message) for each in said), *map(str, schema.notes)]))
    return {"kinds": kinds, "types": [str(t) for t in frame.dtypes], "row": [str(v) for v in frame.row(0)], "notes": notes}


@pytest.mark.parametrize("name", TABLES)
def test_a_messy_table_is_read_as_a_person_would_and_told_so(name):
    assert reading(name) == json.loads(SNAPSHOT.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    found = {name: reading(name) for name in TABLES}
    SNAPSHOT.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
