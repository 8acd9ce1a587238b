"""The call that learns a compared model again, from the table as it was read."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click
from click.core import ParameterSource

OWN = ("target", "output")  # of each command; all other options that both have say how the table is read


def command(context: click.Context, short: str) -> str:
    """The call of `fit` for a model of a comparison: with every option that was given and that both commands have."""
    known = {parameter.name for parameter in _fit(context).params}.intersection(context.params).difference(OWN)
    words = ["baytree", "fit", context.params["table"], "--target", context.params["target"], "--model", short]
    for option in context.command.params:
        if isinstance(option, click.Option) and option.name in known and _was_given(context, option):
            words += _typed(option, context.params[option.name])
    return shlex.join([*words, "-o", "m.baytree"])


def _fit(context: click.Context) -> click.Command:
    commands = context.find_root().command
    return commands.commands["fit"] if isinstance(commands, click.Group) else commands


def _was_given(context: click.Context, option: click.Option) -> bool:
    return context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE


def _typed(option: click.Option, value: object) -> Iterator[str]:
    name = max(option.opts, key=len)
    for each in value if isinstance(value, tuple) else (value,):
        yield from (name,) if option.is_flag else (name, str(each))
