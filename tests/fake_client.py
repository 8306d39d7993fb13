"""A program that behaves as Claude Code without a terminal does, by a script.

`FAKE_CLIENT` names a folder. Each process takes the first of `processes.json` there, a list of
lists of steps, and adds its arguments and its prompt to `calls.jsonl`. See `_Session.step`. Where
several work at once, `items/ITEM.json` is such a list for the item that the prompt names.
"""

from __future__ import annotations

# Most imports are inside functions: tests start this program often, and few need all of them.
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    Json = dict[str, Any]

MODEL = "claude-opus-5-5"
WINDOW = 1_000_000


# A shell answers what a run asks before it begins, and -S leaves out the packages of the
# environment: a process of Python costs as much as all the rest of an iteration.
_PROGRAM = """#!/bin/sh
case "$*" in
--version)
    echo "2.1.329 (Claude Code)" ;;
*--help*)
    echo "  --permission-prompts <target>" ;;
"auth status"*)
    if test -e "$FAKE_CLIENT/logged-out"; then echo '{{"loggedIn": false}}'; exit 1; fi
    echo '{{"loggedIn": true}}' ;;
*)
    exec "{python}" -S "{file}" "$@" ;;
esac
"""


def install(folder: Path) -> Path:
    """Makes a program `claude` that plays the script in `folder`; returns the folder it is in."""
    return install_as("claude", _PROGRAM, __file__, folder)


def install_as(name: str, program: str, file: str, folder: Path) -> Path:
    """Makes a program that plays the script in `folder`; returns the folder it is in. program: for
    the shell, with places for Python and for the file that it runs."""
    path = folder / "bin" / name
    path.parent.mkdir(parents=True)
    path.write_text(program.format(python=sys.executable, file=file))
    path.chmod(0o755)
    return path.parent


class Player:
    """A process of a client, as far as all clients are alike."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.code = 0

    def step(self, name: str, value: Any) -> None:
        """Plays one step: what the agent says, does, or fails with."""
        getattr(self, f"do_{name}")(value)

    def do_sleep(self, seconds: float) -> None:
        import time

        time.sleep(seconds)

    def do_exit(self, code: int) -> None:
        sys.stdout.flush()
        os._exit(code)

    def do_signal(self, name: str) -> None:
        """Sends a signal to the runner."""
        import signal

        os.kill(os.getppid(), getattr(signal, name))

    def run_hook(self, event: str, fields: Json, *words: str) -> str:
        """Runs a hook, as the client does; returns its reply."""
        import subprocess

        names = {"session-start": "SessionStart", "post-tool-use": "PostToolUse", "stop": "Stop"}
        payload = {"session_id": self.id, "cwd": os.getcwd(), "hook_event_name": names[event]}
        command = [os.path.join(os.path.dirname(sys.executable), "sisyphus"), "hook", event, *words]
        data = json.dumps({**payload, **fields})
        done = subprocess.run(command, input=data, capture_output=True, text=True, check=True)
        return done.stdout


class _Session(Player):
    def __init__(self, id: str) -> None:
        super().__init__(id)
        self.tokens = 0
        self.calls = 0
        self.denied: list[Json] = []
        self.error: Json | None = None
        self.last = ""

    def do_say(self, text: str) -> None:
        self.last = text
        self.answer({"type": "text", "text": text})

    def do_fill(self, tokens: int) -> None:
        """The agent answers with so many tokens in its context."""
        self.answer({"type": "text", "text": "I work."}, tokens)

    def do_write(self, file: list[str]) -> None:
        """A path and a text."""
        path, text = file
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        write(path, text)
        self.use("Write", {"file_path": os.path.abspath(path), "content": text}, "written")

    def do_tick(self, item: str) -> None:
        write("fix_plan.md", read("fix_plan.md").replace(f"- [ ] {item}", f"- [x] {item}", 1))
        self.use("Edit", {"file_path": os.path.abspath("fix_plan.md")}, "edited")

    def do_run(self, command: str) -> None:
        import subprocess

        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        output = done.stdout + done.stderr
        self.use("Bash", {"command": command}, output, is_error=done.returncode != 0)

    def do_deny(self, call: list[str]) -> None:
        """A tool, and its path or command."""
        tool, target = call
        self.deny(tool, {"command" if tool == "Bash" else "file_path": target})

    def do_checkpoint(self, value: int | list[Any]) -> None:
        """The context fills up to so many percent, and the hooks hear of it. With a text, in a
        list, the agent has said that just before its call."""
        from datetime import UTC, datetime

        percent, *said = value if isinstance(value, list) else [value]
        path = in_folder(f"{self.id}.jsonl")
        self.hear("session-start", {"source": "startup", "transcript_path": path})
        usage = {"cache_read_input_tokens": WINDOW * percent // 100, "output_tokens": 10}
        call = {
            "type": "tool_use",
            "id": "t1",
            "name": "Edit",
            "input": {"file_path": os.path.abspath("cart.py"), "new_string": "cart = 1"},
        }
        texts = [{"type": "text", "text": text} for text in said]
        message = {"id": "m1", "model": MODEL, "content": [*texts, call], "usage": usage}
        stamp = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"type": "assistant", "timestamp": stamp, "uuid": "u1", "message": message}
        write(path, json.dumps(line) + "\n")
        fields = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
        self.hear("post-tool-use", {**fields, "transcript_path": path})

    def hear(self, event: str, fields: Json) -> None:
        line = json.dumps({"event": event, "reply": self.run_hook(event, fields)})
        write(in_folder("replies.jsonl"), f"{line}\n", "a")

    def do_stop(self, last: str) -> None:
        """The agent stops, and the hooks hear of it."""
        self.hear("stop", {"last_assistant_message": last})

    def do_result(self, _: None) -> None:
        """It reports its result, before it ends."""
        self.end()

    def do_print(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def answer(self, block: Json, tokens: int = 1_000) -> None:
        self.tokens += tokens + 10
        usage = {"input_tokens": tokens, "output_tokens": 10}
        message = {"id": f"msg_{os.urandom(8).hex()}", "model": MODEL, "role": "assistant"}
        self.emit("assistant", message={**message, "content": [block], "usage": usage})

    def use(self, tool: str, values: Json, result: str, *, is_error: bool = False) -> str:
        self.calls += 1
        id = f"toolu_{self.calls}"
        self.answer({"type": "tool_use", "id": id, "name": tool, "input": values})
        block = {"type": "tool_result", "tool_use_id": id, "content": result, "is_error": is_error}
        self.emit("user", message={"role": "user", "content": [block]})
        return id

    def deny(self, tool: str, values: Json) -> None:
        self.calls += 1
        id = f"toolu_{self.calls}"
        self.answer({"type": "tool_use", "id": id, "name": tool, "input": values})
        self.denied.append({"tool_name": tool, "tool_use_id": id, "tool_input": values})
        self.emit("system", subtype="permission_denied", tool_name=tool, tool_use_id=id)
        block = {"type": "tool_result", "tool_use_id": id, "content": "denied", "is_error": True}
        self.emit("user", message={"role": "user", "content": [block]})

    def do_fail(self, error: Json) -> None:
        """A request fails: status, error, text, resets_at, or in how many seconds that is."""
        import time

        self.error, self.code = error, 1
        if "resets_in" in error:
            error["resets_at"] = time.time() + error["resets_in"]
        if "resets_at" in error:
            info = {"status": "rejected", "resetsAt": error["resets_at"]}
            self.emit("rate_limit_event", rate_limit_info=info)
        text = {"type": "text", "text": error["text"]}
        message = {"id": "e", "model": "<synthetic>", "role": "assistant", "content": [text]}
        names = {"error": error.get("error", ""), "api_error_status": error.get("status")}
        self.emit("assistant", message=message, is_api_error_message=True, **names)

    def end(self) -> None:
        error = self.error or {}
        used = {"inputTokens": self.tokens, "outputTokens": 0, "contextWindow": WINDOW}
        self.emit(
            "result",
            subtype="success",
            is_error=bool(error),
            result=error.get("text", self.last),
            api_error_status=error.get("status"),
            terminal_reason="api_error" if error else "completed",
            total_cost_usd=self.tokens / 1_000_000,
            modelUsage={MODEL: used},
            permission_denials=self.denied,
        )

    def emit(self, kind: str, **fields: Any) -> None:
        line = {"type": kind, "session_id": self.id, "parent_tool_use_id": None, **fields}
        print(json.dumps(line), flush=True)


def in_folder(name: str) -> str:
    """The path of a file in the folder that `FAKE_CLIENT` names."""
    return os.path.join(os.environ["FAKE_CLIENT"], name)


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path: str, text: str, mode: str = "w") -> None:
    with open(path, mode, encoding="utf-8") as file:
        file.write(text)


def main(words: list[str]) -> int:
    prompt = sys.stdin.read()
    call = {"words": words, "prompt": prompt, "folder": os.getcwd()}
    write(in_folder("calls.jsonl"), json.dumps(call) + "\n", "a")
    script = script_of(prompt)
    processes = json.loads(read(script))
    steps = processes.pop(0) if processes else []
    left = f"{script}.{os.getpid()}"  # the next one needs all of it, even if we are killed now
    write(left, json.dumps(processes))
    os.replace(left, script)
    session = _Session(id_of(words))
    is_plain = bool(steps) and steps[0] == ["plain", True]
    if not is_plain:
        session.emit("system", subtype="init", model=MODEL, cwd=os.getcwd())
    for name, value in steps[is_plain:]:
        session.step(name, value)
    if not is_plain:
        session.end()
    return session.code


def script_of(prompt: str) -> str:
    """The file with the processes for the item of a prompt, else that for all."""
    folder = in_folder("items")
    names = os.listdir(folder) if os.path.isdir(folder) else ()
    own = (name for name in names if f"\n> {name.removesuffix('.json')}\n" in prompt)
    return os.path.join(folder, name) if (name := next(own, "")) else in_folder("processes.json")


def id_of(words: list[str]) -> str:
    """The session that the client is told to begin, or a new one."""
    if "--session-id" in words:
        return words[words.index("--session-id") + 1]
    import uuid

    return str(uuid.uuid4())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
