"""A shell command taken apart at its operators, as far as can be done without a shell. Pure."""

from __future__ import annotations

import re

_LONGEST = 1_000  # characters of a command that are looked at
_HERE = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1")
_SCRIPT = 200_000
_SHORTENED = 5
_TOKEN = re.compile(
    r"(?P<text>'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|[<>]&[0-9-]?|&>|[^\s'\"\\;|&()<>]+|[<>()]|['\"\\])"
    r"|(?P<operator>&&|\|\||\|&|[;|&\n])"
    r"|(?P<space>\s)",
    re.DOTALL,
)
_OUTPUT = re.compile(r"\s*(?:2>&1|\|\s*(?:tail|head|grep|tee|cat|sed|awk)\b[^|;&]*)\s*$")


class Segment:
    """The words of one simple command, and the operator behind it ("" = the end)."""

    __slots__ = ("operator", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.operator = ""


def segments(command: str) -> list[Segment]:
    found = [Segment()]
    word = ""
    for token in _TOKEN.finditer(without_documents(command)[:_LONGEST] + " "):
        if token.lastgroup == "text":
            word += token[0] if token[0][0] not in "'\"" else token[0].strip(token[0][0])
            continue
        if word:
            found[-1].words.append(word)
            word = ""
        if token.lastgroup == "operator" and found[-1].words:
            found[-1].operator = {"\n": ";", "|&": "|"}.get(token[0], token[0])
            found.append(Segment())
    return [segment for segment in found if segment.words]


def same(command: str) -> str:
    """What two spellings of one command have in common: how much of its output is shown aside."""
    text = " ".join(command[:_LONGEST].split())
    for _ in range(_SHORTENED):
        text = _OUTPUT.sub("", text)
    return text


def without_documents(command: str) -> str:
    """The command without the lines that it hands to a program, which are no commands of it."""
    if "<<" not in command:
        return command.strip()
    kept, end = [], ""
    for line in command[:_SCRIPT].splitlines():
        if end:
            end = "" if line.strip() == end else end
            continue
        found = _HERE.search(line)
        end = found[2] if found else ""
        kept.append(_HERE.sub("", line))
    return "\n".join(kept).strip()
