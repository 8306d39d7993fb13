"""At how many tokens Claude Code 2.1.329 was seen to compact, or to refuse to go on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.clients.claude_code_setup import (
    LARGE,
    LEAST_WINDOW,
    OFF,
    OUTPUT,
    PERCENT,
    SMALL,
    SMALL_ONLY,
    WINDOW,
    Compaction,
    is_large,
    is_new,
)

OPUS, SONNET, SONNET_1M = "claude-opus-5-5", "claude-sonnet-4-5", "claude-sonnet-4-5[1m]"

MEASURED = [
    pytest.param(OPUS, {}, {}, 967_000, id="opus"),
    pytest.param("claude-haiku-5-5", {}, {}, 967_000, id="haiku"),
    pytest.param(SONNET, {}, {}, 0, id="version 4 waits for the API"),
    pytest.param(SONNET, {WINDOW: "200000"}, {}, 167_000, id="version 4 with a window"),
    pytest.param(SONNET_1M, {WINDOW: "1000000"}, {}, 967_000, id="its large one with a window"),
    pytest.param(OPUS, {WINDOW: "300000"}, {}, 267_000, id="opus with a smaller window"),
    pytest.param(OPUS, {}, {"compact_window": 400_000}, 367_000, id="by a setting"),
    pytest.param(SONNET, {}, {"compact_window": 200_000}, 167_000, id="version 4 by a setting"),
    pytest.param(
        OPUS, {WINDOW: "300000"}, {"compact_window": 400_000}, 267_000, id="both: the environment"
    ),
    pytest.param(OPUS, {PERCENT: "50"}, {}, 490_000, id="half of it"),
    pytest.param(OPUS, {PERCENT: "90"}, {}, 882_000, id="90 percent of it"),
    pytest.param(OPUS, {PERCENT: "99"}, {}, 967_000, id="a percentage can only lower"),
    pytest.param(SONNET, {PERCENT: "50"}, {}, 0, id="a percentage of nothing"),
    pytest.param(OPUS, {OUTPUT: "8000"}, {}, 979_000, id="short answers"),
    pytest.param(OPUS, {OUTPUT: "64000"}, {}, 967_000, id="long answers"),
    *(
        pytest.param(OPUS, {name: "1"}, {}, 977_000, id=f"{name}: it refuses to go on")
        for name in OFF
    ),
    pytest.param(OPUS, {}, {"compacts": False}, 977_000, id="off by a setting"),
    pytest.param(SONNET, {OFF[0]: "1"}, {}, 177_000, id="version 4 refuses as well"),
    pytest.param(SONNET, {OFF[0]: "1", OUTPUT: "8000"}, {}, 189_000, id="with short answers"),
    pytest.param(OPUS, {OFF[0]: "1", PERCENT: "50"}, {}, 977_000, id="off and a percentage"),
    pytest.param(OPUS, {OFF[0]: "1", WINDOW: "300000"}, {}, 977_000, id="off and a window"),
    pytest.param(OPUS, {}, {"compacts": True}, 967_000, id="on by a setting"),
    pytest.param(SONNET_1M, {SMALL_ONLY: "1"}, {}, 0, id="version 4 without the large window"),
    pytest.param(SONNET_1M, {}, {}, 0, id="its large one waits for the API, too"),
    pytest.param(OPUS, {SMALL_ONLY: "1"}, {}, 167_000, id="opus with the small one"),
]


def _ends_at(model: str, client: Compaction) -> int:
    whole = LARGE if is_large(model) and not client.is_small else SMALL
    return client.ends_at(client.usable_window(whole), by_itself=is_new(model))


@pytest.mark.parametrize(("model", "environment", "known", "tokens"), MEASURED)
def test_it_ends_where_it_was_seen_to(
    model: str, environment: dict[str, str], known: dict[str, object], tokens: int
) -> None:
    assert _ends_at(model, Compaction(environment, known)) == tokens


ODD = [
    pytest.param("", id="nothing"),
    pytest.param("0", id="zero"),
    pytest.param("-5", id="a negative number"),
    pytest.param("many", id="a word"),
    pytest.param("²", id="a digit that is no number"),
    pytest.param("9" * 5_000, id="too many digits"),
    pytest.param("k", id="a unit alone"),
    pytest.param("2.5m", id="a broken number"),
    pytest.param("200kk", id="two units"),
]


@pytest.mark.parametrize("name", [WINDOW, PERCENT, OUTPUT])
@pytest.mark.parametrize("value", ODD)
def test_what_is_no_number_says_nothing(name: str, value: str) -> None:
    assert _ends_at(OPUS, Compaction({name: value}, {})) == 967_000


SWITCHES = [
    *(pytest.param(text, True, id=f"on: {text}") for text in ("1", "true", "Yes", " ON ")),
    *(pytest.param(text, False, id=f"off: {text!r}") for text in ("0", "false", "no", "", "2")),
]


@pytest.mark.parametrize("name", [*OFF, SMALL_ONLY])
@pytest.mark.parametrize(("text", "is_on"), SWITCHES)
def test_a_switch_is_on_by_a_few_words(name: str, text: str, *, is_on: bool) -> None:
    expected = Compaction({name: "1"} if is_on else {}, {})
    assert _ends_at(OPUS, Compaction({name: text}, {})) == _ends_at(OPUS, expected)
    assert (_ends_at(OPUS, expected) == 967_000) is not is_on


BOUNDS = [
    pytest.param({WINDOW: "5"}, {}, LEAST_WINDOW, id="the environment is raised to it"),
    pytest.param({WINDOW: "99999"}, {}, LEAST_WINDOW, id="from just below"),
    pytest.param({WINDOW: "100000"}, {}, 100_000, id="the smallest one"),
    pytest.param({}, {"compact_window": 100_000}, 100_000, id="as a setting"),
    pytest.param({}, {"compact_window": 99_999}, LARGE, id="a smaller setting is none"),
    pytest.param({}, {"compact_window": 5}, LARGE, id="a tiny one"),
    pytest.param({}, {"compact_window": -5}, LARGE, id="a negative one"),
    pytest.param({WINDOW: "5"}, {"compact_window": 400_000}, LEAST_WINDOW, id="both"),
]


@pytest.mark.parametrize(("environment", "known", "window"), BOUNDS)
def test_no_window_is_smaller_than_the_client_lets_it_be(
    environment: dict[str, str], known: dict[str, object], window: int
) -> None:
    """Claude Code 2.1.329: at least 100,000 tokens."""
    assert Compaction(environment, known).usable_window(LARGE) == window


SPELLINGS = [
    pytest.param("300k", 267_000, id="in thousands"),
    pytest.param(" 300K ", 267_000, id="in capitals and blanks"),
    pytest.param("1m", 967_000, id="in millions"),
    pytest.param("9m", 967_000, id="more than there is"),
]


@pytest.mark.parametrize(("text", "tokens"), SPELLINGS)
def test_a_window_may_be_given_with_a_unit(text: str, tokens: int) -> None:
    """Claude Code 2.1.329: "such as 200k or 200000"."""
    assert _ends_at(OPUS, Compaction({WINDOW: text}, {})) == tokens


@pytest.mark.parametrize("value", [None, True, "400000", 4e5, [], {}])
def test_a_setting_of_another_kind_says_nothing(value: object) -> None:
    assert _ends_at(OPUS, Compaction({}, {"compact_window": value, "compacts": value})) == 967_000


def test_a_client_that_compacts_never_uses_the_whole_window() -> None:
    assert Compaction({WINDOW: "300000"}, {}).usable_window(LARGE) == 300_000
    assert Compaction({WINDOW: "300000"}, {}).usable_window(SMALL) == SMALL
    assert Compaction({WINDOW: "300000", OFF[0]: "1"}, {}).usable_window(LARGE) == LARGE


names = st.sampled_from([WINDOW, PERCENT, OUTPUT, SMALL_ONLY, *OFF])


@given(st.dictionaries(names, st.text(max_size=8) | st.integers().map(str)), st.booleans())
def test_it_ends_nowhere_beyond_the_window(environment: dict[str, str], by_itself: bool) -> None:
    client = Compaction(environment, {})
    assert client.usable_window(SMALL) >= LEAST_WINDOW
    assert 0 <= client.ends_at(SMALL, by_itself=by_itself) < SMALL


@pytest.mark.parametrize("window", [1, 22_999, 23_000, 33_000])
def test_of_a_window_that_is_all_spare_nothing_is_told(window: int) -> None:
    assert Compaction({OFF[0]: "1"}, {}).ends_at(min(window, 23_000), by_itself=True) == 0
    assert Compaction({}, {}).ends_at(window, by_itself=True) == 0
