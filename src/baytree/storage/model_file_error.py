"""The one error of model files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import msgspec


class ModelFileError(ValueError):
    """A model file that is damaged, foreign, or of a newer format."""


@contextlib.contextmanager
def naming(name: str) -> Iterator[None]:
    """Turns whatever a malformed document causes into one kind of error that names the file."""
    try:
        yield
    except ModelFileError:
        raise
    except (msgspec.MsgspecError, ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError) as error:
        raise ModelFileError(f"{name}: is not a valid model file: {error}") from error
