"""Keys and passwords in texts that leave their place: a handoff, a log of progress, a message.

What has the shape of a secret is masked; what has no shape is not recognised.
"""

from __future__ import annotations

import re

MASK = "[masked]"

_TOKENS = (
    r"sk-[A-Za-z0-9_-]{16,}"  # Anthropic, OpenAI, Stripe
    r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|lin_(?:api|oauth)_[A-Za-z0-9]{16,}"
    r"|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{20,}"
    r"|A(?:KIA|SIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
)
_WHOLE = re.compile(rf"(?<![A-Za-z0-9])(?:{_TOKENS})")
_KEY_BLOCK = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----END )[\s\S]){0,10000}"
    r"(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?"
)
_IN_URL = re.compile(r"(?<=://)([^\s/:@]{1,100}):([^\s/@]{1,200})@")
_BEARER = re.compile(r"(?i)\b(bearer|basic)(\s+)[A-Za-z0-9._~+/=-]{8,}")
_NAMED = re.compile(
    r"(?i)\b([A-Z0-9_]{0,40}(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key"
    r"|private[_-]?key|credentials?))(\"?'?\s{0,3}[=:]\s{0,3}[\"']?)([^\s\"',;)}]{4,300})"
)
_DOLLAR = ("$", "<", "{", "[", "*")
"""What a value begins with that only stands for one."""


def masked(text: str) -> str:
    """`text` with `[masked]` for what looks like a secret."""
    found = _KEY_BLOCK.sub(MASK, text)
    found = _WHOLE.sub(MASK, found)
    found = _IN_URL.sub(rf"\1:{MASK}@", found)
    found = _BEARER.sub(rf"\1\2{MASK}", found)
    return _NAMED.sub(_value, found)


def _value(found: re.Match[str]) -> str:
    name, between, value = found.groups()
    is_none = value.startswith(_DOLLAR) or value.isdigit()
    return found[0] if is_none else f"{name}{between}{MASK}"
