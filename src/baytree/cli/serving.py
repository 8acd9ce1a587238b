"""The command that serves models to other programs."""

from __future__ import annotations

from pathlib import Path

import click

from baytree.cli import arguments
from baytree.cli.command_parameters import REJECT


@click.command(short_help="Answer other programs over HTTP.")
@click.argument("models", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="MODEL...")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at; others need a token.")
@click.option("--port", default=8080, show_default=True, type=click.IntRange(0, 65535), help="0 takes any that is free.")
@click.option("--token-file", type=click.Path(path_type=Path, dir_okay=False), help="What clients must know, in a file.")
@REJECT
def serve(models: tuple[Path, ...], host: str, port: int, token_file: Path | None, reject: float | None) -> None:
    """Answer other programs over HTTP, each MODEL under its file's name.

    A file that changes is read again, or all of them on SIGHUP; one that cannot be read leaves the old model in place. Each
    request is a line of JSON on standard error, without values of rows. SIGTERM finishes what was started.

    \b
    Examples:
      baytree serve m.baytree
      curl --json '{"rows": [{"age": 30}]}' localhost:8080/models/m/predict
      baytree serve m.baytree --reject 0.8
      baytree serve a.baytree b.baytree --host 0.0.0.0 --token-file token
    """
    try:
        from baytree.serve import running
        from baytree.serve.app import is_loopback
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise click.UsageError(f"serving needs {error.name}: pip install 'baytree[serve]'") from None
    token = None if token_file is None else running.read_token(token_file)
    if token is None and not is_loopback(host):
        raise click.UsageError(f"--host {host} is open to other machines: name a --token-file, too")
    paths = [arguments.model_file(path) for path in models]
    running.run(paths, host, port, token, click.echo, reject)
