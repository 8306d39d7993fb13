"""Plays the client: `python -I -S scripted_client.py FOLDER [flags]`; `scripted.py` tells how.

It imports little, so that fifty runs cost less than what they test.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

INTERRUPTED = "[Request interrupted by user for tool use]"


class Client:
    def __init__(self, folder: str, flags: list[str]) -> None:
        self.folder = folder
        self.flags = flags
        self.number = 0  # of this run, from 1
        self.answers = 0

    @property
    def session(self) -> str:
        if "--session-id" in self.flags[:-1]:
            return self.flags[self.flags.index("--session-id") + 1]
        return os.environ.get("SISYPHUS_SESSION_ID", "scripted")

    def begin(self) -> Json:
        """Counts this run, notes what it was given, and returns what it has to play.

        Whoever finds the note may interrupt at once.
        """
        prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
        with open(os.path.join(self.folder, "scenario.json"), encoding="utf-8") as file:
            entries = json.load(file)
        with open(os.path.join(self.folder, "runs.jsonl"), "a+", encoding="utf-8") as runs:
            fcntl.flock(runs, fcntl.LOCK_EX)
            runs.seek(0)
            self.number = sum(1 for _ in runs) + 1
            entry: Json = entries[min(self.number, len(entries)) - 1]
            if entry["ignores_interrupt"]:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            given = {
                "run": self.number,
                "prompt": prompt,
                "argv": self.flags,
                "env": {k: v for k, v in os.environ.items() if k.startswith("SISYPHUS_")},
                "cwd": os.getcwd(),
                "pid": os.getpid(),
                "session": self.session,
            }
            runs.write(json.dumps(given) + "\n")
        return entry

    def play(self, entry: Json) -> None:
        for name, *given in entry["steps"]:
            getattr(self, f"do_{name}")(*given)

    def do_event(self, event: Json) -> None:
        event.setdefault("session_id", self.session)
        if event.get("subtype") == "init":
            event["cwd"] = os.getcwd()
        message = event.get("message")
        if event["type"] == "assistant" and message and not message.get("id"):
            self.answers += 1
            message["id"] = f"msg_{self.number}_{self.answers}"
        self.do_plain(json.dumps(event) + "\n")

    def do_events(self, events: list[Json]) -> None:
        for event in events:
            self.do_event(event)

    def do_plain(self, words: str) -> None:
        sys.stdout.write(words)
        sys.stdout.flush()

    def do_stderr(self, words: str) -> None:
        sys.stderr.write(words + "\n")

    def do_write(self, path: str, text: str, how: str) -> None:
        if os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, how, encoding="utf-8") as file:
            file.write(text)

    def do_handoff(self, index: str, record: Json) -> None:
        """As a hook of the client does it."""
        record.setdefault("session_id", self.session)
        record.setdefault("loop_id", os.environ.get("SISYPHUS_RUN", ""))
        found: Json = {"version": 1, "handoffs": []}
        if os.path.exists(index):
            with open(index, encoding="utf-8") as file:
                found = json.load(file)
        found["handoffs"].append(record)
        self.do_write(f"{index}.new", json.dumps(found), "w")
        os.replace(f"{index}.new", index)

    def do_pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def do_until(self, path: str) -> None:
        self.rest()
        while not os.path.exists(path):
            time.sleep(0.01)

    def do_forever(self) -> None:
        self.rest()
        sleep_for_ever()

    def rest(self) -> None:
        self.do_write(os.path.join(self.folder, "rests"), f"{self.number}\n", "a")

    def do_child(self, path: str) -> None:
        """Leaves a process behind, whose number is written by it."""
        if os.fork() == 0:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            self.do_write(f"{path}.new", str(os.getpid()), "w")
            os.replace(f"{path}.new", path)
            sleep_for_ever()
        while not os.path.exists(path):
            time.sleep(0.01)

    def do_die(self, number: int) -> None:
        os.kill(os.getpid(), number)

    def interrupted(self) -> None:
        """As Claude Code 2.1.329 ends behind SIGINT: without a failure."""
        said = {"role": "user", "content": [{"type": "text", "text": INTERRUPTED}]}
        self.do_event({"type": "user", "message": said})
        result = {"subtype": "error_during_execution", "terminal_reason": "aborted_tools"}
        self.do_event({"type": "result", "is_error": True, **result})


def sleep_for_ever() -> None:
    while True:
        time.sleep(3_600)


def main() -> int:
    client = Client(sys.argv[1], sys.argv[2:])
    try:
        entry = client.begin()
        client.play(entry)
    except KeyboardInterrupt:
        client.interrupted()
        return 0
    return int(entry["exit_code"])


if __name__ == "__main__":
    sys.exit(main())
