"""The tool calls of a session that matter later: the last errors, checks and commands."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sisyphus.clients.transcript_records import PROMPT, RecordedCall, ToolResult, TranscriptLine
from sisyphus.ground.masking import masked_line
from sisyphus.ground.record import Record
from sisyphus.handoff import outputs
from sisyphus.sessions.checks import is_test

MAX_ERRORS, MAX_CHECKS, MAX_COMMANDS = 5, 8, 5

_RECENT = 300
"""How many of the last calls we look at."""

_COMMAND = 500
"""The most characters that we read of a command line."""

_FAILURES = re.compile(
    r"(?im)\b[1-9]\d* (?:previous )?(?:failed|failures?|failing|errors?)\b|^(?:FAILED|error\W)"
)
_HIDES = re.compile(
    r"\s*(?:\|&?\s*(?:tail|head|grep|cat|tee|sed|awk)\b[^|&;]*|\|\|\s*true\b|;\s*echo\b[^;&|]*)+$"
)
"""The end of a command line that only shows less of what the command says."""

_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_OPERATOR = re.compile(r"&&|\d?>&\d|&>>?|[;|&!()\n]+")
"""What joins commands; redirections look like it. Only after `&&` does the shell report a failure
of each command."""

_QUIET = frozenset(("-q", "-qq", "-v", "-vv", "-s", "-x", "--quiet", "--verbose"))
"""Options with which a check checks as much as without them."""

_CHECK = re.compile(
    r"(?:^|&&|;)\s*(?:(?:\w+=\S+|(?:uv|poetry|pdm|npm|pnpm|yarn|bun)(?: run| exec)?|npx|bunx|uvx|"
    r"python3? -m) +)*(?:[\w.~-]*/)*"
    r"(?:(?:mypy|pyright|eslint|tsc|flake8|pylint|rubocop|shellcheck|golangci-lint|pre-commit)(?!\S)|"
    r"(?:ruff|biome|deno|cargo|make|just) (?:check|lint|build|clippy|all)\b|make\s*$|"
    r"(?:lint|build|type-?check)(?:[\w:-]*)(?!\S)|(?:black|prettier) .*--check\b|"
    r"(?:go|cmake|docker|dotnet|swift|zig|vite|next|gradlew?|mvnw?) .*\b(?:build|vet|compile)\b)"
)
"""Linters, type checkers and builds. Tests: see `sessions.checks`."""


class Call(Record):
    """A call with its result; None = the transcript has none yet."""

    use: RecordedCall
    at: float
    result: ToolResult | None = None


class Run(Record):
    """What a call came to.

    target: the command line or file, for people. passed: None = unknown. said: the lines of its
    output that tell most. key: what calls of the same thing have in common. has_passed_since: a
    later one has passed.
    """

    tool: str
    target: str
    at: float
    passed: bool | None
    said: tuple[str, ...]
    key: str
    is_check: bool
    is_command: bool
    has_passed_since: bool = False


def calls(records: Iterable[TranscriptLine]) -> list[Call]:
    """Returns the calls that happened. One that the user refused or interrupted did not, nor one
    without a result before the next prompt."""
    found: list[Call] = []
    waiting: dict[str, Call] = {}
    refused: set[int] = set()
    for record in records:
        for use in record.calls:
            found.append(Call(use, record.at))
            waiting[use.id] = found[-1]
        for result in record.results:
            if call := waiting.pop(result.id, None):
                call.result = result
                if result.is_refused:
                    refused.add(id(call))
        if record.author == PROMPT:
            refused.update(map(id, waiting.values()))
            waiting.clear()
    return [call for call in found if id(call) not in refused]


def sort(calls: list[Call], project: str) -> tuple[list[Run], list[Run], list[Run]]:
    """Returns the last distinct errors, the last run of each check, and the last commands, each
    newest first. A command that fails without a word, as `grep`, has only found nothing."""
    runs = [_run(call, project) for call in reversed(calls[-_RECENT:])]
    passed: list[Run] = []
    for run in runs:
        run.has_passed_since = any(_covers(later, run) for later in passed)
        if run.passed:
            passed.append(run)
    errors = _distinct(r for r in runs if r.passed is False and (r.said or r.is_check))
    checks = _distinct(run for run in runs if run.is_check)
    commands = [run for run in runs if run.is_command]
    return errors[:MAX_ERRORS], checks[:MAX_CHECKS], commands[:MAX_COMMANDS]


def _distinct(runs: Iterable[Run]) -> list[Run]:
    found: dict[str, Run] = {}
    for run in runs:
        found.setdefault(run.key, run)
    return list(found.values())


def _covers(later: Run, run: Run) -> bool:
    """Tells whether a run that passed makes up for another one: of the same thing or, if it is a
    check, of all that the other checked."""
    if later.key == run.key:
        return True
    words = set(later.key.split()) - _QUIET
    return later.is_check and run.is_check and words < set(run.key.split())


def _run(call: Call, project: str) -> Run:
    use, result = call.use, call.result
    line = use.shell[:_COMMAND].replace("2>&1", "").strip()
    bare = _HIDES.sub("", line).strip()
    unquoted = _QUOTED.sub(lambda found: _OPERATOR.sub(" ", found[0]), line)
    is_check = any(_is_check(part) for part in (line, bare, *_OPERATOR.split(unquoted)) if part)
    passed = None if result is None else not result.is_error
    if passed and result and _OPERATOR.search(unquoted.replace("&&", "")):
        has_failures = is_check and _FAILURES.search(result.text[-outputs.CHARACTERS :])
        passed = False if has_failures else None  # the shell reports the last command alone
    return Run(
        use.name,
        masked_line((use.shell or use.target).replace(f"{project}/", ""), outputs.LINE),
        call.at,
        passed,
        outputs.telling(result.text, has_failed=passed is False) if result else (),
        f"{use.name} {bare or use.target}",
        is_check,
        bool(use.shell),
    )


def _is_check(line: str) -> bool:
    return is_test(line.strip()) or bool(_CHECK.search(line.strip()))
