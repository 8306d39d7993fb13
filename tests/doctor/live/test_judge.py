from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from doctor.scene import told
from sisyphus.doctor.live.judge import PLAYED, judge
from sisyphus.doctor.live.play import Failed, Seen

ALL = Counter(dict.fromkeys(PLAYED, 1))
WELL = Seen(code=0, noted=ALL, answers=2, is_heard=True)
NOT_FOUND = "sh: sisyphus: not found"
END_FAILED = "SessionEnd hook [sisyphus hook session-end] failed: sh: sisyphus: not found"


def _failed(*events: str, code: int | None = 127, words: str = NOT_FOUND) -> list[Failed]:
    return [Failed(event, f"sisyphus hook {event}", code, words) for event in events]


def _without(*names: str) -> Counter[str]:
    return Counter({name: n for name, n in ALL.items() if name not in names})


EVENTS = "SessionStart, UserPromptSubmit, PostToolBatch, Stop"
COUNTED = "UserPromptSubmit, Stop, SessionEnd"
COMMAND = "`sisyphus hook SessionStart`"
SEEN = [
    pytest.param(WELL, [], id="all is well"),
    pytest.param(
        replace(WELL, noted=ALL + Counter(idle=1)), [], id="an event that the run is not about"
    ),
    pytest.param(
        replace(WELL, noted=ALL + ALL),
        [("problem", f"sisyphus was called more than once for one {COUNTED}")],
        id="twice",
    ),
    pytest.param(
        replace(WELL, noted=ALL + Counter(["stop"])),
        [("problem", "sisyphus was called more than once for one Stop")],
        id="one event twice",
    ),
    pytest.param(
        replace(WELL, noted=Counter()),
        [("problem", "the client was run, and sisyphus was not reached at any event")],
        id="nothing",
    ),
    pytest.param(
        replace(WELL, noted=_without("stop", "post-tool-use")),
        [("problem", "the client was run, and sisyphus was not reached at PostToolBatch, Stop")],
        id="two events missing",
    ),
    pytest.param(
        replace(
            WELL,
            noted=Counter(),
            failed=_failed(*EVENTS.split(", ")),
            errors=END_FAILED,
        ),
        [
            (
                "problem",
                f"{EVENTS}, SessionEnd: {COMMAND} ended with exit code 127 ({NOT_FOUND})",
            )
        ],
        id="the script is gone",
    ),
    pytest.param(
        replace(WELL, noted=_without("stop", "session-end"), failed=_failed("Stop", code=1)),
        [
            ("problem", f"Stop: `sisyphus hook Stop` ended with exit code 1 ({NOT_FOUND})"),
            ("problem", "the client was run, and sisyphus was not reached at SessionEnd"),
        ],
        id="one fails, another is missing",
    ),
    pytest.param(
        replace(WELL, noted=_without("stop"), failed=_failed("Stop", code=None)),
        [("problem", "Stop: `sisyphus hook Stop` took longer than its `timeout`")],
        id="one hangs",
    ),
    pytest.param(
        replace(WELL, is_heard=False),
        [("warning", "nothing that sisyphus said reached the model")],
        id="nothing said",
    ),
    pytest.param(
        replace(WELL, astray=["api.example.com:443"]),
        [("warning", "the client wanted to reach api.example.com:443; it was not let out")],
        id="astray",
    ),
    pytest.param(
        Seen(code=1, errors="error: unknown option"),
        [("problem", "the client ended with exit code 1: error: unknown option")],
        id="the client fails",
    ),
    pytest.param(
        Seen(code=0), [("problem", "the client ended without asking the model")], id="idle"
    ),
    pytest.param(Seen(code=None), [("problem", "the client did not end in time")], id="hangs"),
]


@pytest.mark.parametrize(("seen", "expected"), SEEN)
def test_what_was_seen_is_judged(seen: Seen, expected: list[tuple[str, str]]) -> None:
    assert told(judge(seen)) == expected


def test_all_is_well_is_said_once_for_calls_and_once_for_words() -> None:
    assert [one.state for one in judge(WELL)] == ["ok", "ok"]


@pytest.mark.parametrize("seen", [case.values[0] for case in SEEN[2:]])
def test_what_is_not_well_has_a_hint_or_names_a_host(seen: Seen) -> None:
    assert all(one.hint or "not let out" in one.text for one in judge(seen) if one.state != "ok")


def test_what_was_left_out_is_not_missed() -> None:
    seen = replace(WELL, noted=_without("stop", "post-tool-use"))

    found = list(judge(seen, frozenset({"Stop", "PostToolBatch"})))

    assert told(found) == []
    assert found[0].text.startswith("not tried at PostToolBatch, Stop: ")
    assert found[1].text == (
        "the client was run, and called sisyphus at SessionStart, UserPromptSubmit, SessionEnd"
    )


def test_what_was_left_out_altogether_proves_nothing() -> None:
    found = list(judge(replace(WELL, noted=Counter()), frozenset(PLAYED.values())))

    assert ["not tried" in one.text for one in found] == [True]


REMEDIES = [
    pytest.param("/gone/sisyphus hook stop", 127, "It is gone", id="a path"),
    pytest.param("sisyphus hook stop", 127, "Put it on the PATH", id="a name"),
    pytest.param("sisyphus hook stop", 1, "Install sisyphus again", id="a fault"),
    pytest.param("sisyphus hook stop", None, "What is said above", id="a hang"),
]


@pytest.mark.parametrize(("command", "code", "hint"), REMEDIES)
def test_the_hint_fits_the_failure(command: str, code: int | None, hint: str) -> None:
    failed = Failed("Stop", command, code, NOT_FOUND)

    [found] = judge(replace(WELL, noted=_without("stop"), failed=[failed]))

    assert found.hint.startswith(hint)
