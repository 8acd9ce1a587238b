"""Writes the JSON Schemas of the command line's output into docs/schemas: python website/schemas.py"""

import json
from pathlib import Path

from baytree.cli.json_records import schemas

FOLDER = Path(__file__).parents[1] / "docs" / "schemas"


def text(schema: dict) -> str:
    """A schema as it stands in its file."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name, schema in schemas().items():
        (FOLDER / f"{name}.json").write_text(text(schema))
