"""The line of a client's file that calls us: how `install` writes it, and how we know it again.

It stays when the program goes, and the environment of every project reaches it. So it keeps Python
from what an environment leads it to, and ends with words for the shell for the case that nothing
starts. `/bin/sh`, bash and zsh read it. Codex takes the user's shell: its lines are for fish, too.
"""

import json
import re
import shlex
from itertools import dropwhile

NAME = "sisyphus"
"""The word that starts us where our folder is on the PATH."""

ISOLATED = "-I -m sisyphus"
"""What follows the path of a Python that reads no variables and no code of the working folder."""

HOME = "CLAUDE_CONFIG_DIR"
"""The variable that a line of ours may set, by `env`, before it starts us."""

CLEARED = (
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONPLATLIBDIR",
    "PYTHONPYCACHEPREFIX",
    "PYTHONUSERBASE",
    "PYTHONWARNINGS",
)
"""Where Python looks for modules, compiled files and what it runs at its start, and which warnings
end a program. It takes an empty value for none (measured on 3.11 to 3.13)."""

WAKES = 2
"""The exit code of `hook idle` that wakes a session."""

_MISSING = (
    "sisyphus does not start, so no plan and no loop is kept here. Install it (`uv tool install "
    "sisyphus-hooks`) and run `sisyphus doctor`, or take the lines that call it out of your hooks "
    "and plugins."
)

_IF_THERE_IS_WORK = (
    "setopt nonomatch 2>/dev/null; "
    "d=${CLAUDE_CONFIG_DIR:-$HOME/.claude}/.sisyphus; "
    'for f in "$d"/ralph/loops/ralph-loop.* "$d"/projects/*/hold.json "$d"/projects/*/enforce.json '
    '"${CLAUDE_CONFIG_DIR:+-}${HOME:+-}/"; do [ -e "$f" ] || continue; '
)
"""Nobody is woken where there is no loop, no hold and no enforcement. Each has a file in our folder
(see `ground.traces`), and a shell that looks for one costs a twentieth of a Python that asks the
database, at every Stop. `setopt` is for zsh, which fails where a pattern matches nothing. Where
neither variable is set, the last word is `/`, which is there: Python knows another way home."""

_CLEAR = " ".join(f"{name}=" for name in CLEARED)

_CALL = re.compile(r"(.*)\s(hook\s+([^\s;]+).*)", re.DOTALL)

_LONGEST = 10_000
"""No line of ours has more characters. To split a megabyte takes a second."""


def line(event: str, *options: str, wakes: bool = False) -> str:
    """Returns the line for an event, as everybody gets it: by our name.

    Where we do not start, it exits with 0 and says nothing; at the start of a session it prints a
    reply that tells the user. wakes: its exit code may wake a session, if there is work.
    """
    call = " ".join([words(NAME), "hook", event, *options])
    return f"{_IF_THERE_IS_WORK if wakes else ''}{call}{_guard(event, wakes=wakes)}"


def _guard(event: str, *, wakes: bool) -> str:
    """Returns what follows the call. A hook of ours exits with 0, but for one that wakes: what else
    comes is from a shell or a Python that found nothing to run."""
    if wakes:
        return f"; [ $? -ne {WAKES} ] || exit {WAKES}; break; done"
    if event == "session-start":
        return f" || echo {shlex.quote(json.dumps({'systemMessage': _MISSING}))}"
    return " || :"


def words(start: str) -> str:
    """Returns the words that start us so that the environment leads Python nowhere else. start: see
    `installation.Installation`."""
    return start if start.endswith(f" {ISOLATED}") else f"{_CLEAR} {start}"


def with_start(line: str, start: str) -> str:
    """Returns a line that starts us in another way."""
    call = line.removeprefix(_IF_THERE_IS_WORK)
    found = _CALL.match(call)
    return f"{line.removesuffix(call)}{words(start)} {found[2]}" if found else line


def call(line: str) -> tuple[str, str]:
    """Returns the words that start us in a line of ours, without what clears the environment, and
    the event that it names."""
    found = _CALL.match(line.removeprefix(_IF_THERE_IS_WORK))
    return (found[1].removeprefix(f"{_CLEAR} "), found[3]) if found else (line, "")


def is_ours(entry: object, command: str) -> bool:
    """Tells whether a hook or status line runs `sisyphus COMMAND`, from whatever folder."""
    text = entry.get("command") if isinstance(entry, dict) else None
    try:
        is_line = isinstance(text, str) and len(text) <= _LONGEST
        split = shlex.split(str(text).removeprefix(_IF_THERE_IS_WORK)) if is_line else []
    except ValueError:
        return False
    found = [word for word in dropwhile(_is_before, split) if word not in ("-I", "-P")]
    if found[1:3] == ["-m", NAME]:
        found = found[2:]
    return len(found) > 1 and found[0].rpartition("/")[2] == NAME and found[1] == command


def _is_before(word: str) -> bool:
    """Tells whether a word of a line only sets a variable for what follows."""
    return word == "env" or word.startswith(tuple(f"{name}=" for name in (HOME, *CLEARED)))
