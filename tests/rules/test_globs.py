from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from sisyphus.rules.globs import (
    MAX_GLOBS,
    BadGlob,
    compile_glob,
    compile_globs,
    expand_braces,
    scoping,
    split_commas,
)
from sisyphus.rules.match import covers


def _covers(globs: list[str], path: str) -> bool:
    return covers([compiled for _, compiled in compile_globs(globs)], path)


COVERED = [
    pytest.param("**/*.ts", "a.ts", id="any folders, none"),
    pytest.param("**/*.ts", "x/a.ts", id="any folders, one"),
    pytest.param("**/*.ts", "x/y/z/a.ts", id="any folders, three"),
    pytest.param("*.ts", "x/y/a.ts", id="a name without a slash, anywhere"),
    pytest.param("Makefile", "sub/Makefile", id="a plain name, anywhere"),
    pytest.param("/Makefile", "Makefile", id="a leading slash: the project's top"),
    pytest.param("./*.py", "a.py", id="a leading dot: the project's top"),
    pytest.param("src/*.ts", "src/a.ts", id="a folder and a name"),
    pytest.param("src/**", "src/a/b.ts", id="all below a folder"),
    pytest.param("src", "src/a/b.ts", id="a folder's name"),
    pytest.param("src/", "lib/src/a.ts", id="a folder, anywhere"),
    pytest.param("src/**/test/*.py", "src/test/a.py", id="inner folders, none"),
    pytest.param("src/**/test/*.py", "src/a/b/test/a.py", id="inner folders, two"),
    pytest.param("**", "a/b", id="everything"),
    pytest.param("*", "a/b", id="everything, with one star"),
    pytest.param("a?.py", "ab.py", id="a question mark"),
    pytest.param("[ab].py", "b.py", id="a class"),
    pytest.param("[!ab].py", "c.py", id="a class turned round"),
    pytest.param("*.{ts,tsx}", "a.ts", id="braces, the first"),
    pytest.param("*.{ts,tsx}", "x/a.tsx", id="braces, the second"),
    pytest.param("{src,lib}/**/*.{js,ts}", "lib/a/b.js", id="braces twice"),
    pytest.param("a{b,c{d,e}}.py", "ace.py", id="braces in braces"),
    pytest.param("{,x}.py", ".py", id="an empty alternative"),
    pytest.param("{a}.py", "{a}.py", id="braces without a comma are themselves"),
    pytest.param(r"\{a,b\}.py", "{a,b}.py", id="escaped braces are themselves"),
    pytest.param("a}b{c.py", "a}b{c.py", id="stray braces are themselves"),
    pytest.param("app/[id]/*.ts", "app/[id]/page.ts", id="brackets that are a folder's name"),
    pytest.param("app/[id]/*.ts", "app/i/page.ts", id="the same brackets as a class"),
    pytest.param("app/[...slug]/**", "app/[...slug]/a/b.ts", id="a catch-all folder"),
    pytest.param("app/[[...slug]]/**", "app/[[...slug]]/a.ts", id="an optional catch-all"),
    pytest.param(r"app/\[id\]/*.ts", "app/[id]/page.ts", id="escaped brackets"),
    pytest.param("app/[z-a]/*.ts", "app/[z-a]/page.ts", id="brackets that are no class"),
    pytest.param("app/[id/*.ts", "app/[id/page.ts", id="a bracket left open"),
    pytest.param("app/(group)/*.ts", "app/(group)/page.ts", id="parentheses are themselves"),
    pytest.param("@scope/a+b/$x.ts", "@scope/a+b/$x.ts", id="other signs are themselves"),
    pytest.param(r"a\*b", "a*b", id="an escaped star"),
    pytest.param("*.é", "x/y.é", id="letters beyond ASCII"),
    pytest.param(".github/**", ".github/workflows/ci.yml", id="hidden folders"),
    pytest.param("**/*.py", ".venv/x/.a.py", id="hidden files under a star"),
]

UNCOVERED = [
    pytest.param("**/*.ts", "a.tsx", id="another ending"),
    pytest.param("**/*.ts", "ats", id="a dot is a dot"),
    pytest.param("*.TS", "a.ts", id="upper case is not lower case"),
    pytest.param("/Makefile", "sub/Makefile", id="a leading slash: not below"),
    pytest.param("./*.py", "sub/a.py", id="a leading dot: not below"),
    pytest.param("src/*.ts", "lib/src/a.ts", id="a path with a slash starts at the top"),
    pytest.param("src/*.ts", "src/x/a.ts", id="a star stays in its folder"),
    pytest.param("src/**", "srcs/a.ts", id="a folder of a longer name"),
    pytest.param("src/", "src", id="a folder that is a file"),
    pytest.param("docs/*.md", r"docs\a.md", id="a backslash is no slash"),
    pytest.param(r"docs\*.md", "docs/a.md", id="a backslash in a glob is no slash"),
    pytest.param("*.{ts,tsx}", "a.{ts,tsx}", id="braces are no text"),
    pytest.param("*.{ts,tsx}", "a.js", id="no alternative"),
    pytest.param("app/(group)/*.ts", "app/group/page.ts", id="parentheses do not group"),
    pytest.param("a[!b]c", "a/c", id="a class covers no slash"),
    pytest.param("a?c", "a/c", id="a question mark covers no slash"),
]


@pytest.mark.parametrize(("glob", "path"), COVERED)
def test_a_glob_covers(glob: str, path: str) -> None:
    assert _covers([glob], path)


@pytest.mark.parametrize(("glob", "path"), UNCOVERED)
def test_a_glob_does_not_cover(glob: str, path: str) -> None:
    assert not _covers([glob], path)


LAST_WINS = [
    pytest.param(["**/*.py", "!tests/**"], "tests/a.py", False, id="an exclusion"),
    pytest.param(["**/*.py", "!tests/**"], "src/a.py", True, id="an exclusion of others"),
    pytest.param(["**/*.py", "!tests"], "tests/a.py", False, id="an excluded folder"),
    pytest.param(["**/*.py", "!tests/"], "x/tests/a.py", False, id="one with a slash"),
    pytest.param(["!tests/**", "**/*.py"], "tests/a.py", True, id="the later is the stronger"),
    pytest.param(["*", "!*.md", "README.md"], "README.md", True, id="taken back in"),
    pytest.param(["*", "! *.md"], "a.md", False, id="a blank behind the mark"),
    pytest.param(["*", "!*.{md,txt}"], "a.txt", False, id="excluded braces"),
    pytest.param(["*", "!app/[id]/**"], "app/[id]/a.ts", False, id="excluded brackets"),
    pytest.param(["*", "!./*.md"], "a.md", False, id="excluded at the top"),
    pytest.param(["!*.md"], "a.py", False, id="exclusions alone cover nothing"),
    pytest.param([r"\!a.py"], "!a.py", True, id="an escaped mark"),
]


@pytest.mark.parametrize(("globs", "path", "covered"), LAST_WINS)
def test_of_several_globs_the_last_match_wins(
    globs: list[str], path: str, *, covered: bool
) -> None:
    assert _covers(globs, path) is covered


SPLIT = [
    pytest.param("a,b", ["a", "b"], id="two"),
    pytest.param("a", ["a"], id="one"),
    pytest.param("*.{ts,tsx},b", ["*.{ts,tsx}", "b"], id="not inside braces"),
    pytest.param("{a,{b,c}},d", ["{a,{b,c}}", "d"], id="not inside braces in braces"),
    pytest.param("a},b", ["a}", "b"], id="a stray brace hides nothing"),
    pytest.param("", [""], id="nothing"),
]


@pytest.mark.parametrize(("text", "items"), SPLIT)
def test_commas_inside_braces_do_not_split(text: str, items: list[str]) -> None:
    assert split_commas(text) == items


SCOPES = [
    pytest.param({"applies_to": ["a", "b"]}, {"applies_to": ["a", "b"]}, id="a list"),
    pytest.param({"paths": "a"}, {"paths": ["a"]}, id="a text"),
    pytest.param({"globs": "a, b ,c"}, {"globs": ["a", "b", "c"]}, id="a comma list"),
    pytest.param({"applyTo": "*.{a,b},c"}, {"applyTo": ["*.{a,b}", "c"]}, id="with braces"),
    pytest.param({"applyTo": ["a,b", "c"]}, {"applyTo": ["a", "b", "c"]}, id="commas in a list"),
    pytest.param({"globs": "a\nb\n"}, {"globs": ["a", "b"]}, id="a line each"),
    pytest.param({"globs": [404]}, {"globs": ["404"]}, id="a name that YAML takes for a number"),
    pytest.param({"globs": "a", "paths": "b"}, {"paths": ["b"], "globs": ["a"]}, id="two keys"),
    pytest.param({"globs": None}, {}, id="an empty value is no value"),
    pytest.param({"globs": []}, {}, id="an empty list is no value"),
    pytest.param({"globs": " , "}, {}, id="commas alone are no value"),
    pytest.param({"globs": ["a", None]}, {"globs": ["a"]}, id="an empty item is none"),
    pytest.param({"Globs": "a", "other": 1}, {}, id="other keys are no scoping keys"),
]


@pytest.mark.parametrize(("metadata", "scope"), SCOPES)
def test_scoping_keys_are_read(metadata: dict[str, object], scope: dict[str, list[str]]) -> None:
    assert scoping(metadata) == scope


@pytest.mark.parametrize("value", [True, {"ts": None, "tsx": None}, [["a"]], [False]])
def test_a_scoping_key_of_another_type_is_refused(value: object) -> None:
    with pytest.raises(BadGlob, match="globs: expected globs, found a"):
        scoping({"globs": value})


BAD = [
    pytest.param("# note", id="a comment of gitignore"),
    pytest.param("/", id="a lone slash"),
    pytest.param("!", id="an exclusion of nothing"),
    pytest.param("a\\", id="a backslash that escapes nothing"),
    pytest.param("x" * 1_001, id="too long"),
    pytest.param("{a,b}" * 10, id="a thousand alternatives"),
    pytest.param("{" + ",".join("a" * 300) + "}{b,c}", id="six hundred alternatives"),
]


@pytest.mark.parametrize("glob", BAD)
def test_a_glob_that_can_cover_nothing_or_costs_too_much_is_refused(glob: str) -> None:
    with pytest.raises(BadGlob):
        compile_glob(glob)


def test_the_globs_of_one_rule_are_bounded() -> None:
    with pytest.raises(BadGlob, match="more than 500 globs"):
        compile_globs([f"a{number}" for number in range(MAX_GLOBS + 1)])


def test_braces_are_expanded_in_order() -> None:
    assert expand_braces("a{b,c}d{e,f}") == ["abde", "abdf", "acde", "acdf"]


def test_what_a_glob_compiles_to_keeps_its_spelling() -> None:
    assert [glob for glob, _ in compile_globs(["*.{a,b}", "!c"])] == ["*.{a,b}", "*.{a,b}", "!c"]


DECIDED = [
    pytest.param("*.py", ".py/", id="an ending"),
    pytest.param("**/*.py", ".py/", id="an ending in any folder"),
    pytest.param("Makefile", "/Makefile/", id="a name"),
    pytest.param("**", "", id="everything"),
]


@pytest.mark.parametrize(("glob", "literal"), DECIDED)
def test_the_commonest_globs_need_no_regex(glob: str, literal: str) -> None:
    assert compile_glob(glob) == ((True, literal, ""),)


LITERALS = [
    pytest.param("src/api/**/*.ts", "/src/api/", id="a folder prefix"),
    pytest.param("src/**/test_*.py", "/test_", id="the start of a name"),
    pytest.param("a/*_service.py", "_service.py/", id="the end of a name"),
    pytest.param("/docs/guide.md", "/docs/guide.md/", id="a whole path"),
    pytest.param("*a*", "", id="nothing that is certain to the left or right"),
]


@pytest.mark.parametrize(("glob", "literal"), LITERALS)
def test_a_literal_stands_before_the_regex(glob: str, literal: str) -> None:
    ((_, found, regex),) = compile_glob(glob)

    assert found == literal
    assert regex


PARTS = [
    "a", "b", "-", ".", "*", "**", "?", "/", "**/", "/**", "[ab]", "[a-c]", "x.py", "*.ts", "(g)",
    "]", r"\*", r"\?", r"\(",
]  # fmt: skip
GLOBS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=7).map("".join)
NAMES = st.text(st.sampled_from("abc-.xpytsg()*?"), min_size=1, max_size=6)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


def _git_covers(glob: str, path: str) -> bool:
    """pathspec's own answer, for each reading of brackets: as a class and as themselves."""
    plain = re.sub(r"(?<!\\)[\[\]]", r"\\\g<0>", glob)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return any(GitIgnoreSpec.from_lines([line]).match_file(path) for line in {glob, plain})


@given(GLOBS, PATHS.filter(lambda path: not path.startswith("./")))
def test_one_glob_covers_what_gitignore_covers(glob: str, path: str) -> None:
    if glob.startswith("./"):
        return  # means the top here, nothing to git
    try:
        expected = _git_covers(glob, path)
    except ValueError:
        expected = False
    try:
        covered = _covers([glob], path)
    except BadGlob:
        covered = False

    assert covered == expected


SIMPLE = st.sampled_from(["*.py", "**/*.ts", "src/**", "/a", "docs/**/b?", "src/*.py", "[ab].py"])
SIGNED = st.tuples(st.booleans(), SIMPLE).map(lambda both: "!" * both[0] + both[1])


@given(st.lists(SIGNED, min_size=1, max_size=6), PATHS | st.sampled_from(["src/a.py", "a", "b.ts"]))
def test_several_globs_cover_what_gitignore_covers(globs: list[str], path: str) -> None:
    path = path.removeprefix("./")
    spec = GitIgnoreSpec.from_lines(globs)
    by_folder = any(
        pattern.regex and (found := pattern.regex.search(path)) and found.groupdict().get("ps_d")
        for pattern in spec.patterns
    )
    if not path or by_folder:
        return  # git lets `!folder` exclude no file that an earlier line named; here it does

    assert _covers(globs, path) == spec.match_file(path)


@given(st.text(max_size=60), PATHS)
def test_whatever_the_glob_only_a_bad_glob_is_raised(glob: str, path: str) -> None:
    try:
        compiled = compile_glob(glob)
    except BadGlob:
        return

    assert covers(compiled, path) in (True, False)
