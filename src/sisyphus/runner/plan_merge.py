"""Merges a worker's copy of the plan by item, never as text: two workers tick boxes on adjacent
lines, which git takes for a conflict.

The plan belongs to the run. A worker brings the tick of its own item, notes below that, and items
that it has added. What else it did to its copy (other ticks, other words, items that it took out)
is not taken.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise

from sisyphus.boulder.plan import DONE, Plan, Task, parse, plain, split_frontmatter
from sisyphus.ground import markdown
from sisyphus.ground.markdown import Kind, Line
from sisyphus.ground.record import Record
from sisyphus.runner.fix_plan import MAX_NEW

_BOX = re.compile(r"^([\s>]*(?:(?:[-*+]|[0-9]{1,9}[.)])\s*)*)\[[^\]]?\]")
"""The start of a line with a box, whatever its mark is."""

_HEADING = re.compile(r"#{1,6}\s+(.*?)(?:\s+#+)?\s*$")

_CHECK_BESIDE = re.compile(r"(?:\*\*)?(?:Run|Expected)(?:\*\*)?:")
"""A line that names a check of the task above, though it is not indented below it."""

_LIKENESS = 0.6
_MOST_REWORDED = 20
"""How alike two texts have to be, of 1, so that one is the other one reworded, and among how many
we look."""

Key = tuple[str, str, int]
"""A task in all versions of a plan: its text, the heading above it, and which one of these it is,
from 1."""


def merge_plans(
    base: str, theirs: str, ours: str, item: str, tool: str = "", *, is_done: bool = True
) -> str:
    """Returns the run's plan with what a worker brings. Line ends stay as the run's plan has them.

    base: the plan when the worker began. theirs: the worker's. ours: the run's. item: the name of
    the worker's item (see `Plan.names`). tool: see `plan.parse`. is_done: the item is ticked.
    """
    before, worker, run = (_Document(text, tool) for text in (base, theirs, ours))
    own = before.keys.get(item) or worker.keys.get(item) or run.keys.get(item)
    edit = _Edit(run)
    if own and is_done:
        edit.tick(own)
    ticked = edit.text
    if own:
        edit.add_notes(own, before.body(own), worker.body(own))
    edit.add_items(before, worker)
    return edit.text if _has_all(_Document(edit.text, tool), _Document(ticked, tool)) else ticked


def _has_all(merged: _Document, run: _Document) -> bool:
    """Tells whether a plan has all tasks of another one with their status. An item that is put into
    a code block that nobody has closed, say, would be none."""
    return all(
        key in merged.blocks and merged.blocks[key].task.status == block.task.status
        for key, block in run.blocks.items()
    )


def _reworded(before: _Document, worker: _Document) -> dict[Key, Key]:
    """Returns the items that a worker has reworded or moved: as they are now → as they were. They
    are not new."""
    gone = [key for key in before.blocks if key not in worker.blocks]
    new = [key for key in worker.blocks if key not in before.blocks]
    found: dict[Key, Key] = {}
    for key in new:
        same = next((old for old in gone if old[0] == key[0]), None)
        if same:
            gone.remove(same)
            found[key] = same
    for key in [key for key in new if key not in found][:_MOST_REWORDED]:
        few = gone[:_MOST_REWORDED]
        ratios = {old: SequenceMatcher(None, old[0], key[0]).ratio() for old in few}
        best = max(ratios, key=ratios.__getitem__, default=None)
        if best and ratios[best] >= _LIKENESS:
            gone.remove(best)
            found[key] = best
    return found


class _Block(Record):
    """A task with the lines below it. start, end: of its lines, from 0, without the blank ones at
    the end. indent: the column of its marker."""

    task: Task
    start: int
    end: int
    indent: int


class _Document:
    """A plan as lines with their ends, and the places of its tasks in them."""

    def __init__(self, text: str, tool: str) -> None:
        self.lines = list(io.StringIO(text, newline=""))
        plain_text = markdown.plain(text)
        self.plan: Plan = parse(plain_text, tool)
        self._read = list(markdown.lines(split_frontmatter(plain_text)[1]))[: len(self.lines)]

    @cached_property
    def blocks(self) -> dict[Key, _Block]:
        starts = {task.line - 1 for task in self.plan.tasks}
        numbers: Counter[tuple[str, str]] = Counter()
        found = {}
        for task in self.plan.tasks:
            place = (plain(task.text), task.heading)
            numbers[place] += 1
            start = task.line - 1
            indent = _column(self._read[start])
            end = self._end(start, indent, starts)
            found[(*place, numbers[place])] = _Block(task, start, end, indent)
        return found

    @cached_property
    def keys(self) -> dict[str, Key]:
        """Returns the key for the name of each task."""
        return dict(zip(self.plan.names, self.blocks, strict=True))

    @cached_property
    def headings(self) -> dict[str, tuple[int, int]]:
        """Returns for each heading where it stands, and where the text below it ends."""
        starts = [
            (each.number - 1, match[1])
            for each in self._read
            if each.kind is Kind.HEADING
            and not each.depth
            and (match := _HEADING.match(each.content))
        ]
        places = [(-1, ""), *starts, (len(self.lines), "")]
        found: dict[str, tuple[int, int]] = {}
        for (start, heading), (end, _) in pairwise(places):
            found.setdefault(heading, (start, self._without_blanks(max(start + 1, 0), end)))
        return found

    def body(self, key: Key) -> list[str]:
        """Returns the lines below a task; [] = there is no such task."""
        block = self.blocks.get(key)
        return self.lines[block.start + 1 : block.end] if block else []

    def find(self, key: Key) -> _Block | None:
        """Returns the task of this key, or the only one of its text: its section may have another
        heading now."""
        same = [block for each, block in self.blocks.items() if each[0] == key[0]]
        return self.blocks.get(key) or (same[0] if len(same) == 1 else None)

    def _end(self, start: int, indent: int, starts: set[int]) -> int:
        """Returns where the lines of a task end. starts: of all tasks."""
        depth = max(self._read[start].depth, 1)
        end, is_below = start + 1, True
        for place in range(start + 1, len(self.lines)):
            line = self._read[place]
            if place in starts:
                break
            if line.kind is Kind.BLANK or not line.text.strip():
                continue
            continues = line.kind is Kind.TEXT and not line.item and line.depth >= depth
            is_below = is_below and (continues or _column(line) > indent)
            if not is_below and (line.item or line.kind is Kind.HEADING):
                break
            if is_below or _CHECK_BESIDE.match(line.content):
                end = place + 1
        return end

    def _without_blanks(self, start: int, end: int) -> int:
        while end > start and not self.lines[end - 1].strip():
            end -= 1
        return end


class _Edit:
    """The run's plan while it is changed: lines that are replaced, and lines that are put in."""

    def __init__(self, run: _Document) -> None:
        self._run = run
        self._lines = list(run.lines)
        self._new: dict[int, list[str]] = {}  # place → lines before it
        self._line_end = _line_end(run.lines[0] if run.lines else "") or "\n"
        self._places: dict[Key, int] = {}  # of items that were put in

    @property
    def text(self) -> str:
        parts: list[str] = []
        for place in range(len(self._lines) + 1):
            new = self._new.get(place, [])
            if new and parts and not _line_end(parts[-1]):
                parts[-1] += self._line_end
            parts += new
            parts += self._lines[place : place + 1]
        return "".join(parts)

    def tick(self, key: Key) -> None:
        block = self._run.find(key)
        if block and block.task.status != DONE:
            self._lines[block.start] = _ticked(self._lines[block.start])

    def add_notes(self, key: Key, before: list[str], after: list[str]) -> None:
        """Puts in the lines that a worker has added below its item, and ticks its steps. before,
        after: what is below the item in the worker's copies."""
        block = self._run.find(key)
        if not block:
            return
        known = [_opened(each) for each in self._run.body(key)]
        taken_out = {_opened(each) for each in before}.difference(known)
        words = [_opened(each) for each in after]
        same = SequenceMatcher(None, known, words, autojunk=False)
        first = block.start + 1
        for what, begin, place, start, end in same.get_opcodes():
            if what == "equal":
                rows = range(first + begin, first + place)
                for row, line in zip(rows, after[start:end], strict=True):
                    if _is_ticked(line):
                        self._lines[row] = _ticked(self._lines[row])
            elif what != "delete":
                new = [each for each in after[start:end] if _opened(each) not in taken_out]
                self._insert(first + place, new)

    def add_items(self, before: _Document, worker: _Document) -> None:
        """Puts in the items that a worker has added: open, for nobody has judged them."""
        reworded = _reworded(before, worker)
        known = before.blocks.keys() | reworded.keys() | self._run.blocks.keys()
        new = [key for key in worker.blocks if key not in known]
        if len(new) > MAX_NEW:
            return  # that is another plan
        above: dict[str, list[Key]] = {}  # heading → the worker's items so far
        for key, block in worker.blocks.items():
            items = above.setdefault(block.task.heading, [])
            if key in new:
                self._add(key, block, items, worker)
            items.append(reworded.get(key, key))

    def _add(self, key: Key, block: _Block, above: list[Key], worker: _Document) -> None:
        """above: the worker's items above it in the same section."""
        lines = [_open(each) for each in worker.lines[block.start : block.end]]
        place = self._behind(above, block.indent)
        if place is None:
            section = self._run.headings.get(block.task.heading)
            place = section[1] if section else len(self._lines)
            if not section:
                start, _ = worker.headings[block.task.heading]
                lines = ["", *worker.lines[start : start + 1], "", *lines]
        self._places[key] = place
        self._insert(place, lines)

    def _behind(self, above: list[Key], indent: int) -> int | None:
        """Returns the place behind the last of these items that the run's plan has; None = it has
        none of them."""
        for each in reversed(above):
            if each in self._places:
                return self._places[each]
            if found := self._run.find(each):
                return self._after(found, indent)
        return None

    def _after(self, found: _Block, indent: int) -> int:
        """Returns the place behind a task and all tasks below it that are indented more than the
        one to be put there, or they would become its own."""
        place = found.end
        for block in self._run.blocks.values():
            if block.start >= found.end:
                if block.indent <= indent or block.task.heading != found.task.heading:
                    break
                place = block.end
        return place

    def _insert(self, place: int, lines: list[str]) -> None:
        new = [each.rstrip("\r\n") + self._line_end for each in lines]
        self._new.setdefault(place, []).extend(new)


def _column(line: Line) -> int:
    wide = line.text.expandtabs(4)
    return len(wide) - len(wide.lstrip(" "))


def _line_end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _opened(line: str) -> str:
    """Returns a line without its end, its box open."""
    return _open(line).rstrip()


def _open(line: str) -> str:
    return _BOX.sub(r"\1[ ]", line, count=1)


def _ticked(line: str) -> str:
    return _BOX.sub(r"\1[x]", line, count=1)


def _is_ticked(line: str) -> bool:
    return bool(_BOX.match(line)) and _ticked(line).lower() == line.lower()
