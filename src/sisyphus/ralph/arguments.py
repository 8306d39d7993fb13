"""Parses what follows `/ralph-loop`, typed by the user or passed by the model. No shell is
involved.

    Make the build green --completion-promise "IT BUILDS" --verify="make test"

Options may appear anywhere before a bare `--`; their values may be quoted. The rest is the prompt,
as typed; quotes around all of it are removed. A quote opens at the start of a word and closes at
the end of one, so an apostrophe is not a quote. An unclosed quote is an error around a value and
around the prompt, and text inside a prompt.

What people paste is read as they meant it: curly quotes and long dashes, one dash before an option,
a backslash at the end of a line, the name of the command a second time.
"""

import os
import re

from sisyphus.ground import files, paths
from sisyphus.ground.errors import UnreadableError, UsageError
from sisyphus.ground.record import Record, replace
from sisyphus.ground.text import likely
from sisyphus.loops import limits
from sisyphus.loops.loop import (
    DEFAULT_ITERATIONS,
    DEFAULT_MINUTES,
    PROMISE_CHARACTERS,
    UNBOUNDED_ITERATIONS,
    Options,
)

_FLAGS = ("wait-for-user", "verify-plan", "force")
"""Options without a value. A typed loop replaces the old one with or without --force."""

_TEXTS = ("completion-promise", "verify", "prompt-file")
_NUMBERS = ("max-iterations", "max-minutes", "max-tokens")
_USER_ONLY = ("verify", "prompt-file", "wait-for-user")
"""Options that the model may not use. They run a command or read a file in the user's name, or
free a session that another loop blocks."""

_OPENERS = {'"': '"', "'": "'", "“": "”", "”": "”", "„": "“", "‘": "’"}
_CLOSERS = frozenset(_OPENERS.values())
_OPTION = re.compile(r"(?:--|[—–]-?)([A-Za-z][\w-]*)(=)?")
_ALL = _TEXTS + _NUMBERS + _FLAGS
_HYPHENATED = tuple(name for name in _ALL if "-" in name)
"""Options that are read with one dash, too. `-force` may be an option of a program in the task."""

_ONE_DASH = re.compile(r"-([a-z]+(?:-[a-z]+)+|force|verify)(=|(?=\s)|$)")
_WORD = re.compile(r"\S+")
_NAME = re.compile(r"[/$](?:[\w.-]+:)?ralph-loop(?!\S)")
_TYPED = '/ralph-loop "Make the build green" --max-iterations 20'
_IN_TERMINAL = 'sisyphus ralph start --max-iterations 20 -- "Make the build green"'
_VERIFY_CHARACTERS = 2_000
_UNCLOSED = "The quote before the task is not closed. Close it, or put -- before the task."


class Arguments(Record):
    """What a command line asks for."""

    prompt: str
    options: Options


def parse(line: str, folder: str = ".", *, by_model: bool = False) -> Arguments:
    """Parses a typed command line (see `build`). Raises `UsageError`."""
    values, prompt = _split(line)
    return build(values, prompt, folder, by_model=by_model, example=_TYPED)


def asks_for_help(line: str) -> bool:
    return line.strip() in ("--help", "-h")


def build(
    values: dict[str, str],
    prompt: str,
    folder: str = ".",
    *,
    by_model: bool = False,
    example: str = _IN_TERMINAL,
) -> Arguments:
    """Checks the options, wherever they came from.

    folder: a prompt file is relative to it. by_model: the model gave the options. It cannot use
    some of them, and can lower the default limits but not raise them. example: a whole command, to
    show if the task is missing. Raises `UsageError`.
    """
    if by_model and (refused := [name for name in _USER_ONLY if name in values]):
        raise UsageError(f"--{refused[0]} can only be set by the user, not by the model.")
    texts = {name: values[name] for name in _NUMBERS if name in values}
    numbers = {name.replace("-", "_"): limits.read(name, text) for name, text in texts.items()}
    promise = " ".join(values.get("completion-promise", "").split())
    if "completion-promise" in values and not promise:
        raise UsageError("--completion-promise is empty. Give the words that end the loop.")
    if "<" in promise or ">" in promise:
        raise UsageError(
            "--completion-promise cannot contain < or >, because it is put into a tag."
        )
    if len(promise) > PROMISE_CHARACTERS:
        raise UsageError(f"--completion-promise can have at most {PROMISE_CHARACTERS} characters.")
    verify = values.get("verify", "")
    if "verify" in values and not verify.strip():
        raise UsageError("--verify is empty. Give the command that must exit 0.")
    if len(verify) > _VERIFY_CHARACTERS:
        raise UsageError(f"--verify can have at most {_VERIFY_CHARACTERS:,} characters.")
    if "prompt-file" in values:
        if not values["prompt-file"].strip():
            raise UsageError("--prompt-file is empty. Give the file that has the task.")
        if prompt.strip():
            raise UsageError("The task is given twice: in --prompt-file and as text.")
        prompt = _read(folder, values["prompt-file"])
    if not prompt.strip():
        raise UsageError(f"The task is missing. Example: {example}")
    options = Options(
        promise,
        verify=verify,
        verify_plan="verify-plan" in values,
        wait_for_user="wait-for-user" in values,
        **numbers,
    )
    if not (promise or options.verify or options.verify_plan or numbers):
        options = replace(options, max_iterations=UNBOUNDED_ITERATIONS)
    return Arguments(prompt, _bounded(options) if by_model else options)


def _bounded(options: Options) -> Options:
    """Returns the options with no limit above its default."""
    return replace(
        options,
        max_iterations=min(options.max_iterations or DEFAULT_ITERATIONS, DEFAULT_ITERATIONS),
        max_minutes=min(options.max_minutes or DEFAULT_MINUTES, DEFAULT_MINUTES),
    )


def _split(line: str) -> tuple[dict[str, str], str]:
    """Splits a command line into the options by name, and the prompt. Raises `UsageError`."""
    line = line.replace("\r\n", "\n")
    values: dict[str, str] = {}
    rest: list[str] = []  # the prompt's pieces, with the white space before each
    position = 0
    unclosed: set[str] = set()  # opening quotes that nothing later in the line closes
    while word := _WORD.search(line, position):
        if word[0] == "--":
            rest.append(line[word.end() :])
            break
        option = _option(line, word.start())
        if not option and _is_left_over(line, word, is_first=not rest):
            position = word.end()
        elif not option:
            end = 0 if word[0][0] in unclosed else _quoted_end(line, word.start())
            if not end:
                if not rest and _is_unclosed(line, word.start()):
                    raise UsageError(_UNCLOSED)
                unclosed.add(word[0][0])
                end = word.end()
            rest.append(line[position:end])
            position = end
        elif option[1] in _FLAGS and not option[2]:
            values[option[1]], position = "yes", option.end()
        elif option[1] in _TEXTS + _NUMBERS:
            values[option[1]], position = _value(line, option)
            if option[1] in _TEXTS and line[position - 1] not in _CLOSERS:
                _check_next(line, option[1], values[option[1]], position, is_second=bool(rest))
        else:
            raise UsageError(_unknown(option[1]))
    text = "".join(rest).strip()
    prompt = _unquoted(text)
    if prompt != text and _NAME.match(prompt):  # a whole command was pasted into the quotes
        more, prompt = _split(prompt)
        values = {**more, **values}
    return values, prompt


def _option(line: str, start: int) -> re.Match[str] | None:
    """Returns the option that starts here. Raises `UsageError` for one dash where nobody can
    tell."""
    if option := _OPTION.match(line, start):
        return option
    option = _ONE_DASH.match(line, start)
    if not option or option[1] in _HYPHENATED:
        return option
    meant = option[1] if option[1] in _ALL else likely(option[1], _HYPHENATED)
    if meant:
        raise UsageError(
            f"-{option[1]} has one dash. If it is the option, write --{meant}. If it is part of "
            "the task, quote the task or put -- before it."
        )
    return None


def _is_left_over(line: str, word: re.Match[str], *, is_first: bool) -> bool:
    """Tells whether a word is left over from pasting: the command's name before the task, or a
    backslash at the end of a line, before the task, an option or the end."""
    if is_first and _NAME.fullmatch(word[0]):
        return True
    after = line[word.end() :]
    if word[0] != "\\" or not (after == "" or after.startswith("\n")):
        return False
    start = len(line) - len(after.lstrip())
    return is_first or start == len(line) or _OPTION.match(line, start) is not None


def _check_next(line: str, name: str, value: str, position: int, *, is_second: bool) -> None:
    """Raises `UsageError` if the words after a value without quotes may belong to it: the task
    stands before the option, or they are capitals as the value is. is_second: it does."""
    word = _WORD.search(line, position)
    if not word or word[0] in ("--", "\\") or _option(line, word.start()):
        return
    if is_second or (value.isupper() and word[0].isupper() and word[0].isalpha()):
        raise UsageError(
            f'Does {word[0]} belong to --{name}? Then quote it: --{name} "{value} {word[0]}". '
            "If it does not, quote the task."
        )


def _is_unclosed(line: str, start: int) -> bool:
    """Tells whether a double quote opens here and the line has no other that could close it."""
    return line[start] in '"“' and _OPENERS[line[start]] not in line[start + 1 :]


def _unknown(name: str) -> str:
    meant = likely(name, _ALL)
    hint = f" Did you mean --{meant}?" if meant else ""
    return (
        f"Unknown option --{name}.{hint} If it is part of the task, quote the task or put -- "
        "before it."
    )


def _value(line: str, option: re.Match[str]) -> tuple[str, int]:
    """Returns the value after an option, and where it ends. Raises `UsageError`."""
    start = option.end()
    if not option[2]:
        while start < len(line) and line[start].isspace():
            start += 1
    if end := _quoted_end(line, start):
        return _unquoted(line[start:end]), end
    word = _WORD.match(line, start)
    if not word or (not option[2] and _OPTION.match(line, start)):
        raise UsageError(f"--{option[1]} needs a value.")
    if word[0][0] in '"“':
        raise UsageError(f"The quote after --{option[1]} is not closed.")
    return word[0], word.end()


def _quoted_end(line: str, start: int) -> int:
    """Returns where the quoted text that starts here ends; 0 = no quoted text starts here, or its
    quote is not closed."""
    closer = _OPENERS.get(line[start : start + 1], "")
    if not closer:
        return 0
    position = start + 1
    while (position := line.find(closer, position)) >= 0:
        is_escaped = closer == '"' and line[position - 1] == "\\"
        if not is_escaped and (position + 1 == len(line) or line[position + 1].isspace()):
            return position + 1
        position += 1
    return 0


def _unquoted(text: str) -> str:
    """Returns the text without its quotes, if all of it is quoted."""
    if _quoted_end(text, 0) != len(text) or not text:
        return text
    inner = text[1:-1]
    return inner.replace('\\"', '"') if text[0] == '"' else inner


def _read(folder: str, name: str) -> str:
    """Returns the text of a prompt file. A link inside the project must not lead out of it. Raises
    `UsageError`."""
    path = os.path.normpath(os.path.join(os.path.realpath(folder), name))
    project = paths.project_of(folder)
    try:
        return files.read(path, inside=project if path.startswith(project + os.sep) else "")
    except UnreadableError as error:
        raise UsageError(f"The prompt file {path} cannot be read: {error}.") from error
