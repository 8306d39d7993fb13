from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.boulder.parser.names import plan_name, read_frontmatter

NAMES = [
    pytest.param("feature-name", "feature-name", id="plain"),
    pytest.param("feature name  # note", "feature name", id="a comment behind it"),
    pytest.param("c#-port", "c#-port", id="a sign within the word"),
    pytest.param('"feature: \\"x\\""', 'feature: "x"', id="double quotes"),
    pytest.param("'it''s'", "it's", id="single quotes"),
    pytest.param('"" # empty', "", id="an empty text"),
    pytest.param("null", "", id="null"),
    pytest.param("~", "", id="tilde"),
    pytest.param("|", "", id="a block"),
    pytest.param("[a, b]", "", id="a list"),
    pytest.param('"never closed', '"never closed', id="an unclosed quote is taken as it is"),
    pytest.param("", "", id="nothing"),
]


@pytest.mark.parametrize(("scalar", "name"), NAMES)
def test_the_name_in_the_frontmatter_is_a_yaml_scalar(scalar: str, name: str) -> None:
    text = f"---\ntitle: x\nname: {scalar}\n---\n# body"
    assert read_frontmatter(text) == (text.index("\n# body"), name)


NO_FRONTMATTER = [
    pytest.param("# a\n---\nname: x\n---", id="not at the start"),
    pytest.param("---\nname: x\n", id="never closed"),
    pytest.param("---", id="one ruler"),
    pytest.param("----\nname: x\n----", id="longer rulers"),
    pytest.param("---\n\nsome text\n\n---", id="text between rulers"),
    pytest.param("---\n- [ ] task: x\n---", id="a task between rulers"),
    pytest.param("", id="nothing"),
]


@pytest.mark.parametrize("text", NO_FRONTMATTER)
def test_this_is_no_frontmatter(text: str) -> None:
    assert read_frontmatter(text) == (0, "")


def test_frontmatter_without_a_name_names_nothing() -> None:
    assert read_frontmatter("---\ntitle: x\n  name: nested\n---\n") == (31, "")


CALLED = [
    pytest.param("Title", "/p/PLAN.md", "Title", id="its title"),
    pytest.param("", "/p/docs/kord/plans/epic-13.md", "epic-13", id="its file"),
    pytest.param("", "/p/.claude/PLAN.md", "p", id="its project"),
    pytest.param("", "/p/plan.md", "plan", id="another spelling of the file is a name"),
]


@pytest.mark.parametrize(("title", "path", "name"), CALLED)
def test_a_plan_is_called_by(title: str, path: str, name: str) -> None:
    assert plan_name(title, path, "/p") == name


def test_a_plan_in_the_root_folder_has_a_name_too() -> None:
    assert plan_name("", "/PLAN.md", "/") == "PLAN.md"


@given(st.text(alphabet="-nam:e \n'\"\\#|x"))
def test_any_text_has_a_start_within_it(text: str) -> None:
    start, name = read_frontmatter(text)
    assert 0 <= start <= len(text)
    assert "\n" not in name
