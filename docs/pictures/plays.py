"""What the pictures show: each a scene that is played through the real binary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theatre import SESSION

if TYPE_CHECKING:
    from collections.abc import Callable

    from theatre import Theatre

_PLAN = """\
# shop-checkout

## Wave 1: Cart

- [x] Model the cart
- [x] Add and remove items

## Wave 2: Checkout

- [ ] Add the discount rule
- [ ] Make the tests pass
"""
_RULE = """\
---
applies_to: ["src/**/*.py"]
---

- Money is an integer number of cents.
- Every public function is annotated.
"""
_LOOP = '"Make the tests pass" --completion-promise "TESTS PASS"'


def boulder(theatre: Theatre) -> None:
    theatre.write(".claude/PLAN.md", _PLAN)
    theatre.hook("session-start", {"session_id": "first", "source": "startup"})
    note = "rates are in, tests next"
    theatre.run(["boulder", "checkpoint", note])
    theatre.hook("session-end", {"session_id": "first", "reason": "other"})
    theatre.happens(
        "The next morning a new session starts", "session-start", {"source": "startup"},
        shown="model",
    )  # fmt: skip
    theatre.type("sisyphus boulder status", keep=lambda line: "Record" not in line)


def ralph(theatre: Theatre) -> None:
    theatre.run(["install", "--only", "commands", "--yes"])
    theatre.happens(
        f"/ralph-loop {_LOOP}", "user-prompt-submit",
        {"prompt": f"/ralph-loop {_LOOP}"},
    )  # fmt: skip
    theatre.happens(
        "The agent wants to stop: “I think this looks good now.”", "stop",
        {"last_assistant_message": "I think this looks good now."}, shown="model",
    )  # fmt: skip
    theatre.happens(
        "It stops again: “All green. <promise>TESTS PASS</promise>”", "stop",
        {"last_assistant_message": "All green.\n\n<promise>TESTS PASS</promise>"},
    )  # fmt: skip
    theatre.type("sisyphus ralph log")


def rules(theatre: Theatre) -> None:
    theatre.write(".claude/rules/python.md", _RULE)
    theatre.write("src/cart.py", "total = 0\n")
    reading = {
        "tool_name": "Read",
        "tool_input": {"file_path": str(theatre.project / "src/cart.py")},
    }
    theatre.happens("The agent reads src/cart.py", "post-tool-use", reading)
    theatre.happens("It reads the file again", "post-tool-use", reading)
    theatre.type(f"sisyphus rules explain src/cart.py --session-id {SESSION}")


def checkpoint(theatre: Theatre) -> None:
    theatre.write(".claude/PLAN.md", _PLAN)
    theatre.hook("session-start", {"session_id": SESSION, "source": "startup"})
    theatre.say("user", "Go on with the plan.")
    for tokens in (790_000, 815_000, 850_000, 870_000):
        theatre.fill(tokens)
    theatre.happens(
        "The agent works; its context is 87 % full", "post-tool-batch", {"tool_calls": []},
        shown="model",
    )  # fmt: skip
    theatre.type(f"sisyphus ralph context --session-id {SESSION}")
    theatre.happens(
        "Whoever goes on is given the handoff", "session-start", {"source": "resume"},
        shown="model", most=13,
    )  # fmt: skip


def why(theatre: Theatre) -> None:
    theatre.write("README.md", "# Shop\n\nA small shop.\n")
    theatre.write(".claude/PLAN.md", _PLAN)
    theatre.write(".claude/rules/python.md", _RULE)
    theatre.write("src/cart.py", "total = 0\n")
    session = {"session_id": SESSION}
    reading = {
        "tool_name": "Read",
        "tool_input": {"file_path": str(theatre.project / "src/cart.py")},
    }
    theatre.run(["install", "--only", "commands", "--yes"])
    theatre.hook("session-start", {**session, "source": "startup"})
    theatre.hook("user-prompt-submit", {**session, "prompt": f"/ralph-loop {_LOOP}"})
    theatre.hook("post-tool-use", {**session, **reading})
    theatre.hook("stop", {**session, "last_assistant_message": "I think this looks good now."})
    theatre.hook("stop", {**session, "last_assistant_message": "<promise>TESTS PASS</promise>"})
    theatre.type("sisyphus why")


PLAYS: dict[str, tuple[str, Callable[[Theatre], None]]] = {
    "boulder": ("The plan survives the session", boulder),
    "ralph": ("A loop ends when its promise is kept", ralph),
    "rules": ("A rule arrives when it matters, once", rules),
    "checkpoint": ("Work is handed over before the context runs out", checkpoint),
    "why": ("Every decision can be explained", why),
}
"""File name -> title, and the play."""
