"""A program that behaves as `codex exec --json` does, by a script.

`FAKE_CLIENT` names a folder. Each process takes the first of `processes.json` there, a list of
lists of steps, and adds its arguments and its prompt to `calls.jsonl`. Where several work at once,
`items/ITEM.json` is such a list, see `fake_client.py`. What it answers as a server is in files
named for the method, as `account`. See `_Session`.
"""

from __future__ import annotations

# Most imports are inside functions: see `fake_client.py`.
import json
import os
import sys
import time

from fake_client import Player, in_folder, install_as, read, script_of, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    Json = dict[str, Any]

WINDOW = 258_400

# A shell answers what a run asks before it begins: see `fake_client.py`.
_PROGRAM = """#!/bin/sh
case "$1" in
app-server)
    while read -r line; do
        case "$line" in
        *account/read*) cat "$FAKE_CLIENT/account" ;;
        *hooks/list*) cat "$FAKE_CLIENT/hooks" ;;
        esac
    done ;;
*)
    exec "{python}" -S "{file}" "$@" ;;
esac
"""


def install(folder: Path) -> Path:
    """Makes a program `codex` that plays the script in `folder`; returns the folder it is in."""
    bin = install_as("codex", _PROGRAM, __file__, folder)
    answer(folder, "account", {"account": None, "requiresOpenaiAuth": False})
    answer(folder, "hooks", {"data": []})
    return bin


def answer(folder: Path, method: str, result: Json) -> None:
    """Says what the server answers."""
    (folder / method).write_text(json.dumps({"id": 1, "result": result}) + "\n")


class _Session(Player):
    def __init__(self, number: int) -> None:
        super().__init__(f"01a21850-154e-7742-b602-{number:012d}")
        self.items = 0
        self.tokens = 0
        self.error = ""

    def do_say(self, text: str) -> None:
        self.fill(1_000)
        self.item("agent_message", text=text)

    def do_fill(self, tokens: int) -> None:
        """The agent answers with so many tokens in its context."""
        self.fill(tokens)
        self.item("agent_message", text="I work.")

    def do_write(self, file: list[str]) -> None:
        """A path and a text."""
        write(file[0], file[1])
        self.change(file[0], "add")

    def do_tick(self, item: str) -> None:
        write("fix_plan.md", read("fix_plan.md").replace(f"- [ ] {item}", f"- [x] {item}", 1))
        self.change("fix_plan.md", "update")

    def do_run(self, command: str) -> None:
        import subprocess

        fields = {"command": f"/bin/bash -lc '{command}'"}
        self.emit("item.started", item=self.fields("command_execution", fields, "in_progress"))
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        end = {"aggregated_output": done.stdout, "exit_code": done.returncode}
        status = "failed" if done.returncode else "completed"
        self.emit("item.completed", item=self.fields("command_execution", fields | end, status))
        self.items += 1

    def do_error(self, text: str) -> None:
        """A request fails that is tried again."""
        self.emit("error", message=text)

    def do_fail(self, text: str) -> None:
        """A request fails for good."""
        self.error, self.code = text, 1
        self.do_error(text)

    def do_stop(self, last: str) -> None:
        """The agent stops, and the hook hears of it."""
        fields = {"last_assistant_message": last}
        reply = self.run_hook("stop", fields, "--client", "codex")
        write(in_folder("replies.jsonl"), json.dumps(reply) + "\n", "a")

    def change(self, path: str, kind: str) -> None:
        self.fill(1_000)
        self.item("file_change", changes=[{"path": os.path.abspath(path), "kind": kind}])

    def fill(self, tokens: int) -> None:
        """Notes in the rollout what a request has used."""
        self.tokens += tokens
        day = time.strftime(f"{os.environ['HOME']}/.codex/sessions/%Y/%m/%d", time.gmtime())
        os.makedirs(day, exist_ok=True)
        info = {"last_token_usage": {"input_tokens": tokens}, "model_context_window": WINDOW}
        lines = (
            {"type": "token_usage_record", "payload": {
                "usage": {"input_tokens": tokens}, "thread_token_usage": self.usage}},
            {"type": "event_msg", "payload": {"type": "token_count", "info": info}},
        )  # fmt: skip
        name = f"{day}/rollout-2026-11-26T14-43-51-{self.id}.jsonl"
        write(name, "".join(json.dumps(each) + "\n" for each in lines), "a")

    @property
    def usage(self) -> Json:
        return {"input_tokens": self.tokens, "cached_input_tokens": 10, "output_tokens": 5}

    def item(self, kind: str, **fields: Any) -> None:
        self.emit("item.completed", item=self.fields(kind, fields, "completed"))
        self.items += 1

    def fields(self, kind: str, fields: Json, status: str) -> Json:
        return {"id": f"item_{self.items}", "type": kind, **fields, "status": status}

    def end(self) -> None:
        if self.error:
            self.emit("turn.failed", error={"message": self.error})
        else:
            self.emit("turn.completed", usage=self.usage)

    def emit(self, kind: str, **fields: Any) -> None:
        print(json.dumps({"type": kind, **fields}), flush=True)


def main(words: list[str]) -> int:
    session, prompt = _Session(os.getpid()), sys.stdin.read()
    call = {"words": words, "prompt": prompt, "session": session.id, "folder": os.getcwd()}
    write(in_folder("calls.jsonl"), json.dumps(call) + "\n", "a")
    script = script_of(prompt)
    processes = json.loads(read(script))
    steps = processes.pop(0) if processes else []
    write(script, json.dumps(processes))
    if steps[:1] == [["early", True]]:  # it has not said yet which session it has begun
        session.do_signal("SIGKILL")
        session.do_sleep(60)
    if steps and steps[0][0] == "broken":
        sys.exit(str(steps[0][1]))
    session.emit("thread.started", thread_id=session.id)
    session.emit("turn.started")
    for name, value in steps:
        session.step(name, value)
    session.end()
    return session.code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
