from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.cli.output import (
    AsJson,
    Project,
    faint,
    heading,
    is_unicode,
    print_json,
    say,
    styled,
    workspace,
)
from sisyphus.cli.progress import progress
from sisyphus.doctor import run
from sisyphus.doctor.case import Case
from sisyphus.doctor.finding import count
from sisyphus.text import one_line

if TYPE_CHECKING:
    from sisyphus.doctor.finding import Finding
    from sisyphus.doctor.run import Report

_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "problem": ("✗", "red")}
_WIDTH = 13


def doctor(
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend what can be mended without a risk.")
    ] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Also run the client against a model on this machine.")
    ] = False,
    project: Project = "",
    as_json: AsJson = False,
) -> None:
    """Look whether sisyphus works here, and say what to do where it does not.

    Nothing is changed without --fix, and no session is touched. Exits 1 if a problem is left."""
    found = _examine(project, live, as_json)
    mended = run.mend(found) if fix else []
    if mended:
        found = _examine(project, live, as_json)
    if as_json:
        print_json({**found.as_json(), "fixed": mended})
    else:
        _show(found, mended, fix)
    if found.is_bad:
        raise typer.Exit(1)


def _examine(project: str, live: bool, quiet: bool) -> Report:
    case = Case(workspace(project), started=sys.argv[0])
    with progress("Looking", quiet=quiet) as told:
        return run.examine(case, told, live=live)


def _show(found: Report, mended: list[str], fix: bool) -> None:
    for group, findings in found.groups.items():
        if findings:
            say(heading(group))
        for one in findings:
            say(_line(one))
            if one.hint:
                say(faint(f"{' ' * _indent(one)}{one_line(one.hint)}"))
    for told in mended:
        say(f"Mended: {one_line(told)}")
    if fix and not mended:
        say("There was nothing to mend.")
    say(_verdict(found))


def _line(one: Finding) -> str:
    text = f"{one.check:<{_WIDTH}} {one_line(one.text)}"
    mark = styled(_mark(one), fg=_MARKS[one.state][1])
    return f"  {mark} {faint(text) if one.state == 'ok' else text}"


def _mark(one: Finding) -> str:
    return _MARKS[one.state][0] if is_unicode() else f"{one.state:<7}"


def _indent(one: Finding) -> int:
    """Where the text of a line begins."""
    return len(f"  {_mark(one)} {' ' * _WIDTH} ")


def _verdict(found: Report) -> str:
    problems, warnings = found.count("problem"), found.count("warning")
    if not problems and not warnings:
        return "All is well."
    return f"{count(problems, 'problem')}, {count(warnings, 'warning')}."
