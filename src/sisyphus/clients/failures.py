"""The words in which clients say why a request failed, in one table for all of them.

They count only where a client's error stands: in an error that it reports as one, in what a process
prints as its errors, or in an output that begins with the error and is all of it. An agent that
writes of a login, a credit balance or a limit has met none.

Each wording is one that a client or its server has printed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from sisyphus.clients.reports import (
    ACCOUNT,
    BILLING,
    CLIENT,
    CONTEXT,
    CRASH,
    DETAIL_CHARACTERS,
    DISK,
    LOGIN,
    MEANINGS,
    MODEL,
    NETWORK,
    NOT_RUN,
    OVERLOAD,
    PASSING,
    Failure,
    Report,
    how_it_ended,
)
from sisyphus.ground.masking import masked_line

_WORDINGS = (
    (DISK, r"ENOSPC|no space left on device|disk quota exceeded"),
    (CONTEXT, r"prompt is too long|conversation (?:is )?too long|context_length_exceeded"
     r"|context window"),
    (BILLING, r"(?:your )?credit balance is too low"
     r"|extra usage is required for long context(?: requests)?"
     r"|quota exceeded|insufficient_quota|upgrade to plus:|(?:status:?|api error:) 402\b"),
    (LOGIN, r"not logged in|please run /login|log ?in again|invalid (?:x-)?api[- ]key"
     r"|invalid bearer token|failed to authenticate|token could not be refreshed"
     r"|oauth token (?:has )?(?:been )?(?:expired|revoked)|missing environment variable"
     r"|(?:your|this) (?:organization|account) has (?:been )?disabled"
     r"(?: [\w ]{0,40}access(?: for claude code)?)?"
     r"|(?:your account does not|you do not) have access to claude(?: code)?"
     r"|no authentication information found|classic personal access tokens"
     r"|(?:status:?|api error:) 40[13]\b"),
    (MODEL, r"(?:there's an )?issue with the selected model|model is not supported"
     r"|byok providers require an explicit model"
     r"|(?:status:?|api error:) 404\b.{0,100}\bmodel\b"),
    (OVERLOAD, r"(?:the )?(?:server|api) is temporarily limiting requests"
     r"|temporarily limiting requests"
     r"|(?:repeated 5\d\d )?overloaded(?:_error| errors?)?|(?:status:?|api error:) 5\d\d\b"
     r"|(?:[\w']{1,20} ){0,5}high demand|(?:[\w']{1,20} ){0,3}at capacity"),
    (ACCOUNT, r"(?:you've |you have )?(?:hit|reached) your [\w' -]{0,60}limit"
     r"|(?:[\w-]{1,20} ){0,5}limit reached|(?:you're )?out of extra usage"
     r"|request rejected \(429\)|rate limit|rate_limit_error|(?:status:?|api error:) 429\b"),
    (NETWORK, r"(?:getaddrinfo )?\bE(?:CONN(?:REFUSED|RESET|ABORTED)|NOTFOUND|AI_AGAIN|TIMEDOUT"
     r"|HOSTUNREACH|NETUNREACH|PIPE)\b"
     r"|connection (?:refused|reset|error|timed out|closed|failed)|could not resolve host"
     r"|fetch failed|request timed out|unable to connect to (?:the )?api|socket hang up"
     r"|waiting for network|stream disconnected|error sending request|idle timeout"),
    (CLIENT, r"unknown option|argument .{1,80} is invalid|invalid session id"
     r"|cannot be used with root|error loading config|invalid value '|unexpected argument"
     r"|unrecognized subcommand"
     r"|(?:[\w./-]{1,80}: )?(?:line )?(?:\d{1,6}: )?(?:claude|codex|copilot): (?:command )?"
     r"not found"),
)  # fmt: skip
"""Kinds of failures, and a pattern for what a client writes. The first that fits counts: a server
that limits all of its requests says that it is not the account's limit."""

_OUTPUTS = (*_WORDINGS, (CRASH, r"execution error"))
"""Claude Code says no more than this of what it reports as `error_during_execution`."""

_PREFIX = r"(?:(?=api error:).*?|(?:fatal )?error:?\s+)"
"""How a client begins the words of a server, or its own."""

_REST = r"(?=\s*(?:$|[·∙•|.:;,!(\[{])|\s[\u2014\u2013-]\s)"
"""What follows an error: nothing, or a mark. Where an agent speaks of one, words follow."""

_OUTPUT_CHARACTERS = 1_000
"""An output that is longer is an answer of the agent. The JSON of a server's error has 300."""


def failure(
    report: Report,
    code: int,
    errors: str,
    title: str,
    cause: Callable[[Report, int, str], tuple[str, str]],
    until: Callable[[str], float],
) -> Failure | None:
    """Returns why a process that has ended failed; None = it did not.

    code, errors: see `clients.base.Headless.failure`. title: the client's name for people. cause:
    see the function of that name. until: takes the line that says it, and returns when the
    account's limit ends, in seconds since 1970; 0 = unknown.
    """
    if report.has_ended and not report.error:
        return None
    if not report.is_stream and not code:  # another program, which says no more than this
        return None
    kind, detail = cause(report, code, errors)
    known = MEANINGS.get(kind, "").format(client=title)
    meaning = known or ("it failed" if report.has_ended else how_it_ended(code))
    text = masked_line(f"{meaning}: {detail}" if detail else meaning, DETAIL_CHARACTERS)
    return Failure(kind, text, until(detail) if kind == ACCOUNT else 0.0)


def cause(report: Report, code: int, errors: str) -> tuple[str, str]:
    """Returns the kind of a failure, and the line that says it.

    code: the process's exit code. errors: what it printed as its errors, which count where it did
    not say how it ended.
    """
    said = report.error if report.has_ended else f"{report.error}\n{errors}"
    kind, detail = kind_of(said)
    if not kind and not report.is_stream:
        kind, detail = of_output(report.text)
    if not kind:
        kind = CLIENT if code in NOT_RUN and not report.is_stream else CRASH
    return kind, detail or _last_line(said) or _last_line(report.text)


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def kind_of(error: str) -> tuple[str, str]:
    """Returns the kind of a failure that a client reports, and the line that says it; "" = these
    words are not known."""
    lines = [line for line in error.splitlines() if line.strip()]
    for kind, pattern in _WORDINGS:
        for line in lines:
            if re.search(pattern, _plain(line), re.IGNORECASE):
                return kind, line
    return "", ""


def of_output(text: str) -> tuple[str, str]:
    """Returns the same of what a client has printed as text, where an error takes the place of the
    answer. Lines may follow one that passes: how to get more, when it ends. What ends a loop stands
    alone."""
    text = text.strip()
    first, *more = text.splitlines() or [""]
    if len(text) > _OUTPUT_CHARACTERS:
        return "", ""
    for kind, pattern in _begins():
        if pattern.match(_plain(first)) and (kind in PASSING or not more):
            return kind, first
    return "", ""


def _plain(line: str) -> str:
    return line.replace("\u2019", "'")


@cache
def _begins() -> list[tuple[str, re.Pattern[str]]]:
    """Returns the patterns for the start of an output."""
    return [
        (kind, re.compile(f"{_PREFIX}(?:{words})|(?:{words}){_REST}", re.IGNORECASE))
        for kind, words in _OUTPUTS
    ]
