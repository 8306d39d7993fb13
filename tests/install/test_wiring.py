from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sisyphus import shipped
from sisyphus.install import wiring

OURS = [
    pytest.param("sisyphus hook stop", "stop", id="by name"),
    pytest.param("/opt/bin/sisyphus hook post-tool-use", "post-tool-use", id="by path"),
    pytest.param("'/a b/sisyphus' hook stop", "stop", id="quoted"),
    pytest.param("sisyphus hook stop --scope project", "stop", id="of a project"),
    pytest.param('"/a b/sisyphus"  hook\tstop ', "stop", id="quoted otherwise"),
    pytest.param(r"/a\ b/sisyphus hook stop", "stop", id="with a backslash"),
    pytest.param(r"'C:\bin\sisyphus.exe' hook stop", "stop", id="of Windows"),
    pytest.param("sisyphus hook no-such-event", "no-such-event", id="an event that was retired"),
    pytest.param("'/a$(x)`y`;&|<>*?[]{}~#!=\\/sisyphus' hook stop", "stop", id="odd and quoted"),
    pytest.param("/a=b/sisyphus hook stop", "stop", id="as Python quotes it"),
    pytest.param("'/jö rg\u00a0/sisyphus' hook stop", "stop", id="not of ASCII, quoted"),
    pytest.param("'/it'\"'\"'s/sisyphus' hook stop", "stop", id="a quote in quotes"),
]


@pytest.mark.parametrize(("command", "event"), OURS)
def test_a_command_of_ours_is_known(command: str, event: str) -> None:
    assert wiring.called_event(command) == event
    assert wiring.program(command).endswith(("sisyphus", "sisyphus.exe"))
    assert wiring.mentioned_event(command) == event


FOREIGN = [
    pytest.param("sisyphus", "", id="no words"),
    pytest.param("sisyphus hook", "", id="no event"),
    pytest.param("sisyphus boulder status", "", id="another command of ours"),
    pytest.param("sisyphus2 hook stop", "", id="another program"),
    pytest.param("/sisyphus/run hook stop", "", id="a folder of that name"),
    pytest.param("sisyphus hook stop || true", "stop", id="with an operator"),
    pytest.param("sisyphus hook stop; mine", "stop", id="with another command"),
    pytest.param("cd x && sisyphus hook stop", "stop", id="after another command"),
    pytest.param("A=1 sisyphus hook stop", "stop", id="with a variable"),
    pytest.param("python3 -m sisyphus hook stop", "stop", id="as a module"),
    pytest.param("sisyphus hook STOP", "", id="no event's name"),
    pytest.param("'sisyphus hook stop", "stop", id="an open quote"),
    pytest.param("sisyphus hook stop" + " " * 5_000, "stop", id="endless"),
    pytest.param("", "", id="empty"),
    pytest.param("sisyphus\nhook\nbeep", "", id="lines"),
    pytest.param("sisyphus hook stop\n", "stop", id="a line's end"),
    pytest.param("sisyphus hook stop\nbeep", "stop", id="a second line"),
    pytest.param("beep\nsisyphus hook stop", "stop", id="a first line"),
    pytest.param("sisyphus\rhook\rstop", "", id="carriage returns"),
    pytest.param("'/a\nb/sisyphus' hook stop", "stop", id="a line's end in quotes"),
    pytest.param("'/a\0/sisyphus' hook stop", "stop", id="a zero byte"),
    pytest.param("'/a\ud800/sisyphus' hook stop", "stop", id="half a character"),
    pytest.param("sisyphus\fhook\vstop", "", id="other blanks"),
    pytest.param("sisyphus\u00a0hook stop", "", id="a blank that is none"),
    pytest.param("/\u3000/sisyphus hook stop", "stop", id="a wide blank"),
    pytest.param("/jörg/sisyphus hook stop", "stop", id="not of ASCII, bare"),
    pytest.param('"$(beep)/sisyphus" hook stop', "stop", id="a command in quotes"),
    pytest.param("$(beep)/sisyphus hook stop", "stop", id="a command"),
    pytest.param('"`beep`/sisyphus" hook stop', "stop", id="a command in backticks"),
    pytest.param("`beep`/sisyphus hook stop", "stop", id="backticks"),
    pytest.param('"$HOME/sisyphus" hook stop', "stop", id="a variable's value"),
    pytest.param('"${CLAUDE_PLUGIN_ROOT}/sisyphus" hook stop', "stop", id="a plugin's folder"),
    pytest.param('"/a\\b/sisyphus" hook stop', "stop", id="a backslash in double quotes"),
    pytest.param("~/bin/sisyphus hook stop", "stop", id="a home"),
    pytest.param("/*/sisyphus hook stop", "stop", id="any folder"),
    pytest.param("/?/sisyphus hook stop", "stop", id="any letter"),
    pytest.param("/[a]/sisyphus hook stop", "stop", id="some letters"),
    pytest.param("/{a,b}/sisyphus hook stop", "stop", id="braces"),
    pytest.param("A=/sisyphus hook stop", "stop", id="a value that looks like a program"),
    pytest.param("A+=/sisyphus hook stop", "stop", id="a value that is added"),
    pytest.param("!sisyphus hook stop", "stop", id="an exclamation mark"),
    pytest.param("(sisyphus hook stop)", "stop", id="brackets"),
    pytest.param("sisyphus hook stop #", "stop", id="a comment"),
    pytest.param("sisyphus hook stop >x", "stop", id="into a file"),
    pytest.param("<x sisyphus hook stop", "stop", id="out of a file"),
    pytest.param("sisyphus hook stop&", "stop", id="in the background"),
    pytest.param("sisyphus hook stop --scope $x", "stop", id="a scope that is a variable"),
    pytest.param("sisyphus hook stop --client x", "stop", id="another option"),
    pytest.param("sisyphus hook stop --scope a b", "stop", id="one word more"),
    pytest.param("beep|sisyphus hook stop", "stop", id="behind a pipe"),
    pytest.param("sisyphus hook stop;", "stop", id="a semicolon"),
    pytest.param("sisyphus hook sto\\p", "sto", id="an event with a backslash"),
    pytest.param("sis\\\nyphus hook stop", "", id="a broken line"),
    pytest.param("-x/sisyphus hook stop", "stop", id="an option of the shell"),
    pytest.param("+x/sisyphus hook stop", "stop", id="another option of the shell"),
    pytest.param("'-x'/sisyphus hook stop", "stop", id="an option of an interpreter"),
    pytest.param("%x/sisyphus hook stop", "stop", id="a job"),
]


@pytest.mark.parametrize(("command", "mentioned"), FOREIGN)
def test_a_command_of_others_is_theirs(command: str, mentioned: str) -> None:
    assert wiring.called_event(command) == ""
    assert wiring.program(command) == ""
    assert wiring.mentioned_event(command) == mentioned


FAKE = """#!/bin/sh
printf '%s\\n' ran "$@" >> "$LOG"
"""
PIECES = st.one_of(
    st.sampled_from(
        ("sisyphus", "hook", "stop", "sisyphus.exe", "A=1", "echo", "true", "x/", "-c")
    ),
    st.sampled_from(" \t\n\r\0\v\f'\"\\$`;&|<>*?[]{}()~#!=^%+-,.:/@"),
    st.sampled_from(("\u00a0", "\u3000", "\u2028", "\x85", "\x1c", "\ud800", "é", "à")),
    st.sampled_from(
        ("''", '""', "$(true)", "`true`", "$IFS", "\\\n", "||", "&&", " #", ">x", "$'")
    ),
)
INSERTED = st.lists(st.tuples(st.integers(0, 40), PIECES), min_size=1, max_size=2)
LIKE_OURS = st.sampled_from((
    "sisyphus hook stop", "'sisyphus' hook stop", '"sisyphus" hook stop', "./sisyphus hook stop",
    r"\sis\yphus hook stop", "si'sy'\"phus\"  hook \tstop ",
))  # fmt: skip


def _ran(command: str, program: str, folder: str) -> tuple[int, str, str]:
    """What becomes of it in a folder that holds, and finds, one program alone."""
    path, log = Path(folder, program), Path(folder, "log")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(FAKE, encoding="utf-8")
    path.chmod(0o755)
    surroundings = {"PATH": folder, "LOG": str(log)}
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=folder, env=surroundings, capture_output=True, check=False
    )
    ran = log.read_text(encoding="utf-8") if log.exists() else ""
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace"), ran


def _files(folder: str) -> int:
    return sum(len(names) for _, _, names in os.walk(folder))


@settings(max_examples=1_500, deadline=None)
@given(LIKE_OURS, INSERTED)
@example("sisyphus hook stop", [])
@example("./sisyphus hook stop", [(0, '"'), (11, '"')])
def test_what_is_ours_is_plain_words_to_the_shell(
    command: str, inserted: list[tuple[int, str]]
) -> None:
    for place, piece in inserted:
        command = command[:place] + piece + command[place:]
    event, program = wiring.called_event(command), wiring.program(command)
    if not event or program.startswith("/") or ".." in program:
        return
    with tempfile.TemporaryDirectory() as folder:
        assert _ran(command, program, folder) == (0, "", f"ran\nhook\n{event}\n")
        assert _files(folder) == 2  # the program and its log


NAMES = st.text(st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="/"), min_size=1)


@settings(max_examples=100, deadline=None)
@given(NAMES.filter(lambda name: name not in (".", "..") and len(name.encode()) < 200))
@example('it\'s a $(x) `y` \\ "folder"')
@example("\u00a0\u3000\u2028é")
def test_a_path_that_install_writes_is_known_and_started(name: str) -> None:
    with tempfile.TemporaryDirectory() as parent:
        folder = os.path.join(parent, name)
        os.mkdir(folder)
        path = os.path.join(folder, "sisyphus")
        command = f"{shlex.quote(path)} hook stop"

        assert (wiring.called_event(command), wiring.program(command)) == ("stop", path)
        assert wiring.is_statusline(f"{shlex.quote(path)} statusline")
        assert _ran(command, "sisyphus", folder) == (0, "", "ran\nhook\nstop\n")


@given(st.text())
def test_any_text_is_looked_at(text: str) -> None:
    assert wiring.called_event(text) in ("", wiring.mentioned_event(text))


STATUSLINES = [
    pytest.param("sisyphus statusline", True, id="ours"),
    pytest.param("'/a b/sisyphus' statusline ", True, id="quoted"),
    pytest.param("sisyphus statusline; beep", False, id="one command more"),
    pytest.param("sisyphus\nstatusline", False, id="lines"),
    pytest.param("$(beep)/sisyphus statusline", False, id="a command"),
    pytest.param("sisyphus hook stop", False, id="a hook"),
]


@pytest.mark.parametrize(("command", "is_ours"), STATUSLINES)
def test_whose_status_line_it_is(command: str, is_ours: bool) -> None:
    assert wiring.is_statusline(command) == is_ours


def test_every_entry_that_we_ship_is_ours() -> None:
    settings = json.loads(Path(shipped.plugin_folder(), "hooks.json").read_bytes())
    found = list(wiring.entries(settings))
    assert len(found) == len(list(wiring.commands(settings))) > 8
    (post,) = [wired for wired in found if wired.event == "PostToolBatch"]
    assert post.matcher == ""
    assert post.fields["timeout"] == 10
    assert post.command == "sisyphus hook post-tool-use"


def test_those_of_others_stand_aside() -> None:
    hooks = [{"command": "mine"}, {"command": "sisyphus hook stop"}, {"type": "prompt"}]
    settings = {"hooks": {"Stop": [{"matcher": "x", "hooks": hooks}]}}
    assert [wired.command for wired in wiring.commands(settings)] == ["mine", "sisyphus hook stop"]
    (ours,) = wiring.entries(settings)
    assert (ours.event, ours.matcher) == ("Stop", "x")


ODD = [
    pytest.param({}, id="nothing"),
    pytest.param({"hooks": None}, id="null"),
    pytest.param({"hooks": []}, id="a list"),
    pytest.param({"hooks": {"Stop": {}}}, id="an event that is an object"),
    pytest.param({"hooks": {"Stop": ["x", None]}}, id="groups that are none"),
    pytest.param({"hooks": {"Stop": [{"hooks": "x"}]}}, id="hooks that are none"),
    pytest.param({"hooks": {"Stop": [{"hooks": [1, {"command": 2}]}]}}, id="no commands"),
]


@pytest.mark.parametrize("settings", ODD)
def test_other_shapes_hold_nothing(settings: dict[str, object]) -> None:
    assert list(wiring.commands(settings)) == []
