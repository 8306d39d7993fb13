"""`sisyphus boulder`: the plan of a project, from a shell and as typed commands."""

import os
import time
from typing import Annotated

import typer

from sisyphus.boulder import find, follow, messages, plan_status, plans, progress, shared_file
from sisyphus.boulder.plan import BLOCKED, FAILED, Plan, Story
from sisyphus.boulder.plan_status import Status
from sisyphus.boulder.plans import Checkpoint, PlanRecord
from sisyphus.ground import exports
from sisyphus.ground.errors import SisyphusError, UsageError
from sisyphus.ground.paths import can_be_project, client_home, display
from sisyphus.ground.record import replace
from sisyphus.ground.text import iso, moment, one_line
from sisyphus.sessions import messages as session_messages
from sisyphus.sessions import sessions
from sisyphus.terminal import asker, show

_SHOWN_COMPLETE = 10
"""The most complete plans that `boulder status --all` lists, the latest first."""

_SHOWN_STORIES = 20

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
        show.line(follow.of_tasks(*result.progress) + _more(result), indent=2)
        if result.plan.next_step:
            show.line(f"Next: {one_line(result.plan.next_step)}", indent=2)
    if not results:
        show.line("No plan is followed in any project.")


def _state(result: Status) -> str:
    """Returns a plan's state for people."""
    return "cannot be read" if result.problem else result.state.replace("_", " ")


def _more(result: Status) -> str:
    """Says how many tasks are ticked and fail, and how many are blocked."""
    counts = result.plan.counts
    blocked = f", {counts[BLOCKED]} blocked" if counts[BLOCKED] else ""
    return messages.failed(counts[FAILED]) + blocked


def of_place(place: show.Place, session: str = "") -> Status:
    """Returns the plan that a command means."""
    own = asker.session_of(place.store, session)
    return plan_status.of_project(place.store, place.project, own, time.time(), place.folder)


def print_status(result: Status, *, needs_one: bool = True) -> None:
    """needs_one: where no plan is, the user is told to write one."""
    if problem := plan_status.kord_problem(result.project):
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
        _print_notes(row, is_complete=result.state == plans.COMPLETE)
    for unusable in result.unusable:
        show.line(messages.unusable(unusable))
    if result.left_out:
        show.line(messages.left_out(result.left_out))
    if result.cleared:
        show.line(messages.cleared_before(list(result.cleared)))


def _print_progress(result: Status, row: PlanRecord) -> None:
    plan = result.plan
    completed, total = result.progress
    show.line(f"Progress: {completed}/{total} tasks complete{_more(result)}")
    for line in messages.evidence_of(result.evidence):
        show.line(line)
    if plan.steps:
        show.line(f"Steps: {plan.steps_completed}/{plan.steps} complete")
    if plan.next_step:
        show.line(f"Next: {one_line(plan.next_step)}")
    if plan.like_tasks and plan.next_task:  # else "Next:" names the line
        show.line(messages.unclear(plan.like_tasks), "yellow")
    if plan.parallel_ids:
        show.line(f"Can be done in parallel: {', '.join(plan.parallel_ids)}")
    if blocked := [task.text for task in plan.tasks if task.status == BLOCKED]:
        show.line(messages.blocked(blocked))
    stories = [story for story in plan.stories if story.is_named and story.id in plan.headings]
    shown = stories[:_SHOWN_STORIES]
    for wave in plan.waves:
        name = f" — {one_line(wave.name)}" if wave.name else ""
        show.line(f"Wave {wave.number}{name}: {wave.completed} of {wave.total}", indent=2)
        _print_stories([story for story in shown if story.wave == wave.number], indent=4)
    _print_stories([story for story in shown if story.wave is None], indent=2)
    if len(stories) > _SHOWN_STORIES:
        show.line(f"and {len(stories) - _SHOWN_STORIES} more", indent=2)
    if story := follow.current_story(row, plan):
        show.line(f"Current story: {one_line(story)}")


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


def _print_offers(result: Status, *, needs_one: bool) -> None:
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


def way_to_a_plan(result: Status) -> str:
    """Says what the user can do where no plan with open tasks is followed."""
    if not can_be_project(result.project):
        return session_messages.NO_PROJECT
    if result.open_files:
        return _several(result)
    if result.cleared:
        return messages.START_ONE
    unusable = map(messages.unusable, result.unusable)
    ways = [*unusable, *plan_status.offers(result.project, client_home())]
    return " ".join(ways) or messages.WRITE_ONE


def _several(result: Status) -> str:
    return messages.several([plan_status.record_of(file) for file in result.open_files])


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
    file = plan_status.to_start(place.store, words, place.project, place.folder, place.home, meant)
    own = plans.of_session(place.store, meant)
    if plans.is_held(place.store, meant) and own and own.path != file.path:
        show.need_user(f"/start-work {one_line(file.name)}")
    now = time.time()
    asker.warn_of_new(meant)
    with place.store.write():
        follower = None
        if meant.id:
            follower = sessions.ensure_by_id(place.store, meant.id, place.project, now)
        row = progress.start(place.store, follower, file, now, in_repo=in_repo)
    exports.run(progress.exports(place.store, row, file, takes_over=in_repo))
    show.line(messages.started(row))
    if in_repo:
        is_written = shared_file.plan_path(row.project) == row.path
        problem = plan_status.kord_problem(row.project) or "docs/kord/boulder.json is not written"
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
    here = of_place(place, session)
    plan = here.record
    if plan is None or not plan.is_open:
        raise SisyphusError(f"{messages.NOTHING_FOLLOWED} {way_to_a_plan(here)}")
    now = time.time()
    file = find.read(plan.path, plan.project)
    if file.plan:
        _need_place(file.plan, wave, story)
    shared = progress.shared_changes(place.store, plan.project)
    with place.store.write():
        row = progress.update(place.store, file, now, shared).record
        if row is None:
            raise SisyphusError(messages.gone(plan))
        if row.checkpoint and wave is None and not story:  # a note that names no place moves none
            wave, story = row.checkpoint.wave, row.checkpoint.story
        row = follow.with_checkpoint(row, Checkpoint(iso(now), text, wave, story), file.plan)
        plans.save(place.store, row)
        plans.add_history(place.store, row, "checkpoint", now)
    exports.run(progress.exports(place.store, row, file))
    show.line(f"Recorded for {one_line(row.name)}: {one_line(text)}")


def _need_place(plan: Plan, wave: int | None, story: str) -> None:
    """Raises `SisyphusError` if the plan does not have this wave (None = any) or story ("" = any),
    or the story is in another wave."""
    if wave is not None and wave not in plan.wave_names:
        raise SisyphusError(messages.no_such("wave", str(wave), map(str, plan.wave_names)))
    ids = [each.id for each in plan.stories]
    if story and story not in ids:
        raise SisyphusError(messages.no_such("story", story, ids))
    its_wave = next((each.wave for each in plan.stories if each.id == story), None)
    if story and wave is not None and wave != its_wave:
        raise SisyphusError(messages.other_wave(story, its_wave))


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
    now = time.time()
    file = find.read(plan.path, plan.project)
    shared = progress.shared_changes(place.store, plan.project)
    with place.store.write():
        row = progress.update(place.store, file, now, shared).record or plan
        is_held = progress.dismiss(place.store, row, now)
    exports.run(progress.exports(place.store, row, file))
    show.line(messages.cleared(row))
    if is_held:
        show.line(messages.HOLD_ENDED)
    rest = of_place(place, session)
    if rest.record and rest.record.is_open:
        show.line(messages.next_after_clear(rest.record))
    elif rest.open_files:
        show.line(_several(rest))


def _to_clear(place: show.Place, name: str, session: str) -> PlanRecord | None:
    """Returns the plan that `boulder clear` means. If there is none or several, says so and returns
    None."""
    if name:
        return plan_status.to_clear(place.store, name, place.project, place.folder)
    result = of_place(place, session)
    if result.record and result.record.is_open:
        return result.record
    if result.open_files:
        show.line(_several(result))
        return None
    rows = plans.every(place.store)
    others = [row for row in rows if row.is_open and row.project != place.project]
    show.line(messages.nothing_to_clear(others[0] if others else None))
    return None
