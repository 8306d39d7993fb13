from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.documents import FRONTMATTER_CHARACTERS, BadFrontmatter, parse, split

READ = [
    pytest.param("plain\n", {}, "plain\n", id="no frontmatter"),
    pytest.param("", {}, "", id="an empty document"),
    pytest.param("---", {}, "---", id="a lone rule"),
    pytest.param("text\n---\na: 1\n---\n", {}, "text\n---\na: 1\n---\n", id="not at the start"),
    pytest.param("---\na: 1\n---\nbody\n", {"a": 1}, "body\n", id="a frontmatter"),
    pytest.param("---\n---\nbody", {}, "body", id="an empty frontmatter"),
    pytest.param("---\n# note\n---\nbody", {}, "body", id="a frontmatter of comments"),
    pytest.param("---\na: 1\n---", {"a": 1}, "", id="no body"),
    pytest.param("\ufeff---\na: 1\n---\nb", {"a": 1}, "b", id="a byte order mark"),
    pytest.param("\ufeffplain", {}, "plain", id="a byte order mark and no frontmatter"),
    pytest.param("---\r\na: 1\r\n---\r\nb\r\n", {"a": 1}, "b\r\n", id="Windows line ends"),
    pytest.param("\n \n---\na: 1\n---\nb", {"a": 1}, "b", id="blank lines before it"),
    pytest.param("--- \na: 1\n---\t\nb", {"a": 1}, "b", id="blanks behind the dashes"),
    pytest.param("---\na: 1\n---\n\n\n b \n\n", {"a": 1}, "\n\n b \n\n", id="blanks in the body"),
    pytest.param("---\na: 1\n---\nb\n---\nc", {"a": 1}, "b\n---\nc", id="a rule in the body"),
    pytest.param("---\na: x --- y\n---\nb", {"a": "x --- y"}, "b", id="dashes in a value"),
    pytest.param("---\n2: a\ntrue: b\n---\n", {"2": "a", "True": "b"}, "", id="keys are texts"),
    pytest.param("---\na: é😀\n---\n語", {"a": "é😀"}, "語", id="characters of all sizes"),
]


@pytest.mark.parametrize(("text", "metadata", "body"), READ)
def test_a_document_is_its_metadata_and_its_body(
    text: str, metadata: dict[str, object], body: str
) -> None:
    assert parse(text) == (metadata, body)


BARE = [
    pytest.param("globs: *.ts", "*.ts", id="Cursor's star"),
    pytest.param("globs: *.ts,*.tsx", "*.ts,*.tsx", id="a comma list"),
    pytest.param("globs: **/*.{ts,tsx}", "**/*.{ts,tsx}", id="braces"),
    pytest.param("globs: *.ts  # all of them", "*.ts", id="a comment"),
    pytest.param("globs: *.ts\r", "*.ts", id="a Windows line end"),
    pytest.param("globs: it's/*.ts", "it's/*.ts", id="a quote in a plain value"),
    pytest.param("globs: *'s.ts", "*'s.ts", id="a quote in a bare glob"),
    pytest.param("paths: !docs/**", "!docs/**", id="an exclusion, YAML's tag"),
    pytest.param("globs: {src,lib}/*.ts", "{src,lib}/*.ts", id="braces first, YAML's mapping"),
    pytest.param("globs: [id]/*.ts", "[id]/*.ts", id="brackets first, YAML's list"),
    pytest.param("globs: @scope/**", "@scope/**", id="an at sign"),
    pytest.param("globs: [*.ts, '*.tsx']", "*.ts, *.tsx", id="a list of bare globs"),
    pytest.param("globs: [*.ts]", "*.ts", id="a list of one bare glob"),
    pytest.param("globs:\n  - *.ts\n  - !a/**", ["*.ts", "!a/**"], id="bare globs in a list"),
    pytest.param("globs:\n- **/*.ts\n- 'b'", ["**/*.ts", "b"], id="a list without indentation"),
]


@pytest.mark.parametrize(("line", "meant"), BARE)
def test_globs_without_quotes_are_read_as_they_are_meant(line: str, meant: object) -> None:
    key = line.partition(":")[0]

    metadata, body = parse(f"---\n{line}\nalwaysApply: false\n---\nbody\n")

    assert metadata == {key: meant, "alwaysApply": False}
    assert body == "body\n"


BAD = [
    pytest.param("---\na: 1\n", 1, "never closed", id="never closed"),
    pytest.param("\n" * 50 + "---\na: [", 51, "never closed", id="never closed, far below"),
    pytest.param("\n\n---\na: 1\n", 3, "never closed", id="never closed, lower down"),
    pytest.param("---\na: [\n---\n", 3, "node content", id="an unclosed list"),
    pytest.param("---\nok: 1\na: b: c\n---\n", 3, "mapping values", id="a colon too many"),
    pytest.param("---\r\nok: 1\r\na: b: c\r\n---\r\n", 3, "mapping", id="with Windows line ends"),
    pytest.param('---\napplies_to: ["**/*.py"\n---\n', 3, "expected", id="a list left open"),
    pytest.param("---\napplies_to: [*.py\n---\n", 2, "", id="a bare list left open"),
    pytest.param("---\nname: *.ts\n---\n", 2, "", id="a bare star where no glob belongs"),
    pytest.param("---\n- a\n---\n", 2, "found a list", id="a list"),
    pytest.param("---\nwords\n---\n", 2, "found a str", id="words"),
    pytest.param("---\na: \x01\n---\n", 2, "does not allow", id="a control character"),
    pytest.param("---\nok: 1\nb: \x01\n---\n", 3, "does not allow", id="one lower down"),
    pytest.param("---\na: 2001-99-99\n---\n", 2, "month", id="no date"),
    pytest.param(f"---\na: {'9' * 5000}\n---\n", 2, "cannot be read", id="a huge number"),
    pytest.param("---\na: !!timestamp x\n---\n", 2, "cannot be read", id="no timestamp"),
    pytest.param("---\na: !!python/name:os.system\n---\n", 2, "constructor", id="a foreign tag"),
    pytest.param("---\na: &x {k: 1}\nb: {<<: *x}\n---\n", 3, "merge", id="a merge key"),
    pytest.param(f"---\na: {'[' * 9000}\n---\n", 2, "nested", id="brackets without end"),
    pytest.param(f"---\na:\n  {'- ' * 7000}\n---\n", 3, "nested", id="dashes without end"),
    pytest.param("---\n" + "a: 1\n" * 9000 + "---\n", 1, "over 16,384", id="too long"),
]


@pytest.mark.parametrize(("text", "line", "reason"), BAD)
def test_a_bad_frontmatter_is_reported_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(BadFrontmatter) as caught:
        parse(text)

    assert caught.value.line == line
    assert reason in caught.value.reason
    assert str(caught.value) == f"line {line}: {caught.value.reason}"


def test_a_merge_bomb_is_refused_before_it_grows() -> None:
    layers = [f"k{n}: &k{n} {{<<: [*k{n - 1}, *k{n - 1}]}}" for n in range(1, 40)]
    bomb = "\n".join(["k0: &k0 {x: 1}", *layers])

    with pytest.raises(BadFrontmatter, match="merge"):
        parse(f"---\n{bomb}\n---\n")


def test_splitting_takes_the_frontmatter_as_it_is() -> None:
    assert split("---\na: [\n---\nbody") == ("a: [\n", "body")
    assert split("body") == (None, "body")


MARKDOWN = st.text(st.sampled_from("-a:[]{}*!&'\"#|> \t\r\n\x00é😀\ufeff"), max_size=200)


@given(st.one_of(st.text(), MARKDOWN, MARKDOWN.map(lambda text: f"---\n{text}\n---\n{text}")))
def test_whatever_the_text_nothing_but_a_bad_frontmatter_is_raised(text: str) -> None:
    try:
        metadata, body = parse(text)
    except BadFrontmatter as error:
        line = error.line
    else:
        assert text.endswith(body)
        assert all(isinstance(key, str) for key in metadata)
        return

    assert 1 <= line <= text.count("\n") + 2


KEYS = st.text(st.characters(categories=["Ll"]), min_size=1, max_size=8)


@given(st.dictionaries(KEYS, st.integers()), st.text())
def test_the_body_is_kept_character_for_character(metadata: dict[str, int], body: str) -> None:
    lines = "".join(f"'{key}': {value}\n" for key, value in metadata.items())

    assert parse(f"---\n{lines}---\n{body}") == (metadata, body)


def test_the_limit_counts_characters_and_not_bytes() -> None:
    padding = "#" + "é" * (FRONTMATTER_CHARACTERS - 2) + "\n"

    assert parse(f"---\n{padding}---\nbody") == ({}, "body")
