"""Writes a handoff: the document, and the block that the next session gets. Every sentence of both
is here."""

from __future__ import annotations

from collections.abc import Iterable

from sisyphus.ground.masking import mask
from sisyphus.ground.quoting import bullets, code, plain
from sisyphus.ground.text import cut, iso, without_tags
from sisyphus.handoff.calls import Run
from sisyphus.handoff.facts import ChangedFile, Facts
from sisyphus.handoff.sentences import Quote

MAX_BYTES = 16_000
"""The most bytes of a document: four thousand tokens."""

BLOCK_CHARACTERS = 4_000

_SIZES = ((80, 300), (80, 150), (40, 100), (10, 60))
"""The most files, and characters of a text; the first pair that fits into MAX_BYTES counts."""

_NONE = "The handoff tells of no work in progress."


def render(facts: Facts, heading: str) -> str:
    """Returns the document, in Markdown. heading: its title, with what the caller knows of the
    occasion. Nothing in the facts can end the section in which it stands."""
    document = ""
    for most_files, most in _SIZES:
        sections = (
            ("Task", _quoted(facts.task, 3 * most)),
            ("Later Instructions", bullets(_quote(q, most) for q in facts.instructions)),
            ("What Was In Progress", _in_progress(facts, most)),
            ("Files To Resume", _table(facts.resumed)),
            ("Changed Files", _changed(facts.changed, most_files)),
            ("Last Errors", bullets(_error(run, most) for run in facts.errors)),
            ("Checks", bullets(_check(run, most) for run in facts.checks)),
            ("Last Commands", bullets(_check(run, most) for run in facts.commands)),
            ("Decisions And Rejected Ways", bullets(_quote(q, most) for q in facts.decisions)),
            ("Open Todos", bullets([plain(todo, most) for todo in facts.todos], 20)),
            ("Progress", _quoted(facts.progress, 3 * most)),
            ("Resume Instructions", _numbered(_instructions(facts))),
        )
        written = (f"## {name}\n\n{text}" for name, text in sections if text)
        document = without_tags(mask("\n\n".join((heading.strip(), *written)))) + "\n"
        if len(document.encode(errors="replace")) <= MAX_BYTES:
            break
    return cut(document, MAX_BYTES)


def body(document: str) -> str:
    """Returns what a document says below its heading, which tells of the occasion alone."""
    return document.partition("\n## ")[2]


def resume_block(facts: Facts, file: str, occasion: str, earlier: str = "") -> str:
    """Returns what the next session gets, in at most BLOCK_CHARACTERS.

    file: the path of the document. occasion: a sentence about why there is a handoff. earlier: the
    path of the document before it; "" = none.
    """
    later = bullets(_quote(quote, 150) for quote in facts.instructions[-2:])
    before = f" What was noted before is in {code(earlier, 400)}." if earlier else ""
    parts = (
        "## CONTEXT CHECKPOINT RESUME",
        f"> This session resumes from a context checkpoint.\n> {plain(occasion, 300)}",
        f"### What Was In Progress\n\n{_in_progress(facts, 200, with_task=True) or _NONE}",
        f"### Later Instructions\n\n{later}" if later else "",
        f"### Files To Resume\n\n{_table(facts.resumed)}" if facts.resumed else "",
        f"### Handoff Document\n\nRead {code(file, 400)} for full context.{before}",
        f"### Resume Instructions\n\n{_numbered(_instructions(facts, file))}",
    )
    return cut(without_tags(mask("\n\n".join(part for part in parts if part))), BLOCK_CHARACTERS)


def _in_progress(facts: Facts, most: int, *, with_task: bool = False) -> str:
    file = facts.resumed[0] if facts.resumed else None
    step = facts.next_step
    failing = next((run for run in facts.errors if not run.has_passed_since), None)
    rows = (
        ("Task", plain(facts.task, most) if with_task else ""),
        ("Next task of the plan", plain(facts.next_task, most)),
        ("Next step", plain(step, most)),
        ("Said last", "; ".join(_words(q, most) for q in facts.said if q.text.rstrip(":") != step)),
        ("File in progress", f"{code(file.path)}{_of_lines(file)}" if file else ""),
        ("Fails", code(failing.target) if failing and failing.target not in step else ""),
    )
    return "\n".join(f"- **{name}**: {text}" for name, text in rows if text)


def _instructions(facts: Facts, file: str = "") -> Iterable[str]:
    """Yields what the next session has to do. One line alone says where to go on."""
    yield "**DO NOT restart the task from scratch**"
    if file:
        yield f"Read the handoff document first: {code(file, 400)}"
    if facts.next_step:
        yield f"Continue here: {plain(facts.next_step, 300)}"
    elif facts.resumed:
        yield f"Continue in {code(facts.resumed[0].path)}{_of_lines(facts.resumed[0])}"
    aside = "; the files to resume you may read" if facts.resumed else ""
    yield f"Do not read again what the handoff tells you{aside}"


def _table(files: Iterable[ChangedFile]) -> str:
    rows = [
        f"| {code(file.path).replace('|', chr(92) + '|')} | {file.lines or 'unknown'} "
        f"| {'in progress' if number == 0 else _edits(file)} |"
        for number, file in enumerate(files)
    ]
    return "\n".join(("| File | Lines | Status |", "|------|-------|--------|", *rows)) * bool(rows)


def _changed(files: list[ChangedFile], most: int) -> str:
    rows = []
    for file in files[:most]:
        gone = "" if file.exists else ", deleted since"
        how = f": {_edits(file)}{_at(file.at)}{_of_lines(file)}" if file.count else ""
        rows.append(f"{code(file.path)}{how}{gone}")
    return bullets(rows, most, len(files))


def _edits(file: ChangedFile) -> str:
    return f"{file.count} edit{'s' * (file.count != 1)}"


def _of_lines(file: ChangedFile) -> str:
    return f", lines {file.lines}" if file.lines else ""


def _error(run: Run, most: int) -> str:
    since = "has passed since" if run.has_passed_since else "has not passed since"
    said = "".join(f"\n  - {code(line, most)}" for line in run.said)
    name = "" if run.is_command else f"{plain(run.tool, 60)} "
    return f"{name}{code(run.target, most)} failed{_at(run.at)}; it {since}{said}"


def _check(run: Run, most: int) -> str:
    ends = {True: "passed", False: "failed", None: "ended, how is not known"}
    said = f" ({code(run.said[-1], most)})" if run.said else ""
    return f"{code(run.target, most)} {ends[run.passed]}{_at(run.at)}{said}"


def _quote(quote: Quote, most: int) -> str:
    return f"{'User' if quote.is_users else 'Agent'}{_at(quote.at)}: “{plain(quote.text, most)}”"


def _words(quote: Quote, most: int) -> str:
    return f"“{plain(quote.text, most)}”{_at(quote.at)}"


def _quoted(text: str, most: int) -> str:
    lines = text.strip()[:most].splitlines()
    return "\n".join(f"> {plain(line, most)}".rstrip() for line in lines)


def _at(moment: float) -> str:
    return f" at {iso(moment)[5:16].replace('T', ' ')}" if moment else ""


def _numbered(rows: Iterable[str]) -> str:
    return "\n".join(f"{number}. {row}" for number, row in enumerate(rows, 1))
