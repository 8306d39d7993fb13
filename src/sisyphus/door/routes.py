"""Which features answer each event, in the order in which their outcomes merge.

A route names a function `look(hook)`. It runs without a lock and may be slow: it reads files,
asks git, runs a check. It writes nothing but caches. It returns None if the event does not
concern its feature, otherwise a function `act()`. The door calls `act()` inside the event's one
transaction. `act` reads its rows again, so that it sees a cancel or a second hook in between,
decides, writes, and returns an `Outcome`. In short: look gathers facts, act decides.

The condition of a route is tested first, so that a feature with nothing to do is not even imported.
"""

from __future__ import annotations

import os

from sisyphus import clients
from sisyphus.ground import files
from sisyphus.hook import standing
from sisyphus.hook.event import EDIT, WRITE
from sisyphus.hook.session import NEW_FORK, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.hook.hook import Hook

    Route = tuple[str, str, Callable[[Hook], bool]]  # module, function, condition


SLASH_COMMANDS = {
    "boulder-status": "boulder status",
    "boulder-clear": "boulder clear",
    "boulder-hold": "boulder hold",
    "checkpoint": "boulder checkpoint",
    "enforce": "enforce",
    "list-ralph-loops": "ralph list",
    "ralph-checkpoint": "handoff",
    "ralph-context": "context",
    "ralph": "ralph",
}
"""Typed commands → the words of our own command line that answer them."""

TWINS = {"list-ralph-loops": "ralph list", "ralph-stats": "ralph log --stats"}
"""The same for commands of other plugins whose loops we take up, and which know none of these."""


_UNHEARD_BYTES = 1_000_000
"""How much of a transcript is searched for a loop that no hook heard, from its end."""


_HALF_FULL = 50
"""Percent of a context from which an item that is larger than most may not fit into the rest."""


def _always(_: Hook) -> bool:
    return True


def _may_be_of_agent(hook: Hook) -> bool:
    """Tells whether it matters who wrote a prompt that seems to be a person's: the agent may have
    scheduled it."""
    event, standing = hook.event, hook.standing
    if event.agent or not event.prompt.is_personal:
        return False
    does_more = event.prompt.command is not None or hook.session.awaits_prompt
    return does_more or standing.loop in ("blocked", "stuck") or _has_schedule(hook)


def _has_schedule(hook: Hook) -> bool:
    """Tells whether agents have scheduled prompts, or had at the last Stop."""
    event = hook.event
    is_there = bool(event.schedule) and os.path.lexists(event.schedule)
    has_any = bool(event.stop.scheduled) or hook.session.has_schedule or is_there
    return has_any and not event.agent


def _is_new_fork(hook: Hook) -> bool:
    return hook.session.fork == NEW_FORK and not hook.event.agent


def _touches_files(hook: Hook) -> bool:
    return bool(hook.event.files)


def _start_concerns_loops(hook: Hook) -> bool:
    """Tells whether a start may change a loop: of its own session, of one that `/clear` ended, or
    of another whose process may be gone. Nobody reads what a run's session says of others."""
    if hook.standing.loop or hook.event.source == "clear":
        return True
    running = (
        "SELECT 1 FROM loop WHERE kind = 'loop' AND ended_at IS NULL "
        "AND (left_at IS NULL OR project = ?) LIMIT 1"
    )
    return not hook.standing.is_run and hook.store.one(running, hook.project) is not None


def _leaves_loop(hook: Hook) -> bool:
    """After `/clear` the loops move to the new session."""
    return bool(hook.standing.loop) and hook.event.source != "clear"


def _can_have_loops(hook: Hook) -> bool:
    return hook.settings["ralph.enabled"] and not hook.event.agent


def _prompt_concerns_loops(hook: Hook) -> bool:
    command = hook.event.prompt.command
    is_command = command is not None and "ralph" in command.name
    if not _can_have_loops(hook):
        return False
    if is_command or hook.standing.loop in ("blocked", "stuck"):
        return True
    return _has_loop_file_changed(hook) or _has_untold_loop(hook)


def _has_untold_loop(hook: Hook) -> bool:
    """Tells whether this prompt begins a turn in which the agent must hear of a loop."""
    if hook.standing.loop != "active" or _is_own_command(hook):
        return False
    query = (
        "SELECT 1 FROM loop WHERE session = ? AND ended_at IS NULL "
        "AND counters LIKE '%\"is_untold\": true%'"
    )
    return hook.store.one(query, hook.session.n) is not None


def _has_loop_file_changed(hook: Hook) -> bool:
    """Tells whether the state file of a loop was edited or deleted since we wrote it."""
    if not hook.standing.loop:
        return False
    query = "SELECT file, stamp FROM loop WHERE session = ? AND ended_at IS NULL AND file <> ''"
    return any(files.stamp(file) != stamp for file, stamp in hook.store.all(query, hook.session.n))


def _calls_commands(hook: Hook) -> bool:
    return _can_have_loops(hook) and any(call.command for call in hook.event.calls)


def _may_be_held(hook: Hook) -> bool:
    query = "SELECT 1 FROM loop WHERE kind = 'hold' AND ended_at IS NULL AND project = ? LIMIT 1"
    is_on = hook.settings["boulder.enabled"] and not hook.event.agent
    return bool(is_on and not hook.standing.is_run and hook.store.one(query, hook.project))


def _may_block(hook: Hook) -> bool:
    """Tells whether a loop, a hold or enforcement may have a say at a Stop.

    A loop that started while no hook ran has no row yet, but its command is near the end of the
    transcript. If the store is in memory only, such a loop would start again at each Stop and never
    end. A session of a run always stops: the run looks at its work and starts the next one.
    """
    if hook.event.agent or hook.standing.is_run or not hook.store.is_durable:
        return False
    if hook.is_enforced or (hook.standing.hold and hook.settings["boulder.enabled"]):
        return True
    if not hook.settings["ralph.enabled"]:
        return False
    return bool(hook.standing.loop) or _may_be_unheard(hook)


def _may_be_unheard(hook: Hook) -> bool:
    """Tells whether the command of a loop may be near the end of the transcript: a plugin's, or
    one without a prefix, typed or as the name in a call. The list of all commands there names the
    latter in other ways."""
    end = files.tail(hook.event.transcript, _UNHEARD_BYTES)
    prefix = clients.payload(hook.event.client).COMMAND_PREFIX
    return any(before + b"ralph-loop" in end for before in (prefix, b"/", b'"'))


def _is_followed(hook: Hook) -> bool:
    """Tells whether a prompt, or a turn that failed or was interrupted, changes what we remember of
    the session's Stops. A run hears of a failure from its client."""
    standing = hook.standing
    if standing.is_run:
        return False
    is_held = bool(standing.loop or standing.hold) or standing.is_enforced
    if hook.event.name == "user-prompt-submit" and _is_own_command(hook):
        return False  # we answer it, and no turn starts
    return (is_held or hook.session.awaits_prompt) and not hook.event.agent


def _starts_enforced(hook: Hook) -> bool:
    """Tells whether a session starts that enforcement will make go on."""
    return hook.is_enforced and hook.event.source in ("startup", "clear") and not hook.event.agent


def _prompts_enforced(hook: Hook) -> bool:
    """Tells whether a prompt is a person's, who may end what the last enforcement or stop left, or
    ours, because we woke the session."""
    prompt = hook.event.prompt
    is_of_interest = prompt.is_wake or (prompt.is_personal and prompt.command is None)
    return hook.is_enforced and is_of_interest and not hook.event.agent


def _is_at_work_again(hook: Hook) -> bool:
    """Tells whether an enforced session that we think is idle uses tools. Not every turn starts
    with a prompt that we hear."""
    return hook.is_enforced and hook.session.idle_since is not None


def _may_wake(hook: Hook) -> bool:
    """Tells whether this process may wake the session later. It runs beside every Stop."""
    stop, standing = hook.event.stop, hook.standing
    waits = bool(stop.background) and "active" in (standing.loop, standing.hold)
    can_wake = bool(stop.host) and hook.store.is_durable and (hook.is_enforced or waits)
    return can_wake and bool(hook.session.n) and not hook.event.agent and not hook.event.is_planning


def _reaches_level(hook: Hook) -> bool:
    """Tells whether the context has reached a level that the session was not told of, or has fallen
    below one."""
    if hook.event.agent or not (hook.session.n and hook.settings["handoff.enabled"]):
        return False
    from sisyphus.sessions import usage

    return usage.of_event(hook).level(hook.settings) != hook.session.level


def _has_item_ahead(hook: Hook) -> bool:
    """Tells whether the session follows a plan with open tasks, and chooses the next one itself."""
    is_own = not (hook.event.agent or hook.standing.is_run)
    is_on = bool(hook.settings["handoff.enabled"]) and hook.store.is_durable
    return is_on and is_own and hook.standing.plan_state == "active"


def _may_reach_item(hook: Hook) -> bool:
    """Tells whether a tool may have ticked a task, so that the session begins the next one."""
    return _has_item_ahead(hook) and _touches_plan(hook)


def _may_begin_item(hook: Hook) -> bool:
    """Tells whether a prompt may begin a task that needs more than is left of the context."""
    if not _has_item_ahead(hook) or _is_own_command(hook):
        return False
    from sisyphus.sessions import usage

    return usage.of_event(hook).percent >= _HALF_FULL


def _may_get_handoff(hook: Hook) -> bool:
    if hook.event.agent or not hook.settings["handoff.enabled"]:
        return False
    query = "SELECT 1 FROM handoff WHERE project = ? AND state <> 'closed' LIMIT 1"
    return hook.store.one(query, hook.project) is not None


def _may_hand_over(hook: Hook) -> bool:
    standing = hook.standing
    has_work = bool(standing.loop or standing.hold or standing.plan) or standing.is_run
    is_on = hook.settings["handoff.enabled"] and hook.store.is_durable
    return has_work and is_on and not hook.event.agent


def _may_allow_handoff(hook: Hook) -> bool:
    """Tells whether the client asks about one file in a folder of handoffs."""
    if not (hook.event.accepts_edits and hook.settings["permissions.own_files"]):
        return False
    calls = hook.event.calls
    return len(calls) == 1 and "/handoffs/" in calls[0].path and hook.settings["handoff.enabled"]


def _may_follow_plan(hook: Hook) -> bool:
    """Tells whether a session that starts may go on with a plan. That of a run has its task in its
    prompt."""
    return _may_have_plan(hook) and _has_plan(hook)


def _may_be_offered_plans(hook: Hook) -> bool:
    """Tells whether plans of other tools are all that may be there for a session that starts."""
    if not _may_have_plan(hook):
        return False
    from sisyphus.boulder import find

    # Most projects have none: then it is not asked a second time whether they have a plan.
    return find.has_any_of_other_tools(hook.project) and not _has_plan(hook)


def _may_have_plan(hook: Hook) -> bool:
    is_alone = hook.event.agent or hook.standing.is_run
    return not is_alone and hook.settings["boulder.enabled"]


def _has_plan(hook: Hook) -> bool:
    """Tells whether the project has a plan of its own, or one that we know already."""
    from sisyphus.boulder import find

    if find.has_any(hook.project, hook.event.folder):
        return True
    return bool(hook.store.one("SELECT 1 FROM plan WHERE project = ? LIMIT 1", hook.project))


def _touches_plan(hook: Hook) -> bool:
    """Without a database every edit of a plan would look like its first one."""
    if not (hook.settings["boulder.enabled"] and hook.store.is_durable):
        return False
    plan = hook.standing.plan
    for call in hook.event.calls:
        is_change = call.action in (EDIT, WRITE)
        if is_change and (call.path == plan or call.path.endswith("PLAN.md")):
            return True
        if is_change and hook.event.agent and call.path.endswith(".md"):
            return True  # perhaps the plan of the session that the subagent works for
        if (is_change and "/plans/" in call.path) or (plan and call.todos is not None):
            return True
    return False


def _has_plan_changed(hook: Hook) -> bool:
    """Tells whether an editor, a checkout or a shell has changed the plan since we last looked."""
    plan = hook.standing.plan
    if not plan or hook.event.agent or not hook.settings["boulder.enabled"]:
        return False
    return files.stamp(plan) != hook.standing.plan_stamp or _has_open_ticks(hook)


def _has_open_ticks(hook: Hook) -> bool:
    """Tells whether the check of a ticked task of the plan may have passed since we last looked."""
    query = (
        "SELECT 1 FROM tick WHERE plan = (SELECT n FROM plan WHERE path = ?) "
        "AND (is_done OR task = '') AND checks <> '' AND evidence NOT IN ('', 'checked') LIMIT 1"
    )
    return hook.store.one(query, hook.standing.plan) is not None


def _has_new_plan(hook: Hook) -> bool:
    """Tells whether a plan has come or changed, written by a shell or an editor, while the session
    follows none."""
    standing = hook.standing
    is_on = hook.settings["boulder.enabled"] and hook.store.is_durable
    if standing.plan or standing.is_run or hook.event.agent or not is_on:
        return False
    for path in _plan_paths(hook):
        stamp = files.stamp(path)
        query = "SELECT 1 FROM plan WHERE path = ? AND stamp = ?"
        if stamp and not hook.store.one(query, path, stamp):
            return True
    return False


def _plan_paths(hook: Hook) -> list[str]:
    """Returns where most plans of a project are, and those of the folder of the session."""
    folders = dict.fromkeys((hook.project, hook.event.folder))
    return [f"{each}/{name}" for each in folders if each for name in ("PLAN.md", ".claude/PLAN.md")]


def _stop_concerns_plan(hook: Hook) -> bool:
    return _has_plan_changed(hook) or _has_new_plan(hook)


def _prompt_concerns_plan(hook: Hook) -> bool:
    """Tells whether a prompt may start, change or leave a plan. The session leaves a completed plan
    at the next prompt."""
    command = hook.event.prompt.command
    if command is not None and command.name.endswith("start-work"):
        return bool(hook.settings["boulder.enabled"])
    return hook.standing.plan_state == "complete" or _stop_concerns_plan(hook)


def _follows_plan(hook: Hook) -> bool:
    is_on = hook.settings["boulder.enabled"]
    return is_on and bool(hook.standing.plan) and not hook.event.agent


def _may_allow_edit(hook: Hook) -> bool:
    if not hook.event.accepts_edits or not hook.settings["permissions.own_files"]:
        return False
    is_on = hook.settings["boulder.enabled"]
    return is_on and bool(hook.standing.plan) and len(hook.event.calls) == 1


def _is_unattended(hook: Hook) -> bool:
    """Tells whether the session, or the one that a subagent works for, is made to go on, so that
    perhaps nobody sees its dialog."""
    if hook.event.agent:
        parent = Session.of_event(hook.store, hook.event, of_parent=True)
        return standing.load(hook.store, parent, hook.project).is_unattended
    return hook.standing.is_unattended


def _may_be_answered(hook: Hook) -> bool:
    """Tells whether the user typed a command that has the name of one that we answer."""
    command = hook.event.prompt.command
    if command is None:
        return False
    is_ours = command.name.removeprefix("sisyphus:") in SLASH_COMMANDS
    return is_ours or command.name.rpartition(":")[2] in TWINS


def _is_own_command(hook: Hook) -> bool:
    """Tells whether the user typed a command that we answer ourselves, so that no turn starts."""
    command = hook.event.prompt.command
    if command is None or not _may_be_answered(hook):
        return False
    from sisyphus.sessions import command_names

    return command_names.own_name(hook, command.name) in SLASH_COMMANDS


ROUTES: dict[str, tuple[Route, ...]] = {
    "session-start": (
        ("sisyphus.sessions.hooks", "look_at_start", _always),  # first: it may clear the ledger
        ("sisyphus.sessions.hooks", "look_at_schedule", _has_schedule),
        ("sisyphus.boulder.hooks", "look_at_start", _may_follow_plan),
        ("sisyphus.boulder.other_tools", "look_at_start", _may_be_offered_plans),
        ("sisyphus.stop.hooks", "look_at_start", _may_be_held),  # after it follows its plan
        ("sisyphus.ralph.hooks", "look_at_start", _start_concerns_loops),
        ("sisyphus.handoff.hooks", "look_at_start", _may_get_handoff),
        ("sisyphus.enforce.hooks", "look_at_start", _starts_enforced),
        ("sisyphus.context.hooks", "look_at_start", _always),
    ),
    "user-prompt-submit": (
        ("sisyphus.sessions.hooks", "look_at_author", _may_be_of_agent),  # first: whose is it?
        ("sisyphus.sessions.hooks", "look_at_fork", _is_new_fork),
        ("sisyphus.sessions.hooks", "look_at_prompt", _is_followed),
        ("sisyphus.door.slash", "look_at_prompt", _may_be_answered),
        ("sisyphus.boulder.hooks", "look_at_prompt", _prompt_concerns_plan),
        ("sisyphus.ralph.hooks", "look_at_prompt", _prompt_concerns_loops),
        ("sisyphus.enforce.hooks", "look_at_prompt", _prompts_enforced),
        ("sisyphus.handoff.hooks", "look_at_next_item", _may_begin_item),
    ),
    "permission-request": (
        ("sisyphus.sessions.hooks", "look_at_permission", _is_unattended),
        ("sisyphus.boulder.hooks", "look_at_permission", _may_allow_edit),  # last: these may answer
        ("sisyphus.handoff.hooks", "look_at_permission", _may_allow_handoff),
    ),
    "post-tool-use": (
        ("sisyphus.sessions.hooks", "look_at_fork", _is_new_fork),  # first: it fills the ledger
        ("sisyphus.sessions.hooks", "look_at_work", _is_at_work_again),
        ("sisyphus.boulder.hooks", "look_at_tools", _touches_plan),
        ("sisyphus.ralph.hooks", "look_at_tools", _calls_commands),
        ("sisyphus.handoff.hooks", "look_at_context", _reaches_level),
        ("sisyphus.handoff.hooks", "look_at_ticked_item", _may_reach_item),  # after the plan's
        ("sisyphus.rules.hooks", "look_at_tools", _touches_files),
        ("sisyphus.context.hooks", "look_at_tools", _touches_files),
    ),
    "stop": (
        ("sisyphus.sessions.hooks", "look_at_schedule", _has_schedule),
        ("sisyphus.boulder.hooks", "look_at_stop", _stop_concerns_plan),
        ("sisyphus.handoff.hooks", "look_at_context", _reaches_level),  # first: it may end it
        ("sisyphus.stop.hooks", "look_at_stop", _may_block),
    ),
    "idle": (("sisyphus.stop.idle", "look_at_idle", _may_wake),),
    "stop-failure": (("sisyphus.sessions.hooks", "look_at_failure", _is_followed),),
    "interrupt": (("sisyphus.sessions.hooks", "look_at_interrupt", _is_followed),),
    "pre-compact": (
        ("sisyphus.boulder.hooks", "look_at_compaction", _follows_plan),
        ("sisyphus.handoff.hooks", "look_at_compaction", _may_hand_over),
    ),
    "session-end": (
        ("sisyphus.boulder.hooks", "look_at_end", _follows_plan),
        ("sisyphus.sessions.hooks", "look_at_end", _always),
        ("sisyphus.ralph.hooks", "look_at_end", _leaves_loop),  # it asks which sessions are over
    ),
}
