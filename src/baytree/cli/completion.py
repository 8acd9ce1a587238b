"""Command `completion`: the script that completes commands, options, tables, columns and models in a shell."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete

VARIABLE = "_BAYTREE_COMPLETE"  # by which the script asks the program for completions; click derives the name itself

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


class _BashScript(BashComplete):
    @staticmethod
    def _check_version() -> None:
        """Skip click's check, which runs bash: the script may be written where no bash is installed."""


SHELLS: dict[str, type[ShellComplete]] = {"bash": _BashScript, "zsh": ZshComplete, "fish": FishComplete}


@click.command(short_help="Print a script that completes commands in a shell.")
@click.argument("shell", type=click.Choice(list(SHELLS)))
def completion(shell: str) -> None:
    """Print the script that lets SHELL complete commands, options, bundled tables, columns and models.

    \b
    Examples:
      baytree completion bash > ~/.local/share/bash-completion/completions/baytree
      baytree completion zsh > ~/.zfunc/_baytree
      baytree completion fish > ~/.config/fish/completions/baytree.fish
    """
    command = click.get_current_context().find_root().command
    click.echo(SHELLS[shell](command, {}, "baytree", VARIABLE).source())


def names_from(names: Callable[[], Iterable[str]]) -> Completion:
    """Return a completion that offers names; they are read when it is asked for."""
    return lambda _, __, incomplete: [CompletionItem(name) for name in names() if name.startswith(incomplete)]


def tables(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer bundled tables and files."""
    from baytree import datasets

    bundled = [CompletionItem(name) for name in datasets.names() if name.startswith(incomplete)]
    return [*bundled, CompletionItem(incomplete, type="file")]


def columns(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the columns of the table that stands before, if it can be read."""
    from baytree.cli import arguments
    from baytree.data.files.options import ReadOptions

    # an option without its value, as the last one is here, ends click's parsing: arguments before it are then left in args
    table = context.params.get("table") or next(iter(context.args), None)
    if table in (None, "-"):
        return []
    try:
        found = arguments.source(table, ReadOptions()).columns
    except Exception:  # a completion that fails offers nothing
        return []
    return [CompletionItem(name) for name in found if name.startswith(incomplete)]
