"""The tool calls of a session that matter later: the last errors, checks and commands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sisyphus.clients.records import Record, RecordedCall, ToolResult
from sisyphus.masking import masked_line
from sisyphus.sessions.checks import is_test

MAX_ERRORS, MAX_CHECKS, MAX_COMMANDS = 5, 8, 5

_RECENT = 300
"""How many of the last calls we look at."""

_OUTPUT, _COMMAND, _LINE = 8_000, 500, 160
"""The most characters that we read of an output and of a command, and show of a line."""

_ORNAMENT = re.compile(
    r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)|[@-Z\\^_])|</?\w+_error>"
)
"""Colours of a terminal, and tags around an error."""

_SAYS_NOTHING = re.compile(r"exit code \d+|\(.*no output\)|([=_*~-])\1{4}.*", re.IGNORECASE)
_ERROR = re.compile(
    r"error|exception|\bfail|panic|fatal|not found|no such|cannot|can't|denied|undefined|refused|"
    r"unexpected|unable|timed? ?out|assert|invalid|mismatch|conflict",
    re.IGNORECASE,
)
_FAILURES = re.compile(
    r"(?im)\b[1-9]\d* (?:previous )?(?:failed|failures?|failing|errors?)\b|^(?:FAILED|error\W)"
)
_HIDES = re.compile(
    r"\s*(?:\|&?\s*(?:tail|head|grep|cat|tee|sed|awk)\b[^|&;]*|\|\|\s*true\b|;\s*echo\b[^;&|]*)+$"
)
"""The end of a command line after which the shell does not say how the command ended."""

_CHECK = re.compile(
    r"(?:^|&&|;)\s*(?:(?:\w+=\S+|(?:uv|poetry|pdm|npm|pnpm|yarn|bun)(?: run| exec)?|npx|bunx|uvx|"
    r"python3? -m) +)*(?:[\w.~-]*/)*"
    r"(?:(?:mypy|pyright|eslint|tsc|flake8|pylint|rubocop|shellcheck|golangci-lint|pre-commit)(?!\S)|"
    r"(?:ruff|biome|deno|cargo|make|just) (?:check|lint|build|clippy|all)\b|make\s*$|"
    r"(?:lint|build|type-?check)(?:[\w:-]*)(?!\S)|(?:black|prettier) .*--check\b|"
    r"(?:go|cmake|docker|dotnet|swift|zig|vite|next|gradlew?|mvnw?) .*\b(?:build|vet|compile)\b)"
)
"""Linters, type checkers and builds. Tests: see `sessions.checks`."""


class Call:
    """A call with its result; None = the transcript has none yet."""

    __slots__ = ("at", "result", "use")

    def __init__(self, use: RecordedCall, at: float) -> None:
        self.use = use
        self.at = at
        self.result: ToolResult | None = None


@dataclass(slots=True, eq=False, repr=False)
class Run:
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


def calls(records: Iterable[Record]) -> list[Call]:
    found: list[Call] = []
    waiting: dict[str, Call] = {}
    for record in records:
        for use in record.calls:
            found.append(Call(use, record.at))
            waiting[use.id] = found[-1]
        for result in record.results:
            if call := waiting.pop(result.id, None):
                call.result = result
    return found


def sort(calls: list[Call], project: str) -> tuple[list[Run], list[Run], list[Run]]:
    """Returns the last distinct errors, the last run of each check, and the last commands, each
    newest first. A command that fails without a word, as `grep`, has only found nothing."""
    runs = [_run(call, project) for call in reversed(calls[-_RECENT:])]
    passed: set[str] = set()
    for run in runs:
        run.has_passed_since = run.key in passed
        if run.passed:
            passed.add(run.key)
    errors = _distinct(r for r in runs if r.passed is False and (r.said or r.is_check))
    checks = _distinct(run for run in runs if run.is_check)
    commands = [run for run in runs if run.is_command]
    return errors[:MAX_ERRORS], checks[:MAX_CHECKS], commands[:MAX_COMMANDS]


def _distinct(runs: Iterable[Run]) -> list[Run]:
    found: dict[str, Run] = {}
    for run in runs:
        found.setdefault(run.key, run)
    return list(found.values())


def _run(call: Call, project: str) -> Run:
    use, result = call.use, call.result
    line = use.shell[:_COMMAND].replace("2>&1", "").strip()
    bare = _HIDES.sub("", line).strip()
    is_check = bool(bare) and (is_test(bare) or bool(_CHECK.search(bare)))
    passed = None if result is None else not result.is_error
    if passed and result and is_check and bare != line:
        passed = False if _FAILURES.search(result.text[-_OUTPUT:]) else None
    return Run(
        use.name,
        masked_line((use.shell or use.target).replace(f"{project}/", ""), _LINE),
        call.at,
        passed,
        _said(result.text, has_failed=passed is False) if result else (),
        f"{use.name} {bare or use.target}",
        is_check,
        bool(use.shell),
    )


def _said(output: str, *, has_failed: bool) -> tuple[str, ...]:
    """Returns the lines of an output that tell most: those that name an error, else the last."""
    lines = [line.strip() for line in _ORNAMENT.sub("", output[-_OUTPUT:]).splitlines()]
    lines = [line for line in lines if line and not _SAYS_NOTHING.fullmatch(line)]
    named = [line for line in lines if _ERROR.search(line[:_COMMAND])] if has_failed else []
    telling = [*named[:1], *named[-2:]] or lines[-1:]
    return tuple(dict.fromkeys(masked_line(line, _LINE) for line in telling))
