"""Every sentence about sessions, for the user and for `sisyphus why`."""

from __future__ import annotations

from sisyphus.ground.paths import display
from sisyphus.ground.text import one_line

_KINDS = {
    "boulder": ("plan state", "plan states"),
    "readme": ("README", "READMEs"),
    "agents": ("AGENTS.md", "AGENTS.md files"),
    "rules": ("rule", "rules"),
    "loop": ("loop message", "loop messages"),
    "handoff": ("context message", "context messages"),
    "answer": ("answer of yours", "answers of yours"),
}
"""The kinds of texts, for people: of one, of several."""


WAY_OUT = "If you need something from the user, say <blocked>what you need</blocked>"
"""Tells the model how it may stop honestly, whatever makes it go on."""


def no_memory(problem: str) -> str:
    return f"sisyphus cannot use its database and will not remember this session: {problem}"


def started(source: str) -> str:
    return f"session started: {source or 'unknown'}"


def ended(reason: str) -> str:
    return f"session ended: {reason}" if reason else "session ended"


def turn_failed(error: str) -> str:
    return f"the turn failed: {error}"


INTERRUPTED = "you interrupted it"
"""Why a session waits whose turn the user broke off."""

TURN_INTERRUPTED = "you interrupted the turn, so nothing goes on before your next prompt"

UNKNOWN_ERROR = "unknown error"
"""The error of a turn for which the client gives none."""


def sent(counts: dict[str, int], hooks: int) -> str:
    """Says what a session was sent. counts: kind → number of files or, without a file, of texts.
    hooks: how many did something."""
    parts = []
    for kind, count in counts.items():
        one, several = _KINDS.get(kind, (kind, kind))
        parts.append(f"{count} {one if count == 1 else several}")
    acted = f"{hooks} {'hook' if hooks == 1 else 'hooks'} acted"
    return f"sent: {', '.join(parts) or 'nothing'}; {acted}"


def of_run(run: str, iteration: int, item: str) -> str:
    """Names a session by the iteration of a run that it is. Their prompts begin alike."""
    return f"Run {run}, iteration {iteration}{f': {one_line(item)}' if item else ''}"


def short(session: str) -> str:
    """Returns the start of a session's id, which our commands accept too: eight characters, after
    a prefix that all ids of a client have."""
    prefix, mark, _ = session.partition("_")
    return session[: len(prefix + mark) + 8] if mark else session[:8]


def is_scheduled(prompt: str) -> str:
    """Tells the user that a prompt is not theirs."""
    return f"The agent has scheduled this prompt: {prompt}"


NOT_YOURS = (
    "sisyphus takes it for the agent's, so it commands, resumes and answers nothing. If it is "
    "yours, say it in other words, or run the command in a terminal."
)


def asks_permission(session: str, tool: str, project: str) -> str:
    """tool: its name, with what it asks for. project: its folder."""
    name = one_line(project.rpartition("/")[2])
    return f"Session {short(session)} in {name} asks for your permission to use {tool}"


def stands_still(session: str, why: str) -> str:
    return f"Session {short(session)} stands still: {one_line(why)}"


def asks(session: str, question: str) -> str:
    return f"Session {short(session)} asks: {one_line(question)}"


def rests(session: str, why: str) -> str:
    return f"Session {short(session)} needs you: {one_line(why)}"


def failed(session: str, error: str) -> str:
    return f"Session {short(session)} stopped: its last turn failed: {one_line(error)}"


ANSWER_DIALOG = "Answer the dialog in its terminal."
ANSWER_QUESTION = "Answer it in its session."
ANSWER_REST = "Your next prompt there makes it go on."
"""What the user can do about these."""

PERMISSION_NEEDED, TURN_FAILED = "Permission needed", "A turn failed"
"""Titles of the notices about a dialog and a failed turn."""


def forked(parent: str) -> str:
    return f"a fork of session {parent}" if parent else "a fork of a session that we do not know"


NO_PROJECT = "Your home folder is never a project, nor is a folder above it: go to a project."


def root(project: str) -> str:
    """Names the root when a session or command runs in another folder."""
    return f"The project is {display(project, '')}."


def wired_twice() -> str:
    return (
        "sisyphus is wired twice, as a plugin and in the settings, so each event starts two "
        "processes. The hooks of the settings answer; the plugin's say nothing. To keep one of "
        "them, run `sisyphus uninstall` or disable the plugin."
    )


def in_agents_shell(prompt: str, marks: list[str]) -> str:
    """Tells the user why a prompt is not theirs. marks: the variables that say so."""
    verb = "is" if len(marks) == 1 else "are"
    return (
        f"This client was started in an agent's shell: {', '.join(marks)} {verb} in its "
        f"environment. So this prompt may be the agent's: {prompt}"
    )


def of_your_own(marks: list[str]) -> str:
    return (
        "sisyphus takes it for the agent's, so it commands, resumes and answers nothing. If it is "
        "yours, start the client in a terminal of your own, or after "
        f"`unset {' '.join(marks)}`."
    )
