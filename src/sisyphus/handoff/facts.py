"""Gathers what the next session has to know, from a transcript and from what the caller knows.

It counts and quotes, and concludes nothing: a sentence that is not in the transcript is not here.
All texts are short and masked.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from sisyphus.clients.transcript_records import PROMPT, Reading, RecordedCall
from sisyphus.ground import files, paths, worktree
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.masking import mask, masked_line
from sisyphus.ground.record import Record, field
from sisyphus.handoff import calls as calls_of_session
from sisyphus.handoff import sentences, steps
from sisyphus.handoff.calls import Call, Run
from sisyphus.handoff.sentences import Quote
from sisyphus.hook.event import EDIT, WRITE

MAX_FILES = 80
"""How many of the changed files we look up on the disk."""

MAX_RESUMED, MAX_INSTRUCTIONS = 5, 4
_TASK, _LINE = 1_000, 300
"""The most characters of a task or of progress, and of a prompt or an item."""

_LOOK_BACK = "Look whether the work is whole: all tasks of the plan are done"

_FILE_BYTES = 300_000
_MAX_PLACES = 1_000
"""How many lines that start like a new text we compare with it."""

_HANDOFFS = f"{worktree.HANDOFFS.replace(os.sep, '/')}/"


class ChangedFile(Record):
    """A file that has changed.

    path: relative to the project; absolute or from `~` if it is outside. count: edits and writes
    in the transcript; 0 = only the caller names it. at: the last of these. lines: those of the last
    one as the file is now, "45-120"; "" = unknown.
    """

    path: str
    count: int = 0
    at: float = 0.0
    lines: str = ""
    exists: bool = True


class Facts(Record):
    """What a handoff tells. Files and runs have the newest first, quotes the oldest.

    announced: what the agent said that it was about to do, if it has called no tool since. said:
    what it said last of its work, whatever it has called since. instructions: the last prompts, but
    not the task. resumed: the files to go on with; the first one is in progress. is_all_done: the
    last task of the plan has just been done, so what the user wanted before is no next step.
    """

    task: str = ""
    next_task: str = ""
    progress: str = ""
    announced: str = ""
    said: list[Quote] = field(default_factory=list)
    instructions: list[Quote] = field(default_factory=list)
    changed: list[ChangedFile] = field(default_factory=list)
    resumed: list[ChangedFile] = field(default_factory=list)
    errors: list[Run] = field(default_factory=list)
    checks: list[Run] = field(default_factory=list)
    commands: list[Run] = field(default_factory=list)
    decisions: list[Quote] = field(default_factory=list)
    todos: list[str] = field(default_factory=list)
    is_all_done: bool = False

    @property
    def next_step(self) -> str:
        """Where to go on: with what the agent was about to do, else with what fails, else with what
        comes next."""
        failing = [run for run in self.errors[:1] if not run.has_passed_since]
        last = [quote.text for quote in self.instructions[-1:]]
        if self.announced:
            return self.announced
        if last and sentences.changes_course(last[0]):
            return f"Go on with: {last[0]}"
        if failing and (failing[0].is_check or failing == self.commands[:1]):
            return f"Mend what fails: {failing[0].target}"
        if self.is_all_done:
            return _LOOK_BACK
        ahead = [self.next_task, *self.todos[:1], *last, masked_line(self.task, _LINE)]
        return next((f"Go on with: {what}" for what in ahead if what), "")

    @property
    def last_words(self) -> str:
        """Returns what the agent said last of its work, in one line; "" = nothing."""
        return " ".join(quote.text for quote in self.said)


def gather(
    reading: Reading,
    project: str,
    *,
    task: str = "",
    is_cut: bool = False,
    next_task: str = "",
    progress: str = "",
    changed: Iterable[str] = (),
    todos: Iterable[str] = (),
    aside: Iterable[str] = (),
    has_user: bool = True,
    is_all_done: bool = False,
) -> Facts:
    """Returns the facts of a session.

    project: its folder, links resolved. task: "" = the first prompt. is_cut: the reading lacks the
    start of the session, so its first prompt is not the task. next_task: the plan's. todos: those
    that are open. changed: paths of more files that have changed. aside: paths of files in
    which nobody works, as the plan. has_user: someone types its prompts; those of a run are ours.
    is_all_done: the last task of the plan has just been done.
    """
    records = reading.records
    if not has_user:
        records = [record for record in records if record.author != PROMPT]
    prompts = [(record.at, text) for record in records if (text := sentences.typed(record))]
    task = (task or (prompts[0][1] if prompts and not is_cut else "")).strip()
    later = [prompt for prompt in prompts if not _is_same(prompt[1], task)][-MAX_INSTRUCTIONS:]
    calls = calls_of_session.calls(records)
    changes = _changes(calls, project, changed)
    unfit = {_name(path, project) for path in aside}
    errors, checks, commands = calls_of_session.sort(calls, project)
    return Facts(
        mask(task[: 2 * _TASK])[:_TASK],
        masked_line(next_task, _LINE),
        mask(progress.strip()[-2 * _TASK :])[-_TASK:],
        steps.announced(records),
        steps.last_words(records),
        [Quote(True, at, masked_line(text, _LINE)) for at, text in later],
        changes,
        [file for file in changes[:MAX_FILES] if _is_resumed(file, unfit)][:MAX_RESUMED],
        errors,
        checks,
        commands,
        sentences.decisions(records),
        [masked_line(todo, _LINE) for todo in todos],
        is_all_done,
    )


def _is_same(prompt: str, task: str) -> bool:
    """Tells whether a prompt is the task, or the command that started it."""
    return prompt.strip() == task or (prompt.startswith("/") and task in prompt)


def _changes(calls: list[Call], project: str, others: Iterable[str]) -> list[ChangedFile]:
    """Returns all changed files, the last one first. An edit that failed has changed nothing."""
    found: dict[str, ChangedFile] = {}
    last: dict[str, RecordedCall] = {}
    for call in calls:
        use = call.use
        has_failed = call.result is not None and call.result.is_error
        if use.action in (EDIT, WRITE) and _is_path(use.target) and not has_failed:
            name = _name(use.target, project)
            if name.startswith(_HANDOFFS):
                continue
            before = found.pop(name, None)
            found[name] = ChangedFile(name, before.count + 1 if before else 1, call.at)
            last[name] = use
    named = sorted({_name(path, project) for path in others if _is_path(path)} - found.keys())
    changes = [*reversed(found.values()), *map(ChangedFile, named)]
    for file in changes[:MAX_FILES]:
        path = os.path.join(project, os.path.expanduser(file.path))
        file.exists = os.path.lexists(path)
        file.lines = _lines(path, last[file.path].text, project) if file.count else ""
    return changes


def _is_path(target: str) -> bool:
    try:
        return bool(target) and b"\0" not in os.fsencode(target)
    except ValueError:  # half a character
        return False


def _name(path: str, project: str) -> str:
    """Returns a file's short name. Only a path that seems to be outside costs a look at links."""
    full = os.path.normpath(os.path.join(project, path))
    shown = paths.shortened(full, project)
    return next(iter(paths.names(full, project)), shown) if _is_outside(shown) else shown


def _is_outside(name: str) -> bool:
    return name.startswith("~") or os.path.isabs(name)


def _is_resumed(file: ChangedFile, unfit: set[str]) -> bool:
    is_there = file.exists and not _is_outside(file.path)
    return bool(file.count) and is_there and file.path not in unfit


def _lines(path: str, new: str, project: str) -> str:
    """Returns where a new text is in its file, as whole lines but for their indentation; "" =
    nowhere, or in several places."""
    wanted = [line.strip() for line in new.strip("\r\n").splitlines()]
    try:
        text = files.read(path, inside=project, limit=_FILE_BYTES) if any(wanted) else ""
    except UnreadableError:
        return ""
    lines = [line.strip() for line in text.split("\n")]
    size = len(wanted)
    starts = [n for n, line in enumerate(lines) if line == wanted[0]] if any(wanted) else []
    places = [n for n in starts[:_MAX_PLACES] if lines[n : n + size] == wanted]
    return f"{places[0] + 1}-{places[0] + size}" if len(places) == 1 else ""
