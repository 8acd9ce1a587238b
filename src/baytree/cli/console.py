"""Console behaviour of all commands: one-sentence errors, notes and progress on standard error, suggestions for typos."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from baytree import _warnings
from baytree._warnings import did_you_mean
from baytree.display.terminal import escaped
from baytree.file_io.temporary import remove_all, removed_on_signals

FOUND = 3  # exit code of `--fail` if something was found

MIN_PROGRESS_BYTES = 50 << 20  # size of the input from which progress is shown: smaller files take a few seconds


class Commands(click.Group):
    """A group of commands that turn errors into a sentence and an exit code, and that have --quiet and --debug."""

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        cmd.params += [_switch("quiet", "-q", "Print only the result."), _switch("debug", None, "Show tracebacks.")]
        super().add_command(cmd, name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            raise click.UsageError(did_you_mean("command", args[0], self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)

    def main(self, *arguments: Any, **options: Any) -> Any:
        with removed_on_signals():
            return super().main(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _notes(ctx):
                return super().invoke(ctx)
        except click.UsageError as error:
            raise click.UsageError(escaped(error.format_message(), keep="\n"), error.ctx or ctx) from None
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None
        except (click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except click.ClickException as error:
            raise click.ClickException(escaped(error.format_message(), keep="\n")) from None
        except Exception as error:
            if ctx.meta.get("debug"):
                raise
            raise click.ClickException(in_options(escaped(_sentence(error), keep="\n"))) from None


class Interrupted(click.ClickException):
    """Ctrl-C: print one word instead of a traceback, and exit with the code that shells expect."""

    exit_code = 130

    def show(self, file: Any = None) -> None:
        click.echo(self.message, file=file, err=file is None)


def exit_now(code: int) -> NoReturn:
    """Flush the output and end the process without waiting for threads."""
    remove_all()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def echo_status(text: str) -> None:
    """Print a status line on standard error, unless --quiet."""
    if not click.get_current_context().meta.get("quiet"):
        click.echo(escaped(text, keep="\n"), err=True)


@contextmanager
def progress(size: int | None, label: str) -> Generator[Callable[[int], Any] | None]:
    """Yield a function that takes the bytes done and updates a bar on standard error; None for short work or no terminal."""
    is_quiet = click.get_current_context().meta.get("quiet")
    if is_quiet or size is None or size < MIN_PROGRESS_BYTES or not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=size, label=label, file=sys.stderr) as bar:
        yield bar.update


def _switch(name: str, short: str | None, text: str) -> click.Option:
    def remember(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        ctx.meta[name] = ctx.meta.get(name) or value

    names = [f"--{name}", *([short] if short else [])]
    return click.Option(names, is_flag=True, is_eager=True, expose_value=False, callback=remember, help=text)


@contextmanager
def _notes(ctx: click.Context) -> Generator[None]:
    """Print warnings as notes on standard error, each once."""
    printed = set()

    def note(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in printed and not ctx.meta.get("quiet"):
            printed.add(str(message))
            click.echo(click.style("note: ", fg="yellow") + in_options(escaped(str(message))), err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = note
        yield


def echo_notes(notes: Iterable[object]) -> None:
    """Print notes on standard error, each once, unless --quiet."""
    for note in notes:
        _warnings.warn(str(note))


def in_options(note: str) -> str:
    """Rewrite a remedy for users of the command line: options instead of a schema.

    >>> in_options("column 'zip': …; to change it, declare schema={'zip': 'nominal'}")
    "column 'zip': …; to change it, use --nominal 'zip'"
    """
    note = re.sub(r"declare schema=\{(.*?): '(dmy|mdy)'\}", r"use --date \1=\2", note)
    note = re.sub(r"declare schema=\{(.*?): '(\w+)'\}", r"use --\2 \1", note)
    return re.sub(r"(?:read with|give) (\w+)=('.*?'|\d+)", r"use --\1 \2", note)


def _sentence(error: Exception) -> str:
    match error:
        case ModuleNotFoundError() if error.name:
            return f"this needs {error.name}, which is not installed; pip install 'baytree[cli]'"
        case OSError() if error.strerror:
            return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        case MemoryError():
            return "not enough memory for this table and this model"
        case ValueError() | OSError() | ImportError() | OverflowError() | NotImplementedError():
            return str(error) or type(error).__name__
    first = (str(error).splitlines() or [""])[0]
    return f"internal error ({type(error).__name__}: {first}); use --debug for a traceback"
