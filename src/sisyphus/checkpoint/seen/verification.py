"""Which shell commands check something, and what their output tells of them. Pure."""

from __future__ import annotations

import re
from itertools import pairwise

from sisyphus.checkpoint.seen.check_words import DIRECT, LOOKS, RUNNERS, SCRIPT, SCRIPTS, WITH
from sisyphus.checkpoint.seen.segments import Segment, segments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_WORDS = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted({*DIRECT, *WITH, *SCRIPTS})))})\b")
_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*|py")
_SCRIPT = re.compile(SCRIPT)
_FAILURE = re.compile(
    r"(?mi)\b[1-9][0-9]* (?:failed|failing|failures?|errors?|problems?)\b|^FAILED\b|^FAIL\b"
    r"|\bBUILD FAIL|^make: \*\*\*|\berror(?:\[E[0-9]+\])?: |error TS[0-9]+|^npm ERR!"
    r"|^Traceback \(most recent|^panic: |command not found"
)
_SUCCESS = re.compile(
    r"(?mi)\b[1-9][0-9]* (?:passed|passing|tests? pass)|\b0 (?:errors|failures)\b|^ok\b|^OK\b"
    r"|^success\b|no issues found|all checks passed|test result: ok|\bBUILD SUCCESS|^PASS\b"
)


def checks(command: str) -> bool:
    """Whether the command checks the work: tests, linters, types, builds."""
    if not _WORDS.search(command):
        return False
    return any(_is_check(segment.words) for segment in segments(command))


def only_looks(command: str) -> bool:
    found = segments(command)
    return all(not segment.words or _program(segment.words) in LOOKS for segment in found)


def hides_its_end(command: str) -> bool:
    """Whether the command's exit code is not that of the check in it: `pytest | tail -5`."""
    if "pipefail" in command:
        return False
    found = segments(command)
    for position, segment in enumerate(found):
        if _is_check(segment.words):
            return any(behind in ("|", "||", ";", "&") for behind in _behind(found[position:]))
    return False


def verdict(output: str) -> bool | None:
    """What a check's own words say: True passed, False failed, None nothing."""
    if _FAILURE.search(output):
        return False
    return True if _SUCCESS.search(output) else None


def _behind(found: Sequence[Segment]) -> list[str]:
    """The operators between these segments; one that nothing follows decides nothing."""
    return [segment.operator for segment, _ in pairwise(found)]


def _is_check(words: Sequence[str]) -> bool:
    rest = _unwrapped(words)
    if not rest:
        return False
    program, arguments = _name(rest[0]), rest[1:]
    if program in DIRECT:
        return "--version" not in arguments
    if program in SCRIPTS:
        return _runs_check(program, arguments)
    return any(word in arguments for word in WITH.get(program, ()))


def _runs_check(program: str, arguments: Sequence[str]) -> bool:
    targets = [word for word in arguments if not word.startswith("-") and word != "run"]
    if not targets:
        return program == "make" and not arguments
    return any(_SCRIPT.match(word.rpartition(":")[2]) or _SCRIPT.match(word) for word in targets)


def _unwrapped(words: Sequence[str]) -> Sequence[str]:
    """The words without variables in front, and without what runs the rest of them."""
    rest = list(words)
    while rest:
        program = _name(rest[0])
        if re.match(r"[A-Za-z_]\w*=", rest[0]):
            rest = rest[1:]
        elif program in RUNNERS and RUNNERS[program] in ("", *rest[1:2]):
            rest = _after_options(rest[1 + bool(RUNNERS[program]) :])
        elif _PYTHON.fullmatch(program) and len(rest) > 1:
            rest = _after_python(rest[1:])
            break
        else:
            break
    return rest


def _after_options(words: list[str]) -> list[str]:
    """Options and numbers (`timeout 60`) of what runs another command are passed over."""
    while words and (words[0].startswith("-") or words[0][:1].isdigit()):
        words = words[1:]
    return words


def _after_python(words: list[str]) -> list[str]:
    """The module that Python runs and what is behind it, else the script and that."""
    options = next((i for i, word in enumerate(words) if word.endswith(".py")), len(words))
    if "-m" in words[:options]:
        return words[words.index("-m") + 1 :]
    return words[options:]


def _program(words: Sequence[str]) -> str:
    rest = _unwrapped(words)
    return _name(rest[0]) if rest else ""


def _name(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe").removesuffix(".cmd")
