"""A program that behaves as Copilot CLI without a terminal does, by a script.

`FAKE_CLIENT` names a folder. Each process takes the first of `processes.json` there, a list of
lists of steps, and adds its arguments and its prompt to `calls.jsonl`. Where several work at once,
`items/ITEM.json` is such a list, see `fake_client.py`. See `_Session`.
"""

from __future__ import annotations

# Most imports are inside functions: see `fake_client.py`.
import json
import os
import sys

from fake_client import Player, in_folder, install_as, read, script_of, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    Json = dict[str, Any]

WINDOW = 168_000

LOGGED_OUT = """Error: No authentication information found.

Copilot can be authenticated with GitHub using an OAuth Token or a Fine-Grained Personal Access Token.

To authenticate, you can use any of the following methods:
  • Start 'copilot' and run the '/login' command
"""  # noqa: E501

# A shell answers what is asked before a run: see `fake_client.py`.
_PROGRAM = """#!/bin/sh
case "$*" in
--version)
    echo "GitHub Copilot CLI 1.0.102." ;;
*)
    exec "{python}" -S "{file}" "$@" ;;
esac
"""


def install(folder: Path) -> Path:
    """Makes a program `copilot` that plays the script in `folder`; returns the folder it is in."""
    return install_as("copilot", _PROGRAM, __file__, folder)


class _Session(Player):
    def __init__(self, id: str) -> None:
        super().__init__(id)
        self.count = 0

    def do_say(self, text: str) -> None:
        self.fill(1_000)
        self.emit("assistant.message", content=text, toolRequests=[])

    def do_fill(self, tokens: int) -> None:
        """The agent answers with so many tokens in its context."""
        self.fill(tokens)
        self.emit("assistant.message", content="I work.", toolRequests=[])

    def do_write(self, file: list[str]) -> None:
        """A path and a text."""
        write(file[0], file[1])
        self.use("create", {"path": os.path.abspath(file[0]), "file_text": file[1]})

    def do_tick(self, item: str) -> None:
        write("fix_plan.md", read("fix_plan.md").replace(f"- [ ] {item}", f"- [x] {item}", 1))
        self.use("edit", {"path": os.path.abspath("fix_plan.md"), "new_str": f"- [x] {item}"})

    def do_deny(self, call: list[str]) -> None:
        """A tool, and its path or command."""
        name, target = call
        fields = {"command" if name == "bash" else "path": target}
        error = {"message": "Permission denied because nobody answered.", "code": "denied"}
        self.use(name, fields, success=False, error=error)

    def do_error(self, status: int) -> None:
        """A request fails that is tried again."""
        self.emit("model.call_failure", statusCode=status, errorMessage=f'{{"status": {status}}}')

    def do_fail(self, error: list[Any]) -> None:
        """A request fails for good: the status, the client's name and words for it."""
        status, name, words = error
        self.do_error(status)
        self.emit("session.error", errorType=name, message=words, statusCode=status)
        self.code = 1

    def do_stop(self, last: str) -> None:
        """The agent stops, and the hook hears of it."""
        fields = {"transcript_path": self.transcript, "timestamp": last}
        reply = self.run_hook("stop", fields, "--client", "copilot")
        write(in_folder("replies.jsonl"), json.dumps(reply) + "\n", "a")

    @property
    def transcript(self) -> str:
        home = os.environ.get("COPILOT_HOME") or f"{os.environ['HOME']}/.copilot"
        return f"{home}/session-state/{self.id}/events.jsonl"

    def use(self, name: str, given: Json, *, success: bool = True, **more: Any) -> None:
        self.fill(1_000)
        call = {"toolCallId": f"toolu_{self.count}", "name": name, "arguments": given}
        self.emit("assistant.message", content="", toolRequests=[call])
        result = {"toolCallId": call["toolCallId"], "success": success, **more}
        self.emit("tool.execution_complete", result={"content": "done"}, **result)
        self.emit("assistant.turn_end", turnId="0")

    def fill(self, tokens: int) -> None:
        """Notes in the transcript what a request has used."""
        os.makedirs(os.path.dirname(self.transcript), exist_ok=True)
        used = {"inputTokens": tokens, "outputTokens": 5, "maxPromptTokens": WINDOW}
        line = json.dumps(self.event("session.usage_record", usage=used))
        write(self.transcript, f"{line}\n", "a")

    def event(self, kind: str, **data: Any) -> Json:
        self.count += 1
        id = f"{self.id}-{self.count}"
        return {"type": kind, "data": data, "id": id, "timestamp": "2026-11-30T03:36:53.265Z"}

    def emit(self, kind: str, **data: Any) -> None:
        print(json.dumps(self.event(kind, **data), separators=(",", ":")), flush=True)

    def end(self) -> None:
        stamp = {"type": "result", "timestamp": "2026-11-30T03:36:56.023Z"}
        usage = {"premiumRequests": 0}
        end = {**stamp, "sessionId": self.id, "exitCode": self.code, "usage": usage}
        print(json.dumps(end), flush=True)


def main(words: list[str]) -> int:
    given = words[words.index("--session-id") + 1] if "--session-id" in words else ""
    session, prompt = _Session(given or "0ad19c2e-5f5b-4a0e-9e0b-5d3d0f6f4c11"), sys.stdin.read()
    call = {"words": words, "prompt": prompt, "session": session.id, "folder": os.getcwd()}
    write(in_folder("calls.jsonl"), json.dumps(call) + "\n", "a")
    script = script_of(prompt)
    processes = json.loads(read(script))
    steps = processes.pop(0) if processes else []
    write(script, json.dumps(processes))
    if steps and steps[0][0] == "broken":
        sys.exit(str(steps[0][1]))
    session.emit("session.skills_loaded", skills=[])
    session.emit("user.message", content=prompt)
    for name, value in steps:
        session.step(name, value)
    session.end()
    return session.code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
