from __future__ import annotations

import frontmatter
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.ralph import statefile
from sisyphus.ralph.loop import Loop
from sisyphus.ralph.statefile import BadLoopError

FIELDS = Loop.__slots__


def _loop(prompt: str = "do it", **fields: object) -> Loop:
    loop = Loop("s1", "abcde", prompt)
    for name, value in fields.items():
        setattr(loop, name, value)
    return loop


def _fields(loop: Loop) -> dict[str, object]:
    return {name: getattr(loop, name) for name in FIELDS}


def test_the_file_is_what_the_documents_show() -> None:
    loop = _loop("Build\nit", completion_promise="ALL DONE", max_iterations=50, project="/p")
    loop.started_at = "2026-11-20T15:00:00.000Z"

    text = statefile.render(loop)

    assert text.startswith('---\nversion: 1\nsession_id: "s1"\nloop_id: "abcde"\nproject: "/p"\n')
    assert '\ndescription: "Build it"\niteration: 1\nmax_iterations: 50\n' in text
    assert '\ncompletion_promise: "ALL DONE"\nstarted_at: "2026-11-20T15:00:00.000Z"\n' in text
    assert text.endswith("\n---\n\nBuild\nit")


PROMPTS = [
    pytest.param("do it", id="short"),
    pytest.param("a\r\nb\r\n", id="CRLF"),
    pytest.param("\n\n a \n\n", id="white space around it"),
    pytest.param("---\nversion: 9\n---\n", id="a header of its own"),
    pytest.param("$x `y` \\ \" '", id="quotes and backslashes"),
    pytest.param("", id="empty"),
    pytest.param("\ufeff\u2028\x85\x00😀", id="strange characters"),
]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_prompt_comes_back_byte_for_byte(prompt: str) -> None:
    assert statefile.parse(statefile.render(_loop(prompt))).prompt == prompt


TEXTS = st.text(max_size=20)
OBJECTS = st.dictionaries(
    TEXTS, st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS, max_size=3
)


@given(
    st.builds(
        _loop,
        TEXTS,
        completion_promise=st.none() | TEXTS,
        project=TEXTS,
        origin=TEXTS,
        paused_by=TEXTS,
        status=st.sampled_from(["active", "paused"]),
        iteration=st.integers(1, 10**9),
        max_iterations=st.integers(0, 10**9),
        depth=st.integers(0, 9),
        by_model=st.booleans(),
        prompt_known=st.booleans(),
        turned_at=TEXTS,
        paused_at=st.integers(0, 10**10),
        paused_seconds=st.integers(0, 10**10),
        tokens=st.integers(0, 10**15 - 1),
        breaker=OBJECTS,
        signs=OBJECTS,
        waiting=OBJECTS,
        verified=OBJECTS,
        options=st.dictionaries(TEXTS, st.integers() | st.booleans() | TEXTS, max_size=3),
        extra=st.dictionaries(st.sampled_from(["new", "newer"]), TEXTS | st.integers()),
    )
)
def test_a_loop_comes_back_as_it_was_and_everybodys_yaml_agrees(loop: Loop) -> None:
    text = statefile.render(loop)

    assert _fields(statefile.parse(text)) == _fields(loop)
    header = frontmatter.loads(text).metadata
    assert header["completion_promise"] == loop.completion_promise
    assert header["options"] == loop.options
    assert header["iteration"] == loop.iteration
    assert header["project"] == loop.project


def test_unknown_fields_survive() -> None:
    text = statefile.render(_loop()).replace("\ndepth:", '\nfrom_a_friend: {"a": [1]}\ndepth:')

    loop = statefile.parse(text)

    assert loop.extra == {"from_a_friend": {"a": [1]}}
    assert '\nfrom_a_friend: {"a": [1]}\n' in statefile.render(loop)


def test_an_edited_header_with_crlf_is_understood() -> None:
    loop = statefile.parse(statefile.render(_loop("a\nb")).replace("\n", "\r\n"))

    assert (loop.session_id, loop.prompt) == ("s1", "a\r\nb")


def test_missing_fields_have_their_defaults() -> None:
    loop = statefile.parse('---\nsession_id: "s1"\nloop_id: "abcde"\n---\n\ngo')

    assert _fields(loop) == _fields(_loop("go"))


BAD = [
    pytest.param("", "no header", id="nothing"),
    pytest.param("do it", "no header", id="no header"),
    pytest.param("---\nversion: 1\n", "no header", id="cut in the header"),
    pytest.param("---\nnonsense\n---\n", "'nonsense'", id="a line without a key"),
    pytest.param("---\nsession_id: s1\n---\n", "session_id is not understood", id="no JSON"),
    pytest.param("---\noptions: " + "[" * 99_999 + "\n---\n", "options is not", id="brackets"),
    pytest.param("---\nversion: 1\n---\n\ngo", "no session", id="no session"),
    pytest.param('---\nsession_id: "s1"\n---\n\ngo', "no loop", id="no loop"),
    pytest.param("---\nsession_id: 7\n---\n", "session_id is 7", id="a number for a text"),
    pytest.param('---\niteration: "1"\n---\n', "iteration is '1'", id="a text for a number"),
    pytest.param("---\niteration: true\n---\n", "iteration is True", id="a switch for a number"),
    pytest.param("---\nby_model: 1\n---\n", "by_model is 1", id="a number for a switch"),
    pytest.param("---\ncompletion_promise: 1\n---\n", "is no text", id="a promise that is none"),
]
NUMBERS = [
    pytest.param("iteration", 0, id="iteration 0"),
    pytest.param("max_iterations", -1, id="a negative limit"),
    pytest.param("depth", -1, id="a negative depth"),
    pytest.param("tokens", -1, id="fewer tokens than none"),
    pytest.param("paused_at", -1, id="a pause before there were clocks"),
    pytest.param("paused_seconds", -1, id="a pause of less than nothing"),
    pytest.param("tokens", 1.5, id="half a token"),
    pytest.param("loop_id", "../x", id="an id that leaves the folder"),
    pytest.param("loop_id", "a/b", id="an id that is no name of a file"),
    pytest.param("status", "ended", id="an unknown status"),
]


@pytest.mark.parametrize(("text", "why"), BAD)
def test_a_file_that_holds_no_loop_says_why(text: str, why: str) -> None:
    with pytest.raises(BadLoopError, match=why.replace("[", r"\[")):
        statefile.parse(text)


@pytest.mark.parametrize(("name", "value"), NUMBERS)
def test_values_that_make_no_sense_make_no_loop(name: str, value: object) -> None:
    with pytest.raises(BadLoopError):
        statefile.parse(statefile.render(_loop("do it", **{name: value})))


NO_OBJECTS = ["7", '"x"', "null", "[]", "[{}]", "true", "1.5"]


@pytest.mark.parametrize("name", ["options", "breaker", "signs", "waiting", "verified"])
@pytest.mark.parametrize("value", NO_OBJECTS)
def test_objects_that_are_none_are_left_out(name: str, value: str) -> None:
    text = statefile.render(_loop()).replace(f"{name}: {{}}", f"{name}: {value}")
    assert f"\n{name}: {value}\n" in text

    assert getattr(statefile.parse(text), name) == {}


def test_of_a_field_that_stands_twice_the_last_one_counts() -> None:
    text = statefile.render(_loop()).replace("\ndepth:", "\ntokens: 5\ntokens: 7\ndepth:", 1)
    text = text.replace("\ntokens: 0", "")

    assert statefile.parse(text).tokens == 7


VERSIONS = [
    pytest.param("---\nversion: 99\nx: y\n---\n", 99, id="first"),
    pytest.param('---\nx: "y"\nversion: 2\r\n---\n', 2, id="not first"),
    pytest.param('---\nx: "y"\n---\nversion: 3', 0, id="in the prompt"),
    pytest.param("---\nx: 7\nversion: 2\n---\n", 2, id="behind another number"),
    pytest.param("nonsense", 0, id="nowhere"),
]


@pytest.mark.parametrize(("text", "version"), VERSIONS)
def test_the_version_is_known_before_the_rest(text: str, version: int) -> None:
    assert statefile.version(text) == version


@given(st.text())
def test_no_file_is_too_strange(text: str) -> None:
    for strange in (text, f"---\n{text}\n---\n", f"---\nsession_id: {text}\n---\n"):
        try:
            statefile.parse(strange)
        except BadLoopError as error:
            assert str(error)  # noqa: PT017  # what it says is all that is known
