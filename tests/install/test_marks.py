from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sisyphus.documents import parse
from sisyphus.install import marks

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r")),
    st.builds("---\ndescription: {}\n---\n\n{}".format, st.sampled_from(["a", "b"]), st.just("c")),
)


@given(TEXTS)
def test_a_file_of_ours_is_known_again(text: str) -> None:
    assert marks.read(marks.marked(text, "1.2.3")) == marks.Mark("1.2.3", intact=True)


@given(TEXTS)
def test_line_ends_make_no_difference(text: str) -> None:
    changed = marks.marked(text, "1.2.3").replace(b"\n", b"\r\n")
    assert marks.read(changed) == marks.Mark("1.2.3", intact=True)


@given(TEXTS, st.data())
def test_every_other_change_is_seen(text: str, data: st.DataObject) -> None:
    written = marks.marked(text, "1.2.3")
    at = data.draw(st.integers(0, len(written)))
    changed = written[:at] + data.draw(st.sampled_from([b"x", b"\n", b"\0"])) + written[at:]
    mark = marks.read(changed)
    assume(mark is not None and mark.version == "1.2.3")
    rest = [line for line in changed.split(b"\n") if b" sisyphus 1.2.3 " not in line]
    assert mark is not None
    assert mark.intact is (rest == text.encode().split(b"\n"))


@given(st.binary())
def test_no_file_is_too_strange_to_look_at(data: bytes) -> None:
    assert marks.read(data) is None


NOT_OURS = [
    pytest.param(b"", id="empty"),
    pytest.param(b"// sisyphus\n", id="no version"),
    pytest.param(b"// sisyphus 1.0 xyz written\n", id="no checksum"),
    pytest.param(b"a\nb\n// sisyphus 1.0 0123456789abcdef written\n", id="further down"),
    pytest.param(b" // sisyphus 1.0 0123456789abcdef written\n", id="not at the line's start"),
    pytest.param(b"// sisyphus \xff 0123456789abcdef written\n", id="no version, but bytes"),
]


@pytest.mark.parametrize("data", NOT_OURS)
def test_what_has_no_mark_is_not_ours(data: bytes) -> None:
    assert marks.read(data) is None


def test_the_mark_is_the_first_line_of_a_script() -> None:
    first, _, rest = marks.marked("const A = 1\n", "1.2.3").decode().partition("\n")
    assert first.startswith("// sisyphus 1.2.3 ")
    assert first.endswith(" written by `sisyphus install`, removed by `sisyphus uninstall`")
    assert rest == "const A = 1\n"


def test_in_markdown_the_mark_is_no_part_of_the_prompt() -> None:
    text = "---\ndescription: Do it\n---\n\nBody\n"
    assert parse(marks.marked(text, "1.2.3").decode()) == parse(text)


NEWER = [
    pytest.param("0.1.1", "0.1.0", True, id="patch"),
    pytest.param("0.10.0", "0.9.9", True, id="numbers, not letters"),
    pytest.param("0.1.0", "0.1.0", False, id="the same"),
    pytest.param("0.0.9", "0.1.0", False, id="older"),
    pytest.param("1", "0.1.0", True, id="shorter"),
]


@pytest.mark.parametrize(("version", "than", "newer"), NEWER)
def test_versions_are_compared_by_their_numbers(version: str, than: str, newer: bool) -> None:
    assert marks.is_newer(version, than) is newer
