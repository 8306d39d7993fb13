from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.checkpoint.tree.repository_config import objection

USUAL = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
\tignorecase = true
\thooksPath = .husky
[remote "origin"]
\turl = git@example.org:a/b.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
\tremote = origin
\tmerge = refs/heads/main
[user] name = "A # B"
\temail = a@example.org ; mine
# a comment
[extensions]
\tworktreeConfig
[lfs]
\trepositoryformatversion = 0
[lfs "https://example.org/a/b.git/info/lfs"]
\taccess = basic
\tlocksverify = true
"""

FINE = [
    pytest.param("", id="nothing"),
    pytest.param(USUAL, id="what git writes"),
    pytest.param(USUAL.replace("\n", "\r\n"), id="on Windows"),
    pytest.param("\ufeff" + USUAL, id="with a byte order mark"),
    pytest.param('[remote "a\\"]b"]\n\turl = x\n', id="an odd remote"),
]


@pytest.mark.parametrize("config", FINE)
def test_usual_settings_are_no_objection(config: str) -> None:
    assert objection(config) == ""


SECTIONS = [
    '[filter "x"]\n\tclean = touch /tmp/x', "[include]\n\tpath = x", '[includeIf "gitdir:x"]\n',
    "[FILTER]\n", '[diff "x"]\n', '[merge "x"]\n\tdriver = x', "[alias]\n\tcommit = !x", "[gpg]\n",
    '[submodule "x"]\n', "[credential]\n\thelper = x", "[sendemail]\n", '[hook "x"]\n',
]  # fmt: skip
SETTINGS = [
    "[core]\n\tfsmonitor = x", "[core] fsmonitor", "[core]\n\tFSMONITOR=x", "[core]\n\tworktree=/x",
    "[core]\n\tsshCommand = x", "[core]\n\teditor = x", "[core]\n\tpager = x", "[core]askPass=x",
    '[lfs "extension.x"]\n\tclean = touch /tmp/x', '[lfs "extension.x"]\n\tsmudge = x',
    '[lfs "customtransfer.x"]\n\tpath = x', "[lfs]\n\tstandalonetransferagent = x",
    '[LFS "Extension.x"] Clean=x', "[lfs]\n\tgitprotocol = x",
    "[core]\n\tbare = false\n\n\tgitProxy = x", "[core]\n\tattributesFile = x", "[gc]\n\tx = y",
]  # fmt: skip
ODD = [
    "[core", "name = x", '[core]\n\tbare = \\\n[filter "x"]', "[core]\n\tbare \\", "]", "=",
    "[filter.x]\n\tclean = y", "[ filter ]\n", "[core]\n\t[",
    '[core]\n\tbare = a\n\t"x"', "[core]\x00",
    '[remote "a\n[filter "b"]', "[user]\n\tname = x\\",
]  # fmt: skip


@pytest.mark.parametrize("config", [*SECTIONS, *SETTINGS, *ODD])
def test_everything_else_is_one(config: str) -> None:
    assert objection(config).startswith("the repository's configuration ")


@pytest.mark.parametrize("config", [*SECTIONS, *SETTINGS])
def test_wherever_it_stands(config: str) -> None:
    assert objection(USUAL + config) == objection(config)


@given(st.text(alphabet='[]"=\\#; \t\r\nabcore.filter'))
def test_any_text_is_judged(config: str) -> None:
    objection(config)


@pytest.mark.parametrize("config", ["[core" * 99_999, '[a "' + "\\" * 99_999, "a" * 99_999 + "="])
def test_a_hostile_text_takes_no_longer(config: str) -> None:
    assert objection(config)
