"""The items of a run: reads the boxes of `fix_plan.md`, or of a plan, adds new ones, and writes the
user's answers below them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable

from sisyphus.boulder import checks, follow, order, size
from sisyphus.boulder import find as plan_files
from sisyphus.boulder.find import PlanFile
from sisyphus.boulder.plan import BLOCKED, CANCELLED, DONE, NAME_CHARACTERS, Plan, parse, plain
from sisyphus.boulder.plans import Checkpoint
from sisyphus.ground import exports, files, markdown, paths, quoting
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.markdown import Kind
from sisyphus.ground.masking import masked_line
from sisyphus.ground.record import Record, field, replace
from sisyphus.ground.text import one_line
from sisyphus.loops.runs import Run, RunState
from sisyphus.runner import messages

MAX_NEW = 20
"""The most items that are added at once: more than that is no list but a new plan."""

ITEM_CHARACTERS = NAME_CHARACTERS
ANSWER_CHARACTERS = 2_000


class FixPlan(Record, frozen=True):
    """The items of a plan file, each on one line, in words that fit no other item.

    title: what the file calls itself; "" = nothing. todo: in the order of work (see
    `Plan.open_tasks`), then the lines that look like open items and are none. blocked: marked so in
    the file. problem: why the file cannot be used, as "it has no boxes"; "" = it can. checks: items
    → their checks, plan_checks: those of the whole plan, see `boulder/checks.py`. after: open items
    → those that have to be done before. unclear: what is wrong with the order, in sentences.
    """

    path: str
    title: str = ""
    todo: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)
    problem: str = ""
    checks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    plan_checks: tuple[str, ...] = ()
    after: dict[str, list[str]] = field(default_factory=dict)
    unclear: list[str] = field(default_factory=list)


def find(project: str, followed: str) -> str:
    """Returns the file with the items; "" = there is none. followed: the file of the plan that the
    project follows; "" = none."""
    for path in plan_files.fix_plans(project):
        if os.path.isfile(path) and paths.is_inside(path, project):
            return path
    return followed


def read(path: str, project: str, checkpoint: Checkpoint | None = None) -> FixPlan:
    """Reads the items. A file that cannot be used has a problem and no items. checkpoint: of the
    plan, where the file is one."""
    return of_file(plan_files.read(path, project), checkpoint)


def of_file(file: PlanFile, checkpoint: Checkpoint | None = None) -> FixPlan:
    """Returns the items of a plan file that was read already, see `read`."""
    path = file.path
    if file.problem:
        return FixPlan(path, problem=file.problem)
    if file.plan is None:
        return FixPlan(path, problem="it is gone")
    plan = follow.at_checkpoint(file.plan, checkpoint)
    if not plan.total:
        none = "all its items are cancelled" if plan.tasks else "it has no boxes"
        problem = one_line(plan.next_step, ITEM_CHARACTERS) or none
        return FixPlan(path, plan.title, problem=problem)
    names = dict(zip((task.line for task in plan.tasks), plan.names, strict=True))
    todo = [names[task.line] for task in plan.open_tasks]
    done, blocked = (
        [names[task.line] for task in plan.tasks if task.status == status]
        for status in (DONE, BLOCKED)
    )
    like_boxes = (one_line(line.text, ITEM_CHARACTERS) for line in plan.like_tasks)
    todo += (
        f"Make a box `- [ ]` of this line of the list, do it, and tick it: {line}"
        for line in like_boxes
    )
    named = {names[task.line]: task.checks for task in plan.tasks if task.checks}
    return FixPlan(
        path, plan.title, todo, done, blocked, "", named, plan.checks, order.after(plan),
        order.problems(plan),
    )  # fmt: skip


def of_item(plan: FixPlan, item: str, *, is_done: bool) -> FixPlan:
    """Returns a plan with one item alone, which may begin. It is open if the plan has it no more,
    or cannot be used: what an agent has made of the list in its own worktree does not do the item.
    is_done: it is, whatever its box says."""
    if is_done and not plan.problem:
        plan = replace(plan, done=[item])
    done, blocked = (
        [each for each in items if each == item] for items in (plan.done, plan.blocked)
    )
    todo = [] if done or blocked else [item]
    named = {each: checks for each, checks in plan.checks.items() if each == item}
    return replace(
        plan, todo=todo, done=done, blocked=blocked, checks=named, plan_checks=(), after={},
        unclear=[], problem="",
    )  # fmt: skip


def with_failed(plan: FixPlan, items: Collection[str]) -> FixPlan:
    """Returns a plan in which these items are open, ahead of the others, though their boxes are
    ticked."""
    failed = [item for item in plan.done if item in items]
    if not failed:
        return plan
    done = [item for item in plan.done if item not in items]
    return replace(plan, todo=[*failed, *plan.todo], done=done)


def to_trust(run: Run) -> str:
    """Returns the command that lets us run the checks of a run's plan, as code."""
    plan = shlex.quote(paths.display(run.state.plan, run.folder))
    return quoting.code(f"sisyphus boulder checks {plan} --trust")


def note(plan: FixPlan, state: RunState) -> None:
    """Notes the items of the plan in the run's state."""
    state.todo, state.done, state.marked = plan.todo, plan.done, plan.blocked
    for item, named in plan.checks.items():
        state.checks.setdefault(item, list(named))
    for item, lost in state.lost_checks.copy().items():
        named = checks.split(plan.checks.get(item, ())).commands
        if not set(lost).difference(named):
            del state.lost_checks[item]  # they have come back


def note_changes(plan: FixPlan, state: RunState) -> None:
    """Notes how the items have changed: those that left the plan undone, too."""
    now = {*plan.todo, *plan.done, *plan.blocked}
    missing = [item for item in state.todo if item not in now]
    removals = [*state.removals, *(i for i in missing if not size.of(i).must_be_split)]
    state.removals = [item for item in dict.fromkeys(removals) if item not in now]
    state.blocked = {item: why for item, why in state.blocked.items() if item in plan.todo}
    note(plan, state)


def next_item(plan: FixPlan, aside: Collection[str]) -> str:
    """Returns the first open item that is not in `aside` and waits for none; "" = there is
    none."""
    may_begin = (item for item in plan.todo if item not in aside and not waits_for(plan, item))
    return next(may_begin, "")


def waits_for(plan: FixPlan, item: str) -> list[str]:
    """Returns the items that have to be done before an item and are not."""
    return [each for each in plan.after.get(item, ()) if each not in plan.done]


def add(path: str, project: str, heading: str, items: Iterable[str]) -> list[str]:
    """Adds boxes below a heading at the end of the file, and creates the file if there is none.
    Returns the items that it added: at most MAX_NEW, and none that stands open in the file.

    What is in the file stays as it is. Raises `UnreadableError` and `OSError`.
    """
    data = _bytes(path, project)
    plan = plan_files.read(path, project).plan
    is_over = (DONE, CANCELLED)
    tasks = [task for task in plan.tasks if task.status not in is_over] if plan else []
    known = {plain(task.text) for task in tasks}
    new = (masked_line(item, ITEM_CHARACTERS).replace("<!--", "(!--") for item in items)
    added = [item for item in dict.fromkeys(new) if item and item not in known][:MAX_NEW]
    if not added:
        return []
    end = "\r\n" if b"\r\n" in data else "\n"
    lines = ["", f"## {one_line(heading)}", "", *(f"- [ ] {item}" for item in added), ""]
    if not data:
        lines = ["# Fix Plan", *lines]
    elif not data.endswith(b"\n"):
        lines = ["", *lines]
    exports.replace(path, data + end.join(lines).encode("utf-8", "replace"), is_shared=True)
    return added


def answer(path: str, project: str, item: str, text: str) -> str:
    """Writes what the user answers below an item, on one line that is no box; returns it as it is
    written. item: as `read` names it. Raises `UnreadableError` and `OSError`."""
    data = _bytes(path, project)
    plain, plan = _parse(data, path)
    number = dict(zip(plan.names, (task.line for task in plan.tasks), strict=True)).get(item, 0)
    if not number:
        raise UnreadableError("the item is not in it any more")
    indent, after = _place_below(plain, number, {task.line for task in plan.tasks})
    end = b"\r\n" if b"\r\n" in data else b"\n"
    written = _harmless_line(text)
    line = f"{' ' * indent}{messages.answer(written)}"
    lines = data.splitlines(keepends=True)
    lines[after - 1] = lines[after - 1].rstrip(b"\r\n") + end
    lines.insert(after, line.encode("utf-8", "replace") + end)
    exports.replace(path, b"".join(lines), is_shared=True)
    return written


def _parse(data: bytes, path: str) -> tuple[str, Plan]:
    """Returns the text of a plan file, with "\\n" at the ends of its lines, and the plan. Raises
    `UnicodeDecodeError`."""
    text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    return text, parse(text, plan_files.tool_of(path))


def _place_below(text: str, number: int, boxes: Collection[int]) -> tuple[int, int]:
    """Returns the column of the text of an item, and the number of the last line of its first
    paragraph. number: of the item's line. boxes: the lines of all items."""
    lines = list(markdown.lines(text))
    item = lines[number - 1]
    last = number
    for line in lines[number:]:
        if line.kind is not Kind.TEXT or line.item or line.number in boxes:
            break
        last = line.number
    return item.indent + len(item.item or "-") + 1, last


def _harmless_line(text: str) -> str:
    """Returns a text on one line that opens neither a comment nor a code span."""
    line = one_line(text, ANSWER_CHARACTERS).replace("<!--", "(!--")
    return line.replace("`", "'") if line.count("`") % 2 else line


def _bytes(path: str, project: str) -> bytes:
    """Returns the content of a file that we may replace; nothing if there is none yet."""
    if os.path.realpath(path) != path:
        raise UnreadableError("it is reached through a link")
    if not os.path.lexists(path):
        return b""
    is_inside = path.startswith(project + os.sep)  # else its user has named one outside
    files.read(path, inside=project if is_inside else "", limit=plan_files.LIMIT)
    with files.open_regular(path) as file:
        data = file.read(plan_files.LIMIT)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableError("it is not UTF-8")
    return data
