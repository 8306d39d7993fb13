"""The kinds of failure of a client, and what shows each. Pure.

In the order of `_SIGNS` words are looked for; a name or a status of the client's own comes before
any words. Names are `terminal_reason`, `subtype`, `api_error` and `error` of the client's events.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

AUTHENTICATION, BILLING, CLIENT, DISK, MODEL = (
    "authentication", "billing", "client", "disk", "model",
)  # fmt: skip
LIMIT, NETWORK, OVERLOADED = "limit", "network", "overloaded"
CONTEXT = "context"
CRASH, INTERRUPTED, PERMISSION, TIMEOUT, TURNS = (
    "crash", "interrupted", "permission", "timeout", "turns",
)  # fmt: skip

FATAL = (AUTHENTICATION, BILLING, CLIENT, DISK, MODEL)
"""No further iteration would get anywhere."""

PASSING = (LIMIT, NETWORK, OVERLOADED)
"""Goes away by waiting."""

COUNTING = (CRASH, INTERRUPTED, PERMISSION, TIMEOUT, TURNS)
"""The iteration has taken place, for better or worse."""

KINDS = (*FATAL, *PASSING, CONTEXT, *COUNTING)
"""`context`: it did not fit, so the next iteration begins with an empty one."""

MEANING = {
    AUTHENTICATION: "the client is not logged in, or not allowed in",
    BILLING: "the account has nothing left to pay with",
    CLIENT: "the client cannot be run like this",
    DISK: "nothing can be written to the disk",
    MODEL: "the model does not exist, or is not for this account",
    LIMIT: "the account's limit is reached",
    NETWORK: "the server cannot be reached",
    OVERLOADED: "the server cannot answer now",
    CONTEXT: "the context is full",
    CRASH: "the client failed",
    INTERRUPTED: "the client was interrupted",
    PERMISSION: "the client was allowed nothing that it tried",
    TIMEOUT: "the time of the iteration was over",
    TURNS: "the client's own limit of turns or money was reached",
}


class _Sign:
    """What shows a kind of failure: any of the names, HTTP statuses or words (a pattern)."""

    __slots__ = ("kind", "names", "statuses", "words")

    def __init__(
        self, kind: str, names: str, statuses: Sequence[int] = (), words: str = ""
    ) -> None:
        self.kind = kind
        self.names = names.split()
        self.statuses = statuses
        self.words = words


_SIGNS = (
    _Sign(DISK, "", (), r"ENOSPC|no space left on device|EDQUOT|disk quota exceeded|disk full"),
    _Sign(
        CONTEXT,
        "blocking_limit prompt_too_long rapid_refill_breaker autocompact_thrashing"
        " message_over_context_limit model_context_window_exceeded",
        (413,),
        r"prompt is too long|exceed(?:s|ed)? (?:the )?context (?:limit|window)"
        r"|context (?:limit|window) (?:reached|exceeded)|autocompact is thrashing",
    ),
    _Sign(TURNS, "max_turns error_max_turns budget_exhausted error_max_budget_usd"),
    _Sign(INTERRUPTED, "aborted_streaming aborted_tools"),
    _Sign(
        BILLING,
        "billing_error model_requires_usage_credits long_context_credits_required",
        (402,),
        r"credit balance is too low|billing_error|insufficient_quota",
    ),
    _Sign(
        AUTHENTICATION,
        "authentication_failed oauth_org_not_allowed account_on_hold verification_required"
        " cloud_credential_error stored_login_refused oauth_refresh_store_refused"
        " provider_credentials gateway_signin_required gateway_session_expired"
        " api_key_auth_disabled org_disabled_credential invalid_credential_header",
        (401, 403),
        r"not logged in|please run /login|invalid (?:x-)?api[- ]key|failed to authenticate"
        r"|authentication_(?:error|failed)|oauth token (?:has expired|revoked)|401 unauthorized",
    ),
    _Sign(
        MODEL,
        "model_not_found no_allowed_fallback model_substitution_disabled",
        (404,),
        r"issue with the selected model|model[_ ]not[_ ]found|not_found_error.{0,40}model",
    ),
    _Sign(
        LIMIT,
        "usage_limit_reached rate_limit",
        (429,),
        r"hit your [\w -]{0,40}limit|usage limit reached|rate_limit_error"
        r"|rate limit(?:ed| exceeded)|429 too many requests|request rejected \(429\)",
    ),
    _Sign(
        NETWORK,
        "connection_failed stream_idle_timeout computer_slept no_response network_edge_blocked"
        " tls_untrusted_ca tls_cert_signature_failure",
        (408,),
        r"ECONN(?:REFUSED|RESET|ABORTED)|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|E(?:HOST|NET)UNREACH|EPIPE"
        r"|getaddrinfo|connection (?:refused|reset|error|timed out)|network is unreachable"
        r"|could not resolve host|name or service not known|temporary failure in name resolution"
        r"|can't reach the api server|fetch failed|socket hang up",
    ),
    _Sign(
        OVERLOADED,
        "overloaded server_error",
        (500, 502, 503, 504, 520, 529),
        r"overloaded_error|api error: 5\d\d|50[0234] (?:internal server|bad gateway|service unav"
        r"|gateway time)",
    ),
    _Sign(
        CLIENT,
        "claude_code_version_too_old",
        (),
        r"error: unknown (?:option|command)|error: option .{1,80} argument (?:missing|.{1,80} is "
        r"invalid)|cannot be used with root|error: invalid session id",
    ),
)

_NAMES = {name: sign.kind for sign in _SIGNS for name in sign.names}
_STATUSES = {status: sign.kind for sign in _SIGNS for status in sign.statuses}


def of_names(*names: str) -> str:
    """The kind that the first known name shows; "" = none is known."""
    return next((_NAMES[name] for name in names if name in _NAMES), "")


def of_status(status: int) -> str:
    return _STATUSES.get(status, "")


def of_words(words: str) -> str:
    """The kind that a message shows."""
    found = (s.kind for s in _SIGNS if s.words and re.search(s.words, words, re.IGNORECASE))
    return next(found, "")


def in_lines(text: str) -> tuple[str, str] | None:
    """The kind that the last line with a sign shows, and that line."""
    for words in reversed(text.split("\n")):
        if kind := of_words(words):
            return kind, words.strip()
    return None
