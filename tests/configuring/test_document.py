from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.configuring.document import TooDifficultError, with_value, without
from sisyphus.configuring.edit import HEAD

SET = [
    pytest.param("", "[ralph]\nno_progress = 7\n", id="an empty file"),
    pytest.param(HEAD, f"{HEAD}\n[ralph]\nno_progress = 7\n", id="comments alone"),
    pytest.param("# head", "# head\n[ralph]\nno_progress = 7\n", id="no line end"),
    pytest.param(
        "[ralph]  # loops\nno_progress  =  3   # why\n",
        "[ralph]  # loops\nno_progress  =  7   # why\n",
        id="another value stood there",
    ),
    pytest.param(
        "[ralph]\nenabled = true\n\n# about rules\n[rules]\n",
        "[ralph]\nenabled = true\nno_progress = 7\n\n# about rules\n[rules]\n",
        id="the next section has a comment",
    ),
    pytest.param(
        "[ralph]\nenabled = true\n# no_progress = 5\n\n\n",
        "[ralph]\nenabled = true\n# no_progress = 5\nno_progress = 7\n\n\n",
        id="a comment of its own",
    ),
    pytest.param(
        "[ralph]\n[rules]\nenabled = true",
        "[ralph]\nno_progress = 7\n[rules]\nenabled = true",
        id="an empty section",
    ),
    pytest.param(
        "ralph.enabled = true\n", "ralph.enabled = true\nralph.no_progress = 7\n", id="dotted keys"
    ),
    pytest.param(
        "ralph = {enabled = true}\n", "ralph = {enabled = true,no_progress = 7}\n", id="on one line"
    ),
    pytest.param(
        "[ralph]\r\nenabled = true\r\n\r\n# x\r\n[rules]\r\n",
        "[ralph]\r\nenabled = true\r\nno_progress = 7\r\n\r\n# x\r\n[rules]\r\n",
        id="line ends of Windows",
    ),
    pytest.param(
        "[ralph]\nno_progress = 'x'\n[x]\ny = 1979-05-27\n",
        "[ralph]\nno_progress = 7\n[x]\ny = 1979-05-27\n",
        id="a wrong value and strange ones",
    ),
]


@pytest.mark.parametrize(("before", "after"), SET)
def test_a_value_is_set_and_all_else_stays(before: str, after: str) -> None:
    assert with_value(before, "ralph", "no_progress", 7) == after


UNSET = [
    pytest.param("[ralph]\nno_progress = 3 # x\n", "ralph.no_progress", "", id="all there was"),
    pytest.param(
        "# a\n[ralph]\nno_progress = 3\nenabled = true # b\n",
        "ralph.no_progress",
        "# a\n[ralph]\nenabled = true # b\n",
        id="one of two",
    ),
    pytest.param(
        "[ralph]\n# keep\nno_progress = 3\n", "ralph.no_progress", "[ralph]\n# keep\n",
        id="a comment is left",
    ),
    pytest.param("[rules]\nenabeld = 1\n", "rules.enabeld", "", id="one that does not exist"),
    pytest.param("[x]\ny = 1\n[rules]\n", "x", "[rules]\n", id="a section that does not exist"),
    pytest.param("x = 1\n[rules]\n", "x", "[rules]\n", id="a value below no section"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "key", "after"), UNSET)
def test_a_key_is_taken_out_and_all_else_stays(before: str, key: str, after: str) -> None:
    section, _, name = key.partition(".")

    assert without(before, section, name) == after


DIFFICULT = [
    pytest.param("ralph = 3\n", id="a value for a section"),
    pytest.param("[[ralph]]\nx = 1\n", id="many sections of a name"),
    pytest.param("[ralph\n", id="no TOML"),
]


@pytest.mark.parametrize("text", DIFFICULT)
def test_what_cannot_be_changed_is_refused(text: str) -> None:
    with pytest.raises(TooDifficultError):
        with_value(text, "ralph", "no_progress", 7)
    with pytest.raises(TooDifficultError):
        without(text, "ralph", "no_progress")


LINES = st.sampled_from(
    ["# a\n", "\n", "[ralph]\n", "[rules]\n", "[x]\n", "x = 1\n", "enabled = true\n",
     "no_progress = 1 # b\n", "same_error = 0x2\n", "rules.enabled = false\n", '"y" = "\\n"\n',
     "  z = [1,\n  2]\n", "ralph = {same_error = 1}\n", "[ralph.x]\n", "t = '''\n[a]\n'''\n"]
)  # fmt: skip


NAMES = st.sampled_from(["no_progress", "same_error", "stale_hours"])


@given(st.lists(LINES, max_size=8).map("".join), NAMES)
def test_whatever_the_text_is_one_key_is_changed_or_none(text: str, name: str) -> None:
    try:
        changed = with_value(text, "ralph", name, 7)
    except TooDifficultError:
        return
    before, after = tomllib.loads(text), tomllib.loads(changed)
    assert after.pop("ralph") == {**before.pop("ralph", {}), name: 7}
    assert after == before
    assert [line for line in ("# a\n", "# b\n") if line in text and line not in changed] == []

    assert name not in tomllib.loads(without(changed, "ralph", name)).get("ralph", {})
