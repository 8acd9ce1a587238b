"""Small model files with a right digest and sizes that no table has, loaded by a process with little memory.

`python crafted_models.py N SEED` loads N of them, answers for some rows with those that load, and prints every fault: an
error that is no refusal, such as a MemoryError.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

LIMIT = 512 << 20  # bytes of memory, shared libraries apart
GOLDEN = Path(__file__).parent / "golden"
HUGE = [10**8, 2**27, 2**29, 2**31 - 1, 2**31, 10**10, 2**40, 2**62, 2**63 - 1, -1, -(2**31), -(2**62), 1e300, -1e18]
MAX_BYTES = 2_000_000  # of a file: more is not small
Rows = dict[str, list[Any]]


def faults_under_limit(n: int, seed: int) -> list[str]:
    """The faults of n crafted files, in a process of its own."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", __file__, str(n), str(seed)]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return found.stdout.splitlines() if found.returncode == 0 else [f"the process ended: {found.stderr[-500:]}"]


def crafted_files(n: int, seed: int) -> Iterator[tuple[str, bytes, Rows]]:
    """So many crafted files by the name of the model that they come from, with rows to answer."""
    chance, originals = random.Random(seed), list(_originals())
    while n:
        name, version, text, rows = chance.choice(originals)
        document = json.loads(text)
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            chance.choice(_CHANGES)(document, chance)
        content = _sealed(version, document)
        if len(content) <= MAX_BYTES:
            yield name, content, rows
            n -= 1


def directed_files() -> Iterator[tuple[str, bytes, Rows]]:
    """Files that once took gigabytes."""
    texts = {name: (version, text, rows) for name, version, text, rows in _originals()}
    version, text, rows = texts["2-tree-sums"]
    for place in ([0, 0, 2**31 - 1], [2**29], [0, 2**29]):
        document = json.loads(text)
        values = place * (len(document["model"]["sums"]["place"]["values"]) // len(place))
        document["model"]["sums"]["place"]["values"] = sorted(values)
        document["model"]["sums"]["place"]["shape"] = [len(values)]
        for key in ("column", "weight"):
            document["model"]["sums"][key]["values"] = document["model"]["sums"][key]["values"][: len(values)]
            document["model"]["sums"][key]["shape"] = [len(values)]
        yield "sums", _sealed(version, document), rows
    version, text, rows = texts["2-tree"]
    for width in (500_000, 9_000):
        document = json.loads(text)
        target = document["schema"]["target"]
        target["classes"] = ["x" * width, *(f"class {k}" for k in range(4000))]
        target["dtype"] = f"<U{width}"
        yield "classes", _sealed(version, document), rows
        document = json.loads(text)
        document["parameters"]["costs"] = {"$array": ["x" * width, *("y" * 4000)]}
        yield "parameter", _sealed(version, document), rows


def _originals() -> Iterator[tuple[str, int, str, Rows]]:
    for path in sorted(GOLDEN.glob("*.baytree")):
        found = json.loads(path.read_text())
        rows = json.loads(path.with_suffix(".json").read_text())["rows"]
        yield path.stem, found["baytree"], json.dumps(_written_out(found["document"])), rows


def _sealed(version: int, document: object) -> bytes:
    body = json.dumps(document).encode()
    digest = hashlib.sha256(b"baytree %d " % version + body).hexdigest().encode()
    return b'{"baytree": %d, "sha256": "%s", "document": ' % (version, digest) + body + b"}\n"


def _written_out(value: Any) -> Any:
    """The document with arrays as lists of numbers, which can be changed one by one."""
    import numpy as np

    if isinstance(value, dict) and "base64" in value:
        array = np.frombuffer(base64.b64decode(value["base64"]), value["dtype"])
        is_plain = bool(np.isfinite(array).all())
        return {"dtype": value["dtype"], "shape": value["shape"], "values": array.tolist()} if is_plain else value
    if isinstance(value, dict):
        return {key: _written_out(each) for key, each in value.items()}
    return [_written_out(each) for each in value] if isinstance(value, list) else value


def _places(node: Any, is_wanted: Callable[[Any], bool]) -> list[tuple[Any, Any]]:
    found, waiting = [], [node]
    while waiting:
        node = waiting.pop()
        items = list(node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ())
        found += [(node, key) for key, value in items if is_wanted(value)]
        waiting += [value for _, value in items]
    return found


def _huge_number(document: Any, chance: random.Random) -> None:
    node, key = chance.choice(_places(document, lambda value: isinstance(value, (int, float))))
    node[key] = chance.choice(HUGE)


def _next_number(document: Any, chance: random.Random) -> None:
    node, key = chance.choice(_places(document, lambda value: isinstance(value, (int, float))))
    node[key] = node[key] + chance.choice([-1, 1])


def _long_text(document: Any, chance: random.Random) -> None:
    node, key = chance.choice(_places(document, lambda value: isinstance(value, str)))
    node[key] = chance.choice(["<U500000", "<U9999999", "<i8", node[key][:5] * chance.choice([1000, 100_000])])


def _longer_list(document: Any, chance: random.Random) -> None:
    node, key = chance.choice(_places(document, lambda value: isinstance(value, list)))
    is_nested = any(isinstance(each, (dict, list)) for each in node[key])
    node[key] = node[key] * 2 if is_nested else node[key][:50] * chance.choice([2, 100, 1000])


def _empty_array(document: Any, chance: random.Random) -> None:
    """An array without numbers that is long all the same."""
    arrays = _places(document, lambda value: isinstance(value, dict) and {"dtype", "shape"} <= value.keys())
    if arrays:
        node, key = chance.choice(arrays)
        shape = [10**9] * len(node[key]["shape"] or [0])
        shape[chance.randrange(len(shape))] = 0
        node[key] = {"dtype": node[key]["dtype"], "shape": shape, "values": []}


def _more_names(document: Any, chance: random.Random) -> None:
    """Many classes and levels, which only their tables should take memory for."""
    target = document["schema"].get("target") if isinstance(document.get("schema"), dict) else None
    if isinstance(target, dict) and isinstance(target.get("classes"), list):
        target["classes"] += [f"q{k}" for k in range(40_000)]
        target["dtype"] = chance.choice(["object", target.get("dtype")])
    for node, key in _places(document.get("schema"), lambda value: isinstance(value, list)):
        if key == "levels" and chance.random() < 0.7:
            node[key] += [f"l{k}" for k in range(40_000)]


_OTHERS = [_next_number, _long_text, _longer_list, _longer_list, _empty_array, _empty_array, _more_names]
_CHANGES = [*[_huge_number] * 8, *_OTHERS]


def _faults(files: Iterator[tuple[str, bytes, Rows]]) -> Iterator[str]:
    from baytree import storage

    for name, content, rows in files:
        try:
            model = storage.loads(content)
        except storage.ModelFileError:
            continue
        except BaseException as fault:
            yield f"{name}, loading: {fault!r}"
            continue
        try:
            model.predict(rows)
        except (ValueError, TypeError):  # the rows may not fit the schema any more
            continue
        except BaseException as fault:
            yield f"{name}, answering: {fault!r}"


if __name__ == "__main__":
    count, first = map(int, sys.argv[1:])
    files = crafted_files(count, first) if count else directed_files()
    import baytree as bt

    for path in GOLDEN.glob("*.baytree"):  # what has to be imported
        bt.load(path)
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    warnings.simplefilter("ignore")
    for each in _faults(files):
        print(each[:300], flush=True)
