"""The command line of `…:ralph-loop`: options anywhere, everything else is the prompt.

    "Fix the parser" --completion-promise "ALL GREEN" --max-iterations=20

- An option is a word `--name`, outside quotes, whose name begins with a letter. Its value is the
  next word or quoted text, or follows `=`.
- A quote opens at the start of a word and closes at the next such quote that ends a word. Within
  double quotes `\\"` is a quote; a backslash that stands before no quote is a backslash.
- A prompt that is one quoted text is what the quotes hold, byte for byte. Any other prompt is kept
  as it was typed, quotes included; the options are taken out with the white space before them.
- A quote that is never closed is an ordinary character of the prompt, and an error around a value.

No shell ever sees any of this.
"""

from __future__ import annotations

import re

from sisyphus.errors import SisyphusError
from sisyphus.ralph.loop import MAX_MINUTES

PROMISE_CHARACTERS = 1_000  # it is said again at every Stop, twice

MAX_ITERATIONS = 100
"""Where none is given; 0 = unlimited, only if said."""

LONGEST = 1_000_000  # characters

TEXT, NUMBER, SWITCH = "text", "number", "switch"
OPTIONS = {
    "completion-promise": TEXT,
    "max-iterations": NUMBER,
    "max-minutes": NUMBER,
    "max-tokens": NUMBER,
    "verify": TEXT,
    "verify-plan": SWITCH,
    "verify-checklist": SWITCH,
    "wait-for-user": SWITCH,
    "resume-after-limit": SWITCH,
    "prompt-file": TEXT,
    "force": SWITCH,
}

_SPACE = re.compile(r"(?:\s|\\(?=\r?\n))+")  # a backslash joins two lines, as in a shell
_OPTION = re.compile(r"--([A-Za-z][\w-]*)(?:(=)|(?=\s|\Z))")
_WORD = re.compile(r"\S*")
_NUMBER = re.compile(r"[0-9]{1,9}")
_CLOSE = {
    '"': re.compile(r'(?<!\\)(?:\\\\)*"(?=\s|\Z)'),
    "'": re.compile(r"'(?=\s|\Z)"),
}
_BACKSLASHES = re.compile(r'(\\+)(?="|\Z)')
_TAGGED = re.compile(r"<promise>(.*)</promise>", re.DOTALL)


class BadArgumentsError(SisyphusError):
    """A command line that starts no loop."""


class Invocation:
    """What somebody asked for. `options` holds what was given for every other option."""

    __slots__ = ("completion_promise", "max_iterations", "notes", "options", "prompt")

    def __init__(self, prompt: str, options: dict[str, str | int | bool]) -> None:
        promise = options.pop("completion_promise", None)
        limit = options.pop("max_iterations", MAX_ITERATIONS)
        self.prompt = prompt
        self.completion_promise = promise if isinstance(promise, str) else None
        self.max_iterations = limit if isinstance(limit, int) else MAX_ITERATIONS
        self.options = options
        self.notes: list[str] = []  # what was given and is not done so, in plain words


def parse(text: str, *, trusted: bool = True) -> Invocation:
    """Reads a command line; raises `BadArgumentsError` before anything is done.

    What is not `trusted` comes from the model: it may not name a command, nor go beyond the default
    limits.
    """
    if len(text) > LONGEST:
        raise BadArgumentsError(
            f"the command line is longer than {LONGEST:,} characters. "
            "Put the prompt into a file and name it with --prompt-file"
        )
    return ask(*_Scanner(text).scan(), trusted=trusted)


def ask(prompt: str, options: dict[str, str | int | bool], *, trusted: bool = True) -> Invocation:
    """The same of a command line that is taken apart already; `options` with underscores."""
    if not prompt.strip() and "prompt_file" not in options:
        raise BadArgumentsError(
            "the loop has no prompt. Write what is to be done, such as "
            '--completion-promise "ALL GREEN" -- "Fix the parser"'
        )
    if prompt.strip() and "prompt_file" in options:
        raise BadArgumentsError("a prompt and --prompt-file were given. Leave one of them out")
    if not trusted and "verify" in options:
        raise BadArgumentsError(
            "--verify names a command, which only the user may do. Leave it out, or let the user "
            "start the loop"
        )
    notes = [] if trusted else _bound(options)
    invocation = Invocation(prompt, options)
    invocation.notes = notes
    return invocation


def _bound(options: dict[str, str | int | bool]) -> list[str]:
    """Brings limits that the model raised back to the default ones."""
    notes = []
    for name, most in (("max_iterations", MAX_ITERATIONS), ("max_minutes", MAX_MINUTES)):
        given = options.get(name)
        if isinstance(given, int) and not 0 < given <= most:
            options[name] = most
            notes.append(f"the model asked for {_spelled(name)} {given}; it gets {most}")
    return notes


class _Text:
    """One word or quoted text of the prompt. `lead`: where the white space before it begins."""

    __slots__ = ("end", "held", "lead", "start")

    def __init__(self, lead: int, start: int, end: int, held: str | None) -> None:
        self.lead = lead
        self.start = start
        self.end = end
        self.held = held  # what its quotes hold; None without


class _Scanner:
    """Goes through a command line once, from left to right."""

    __slots__ = ("_at", "_never_closed", "_options", "_text", "_texts")

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._texts: list[_Text] = []
        self._options: dict[str, str | int | bool] = {}
        self._never_closed: set[str] = set()

    def scan(self) -> tuple[str, dict[str, str | int | bool]]:
        """The prompt and the options, spelled with underscores."""
        lead = 0
        self._skip_space()
        while self._at < len(self._text):
            start = self._at
            option = _OPTION.match(self._text, start)
            if option:
                self._option(option)
            else:
                held = self._quoted()
                if held is None:
                    self._at = _end(_WORD, self._text, start)
                self._texts.append(_Text(lead, start, self._at, held))
            lead = self._at
            self._skip_space()
        return self._prompt(), self._options

    def _prompt(self) -> str:
        if len(self._texts) == 1 and self._texts[0].held is not None:
            return self._texts[0].held
        first = self._text[self._texts[0].start : self._texts[0].end] if self._texts else ""
        return first + "".join(self._text[word.lead : word.end] for word in self._texts[1:])

    def _skip_space(self) -> None:
        self._at = _end(_SPACE, self._text, self._at)

    def _quoted(self) -> str | None:
        """What the quotes hold that open here; None where none do, or they are never closed."""
        quote = self._text[self._at : self._at + 1]
        if quote not in _CLOSE or quote in self._never_closed:
            return None
        close = _CLOSE[quote].search(self._text, self._at + 1)
        if close is None:
            self._never_closed.add(quote)  # nor is any later one: keeps this linear
            return None
        held = self._text[self._at + 1 : close.end() - 1]
        self._at = close.end()
        return _BACKSLASHES.sub(_halved, held) if quote == '"' else held

    def _option(self, option: re.Match[str]) -> None:
        name, has_value = option[1], option[2] is not None
        kind = OPTIONS.get(name)
        self._at = option.end()
        if kind is None:
            raise BadArgumentsError(
                f"unknown option --{name[:80]}. Put the prompt in quotes if it belongs there; the "
                f"options are --{', --'.join(OPTIONS)}"
            )
        if kind == SWITCH and has_value:
            raise BadArgumentsError(f"--{name} takes no value. Write it alone")
        self._options[name.replace("-", "_")] = (
            True if kind == SWITCH else _checked(name, kind, self._value(name, joined=has_value))
        )

    def _value(self, name: str, *, joined: bool) -> str:
        if not joined:
            self._skip_space()
        quoted = self._quoted()
        if quoted is not None:
            return quoted
        start = self._at
        self._at = _end(_WORD, self._text, start)
        value = self._text[start : self._at]
        if value[:1] in _CLOSE:
            raise BadArgumentsError(
                f"the quote around the value of --{name} is never closed. Close it"
            )
        if not value or (not joined and _OPTION.match(value)):
            raise BadArgumentsError(f"--{name} needs a value. Write --{name} VALUE")
        return value


def check(name: str, value: str | int | bool) -> str | int | bool:
    """The value of an option, spelled with underscores; raises `BadArgumentsError`."""
    option = name.replace("_", "-")
    if OPTIONS[option] == SWITCH:
        return bool(value)
    return _checked(option, OPTIONS[option], str(value))


def _checked(name: str, kind: str, value: str) -> str | int:
    if kind == NUMBER:
        if not _NUMBER.fullmatch(value):
            raise BadArgumentsError(
                f"--{name} needs a whole number from 0 to 999999999, not `{value[:80]}`"
            )
        return int(value)
    if name == "completion-promise":
        value = _untagged(value)
    if not value.strip():
        raise BadArgumentsError(f"the value of --{name} is empty. Give one, or leave --{name} out")
    return value


def _untagged(promise: str) -> str:
    """`<promise>DONE</promise>` means DONE; a tag anywhere else could never be kept."""
    tagged = _TAGGED.fullmatch(promise.strip())
    token = (tagged[1] if tagged else promise).strip()
    if "<promise>" in token or "</promise>" in token:
        raise BadArgumentsError(
            "--completion-promise holds a promise tag. Give only the text inside it"
        )
    if len(token) > PROMISE_CHARACTERS:
        raise BadArgumentsError(
            f"--completion-promise is longer than {PROMISE_CHARACTERS:,} characters. A few words do"
        )
    return token


def _spelled(name: str) -> str:
    return "--" + name.replace("_", "-")


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _halved(run: re.Match[str]) -> str:
    return "\\" * (len(run[1]) // 2)
