"""Masks keys, tokens and passwords in text that leaves its place: handoffs, reports, notifications.

It knows a secret by its shape or by the name before it. A secret that has neither stays.
"""

import re

from sisyphus.ground.text import one_line

_EDGE = r"(?<![A-Za-z0-9])"
_KEY_LINE = r"[ \t]*[A-Za-z0-9+/]{60,76}={0,2}[ \t]*"
"""A line of a private key. One of 64 hexadecimal digits is a hash."""

_NO_VARIABLE = r"(?![$<{\[*/])"

_NAMES = (
    r"password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|"
    r"private[_-]?key|credentials?|auth"
)

# What group 1 matches stays, so that a reader knows what was there.
_SHAPES = tuple(re.compile(shape) for shape in (
    r"(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)(?:(?!-----END )[^…]){1,20000}"
    r"(?:-----END [A-Z ]{0,40}-----)?",
    rf"(?m)^()(?=[^\n]*[g-zG-Z+/]){_KEY_LINE}(?:\n{_KEY_LINE})+"
    r"(?:\n[A-Za-z0-9+/]+={0,2}(?=\n-----END))?$",
    rf"{_EDGE}(A[KS]IA)[A-Z0-9]{{16}}(?![A-Za-z0-9])",
    rf"{_EDGE}(gh[pousr]_|npm_|hf_|[rsp]k_(?:live|test)_|whsec_|lin_(?:api|oauth)_)"
    r"[A-Za-z0-9]{16,}",
    # Words with hyphens look like these, but have no digit next to a letter.
    rf"{_EDGE}(sk-(?:ant-|proj-)?|github_pat_|glpat-|xox[a-z]-|xapp-|AIza|ya29\.|pypi-|SG\.|"
    rf"dop_v1_)(?=[\w-]{{0,60}}?(?:[A-Za-z]\d|\d[A-Za-z]|\d{{6}}))[\w.-]{{16,}}",
    rf"{_EDGE}(eyJ)[\w-]{{8,}}\.[\w-]{{8,}}(?:\.[\w-]*)?",
    r"((?<=://)[^\s/:@]{0,100}:)[^\s/@]{1,200}(?=@)",
    r"((?i:\bbearer)\s+)(?=[^\s\d]{0,60}\d)[\w.~+/=-]{12,}",
    r"((?i:\bauthorization)[\"']?[ \t]*[:=][ \t]*[\"']?"
    r"(?:(?i:bearer|basic|token|digest)[ \t]+)?+)[^\s\"'…]{6,}",
    r"(https://hooks\.slack\.com/(?:services|workflows|triggers)/)[\w/]{8,}",
    rf"(\b(?:mysql\w{{0,10}}|mariadb)\b[^\n|;&]{{0,200}}? -p){_NO_VARIABLE}[^\s\"'…]{{3,}}",
    r"(\bcurl\b[^\n|;&]{0,300}? (?:-u|--user)[= ]?[\"']?[^\s:\"'$]{1,100}:)"
    rf"{_NO_VARIABLE}[^\s\"'…]{{2,}}",
    rf"((?<![\w-])(?:[A-Z0-9]{{1,20}}_){{0,4}}PASS=[\"']?){_NO_VARIABLE}"
    r"(?!(?:true|false|null|none|\d+)\b)[^\s\"'…]{4,}",
    rf"((?<![\w-])(?:[A-Z0-9]{{1,20}}_){{0,4}}KEY(?:=|[ \t]=[ \t](?=[\"']))[\"']?){_NO_VARIABLE}"
    r"(?=[^\s\"']{0,100}\d)(?=[^\s\"']{0,100}[A-Za-z])[^\s\"'…]{8,}",
    r"(\b(?:machine\s{1,9}\S{1,200}|default)\s{1,9}login\s{1,9}\S{1,200}\s{1,9}password\s{1,9})"
    rf"{_NO_VARIABLE}[^\s…]{{3,}}",
    rf"((?i:--[\w-]{{0,40}}(?:{_NAMES}))[= \t][ \t]*[\"']?)[^\s\"'…$<{{[*-][^\s\"']{{3,}}",
))  # fmt: skip

_NAMED = re.compile(
    rf"(?i)(?<![\w-])([\w-]{{0,40}}(?:{_NAMES})[\"']?)([ \t]{{0,3}}(?::|=(?!=))[ \t]{{0,3}})"
    r"(?:([\"'])([^\"'\n]{4,300})\3|([^\s\"',;)}]{4,300}))"
)
_STANDS_FOR_ONE = re.compile(
    r"[$<{\[*%(…&|]|(?:null|none|true|false|undefined|required|optional)\b|.*[(\[]|"
    r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|\.{0,2}/|.*(?:\.\.\.|…|://)",
    re.IGNORECASE,
)
"""A value that is no secret itself: a variable, a call, a path, a type."""


def mask(text: str) -> str:
    """Returns the text with `…` in place of secrets: `sk-…`, `password=…`, `Bearer …`."""
    for shape in _SHAPES:
        text = shape.sub(r"\1…", text)
    return _NAMED.sub(_mask_named, text)


def _mask_named(found: re.Match[str]) -> str:
    """Masks the value of a name that says what it is. In prose and code ("token: expired", `token =
    next`) a bare word stays; in `TOKEN=word` it does not."""
    name, sign, quote, quoted, bare = found.groups()
    if quoted:
        return found[0] if quoted[0] in "$<{%…" else f"{name}{sign}{quote}…{quote}"
    if bare.isdigit():
        is_secret = "pass" in name.lower()  # not `max_token=4096`
    elif _STANDS_FOR_ONE.match(bare) or name.lower().endswith(bare.lower()):  # `token=token`
        is_secret = False
    else:
        is_secret = sign == "=" or bool(re.search(r"\d", bare))
    return f"{name}{sign}…" if is_secret else found[0]


def masked_line(text: str, limit: int) -> str:
    """Returns untrusted text masked and on one line; see `text.one_line`."""
    return one_line(mask(text[: 3 * limit]), limit)
