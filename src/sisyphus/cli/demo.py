from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from textwrap import indent
from typing import Annotated

import typer

from sisyphus.cli.output import AsJson, faint, heading, print_json, say, styled
from sisyphus.demo.stage import Stage
from sisyphus.demo.story import Result, play


def demo(
    as_json: AsJson = False,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the demo's folder behind.")] = False,
) -> None:
    """Play a whole session in a temporary home and project, through the real hooks.

    Exits 0 only if every step answered as it should.
    """
    folder = Path(tempfile.mkdtemp(prefix="sisyphus-demo-"))
    try:
        results = [_show(result, as_json) for result in play(Stage(folder))]
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    failed = [result.step.title for result in results if not result.ok]
    if as_json:
        print_json([_row(result) for result in results])
    else:
        typer.echo(_verdict(len(results), failed))
        if keep:
            typer.echo(f"The demo's folder: {folder}")
    if failed:
        raise typer.Exit(1)


def _show(result: Result, quiet: bool) -> Result:
    if not quiet:
        mark = styled("ok", fg="green") if result.ok else styled("FAILED", fg="red")
        typer.echo(f"{heading(result.step.title)}  [{mark}]")
        say(f"  {result.step.happens}")
        typer.echo(faint(f"  sisyphus hook {result.step.event}"))
        for name, text in (("model", result.model), ("user", result.user)):
            if text:
                typer.echo(f"  to the {name}:")
                typer.echo(indent(text.rstrip(), "    | ", lambda _: True))
        if not (result.model or result.user):
            typer.echo("  (silence)")
        typer.echo()
    return result


def _verdict(count: int, failed: list[str]) -> str:
    if failed:
        return f"{len(failed)} of {count} steps did not answer as they should: {'; '.join(failed)}"
    return f"All {count} steps answered as they should. Nothing outside a temporary folder changed."


def _row(result: Result) -> dict[str, object]:
    return {
        "title": result.step.title,
        "event": result.step.event,
        "model": result.model,
        "user": result.user,
        "ok": result.ok,
    }
