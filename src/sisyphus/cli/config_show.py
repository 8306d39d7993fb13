"""The settings as people see them: `config show`, `path` and `explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.cli import complete
from sisyphus.cli.output import AsJson, Project, faint, heading, print_json, say, workspace
from sisyphus.configuring import complaints, explain, sources, trace
from sisyphus.paths import display
from sisyphus.settings import SETTINGS
from sisyphus.text import harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.configuring.complaints import Complaint
    from sisyphus.configuring.sources import Source
    from sisyphus.configuring.trace import Traced


def show(
    project: Project = "",
    everything: Annotated[
        bool, typer.Option("--all/--changed", help="All settings, or those that somebody set.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Show the settings in force for a project, where each comes from, and what was passed over."""
    space = workspace(project)
    found = trace.trace_all(space.ours, space.root)
    shown = [one for one in found if everything or one.origin != trace.DEFAULT or one.passed]
    problems = complaints.complaints(space.ours, space.root)
    if as_json:
        rows = [one.as_json() for one in shown]
        told = [one.as_json() for one in problems]
        print_json({"project": space.root, "settings": rows, "problems": told})
        return
    say(heading(f"Settings of {harmless(space.root)}"))
    _print_sections(shown, space.root)
    print_problems(problems, space.root)


def path(project: Project = "", as_json: AsJson = False) -> None:
    """Name the files that settings are read from, the later the stronger."""
    space = workspace(project)
    found = sources.read_all(space.ours, space.root)
    if as_json:
        print_json([_as_json(source) for source in found])
        return
    for source in found:
        say(harmless(f"{source.origin + ':':<9}{source.path}{_condition(source)}"))


def explain_key(
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY",
            help="A setting or a section; without it all are listed.",
            show_default=False,
            autocompletion=complete.settings_and_sections,
        ),
    ] = "",
    project: Project = "",
    as_json: AsJson = False,
) -> None:
    """Say what a setting means, what it takes, who may set it, and its value now."""
    space = workspace(project)
    rows = [explain.explain(space.ours, space.root, one) for one in explain.chosen(key)]
    if as_json:
        print_json(rows[0] if key in SETTINGS else rows)
    elif key in SETTINGS:
        say(f"{heading(key)}\n{explain.text(rows[0], space.root)}")
    else:
        width = max(len(row["key"]) for row in rows)
        for row in rows:
            say(f"{heading(row['key'].ljust(width))}  {faint(row['meaning'])}")


def _print_sections(shown: Sequence[Traced], root: str) -> None:
    section = ""
    for one in shown:
        if (found := one.key.partition(".")[0]) != section:
            section = found
            say(heading(f"\n[{section}]"))
        is_set = one.origin != trace.DEFAULT
        text = explain.line(one)
        say(f"{heading(text) if is_set else text}  {faint(f'# {harmless(origin(one, root))}')}")
        for line in explain.passed_lines(one.as_json(), root):
            say(faint(harmless(f"  # {line}")))
    if not shown:
        say("Every setting has its default. `sisyphus config explain` lists them.")


def origin(found: Traced, root: str) -> str:
    return display(found.where, root) or found.origin


def print_problems(problems: Sequence[Complaint], root: str) -> None:
    if problems:
        say(heading("\nProblems"))
    for one in problems:
        key = f"{one.key}: " if one.key else ""
        say(harmless(f"{display(one.path, root)}: {key}{one.text}. {one.hint}"))


def _condition(source: Source) -> str:
    if not source.exists:
        return " (there is none)"
    return f" (not used: {source.problem})" if source.problem else ""


def _as_json(source: Source) -> dict[str, object]:
    return {
        "origin": source.origin, "path": source.path, "exists": source.exists,
        "problem": source.problem,
    }  # fmt: skip
