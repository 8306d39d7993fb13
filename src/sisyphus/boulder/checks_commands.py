"""`sisyphus boulder checks`: lists the checks of a plan, and lets the user trust their commands."""

import os
import shlex
import sys
import time
from collections.abc import Collection
from typing import Annotated, Any

import typer

from sisyphus.boulder import checks as plan_checks
from sisyphus.boulder import commands, find, messages, plan_status, ticks, trust, which
from sisyphus.boulder.find import PlanFile
from sisyphus.boulder.plan import BLOCKED, CANCELLED, DONE, FAILED, Plan
from sisyphus.boulder.plan_status import PlanStatus
from sisyphus.boulder.ticks import Tick
from sisyphus.ground.errors import SisyphusError, UsageError
from sisyphus.ground.paths import display
from sisyphus.ground.record import Record
from sisyphus.ground.text import has_unseen, one_line
from sisyphus.terminal import show

DECLINED = 1

_MARKS = {DONE: "✓", BLOCKED: "!", FAILED: "✗", CANCELLED: "-"}
_OPEN = "·"

_TASK = 100
"""The most characters of a task."""

_EXAMPLE = "- [ ] Show the total (verify: `pytest tests/test_total.py`)"


class Entry(Record, frozen=True):
    """What a task, or the whole plan, is checked by. evidence: what stands behind its tick; "" =
    nobody knows, or it is not ticked. lost: checks that it had before."""

    commands: tuple[str, ...]
    criteria: tuple[str, ...]
    lost: tuple[str, ...]
    task: str = ""
    line: int = 0
    status: str = ""
    evidence: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.commands or self.criteria or self.lost)


class Listing(Record, frozen=True):
    """The checks of a plan, from one reading of its file. tasks: those that name a check or named
    one. trusted: the commands that the user trusts in the plan's project. plan: all that the file
    says."""

    name: str
    path: str
    project: str
    tasks: list[Entry]
    whole: Entry
    trusted: Collection[str]
    plan: Plan

    @property
    def entries(self) -> list[Entry]:
        return [*self.tasks, *([] if self.whole.is_empty else [self.whole])]

    @property
    def commands(self) -> list[str]:
        """Returns all commands, each once."""
        return list(dict.fromkeys(each for entry in self.entries for each in entry.commands))

    @property
    def new_commands(self) -> list[str]:
        """Returns the commands that are not trusted."""
        return [each for each in self.commands if each not in self.trusted]


def checks(
    name: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PLAN]", help="Name or path of a plan. Default: the followed one."),
    ] = None,
    trusts: Annotated[
        bool, typer.Option("--trust", help="Show the new commands, and let sisyphus run them.")
    ] = False,
    forgets: Annotated[
        bool, typer.Option("--forget", help="Trust no command of the project any more.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --trust: do not ask.")] = False,
    project: show.Project = "",
    as_json: show.AsJson = False,
) -> None:
    """List the checks of a plan, or let sisyphus run their commands.

    It runs only what you trust, letter by letter, and only in this project.
    """
    if yes and not trusts:
        raise UsageError("--yes is for --trust.")
    if trusts + forgets + as_json > 1:
        raise UsageError("--trust, --forget and --json do not go together.")
    if trusts or forgets:
        show.need_user()
    place = show.place_to_change(project) if trusts or forgets else show.place(project)
    if forgets:
        _forget(place)
        return
    plan_name = " ".join(name or []).strip()
    listing = _listing(place, _plan(place, plan_name))
    if as_json:
        show.as_json(_as_dict(listing))
        return
    to_trust = _to_trust(plan_name, project)
    if trusts:
        _trust(place, listing, to_trust, yes=yes)
    else:
        _print(listing, to_trust)


def _plan(place: show.Place, name: str) -> PlanStatus:
    """Returns the plan that the command means. Raises `SisyphusError` if there is none that can be
    read."""
    if name:
        file = which.named(place.store, name, place.project, place.folder, place.home)
        found = plan_status.of_known(place.store, file, time.time())
    else:
        found = commands.of_place(place)
    if found.record is None and (path := find.fix_plan(place.project)):
        found = plan_status.of_file(find.read(path, place.project))
    record = found.record
    if record is None:
        raise SisyphusError(f"{messages.NOTHING_FOLLOWED} {commands.way_to_a_plan(found)}")
    if found.problem:
        file = PlanFile(record.path, record.project, problem=found.problem)
        raise SisyphusError(messages.unreadable(file))
    if not os.path.isfile(record.path):
        raise SisyphusError(messages.gone(record))
    return found


def _listing(place: show.Place, status: PlanStatus) -> Listing:
    record, plan = status.record, status.plan
    assert record is not None
    rows = ticks.of_plan(place.store, record.path)
    tasks = [
        _entry(task.checks, rows.get(name), name, task.line, task.status, status.evidence.get(name))
        for name, task in zip(plan.names, plan.tasks, strict=True)
    ]
    return Listing(
        record.name,
        record.path,
        status.project,
        [entry for entry in tasks if not entry.is_empty],
        _entry(plan.checks, rows.get(ticks.OF_PLAN)),
        trust.of_project(place.store, status.project),
        plan,
    )


def _entry(
    named: tuple[str, ...],
    row: Tick | None,
    task: str = "",
    line: int = 0,
    status: str = "",
    evidence: str | None = None,
) -> Entry:
    """named: the checks as the plan has them. row: what we have noted of the task."""
    found = plan_checks.split(named)
    noted = [*row.lost.split("\n"), *row.checks.split("\n")] if row else []
    # The file may be newer than what we have noted.
    lost = tuple(e.strip("` ") for e in dict.fromkeys(noted) if e and e not in named)
    return Entry(found.commands, found.criteria, lost, task, line, status, evidence or "")


def _to_trust(name: str, project: str) -> str:
    """Returns the command with which the user trusts the commands of this plan."""
    options = ["--trust", *(["--project", project] if project else [])]
    return _visible(
        shlex.join(["sisyphus", "boulder", "checks", *([name] if name else []), *options])
    )


def _visible(text: str) -> str:
    """Returns a text letter by letter, with an escape for each character that nobody can see."""
    return "".join(ascii(c)[1:-1] if has_unseen(c) else c for c in text)


def _shown(command: str) -> str:
    """Returns a command for people: whole if somebody can trust it."""
    if len(command) <= trust.LONGEST:
        return _visible(command)
    return f"{_visible(command[:_TASK])}… ({len(command):,} characters)"


# ---------------------------------------------------------------- the list


def _print(listing: Listing, to_trust: str) -> None:
    show.heading(one_line(listing.name))
    show.line(display(listing.path, listing.project), "dim")
    commands.print_like_tasks(listing.plan)
    if not listing.entries:
        show.line(f"It names no check. Name one behind its task: {_EXAMPLE}")
        return
    for entry in listing.tasks:
        show.line(one_line(entry.task, _TASK), mark=_MARKS.get(entry.status, _OPEN))
        if entry.evidence:
            show.line(f"tick: {entry.evidence}", indent=4)
        _print_checks(entry, listing.trusted)
    if not listing.whole.is_empty:
        show.line("The whole plan", mark=" ")
        _print_checks(listing.whole, listing.trusted)
    for line in _conclusion(listing, to_trust):
        show.line(line)


def _print_checks(entry: Entry, trusted: Collection[str]) -> None:
    for command in entry.commands:
        if problem := trust.why_not(command):
            show.line(f"cannot be trusted: {_shown(command)}", "yellow", indent=4)
            show.line(f"it {problem}", "dim", indent=6)
        elif command in trusted:
            show.line(f"trusted: {_shown(command)}", indent=4)
        else:
            show.line(f"not trusted: {_shown(command)}", "yellow", indent=4)
    for criterion in entry.criteria:
        show.line(f"prose: {one_line(criterion)}", indent=4)
    for check in entry.lost:
        show.line(f"taken out or replaced: {_shown(check)}", "yellow", indent=4)


def _conclusion(listing: Listing, to_trust: str) -> list[str]:
    """Says what Sisyphus does not run, and what the user can do about it."""
    lines = []
    if any(not each.startswith("`") for entry in listing.entries for each in entry.criteria):
        lines.append("Prose is not run. A command stands in backticks: verify: `CMD`")
    new = listing.new_commands
    can_be_trusted = [each for each in new if not trust.why_not(each)]
    way = f" `{to_trust}` shows what is new and asks you." if can_be_trusted else ""
    if len(new) == 1:
        lines.append(f"1 command is not trusted: sisyphus does not run it.{way}")
    elif new:
        lines.append(f"{len(new)} commands are not trusted: sisyphus does not run them.{way}")
    return lines


def _as_dict(listing: Listing) -> dict[str, Any]:
    whole, trusted = listing.whole, listing.trusted
    return {
        "plan": listing.path,
        "tasks": [
            {
                "task": entry.task,
                "line": entry.line,
                "status": entry.status,
                "evidence": entry.evidence or None,
                "checks": _commands_as_dicts(entry, trusted),
                "criteria": list(entry.criteria),
                "lost": list(entry.lost),
            }
            for entry in listing.tasks
        ],
        "plan_checks": _commands_as_dicts(whole, trusted),
        "plan_criteria": list(whole.criteria),
        "plan_lost": list(whole.lost),
        "untrusted": len(listing.new_commands),
        "unclear": plan_status.like_tasks(listing.plan),
    }


def _commands_as_dicts(entry: Entry, trusted: Collection[str]) -> list[dict[str, Any]]:
    return [
        {"command": each, "trusted": each in trusted, "problem": trust.why_not(each)}
        for each in entry.commands
    ]


# ---------------------------------------------------------------- trust


def _trust(place: show.Place, listing: Listing, to_trust: str, *, yes: bool) -> None:
    """Shows the commands that are new, asks, and notes exactly those that it has shown."""
    new = [each for each in listing.new_commands if not trust.why_not(each)]
    for each in listing.new_commands:
        if problem := trust.why_not(each):
            show.line(f"Cannot be trusted, it {problem}: {_shown(each)}", "yellow")
    if not new:
        show.line("No command is new.")
        return
    for number, each in enumerate(new, 1):
        show.line(_shown(each), mark=f"{number}.", indent=2)
    # Before the question: what somebody changes while the user reads is named later.
    files = trust.digests(new, listing.project)
    _need_yes(listing.project, to_trust, yes=yes)
    with place.store.write():
        trust.add(place.store, listing.project, files, time.time())
    what = "1 command is" if len(new) == 1 else f"{len(new)} commands are"
    show.line(f"{what} trusted in {display(listing.project, '')} now.")


def _forget(place: show.Place) -> None:
    with place.store.write():
        number = trust.forget(place.store, place.project)
    what = "1 command is" if number == 1 else f"{number} commands are"
    show.line(f"{what} trusted no more in {display(place.project, '')}.")


def _need_yes(project: str, to_trust: str, *, yes: bool) -> None:
    """Asks the user. Raises `UsageError` where it cannot, `typer.Exit` if they decline."""
    if yes:
        return
    if not (sys.stdin and sys.stdin.isatty()):
        raise UsageError(
            "Nothing was noted: there is no terminal to ask you. Read these commands, then run "
            f"`{to_trust} --yes`."
        )
    if not typer.confirm(f"Let sisyphus run these commands in {display(project, '')}?"):
        show.line("Nothing was noted.")
        raise typer.Exit(DECLINED)
