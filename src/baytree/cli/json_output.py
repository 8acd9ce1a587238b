"""JSON on standard output (`--json`): one line of JSON per result; the schema of each command's output is in `json_records`.

An undefined number is null, an infinite one the text "inf" or "-inf". The text is ASCII, so that no name from a table can
control a terminal.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from baytree.file_io.atomic import open_output

if TYPE_CHECKING:
    from baytree.base.predictor import Predictor

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def echo_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    click.echo(to_json(value))


def to_json(value: Any) -> str:
    r"""Return plain values, records and arrays as one line of JSON in ASCII.

    >>> to_json({"a": [1.0, float("nan"), float("-inf")], "b": "\x1b\x7f"})
    '{"a": [1.0, null, "-inf"], "b": "\\u001b\\u007f"}'
    """
    return json.dumps(_plain(value), allow_nan=False).replace("\x7f", "\\u007f")


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None if math.isnan(value) else str(float(value))
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, msgspec.Struct):
        return _plain(msgspec.to_builtins(value))
    return _plain(value.tolist()) if hasattr(value, "tolist") else str(value)


def shown(predictor: Predictor, with_summary: bool) -> dict[str, Any]:
    """Return the output of `show` for a predictor."""
    schema = predictor.schema
    columns = [
        {
            "name": each.name,
            "source": each.source,
            "kind": each.kind.value,
            "levels": list(each.levels),
            "unit": each.unit,
        }
        for each in schema.columns
    ]
    return {
        "model": predictor.name,
        "target": schema.target.name,
        "classes": list(schema.target.classes or ()),
        "columns": columns,
        "left_out": list(schema.left_out),
        "notes": list(map(str, schema.notes)),
        "costs": None if predictor.costs is None else predictor.costs.amounts.tolist(),
        "summary": predictor.summary() if with_summary else None,
    }


@contextmanager
def lines_written(path: Path | None) -> Generator[Callable[[Iterable[str]], object]]:
    """Yield a function that writes lines to a file (replaced atomically at the end) or to standard output."""
    if path is None:
        yield sys.stdout.writelines
        return
    with open_output(path) as stream:
        yield lambda lines: stream.writelines(line.encode() for line in lines)


def prediction_lines(
    columns: Mapping[str, Sequence[Any]], keep: Sequence[str], classes: Sequence[object], n_reasons: int, is_rejecting: bool
) -> Iterator[str]:
    """Yield a line of JSON for each row of a batch of predictions, from the columns of `streaming.predict.answers`."""
    from baytree.streaming.predict import UNANSWERED

    plain = {name: values.to_list() if hasattr(values, "to_list") else list(values) for name, values in columns.items()}
    for k in range(len(plain["prediction"])):
        row: dict[str, Any] = {"prediction": plain["prediction"][k]}
        if is_rejecting:
            row["rejected"] = plain[UNANSWERED][k]
        if classes:
            row["probability"] = {str(label): plain[f"P({label})"][k] for label in classes}
        if n_reasons:
            row["reasons"] = [
                {"reason": plain[f"reason {j}"][k], "effect": plain[f"effect {j}"][k]} for j in range(1, n_reasons + 1)
            ]
        if keep:
            row["keep"] = {name: plain[name][k] for name in keep}
        yield to_json(row) + "\n"
