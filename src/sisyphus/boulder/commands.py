"""`sisyphus boulder`: the plan of a project, from a shell and as typed commands."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from sisyphus.boulder import (
    find,
    follow,
    messages,
    plan_status,
    plans,
    progress,
    shared_file,
    which,
)
from sisyphus.boulder.find import PlanFile
from sisyphus.boulder.plan import BLOCKED, FAILED, Plan, Story
from sisyphus.boulder.plan_status import PlanStatus
from sisyphus.boulder.plans import Checkpoint, PlanRecord
from sisyphus.boulder.shared_file import Shared
from sisyphus.ground import exports
from sisyphus.ground.errors import SisyphusError, UsageError
from sisyphus.ground.paths import can_be_project, client_home, display
from sisyphus.ground.record import Record, field, replace
from sisyphus.ground.text import iso, moment, one_line
from sisyphus.hook.session import Session
from sisyphus.sessions import messages as session_messages
from sisyphus.sessions import sessions
from sisyphus.terminal import asker, show

_SHOWN_COMPLETE = 10
"""The most complete plans that `boulder status --all` lists, the latest first."""

_SHOWN_STORIES = 20
_SHOWN_BLOCKED = 10

_TASK = 200
"""The most characters of a task."""

SessionId = Annotated[
    str,
    typer.Option(
        "--session-id",
        metavar="ID",
        help="Session id, or its first characters. Default: the current session.",
    ),
]


def show_status(
    plan: Annotated[
        str, typer.Option(metavar="FILE", help="Any file; nothing is stored about it.")
    ] = "",
    every: Annotated[bool, typer.Option("--all", help="Show the plans of all projects.")] = False,
    session: SessionId = "",
    project: show.Project = "",
    as_json: show.AsJson = False,
) -> None:
    """Show the plan that is followed here: how far it is, and what is next."""
    if plan:
        _show_file(plan, as_json=as_json)
        return
    place = show.place(project)
    if every:
        _show_all(place, as_json=as_json)
        return
    result = of_place(place, session)
    if as_json:
        show.as_json(plan_status.as_dict(result))
        return
    _name_root(place)
    print_status(result)


def _show_file(path: str, *, as_json: bool) -> None:
    """Counts the tasks of any file, without a look at what is followed."""
    result = plan_status.of_file(find.read(os.path.abspath(path), ""))
    if as_json:
        show.as_json(plan_status.as_dict(result, named_only=True))
        return
    if result.state == "missing":
        raise SisyphusError(f"{path} does not exist.")
    if result.problem:
        raise SisyphusError(f"{path} cannot be read: {result.problem}.")
    assert result.record is not None
    show.heading(one_line(result.record.name))
    show.line(display(result.record.path, result.project), "dim")
    _print_progress(result, result.record)


def _name_root(place: show.Place) -> None:
    """Names the project's root if the command runs in, or was given, another folder."""
    if os.path.realpath(place.folder) != place.project:
        show.line(session_messages.root(place.project), "dim")


def _show_all(place: show.Place, *, as_json: bool) -> None:
    rows = [row for row in plans.every(place.store) if row.is_open]
    results = [plan_status.of_record(place.store, row, time.time()) for row in rows]
    results += plan_status.completed(place.store)[:_SHOWN_COMPLETE]
    if as_json:
        show.as_json([plan_status.as_dict(result) for result in results])
        return
    for result in results:
        assert result.record is not None
        show.heading(one_line(result.record.name))
        since = f" since {show.clock(result.completed_at)}" if result.completed_at else ""
        place_and_state = f"{display(result.record.path, '')}, {_state(result)}{since}"
        show.line(place_and_state, "dim", indent=2)
        show.line(result.in_words + _more(result), indent=2)
        if result.plan.next_step:
            show.line(f"Next: {one_line(result.plan.next_step)}", indent=2)
    if not results:
        show.line("No plan is followed in any project.")


def _state(result: PlanStatus) -> str:
    """Returns a plan's state for people."""
    return "cannot be read" if result.problem else result.state.replace("_", " ")


def _more(result: PlanStatus) -> str:
    """Says how many tasks are ticked and fail, and how many are blocked."""
    counts = result.plan.counts
    blocked = f", {counts[BLOCKED]} blocked" if counts[BLOCKED] else ""
    return messages.failed(counts[FAILED]) + blocked


def of_place(place: show.Place, session: str = "", *, with_abandoned: bool = True) -> PlanStatus:
    """Returns the plan that a command means. with_abandoned: see `which.of_project`."""
    own = asker.session_of(place.store, session)
    return which.of_project(
        place.store, place.project, own, time.time(), place.folder, with_abandoned=with_abandoned
    )


def print_status(result: PlanStatus, *, needs_one: bool = True) -> None:
    """needs_one: where no plan is, the user is told to write one."""
    if problem := shared_file.problem(result.project):
        show.line(f"{problem}.")
    row = result.record
    if row is None:
        _print_offers(result, needs_one=needs_one)
    elif result.state == "missing":
        show.line(messages.gone(row))
    else:
        show.heading(one_line(row.name))
        show.line(f"{display(row.path, result.project)}, {_state(result)}", "dim")
        if result.problem:
            file = find.PlanFile(row.path, row.project, problem=result.problem)
            show.line(messages.unreadable(file))
        else:
            _print_progress(result, row)
        if result.completed_at:
            show.line(f"Completed on {show.clock(result.completed_at)}. No plan is followed now.")
            for offer in plan_status.offers(result.project, client_home()):
                show.line(offer)
        _print_notes(row, is_complete=result.state == plans.COMPLETE)
    for unusable in result.unusable:
        show.line(messages.unusable(unusable))
        if unusable.plan:
            print_like_tasks(unusable.plan)
    if result.left_out:
        show.line(messages.left_out(result.left_out))
    if result.cleared:
        what = "one" if len(result.cleared) > 1 else "it"
        plans_cleared = messages.counted(result.cleared)
        show.line(f"Cleared: {plans_cleared}. `sisyphus boulder start NAME` follows {what} again.")


def _print_progress(result: PlanStatus, row: PlanRecord) -> None:
    plan = result.plan
    show.line(f"Progress: {result.in_words}{_more(result)}")
    for line in messages.evidence_of(result.evidence):
        show.line(line)
    if plan.steps:
        show.line(f"Steps: {plan.steps_completed}/{plan.steps} complete")
    if plan.next_step:
        show.line(f"Next: {one_line(plan.next_step)}")
    _print_tasks(plan)
    _print_waves(plan)
    if story := follow.current_story(row, plan):
        show.line(f"Current story: {one_line(story)}")


def _print_tasks(plan: Plan) -> None:
    """Prints the tasks that need something else than to be done next."""
    print_like_tasks(plan)
    if plan.parallel_ids:
        show.line(f"Can be done in parallel: {', '.join(plan.parallel_ids)}")
    if blocked := [task.text for task in plan.tasks if task.status == BLOCKED]:
        names = [one_line(text, _TASK) for text in blocked[:_SHOWN_BLOCKED]]
        more = f"; and {len(blocked) - len(names)} more" if len(blocked) > len(names) else ""
        show.line(f"Blocked: {'; '.join(names)}{more}")


def print_like_tasks(plan: Plan) -> None:
    """Prints the lines that look like open tasks and are none."""
    for line in messages.like_tasks(plan):
        show.line(line, "yellow")


def _print_waves(plan: Plan) -> None:
    stories = [story for story in plan.stories if story.is_named and story.id in plan.headings]
    shown = stories[:_SHOWN_STORIES]
    for wave in plan.waves:
        name = f" — {one_line(wave.name)}" if wave.name else ""
        show.line(f"Wave {wave.number}{name}: {wave.completed} of {wave.total}", indent=2)
        _print_stories([story for story in shown if story.wave == wave.number], indent=4)
    _print_stories([story for story in shown if story.wave is None], indent=2)
    if len(stories) > _SHOWN_STORIES:
        show.line(f"and {len(stories) - _SHOWN_STORIES} more", indent=2)


def _print_stories(stories: list[Story], *, indent: int) -> None:
    for story in stories:
        name = one_line(f"{story.id}: {story.title}")
        show.line(f"{name}: {story.completed}/{story.total}", indent=indent)


def _print_notes(row: PlanRecord, *, is_complete: bool) -> None:
    """Prints what is noted beside the plan. Our own checkpoint says no more than a plan that is
    complete."""
    for each in row.checkpoints:
        if is_complete and each is not row.checkpoint:
            continue
        kind = "Last checkpoint" if each is row.checkpoint else "Automatic checkpoint"
        at = moment(each.timestamp)
        local = replace(each, timestamp=show.clock(at)) if at else each
        show.line(f"{kind}: {messages.checkpoint(local)}")
    if todos := messages.open_todos(row):
        show.line(f"Open todos: {todos}")


def _print_offers(result: PlanStatus, *, needs_one: bool) -> None:
    """Says which plans could be followed when none is."""
    if not can_be_project(result.project):
        show.line(f"{messages.NOTHING_FOLLOWED} {session_messages.NO_PROJECT}")
        return
    if result.open_files:
        show.line(_several(result))
        return
    offers = plan_status.offers(result.project, client_home())
    has_others = offers or result.cleared or result.unusable or result.left_out
    hint = f" {messages.WRITE_ONE}" if needs_one and not has_others else ""
    show.line(f"{messages.NOTHING_FOLLOWED}{hint}")
    for offer in offers:
        show.line(offer)


def open_plan(place: show.Place, session: str, problem: str) -> PlanRecord:
    """Returns the open plan that a command means. Raises `SisyphusError` if there is none: with
    this problem, and with what the user can do."""
    here = of_place(place, session)
    if here.record is None or not here.record.is_open:
        raise SisyphusError(f"{problem} {way_to_a_plan(here)}")
    return here.record


def way_to_a_plan(result: PlanStatus) -> str:
    """Says what the user can do where no plan with open tasks is followed."""
    if not can_be_project(result.project):
        return session_messages.NO_PROJECT
    if result.open_files:
        return _several(result)
    if result.cleared:
        return "`sisyphus boulder start` follows one."
    done = [messages.complete(result.record)] if result.record and result.plan.total else []
    unusable = map(messages.unusable, result.unusable)
    ways = [*done, *unusable, *plan_status.offers(result.project, client_home())]
    return " ".join(ways) or messages.WRITE_ONE


def _several(result: PlanStatus) -> str:
    return messages.several([plan_status.record_of(file) for file in result.open_files])


class Change(Record):
    """A change of a plan by a command, in an open transaction.

    file: the plan's, as it was before the transaction. shared: what others wrote about it. row: its
    record; a command that saves another one sets it. exports: what to write after the commit,
    besides the files about the plan. takes_over: see `progress.exports`.
    """

    place: show.Place
    file: PlanFile
    now: float
    shared: Shared | None
    row: PlanRecord
    exports: list[Callable[[], None]] = field(default_factory=list)
    takes_over: bool = False

    def update(self) -> bool:
        """Takes in what has happened to the plan's file. False = nobody can follow this file."""
        row = progress.update(self.place.store, self.file, self.now, self.shared).record
        self.row = row or self.row
        return row is not None

    def follower(self, session: Session) -> Session | None:
        """Returns the session that is to follow the plan, and makes its row; None = none is."""
        if not session.id:
            return None
        place = self.place
        return sessions.ensure_by_id(place.store, session.id, place.project, self.now)


@contextmanager
def changing(place: show.Place, file: PlanFile) -> Iterator[Change]:
    """Opens the transaction in which a command changes a plan. After the commit it writes the files
    for other programs."""
    shared = progress.shared_changes(place.store, file.project)
    change = Change(place, file, time.time(), shared, plan_status.record_of(file))
    with place.store.write():
        yield change
    own = progress.exports(place.store, change.row, file, takes_over=change.takes_over)
    exports.run([*own, *change.exports])


def start(
    name: Annotated[
        list[str] | None, typer.Argument(metavar="[PLAN]", help="Name or path of a plan.")
    ] = None,
    in_repo: Annotated[bool, typer.Option(help="Also write docs/kord/boulder.json.")] = False,
    session: SessionId = "",
    project: show.Project = "",
) -> None:
    """Follow a plan from now on: the named one, else the only one with open tasks."""
    place = show.place_to_change(project)
    words, meant = " ".join(name or []), asker.session_of(place.store, session)
    file = which.to_start(place.store, words, place.project, place.folder, place.home, meant)
    own = plans.of_session(place.store, meant)
    if plans.is_held(place.store, meant) and own and own.path != file.path:
        show.need_user(f"/start-work {one_line(file.name)}")
    asker.warn_of_new(meant)
    with changing(place, file) as change:
        follower = change.follower(meant)
        row = progress.start(
            place.store, follower, file, change.now, change.shared, in_repo=in_repo
        )
        change.row, change.takes_over = row, in_repo
    show.line(f"Following this plan from now on. {messages.summary(row)}")
    if in_repo:
        is_written = shared_file.plan_path(row.project) == row.path
        problem = shared_file.problem(row.project) or "docs/kord/boulder.json is not written"
        show.line("Written: docs/kord/boulder.json." if is_written else f"{problem}.")
    elif (gone := shared_file.absent_plan(row.project)) not in ("", row.path):
        show.line(messages.absent(gone, row.project))
    show.what_is_off(place, "boulder.enabled")
    _name_root(place)


def checkpoint(
    message: Annotated[
        list[str] | None, typer.Argument(metavar="MESSAGE", help="What is done.")
    ] = None,
    wave: Annotated[int | None, typer.Option(metavar="N", help="Current wave.")] = None,
    story: Annotated[str, typer.Option(metavar="ID", help="Current story.")] = "",
    session: SessionId = "",
    project: show.Project = "",
) -> None:
    """Record how far the plan is, for the next session."""
    place = show.place_to_change(project)
    text = " ".join(message or []).strip().strip("'\"")
    if not text:
        typed = show.asker().typed or "sisyphus boulder checkpoint"
        raise UsageError(f'A checkpoint needs a message: `{typed} "S07: 3 headers"`.')
    plan = open_plan(place, session, messages.NOTHING_FOLLOWED)
    file = find.read(plan.path, plan.project)
    if file.plan:
        _need_place(file.plan, wave, story)
    with changing(place, file) as change:
        if not change.update():
            raise SisyphusError(messages.gone(plan))
        row = change.row
        if row.checkpoint and wave is None and not story:  # a note that names no place moves none
            wave, story = row.checkpoint.wave, row.checkpoint.story
        new = Checkpoint(iso(change.now), text, wave, story)
        change.row = row = follow.with_checkpoint(row, new, file.plan)
        plans.save(place.store, row)
        plans.add_history(place.store, row, "checkpoint", change.now)
    show.line(f"Recorded for {one_line(row.name)}: {one_line(text)}")


def _need_place(plan: Plan, wave: int | None, story: str) -> None:
    """Raises `SisyphusError` if the plan does not have this wave (None = any) or story ("" = any),
    or the story is in another wave."""
    if wave is not None and wave not in plan.wave_names:
        raise SisyphusError(_no_such("wave", str(wave), map(str, plan.wave_names)))
    places = [each.wave for each in plan.stories if each.id == story] if story else []
    if story and not places:
        raise SisyphusError(_no_such("story", story, (each.id for each in plan.stories)))
    if places and wave not in (None, places[0]):
        where = "in no wave" if places[0] is None else f"in wave {places[0]}"
        raise SisyphusError(f"Story {one_line(story)} is {where}: leave --wave out.")


def _no_such(what: str, name: str, existing: Iterable[str]) -> str:
    names = messages.some(list(existing))
    has = f"It has: {names}." if names else f"Leave out `--{what}`."
    return f"The plan has no {what} {one_line(name)}. {has}"


def clear(
    name: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PLAN]", help="Name or path of a plan. Default: the followed one."),
    ] = None,
    session: SessionId = "",
    project: show.Project = "",
) -> None:
    """Stop following this project's plan. Its file stays as it is."""
    place = show.place_to_change(project)
    words = " ".join(name or []).strip()
    plan = _to_clear(place, words, session)
    if plan is None:
        return
    show.need_user("/boulder-clear")
    with changing(place, find.read(plan.path, plan.project)) as change:
        change.update()
        is_held = progress.dismiss(place.store, change.row, change.now)
    _print_cleared(change.row)
    if is_held:
        show.line("Its hold has ended.")
    here = of_place(place, session)
    if here.record and here.record.is_open:
        show.line(f"{messages.name_and_place(here.record)} is followed now.")
    elif here.open_files:
        show.line(_several(here))


def _print_cleared(row: PlanRecord) -> None:
    rest = row.total - row.completed
    ways = "`sisyphus boulder start` or a change of its file brings it back."
    still = f"; {rest} of its tasks {'is' if rest == 1 else 'are'} open. {ways}" if rest else "."
    show.line(f"{one_line(row.name)} is no longer followed{still}")


def _to_clear(place: show.Place, name: str, session: str) -> PlanRecord | None:
    """Returns the plan that `boulder clear` means. If there is none or several, says so and returns
    None."""
    if name:
        return which.to_clear(place.store, name, place.project, place.folder)
    result = of_place(place, session)
    if result.record and result.record.is_open:
        return result.record
    if result.open_files:
        show.line(_several(result))
        return None
    rows = plans.every(place.store)
    other = next((row for row in rows if row.is_open and row.project != place.project), None)
    where = f" {one_line(other.name)} is followed in {display(other.project, '')}." if other else ""
    show.line(f"{messages.NOTHING_FOLLOWED}{where}")
    return None
