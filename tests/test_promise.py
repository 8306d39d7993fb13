"""A promise and `<blocked>` at a Stop. What counts as one is a table: `cases/promises*.toml`."""

from __future__ import annotations

import pytest
from world import World

from sisyphus.ralph import promise, tags
from sisyphus.sessions.messages import WAY_OUT

PROMISE = "<promise>DONE</promise>"


@pytest.mark.parametrize(
    "last",
    [
        f"Expected promise: {PROMISE}",
        f"I will finish with the line\n{PROMISE}\nwhen the tests pass. They fail now.",
        f"Three tests fail, so there is no {PROMISE}",
        f"Die Tests schlagen fehl, also kein {PROMISE}",
        f"- [ ] {PROMISE}",
    ],
)
def test_a_promise_inside_a_sentence_ends_no_loop(world: World, last: str) -> None:
    world.loop()

    world.stop(last)

    assert [loop["status"] for loop in world.loops()] == ["active"]
    assert world.stop(f"All tests pass. {PROMISE}").message.startswith("[RALPH LOOP COMPLETE]")


def test_an_agent_that_repeats_a_reason_ends_no_loop(world: World) -> None:
    """Neither the promise nor `<blocked>` in it is the agent's."""
    world.loop()
    first = world.stop("hm")
    lines = first.reason or first.text
    assert PROMISE in lines
    assert WAY_OUT in lines

    for line in (lines, *lines.splitlines()):
        world.loop("--force")
        world.stop(line)

        assert [loop["status"] for loop in world.loops()] == ["active"], line


@pytest.mark.parametrize(
    ("last", "place"),
    [
        (f"<!-- {PROMISE} -->", "a comment"),
        (f"I am done. <!-- {PROMISE} -->", "a comment"),
        (f"<!--\r\nDone.\r\n{PROMISE}\r\n-->\r\nI go on.", "a comment"),
        (f"<!-- `x` -->\n\n```\n{PROMISE}\n```", "code or a block quote"),
        (f"<!-- x -->\n\nI say `{PROMISE}`", "code or a block quote"),
        (f"<!-- x -->\n\n> {PROMISE}", "code or a block quote"),
    ],
)
def test_a_promise_that_nobody_sees_is_told_where_it_is(
    world: World, last: str, place: str
) -> None:
    world.loop()

    assert f"The tag is in {place}. Put it alone on a line" in world.stop(last).reason


@pytest.mark.parametrize(
    ("last", "hint"),
    [
        (WAY_OUT, "Your <blocked> is inside a sentence. Put it alone on a line."),
        ("<blocked>What you need.</blocked>", "Say in it, in your own words, what you need."),
        ("There is no <blocked>key</blocked>", "Your <blocked> is inside a sentence."),
        ("I would then say:\n\n<blocked>a key</blocked>", "continues the line before it. Send it"),
        ("- [ ] <blocked>a key</blocked>", "Your <blocked> is in a list or a check box."),
    ],
)
def test_a_blocked_tag_inside_a_sentence_pauses_no_loop(world: World, last: str, hint: str) -> None:
    world.loop()

    reply = world.stop(last)

    assert hint in reply.reason + reply.text
    assert [loop["status"] for loop in world.loops()] == ["active"]
    assert "needs you: a key" in world.stop("I stop here.\n\n<blocked>a key</blocked>").message


def test_our_own_words_are_the_placeholder() -> None:
    assert f"<blocked>{tags.PLACEHOLDER}</blocked>" in WAY_OUT


@pytest.mark.parametrize(
    "text",
    [
        "<promise>ALL GREEN<promise>", "<promise>ALL GREEN</promise", "ALL GREEN</promise>",
        "[promise]ALL GREEN[/promise]", "&lt;promise&gt;ALL GREEN&lt;/promise&gt;",
        "promise: ALL GREEN", "I am done.\nPromise: ALL GREEN", "< / promise> ALL GREEN",
    ],
)  # fmt: skip
def test_a_promise_with_half_a_tag_is_told(text: str) -> None:
    assert not promise.is_said([text], "ALL GREEN")
    assert "tag" in promise.near_miss([text], "ALL GREEN")


@pytest.mark.parametrize("text", ["I keep my promise.", "The promise of ALL GREEN is a plan.", "x"])
def test_words_about_the_promise_are_no_near_miss(text: str) -> None:
    assert promise.near_miss([text], "ALL GREEN") == ""
