"""Command-line arguments, converted to tables, columns, parameters and models. Invalid values raise `UsageError`."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from baytree import _warnings
from baytree._warnings import did_you_mean
from baytree.cli.options import read_options_of
from baytree.model_selection import model_registry
from baytree.param_synonyms import unknown_parameter

if TYPE_CHECKING:
    from baytree.base.predictor import Predictor
    from baytree.data.files import TableSource
    from baytree.data.files.options import ReadOptions
    from baytree.estimators.base import Estimator


def source(table: str, how: ReadOptions, target: str | None = None) -> TableSource:
    """Open the table that was named: a file, `-`, or a bundled table if there is no such file.

    Notes of the reader become warnings. For a workbook this is the first sheet, or the one with the target.
    """
    from baytree import datasets
    from baytree.data import files

    name = table.lower().replace("_", "-")
    if name in datasets.names() and not Path(table).exists():
        return files.in_memory(name, datasets.load(name, as_="polars"))
    try:
        table_source = files.open_table(table, how) if target is None else files.open_table_with(table, how, target)
    except files.PathError as error:
        near = [] if Path(table).exists() else get_close_matches(name, datasets.names(), 1)
        hint = f"; did you mean the bundled table {near[0]!r}?" if near else ""
        raise click.UsageError(f"{error}{hint}") from None
    for note in table_source.notes:
        _warnings.warn(str(note))
    return table_source


def refuse_input_as_output(output: Path | None, *inputs: str | Path | None) -> None:
    """Refuse an output file that is also an input: by the same name, another path, a link, or standard input."""
    if output is None or not output.is_file():
        return
    for argument in inputs:
        for path in _files_of(argument):
            if os.path.samestat(path.stat() if isinstance(path, Path) else os.fstat(path), output.stat()):
                raise click.UsageError(f"-o {output} would overwrite the input {argument}; choose another file")


def _files_of(argument: str | Path | None) -> list[Path | int]:
    """Return the files that an argument names: a path, those that match a pattern, or the descriptor of standard input."""
    if argument is None:
        return []
    if str(argument) == "-":
        try:
            return [sys.stdin.fileno()]
        except (OSError, ValueError):  # closed, or not a file
            return []
    return [Path(path) for path in ([argument] if Path(argument).exists() else glob(str(argument)))]


def columns(names: Iterable[str], table: TableSource) -> None:
    """Refuse names that are not columns of the table."""
    for name in names:
        if name not in table.columns:
            from baytree.data.files.header import may_be_values

            hint = "; if its first row is not a header, use --header 0" if may_be_values(table.columns) else ""
            raise click.UsageError(f"{table.name}: {did_you_mean('column', name, table.columns)}{hint}")


def candidate_estimators(
    short: str, params: Iterable[str], schema: Mapping[str, Any], task: str | None = None
) -> dict[str, Estimator]:
    """Return the unfitted models of a short name by task, with the parameters that were given as name=value."""
    families = model_registry.named(short)
    if not families:
        raise click.UsageError(did_you_mean("model", short, model_registry.names()))
    if task is not None and task not in families:
        raise click.UsageError(f"model {short!r} is for {', '.join(families)}, not for {task}")
    values = dict(_parameter(param) for param in params)
    selected = {task_name: family for task_name, family in families.items() if task in (None, task_name)}
    applicable = {task_name: family for task_name, family in selected.items() if {*values} <= {*_parameters(family)}}
    return {task_name: _build(short, family, values, schema) for task_name, family in (applicable or selected).items()}


def _parameters(family: model_registry.ModelFamily) -> list[str]:
    return [name for name in inspect.signature(family.kind).parameters if name != "schema"]


def _build(
    short: str, family: model_registry.ModelFamily, values: Mapping[str, Any], schema: Mapping[str, Any]
) -> Estimator:
    known = _parameters(family)
    for name in values:
        if name not in known:
            raise click.UsageError(f"model {short!r}: {unknown_parameter(name, known)}")
    return family.made(**values, schema=dict(schema) or None)


def predictor(path: Path, is_strict: bool = False) -> Predictor:
    """Read the predictor of a model file, without scikit-learn. If `is_strict`, unreadable cells raise an error."""
    import msgspec

    from baytree.storage import read_predictor

    loaded = read_predictor(model_file(path))
    return msgspec.structs.replace(loaded, unseen="error") if is_strict else loaded


def with_costs(model: Predictor, costs: str | None) -> Predictor:
    """Return a model that predicts by the costs of `--costs`, if they were given."""
    from baytree import param_validation  # imports numpy

    given = json_of("--costs", costs)
    if given is None:
        return model
    if model.schema.target.classes is None:
        raise click.UsageError(f"--costs: {model.name} predicts a number; omit costs")
    checked = param_validation.costs(given, model.schema.classes)
    assert checked is not None
    return model.with_costs(checked)


def load_estimator(path: Path) -> Estimator:
    """Load the estimator of a model file, with its statistics."""
    from baytree.storage import load

    return load(model_file(path))


def source_for(model: Predictor, table: str, options: Mapping[str, Any], extra_columns: Iterable[str] = ()) -> TableSource:
    """Open a table with its columns parsed as in training; other columns are read as text. One pass settles the types."""
    from baytree.data import files

    return files.settle_types(source_once(model, table, options, extra_columns))


def source_once(model: Predictor, table: str, options: Mapping[str, Any], extra_columns: Iterable[str] = ()) -> TableSource:
    """Open a table as `source_for`, without the pass that settles types: a late value may still change a type."""
    table_source, levels = _open_as_trained(model, table, options)
    columns(
        [name for name in model.required_columns(table_source.columns) if name not in table_source.columns], table_source
    )
    columns(extra_columns, table_source)
    return _others_as_text(table_source, levels)


def source_for_both(old: Predictor, new: Predictor, table: str, options: Mapping[str, Any]) -> TableSource:
    """Open a table with the columns of two models, parsed as for the old one where both use them."""
    from baytree.data import files

    (string_columns, levels), (new_string_columns, new_levels) = _training_levels(old), _training_levels(new)
    string_columns |= {name for name in new_string_columns if name not in levels}
    table_source = source(
        table, read_options_of({**options, "keep": ()}, words=string_columns, needed={*levels, *new_levels})
    )
    for model in (old, new):
        columns(
            [name for name in model.required_columns(table_source.columns) if name not in table_source.columns], table_source
        )
    return files.settle_types(_others_as_text(table_source, {**new_levels, **levels}))


def some_columns(model: Predictor, table: str, options: Mapping[str, Any]) -> TableSource:
    """Open a table as `source_for`, but allow columns of the model to be absent."""
    from baytree.data import files

    return files.settle_types(_others_as_text(*_open_as_trained(model, table, options)))


def _open_as_trained(model: Predictor, table: str, options: Mapping[str, Any]) -> tuple[TableSource, Mapping[str, Any]]:
    """Open a table with its columns parsed as in training; also return the levels of the columns that the model uses."""
    string_columns, levels = _training_levels(model)
    return source(table, read_options_of({**options, "keep": ()}, words=string_columns, needed=levels)), levels


def _training_levels(model: Predictor) -> tuple[set[str], dict[str, Any]]:
    """Return the columns that are read as strings, and the levels of all columns of the model."""
    from baytree.data.schema.column import Kind

    schema = model.schema
    levels = {column.source: column.levels for column in schema.columns}
    levels |= {schema.target.name: schema.classes or ()} if schema.target else {}
    string_columns = {name for name, known in levels.items() if known and isinstance(known[0], str)}
    string_columns |= {column.source for column in schema.columns if column.form or column.kind is Kind.TEXT}
    return string_columns, levels


def _others_as_text(table_source: TableSource, levels: Mapping[str, Any]) -> TableSource:
    from baytree.data import files

    return files.read_as_text(table_source, [name for name in table_source.columns if name not in levels])


def json_of(option: str, word: str | None) -> Any:
    """Parse the JSON value of an option; None if it was not given."""
    try:
        return None if word is None else json.loads(word)
    except json.JSONDecodeError as error:
        example = ' such as {"yes": {"no": 5}, "no": {"yes": 1}}' if option == "--costs" else ""
        raise click.UsageError(f"{option} {word!r} is not JSON ({error}); give JSON{example}") from None


def model_file(path: Path) -> Path:
    """Return the path of an existing model file; raise UsageError with a suggestion otherwise."""
    if path.exists():
        return path
    near = sorted(file.name for file in path.parent.glob("*.baytree")) if path.parent.is_dir() else []
    raise click.UsageError(did_you_mean("model file", str(path), near))


def _parameter(argument: str) -> tuple[str, Any]:
    name, sign, value = argument.partition("=")
    if not sign:
        raise click.UsageError(f"--param {argument!r}: give name=value, as in --param alpha=0.5")
    return name.strip().replace("-", "_"), _value(value.strip())


def _value(word: str) -> Any:
    """Parse a number, true, false, none or any JSON; anything else is a string."""
    plain = {"none": None, "null": None, "true": True, "false": False}
    if word.lower() in plain:
        return plain[word.lower()]
    try:
        return json.loads(word)
    except json.JSONDecodeError:
        return word
