from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import a_piece

from sisyphus.measure import REPLY_UNITS, units
from sisyphus.session.queue import PRIORITY, READING_ORDER, arrange, compose, fit

if TYPE_CHECKING:
    from sisyphus._types import Kind, Piece

KINDS: tuple[Kind, ...] = ("readme", "agents", "rules", "checkpoint", "loop", "boulder")


def _bodies(pieces: list[Piece]) -> list[str]:
    return [piece["body"] for piece in pieces]


def test_the_plan_goes_before_loop_rules_and_documents() -> None:
    pieces = arrange([], [a_piece(kind, kind) for kind in KINDS])
    assert _bodies(pieces) == ["boulder", "loop", "checkpoint", "rules", "agents", "readme"]


def test_what_waited_goes_before_what_is_new_of_its_kind() -> None:
    pieces = arrange([a_piece("old")], [a_piece("new"), a_piece("plan", "boulder")])
    assert _bodies(pieces) == ["plan", "old", "new"]


def test_what_waits_already_does_not_wait_twice() -> None:
    one = a_piece("one", path="/a")
    assert arrange([one], [one, one]) == [one]


def test_a_newer_text_of_a_file_replaces_the_older_one() -> None:
    old = [a_piece(f"old {n}", path="/a") for n in (1, 2)]
    other = a_piece("other", path="/b")
    new = a_piece("new", path="/a")
    assert _bodies(arrange([*old, other], [new])) == ["other", "new"]


def test_parts_that_wait_stay_when_they_come_again() -> None:
    parts = [a_piece(f"part {n}", "readme", path="/a") for n in (1, 2, 3)]
    assert arrange(parts[1:], parts[1:]) == parts[1:]


def test_two_kinds_of_text_of_one_file_are_two_texts() -> None:
    rule, document = a_piece("rule", path="/a"), a_piece("document", "readme", path="/a")
    assert arrange([rule], [document]) == [rule, document]


def test_a_text_that_is_never_remembered_is_always_sent() -> None:
    fleeting = a_piece("now", "boulder", hash="")
    assert arrange([], [fleeting, fleeting]) == [fleeting, fleeting]


def test_a_text_that_waited_has_its_later_head() -> None:
    piece = a_piece("rule", head="for this file: ", late_head="for a file before: ")
    (waited,) = arrange([piece], [])
    assert compose([waited]) == "for a file before: rule>"
    assert arrange([waited], []) == [waited]


FRAMES = [
    pytest.param([a_piece("a")], "<a>", id="one text in its frame"),
    pytest.param([a_piece("a"), a_piece("b")], "<a\n\nb>", id="two rules in one frame"),
    pytest.param(
        [a_piece("a", "agents"), a_piece("r", "readme")],
        "<r\n\n---\n\na>",
        id="README.md before AGENTS.md",
    ),
    pytest.param(
        [a_piece("p", "boulder", head="", tail=""), a_piece("a"), a_piece("b", tail="]")],
        "p\n\n<a>\n\n<b]",
        id="frames beside each other",
    ),
    pytest.param(
        [a_piece("a"), a_piece("b", tail="]"), a_piece("c")],
        "<a\n\nc>\n\n<b]",
        id="one frame for those that are apart",
    ),
    pytest.param([], "", id="nothing"),
]


@pytest.mark.parametrize(("pieces", "text"), FRAMES)
def test_texts_stand_in_frames_in_reading_order(pieces: list[Piece], text: str) -> None:
    assert compose(pieces) == text


def test_a_reply_may_be_full_to_the_last_unit() -> None:
    full = a_piece("😀" * 4_999)
    assert fit([full]) == ("<" + full["body"] + ">", [full], [])


def test_what_does_not_fit_waits() -> None:
    first, second = a_piece("a" * 6_000), a_piece("b" * 6_000)
    assert fit([first, second]) == (compose([first]), [first], [second])


def test_a_later_text_of_its_kind_waits_with_it() -> None:
    parts = [a_piece("a" * 6_000), a_piece("b" * 6_000), a_piece("c")]
    assert fit(parts)[1:] == (parts[:1], parts[1:])


def test_another_kind_uses_the_room_that_is_left() -> None:
    rules = [a_piece("a" * 6_000), a_piece("b" * 6_000)]
    readme = a_piece("r", "readme")
    assert fit([*rules, readme])[1:] == ([rules[0], readme], [rules[1]])


def test_a_text_that_no_reply_can_carry_is_cut_with_a_note() -> None:
    text, taken, left = fit([a_piece("line\n" * 3_000)])
    note = "[cut here: this text is longer than one reply can carry]"
    assert text.startswith("<line\n")
    assert text.endswith(f"line\n\n{note}>")
    assert units(text) <= REPLY_UNITS
    assert len(taken) == 1
    assert left == []


BUDGET = 120
frames = st.sampled_from(["", "<", "[[\n", "😀"])
bodies = st.text(st.characters(), max_size=BUDGET)
queues = st.lists(
    st.builds(
        lambda kind, body, head, tail: (kind, body, head, tail),
        st.sampled_from(KINDS),
        bodies,
        frames,
        frames,
    ),
    max_size=12,
).map(
    lambda rows: arrange(
        [],
        [
            a_piece(body, kind, head=head, tail=tail, hash=f"{n}")
            for n, (kind, body, head, tail) in enumerate(rows)
        ],
    )
)


@given(queues)
def test_no_reply_is_over_its_budget(queue: list[Piece]) -> None:
    text, taken, _ = fit(queue, BUDGET)
    assert units(text) <= BUDGET
    assert all(piece["body"] in text for piece in taken)


@given(queues)
def test_what_is_not_taken_is_left(queue: list[Piece]) -> None:
    _, taken, left = fit(queue, BUDGET)
    assert sorted(p["hash"] for p in [*taken, *left]) == sorted(p["hash"] for p in queue)
    assert all(piece in queue for piece in left)


@given(queues)
def test_texts_of_one_kind_keep_their_order(queue: list[Piece]) -> None:
    _, taken, left = fit(queue, BUDGET)
    for kind in KINDS:
        before = [p["hash"] for p in queue if p["kind"] == kind]
        assert [p["hash"] for p in [*taken, *left] if p["kind"] == kind] == before


@given(queues)
def test_every_text_goes_out_after_so_many_replies(queue: list[Piece]) -> None:
    left = queue
    for _ in queue:
        left = fit(arrange(left, []), BUDGET)[2]
    assert left == []


hashed = st.builds(
    lambda kind, path, digest: a_piece(f"{path} {digest}", kind, path=path, hash=digest),
    st.sampled_from(KINDS),
    st.sampled_from(["", "/a", "/b"]),
    st.sampled_from(["1", "2", "3"]),
)


def _said(pieces: list[Piece]) -> list[tuple[str, str]]:
    return [(p["kind"], p["hash"]) for p in pieces]


@given(st.lists(hashed, max_size=6), st.lists(hashed, max_size=6))
def test_nothing_is_lost_or_doubled_in_a_queue(old: list[Piece], fresh: list[Piece]) -> None:
    waiting = arrange([], old)
    said = _said(arrange(waiting, fresh))
    replaced = {(p["kind"], p["path"]) for p in fresh if p["path"]}
    kept = _said([p for p in waiting if (p["kind"], p["path"]) not in replaced])
    assert set(said) == {*kept, *_said(fresh)}
    assert len(said) == len(set(said))
    assert [PRIORITY.index(kind) for kind, _ in said] == sorted(
        PRIORITY.index(kind) for kind, _ in said
    )


def test_both_orders_know_every_kind() -> None:
    assert set(PRIORITY) == set(READING_ORDER) == set(KINDS)


def test_of_two_files_with_one_text_only_one_goes_out() -> None:
    waiting, fresh = a_piece("t", path="/a"), a_piece("t", path="/b")
    assert [piece["path"] for piece in arrange([waiting], [fresh])] == ["/a"]
