"""A user's desk: a home, a project, and the installed command, run as the client runs it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from making import COMMAND, HANG_SECONDS, PATIENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

CPU_SECONDS = 10
"""The client gives up on a hook after ten seconds. Those of the processor's own time do not grow
with what else the machine does."""

BOUNDED = ("/bin/sh", "-c", f'ulimit -t {CPU_SECONDS}; exec "$@"', "sh")

SESSION = "3f0c7d1e-0000-4000-8000-000000000001"

Json = dict[str, Any]
Tree = dict[str, tuple[str, object]]


@dataclass(frozen=True)
class Answer:
    """What one process left behind."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def reply(self) -> Json:
        """The one object on stdout; {} where there is none."""
        return _object(self.stdout) if self.stdout.strip() else {}

    @property
    def text(self) -> str:
        """What the model is given besides a reason."""
        return str(self.reply.get("hookSpecificOutput", {}).get("additionalContext", ""))


@dataclass(frozen=True)
class Desk:
    home: Path
    project: Path

    @property
    def client(self) -> Path:
        return self.home / ".claude"

    @property
    def ours(self) -> Path:
        return self.client / ".sisyphus"

    @property
    def transcript(self) -> Path:
        return self.client / "projects" / "p" / f"{SESSION}.jsonl"

    @property
    def log(self) -> list[str]:
        """The lines of the debug log."""
        path = self.ours / "logs" / "debug.log"
        return path.read_text("utf-8").splitlines() if path.is_file() else []

    @property
    def failures(self) -> list[str]:
        """What the debug log says of handlers that raised."""
        return [line for line in self.log if ":on_" in line]

    def write(self, name: str, text: str) -> Path:
        return put(self.project / name, text)

    def payload(self, event: str, **fields: object) -> Json:
        """A payload as the client sends it, `fields` replaced."""
        return {
            "session_id": SESSION,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            **self._particulars(event),
            **fields,
        }

    def _particulars(self, event: str) -> Json:
        read: Json = {"tool_name": "Read", "tool_input": {"file_path": self._path("src/app.py")}}
        edit: Json = {"tool_name": "Edit", "tool_input": {"file_path": self._path(PLAN)}}
        named: dict[str, Json] = {
            "session-start": {"source": "startup"},
            "session-end": {"reason": "other"},
            "user-prompt-submit": {"prompt": "go on", "prompt_id": "prompt-1"},
            "post-tool-use": {**read, "tool_response": {"type": "text"}, "tool_use_id": "toolu_1"},
            "post-tool-use:plan": {**edit, "tool_response": {}, "tool_use_id": "toolu_2"},
            "stop": {
                "stop_hook_active": False,
                "last_assistant_message": "still at it",
                "background_tasks": [],
                "session_crons": [],
            },
        }
        return named.get(event, {})

    def _path(self, name: str) -> str:
        return str(self.project / name)

    def hook(
        self,
        event: str,
        *,
        before: Callable[[], None] | None = None,
        **fields: object,
    ) -> Answer:
        """One hook on a proper payload, `fields` replaced; `post-tool-use:plan` edits the plan."""
        payload = json.dumps(self.payload(event, **fields)).encode()
        return self.raw_hook(event.partition(":")[0], payload, before=before)

    def raw_hook(
        self,
        event: str,
        stdin: bytes,
        *,
        env: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
    ) -> Answer:
        """One hook on these bytes. `before` runs in the child before the command starts."""
        ran = subprocess.run(
            [*BOUNDED, COMMAND, "hook", event],
            input=stdin,
            capture_output=True,
            timeout=HANG_SECONDS,
            check=False,
            cwd=self.home,
            env={**_environment(), **(env or {})},
            preexec_fn=before,  # no threads here
        )
        return Answer(ran.returncode, ran.stdout, ran.stderr.decode("utf-8", "replace"))

    def start(self, event: str, **fields: object) -> subprocess.Popen[bytes]:
        """A hook that has its payload and is at work."""
        return self._start((COMMAND,), event, fields)

    def start_patient(self, event: str, **fields: object) -> subprocess.Popen[bytes]:
        return self._start(PATIENT, event, fields)

    def _start(self, command: Sequence[str], event: str, fields: Json) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [*command, "hook", event.partition(":")[0]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.home,
            env=_environment(),
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(self.payload(event, **fields)).encode())
        process.stdin.close()
        process.stdin = None
        return process


OURS = (".sisyphus", ".boulder.json", "handoffs")
"""Where hooks may write, below the client's folder."""

PLAN = ".claude/PLAN.md"

EVENTS = ("session-start", "user-prompt-submit", "post-tool-use", "post-tool-use:plan", "stop")
"""The hooks that do something, in the order of a session."""


def furnish(desk: Desk) -> Desk:
    """Gives every feature something to do, and starts a loop."""
    desk.write(PLAN, "# Ship it\n\n## Wave 1\n\n- [x] one\n- [ ] two\n- [ ] three\n")
    desk.write("README.md", "# Ours\n\nHow to build.\n")
    desk.write("AGENTS.md", "# Agents\n\nBe brief.\n")
    desk.write("CLAUDE.md", "# Claude\n")
    desk.write(".claude/rules/python.md", '---\napplies_to: "**/*.py"\n---\nAnnotate all.\n')
    desk.write(".claude/sisyphus.toml", "[context]\ndirectory_readme = true\n")
    desk.write("src/app.py", "pass\n")
    desk.ours.mkdir(mode=0o700, parents=True)
    put(desk.ours / "config.toml", "[rules]\nenabled = true\n")
    put(desk.client / "rules" / "home.md", '---\nglobs: "*.py"\n---\nMine.\n')
    lines = [
        {"type": "user", "uuid": "u-1", "message": {"role": "user", "content": "hello"}},
        {"type": "assistant", "uuid": "a-1", "message": {"role": "assistant", "content": []}},
    ]
    put(desk.transcript, "".join(json.dumps(line) + "\n" for line in lines))
    return desk


def play(desk: Desk) -> None:
    """A session in which every feature writes its state; the loop goes on afterwards."""
    desk.hook("session-start")
    desk.hook("user-prompt-submit", prompt='/sisyphus:ralph-loop "do it" --completion-promise DONE')
    for event in ("post-tool-use", "stop"):
        desk.hook(event)


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def assert_polite(answer: Answer) -> None:
    """Exit code 0, no traceback, nothing or one JSON object on stdout."""
    assert answer.code == 0, answer.stderr
    assert "Traceback" not in answer.stderr
    assert len(answer.reply) > 0 or not answer.stdout


@contextmanager
def nothing_else_touched(*folders: Path) -> Iterator[None]:
    """Fails where anything below `folders` changed that is not ours to write."""
    before = tree(*folders)
    yield
    after = tree(*folders)
    assert after == before, sorted({*before.items()} ^ {*after.items()}, key=str)


def tree(*folders: Path) -> Tree:
    """Everything below `folders` that is not ours to write, with what it holds."""
    found: Tree = {}
    for folder in folders:
        for parent, names, files in os.walk(folder):
            names[:] = [name for name in names if not name.startswith(OURS)]
            paths = (os.path.join(parent, n) for n in [*names, *files] if not n.startswith(OURS))
            found.update((path, _look(path)) for path in paths)
    return found


def _look(path: str) -> tuple[str, object]:
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        return "link", os.readlink(path)
    if stat.S_ISREG(status.st_mode):
        small = status.st_size < 1_000_000 and os.access(path, os.R_OK)
        return "file", Path(path).read_bytes() if small else status.st_size
    return stat.filemode(status.st_mode)[0], None


def _environment() -> dict[str, str]:
    """Ours, without what makes coverage start in a child: it would cost more than the child."""
    return {name: value for name, value in os.environ.items() if "COVERAGE" not in name}


def _object(stdout: bytes) -> Json:
    value = json.loads(stdout)
    assert isinstance(value, dict), value
    return value
