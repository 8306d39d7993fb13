"""Settings files as they are found, each given to the real command and taken back."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from making import COMMAND, put

from install.scene import installed, tree, uninstalled
from sisyphus.errors import SisyphusError
from sisyphus.install import actions, wiring
from sisyphus.install.claude import place as claude
from sisyphus.install.wish import Wish

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FOREIGN = '{"hooks": [{"type": "command", "command": "mine"}]}'
STOP = f'{{"hooks": {{"Stop": [{FOREIGN}]}}}}'
DEEP = '{"a": ' * 60 + "1" + "}" * 60


@dataclass(frozen=True)
class Scene:
    """The user's own settings, and a project."""

    settings: Path
    project: Path

    def put(self, content: str | bytes) -> None:
        put(self.settings, content)


@pytest.fixture
def scene(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    path = os.environ.get("PATH", "/bin")
    monkeypatch.setenv("PATH", f"{os.path.dirname(COMMAND)}{os.pathsep}{path}")
    monkeypatch.chdir(project)
    return Scene(home / ".claude/settings.json", project)


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def _installed_events(data: bytes) -> set[str]:
    return {one.event for one in wiring.entries(json.loads(data.decode("utf-8-sig") or "{}"))}


def _seen(home: Path) -> dict[str, object]:
    """Everything in a home, the folder of our own state aside."""
    return {name: one for name, one in tree(home).items() if not name.startswith(".claude/.sisy")}


DONE = [
    pytest.param("{}", id="nothing in it"),
    pytest.param("{}\n", id="nothing in it but a line end"),
    pytest.param("", id="an empty file"),
    pytest.param(" \n\t\n", id="white space alone"),
    pytest.param("\ufeff", id="a byte order mark alone"),
    pytest.param('\ufeff{\n  "model": "opus"\n}\n', id="a byte order mark"),
    pytest.param('{\r\n  "model": "opus"\r\n}\r\n', id="CRLF"),
    pytest.param('{\n  "a": 1,\r\n  "b": 2\n}', id="mixed line ends"),
    pytest.param('{\n\t"model": "opus",\n\t"env": {\n\t\t"A": "1"\n\t}\n}\n', id="tabs"),
    pytest.param('{\n   "a": 1,\n   "b": {"c": 1}\n}\n', id="three spaces"),
    pytest.param('{"model":"opus","env":{"A":"1"}}', id="minified"),
    pytest.param('{"model": "opus"}', id="no final newline"),
    pytest.param('\n\n  {"model" : "opus" ,\n"a":[ 1,2 ]\n}   \n\n', id="unusual white space"),
    pytest.param('{"z": 1, "a": 2, "hooks": {}, "b": 3}', id="hooks, and nothing in them"),
    pytest.param('{"hooks": {"Stop": []}}', id="an event, and nothing in it"),
    pytest.param('{"hooks": {"Stop": [ ]  , "Z": [\n] } }', id="events with white space in them"),
    pytest.param(STOP, id="a foreign hook of the same event"),
    pytest.param(
        '{"hooks": {"Stop": [{"matcher": "x", "hooks": []}, {}, 3, "x"]}}', id="strange groups"
    ),
    pytest.param('{"hooks": {"NoSuchEvent": null, "PreToolUse": 3}}', id="strange events"),
    pytest.param(
        '{"a": 12345678901234567890123, "b": 1.50, "c": 1E+2, "d": -0.0, "e": 1e999}', id="numbers"
    ),
    pytest.param('{"a": "\\u00e9 \\ud83d\\ude00 \\/ \\ud800 é 😀"}', id="escapes"),
    pytest.param('{"a": 1, "a": 2, "env": {"B": 1, "B": 2}}', id="keys twice that are not ours"),
    pytest.param('{"hooks": {"X": [], "X": 3}}', id="an event of no concern to us twice"),
    pytest.param('{"hooks": {"Stop": [{"hooks": [], "hooks": []}]}}', id="a foreign group's twice"),
    pytest.param(DEEP, id="60 deep"),
    pytest.param('{"statusLine": {"type": "command", "command": "mine"}}', id="a statusLine"),
    pytest.param('{"claudeMdExcludes": ["**/mine.md"]}', id="excludes"),
    pytest.param(
        json.dumps({"permissions": {"allow": [f"Bash({n})" for n in range(20_000)]}}, indent=2),
        id="half a megabyte",
    ),
]


@pytest.mark.parametrize("text", DONE)
def test_it_is_done_and_given_back_byte_for_byte(scene: Scene, home: Path, text: str) -> None:
    scene.put(text.encode("utf-8", "surrogatepass"))
    scene.settings.chmod(0o640)
    before = _seen(home)

    done = _run("install", "--yes")

    assert (done.returncode, done.stderr) == (0, "")
    data = scene.settings.read_bytes()
    assert {"Stop", "SessionStart", "PostToolBatch"} <= _installed_events(data)
    assert stat.S_IMODE(scene.settings.stat().st_mode) == 0o640
    assert not installed(claude.of_user()).changes
    assert _run("uninstall").returncode == 0
    assert _seen(home) == before


@pytest.mark.parametrize("text", DONE)
def test_without_what_was_kept_the_same_comes_of_taking_ours_out(
    scene: Scene, home: Path, text: str
) -> None:
    """The copy of the file before us is gone, and what is noted of it as well."""
    scene.put(text.encode("utf-8", "surrogatepass"))
    wish = Wish(parts=frozenset({"hooks", "statusline"}))
    actions.install(actions.plan_install(claude.of_user(), wish), wish)
    for path in (home / ".claude/.sisyphus/replaced").iterdir():
        path.unlink()
    (home / ".claude/.sisyphus/installs.json").unlink()

    uninstalled(claude.of_user())

    left = scene.settings.read_bytes().decode()
    if text in {'{"z": 1, "a": 2, "hooks": {}, "b": 3}', '{"hooks": {"Stop": []}}'}:
        assert _installed_events(left.encode()) == set()
    elif text.strip("\ufeff \n\t") == "" or '"Stop": [ ]' in text:
        assert json.loads(left.strip("\ufeff")) in ({}, {"hooks": {"Z": []}})
    else:
        assert left == text


AGAIN = "then run this again."
REFUSED = [
    pytest.param('{\n  // mine\n  "a": 1\n}', "line 2, column 3: a comment", id="a comment"),
    pytest.param('{"a": 1 /* mine */}', "line 1, column 9: a comment", id="another comment"),
    pytest.param('{\n  "a": 1,\n}', "line 2, column 9: a trailing comma", id="a trailing comma"),
    pytest.param("{'a': 1}", "line 1, column 2: a single quote", id="single quotes"),
    pytest.param('{"a": 1', "line 1, column 8: the end comes too early", id="cut short"),
    pytest.param('{"a": 1}\n}', "line 2, column 1: text behind the end", id="more behind it"),
    pytest.param('{"a": NaN}', "line 1, column 7: NaN", id="no number"),
    pytest.param("<<<<<<< ours\n{}\n", "line 1, column 1: a merge conflict", id="a conflict"),
    pytest.param("null", "holds a literal, and settings are an object", id="null"),
    pytest.param("[]", "holds a list, and settings are an object", id="a list"),
    pytest.param('{"hooks": {}, "hooks": {}}', 'the key "hooks" stands there twice', id="twice"),
    pytest.param(
        '{"hooks": {"Stop": [], "Stop": []}}', '"Stop" stands there twice', id="an event twice"
    ),
    pytest.param(
        '{"hooks": {"Z": [{"hooks": [{"command": "sisyphus hook z"}], "hooks": []}]}}',
        'line 1, column 62: the key "hooks" stands there twice',
        id="the hooks of a group of ours twice",
    ),
    pytest.param(
        '{\n"hooks": null}', 'line 2, column 10: "hooks" holds no object', id="hooks null"
    ),
    pytest.param('{"statusLine": {}, "statusLine": {}}', '"statusLine" stands', id="lines"),
    pytest.param('{"hooks": []}', '"hooks" holds no object', id="hooks that are a list"),
    pytest.param('{"hooks": "x"}', '"hooks" holds no object', id="hooks that are a text"),
    pytest.param('{"hooks": {"Stop": {}}}', '"Stop" holds no list', id="an event's object"),
    pytest.param('{"hooks": {"Stop": null}}', '"Stop" holds no list', id="an event's null"),
    pytest.param("{}".encode("utf-16"), "is UTF-16. Save it as UTF-8", id="UTF-16"),
    pytest.param(b'{"a": "\xe9"}', "is not UTF-8 (byte 8). Save it as UTF-8", id="Latin-1"),
    pytest.param("[" * 5_000, "nested more than 100 deep", id="5,000 deep"),
    pytest.param('{"a": 1}' + " " * 2_000_000, "too large (over 1,000,000 bytes)", id="2 MB"),
]


@pytest.mark.parametrize(("content", "told"), REFUSED)
def test_it_is_refused_and_nothing_is_changed(
    scene: Scene, home: Path, content: str | bytes, told: str
) -> None:
    scene.put(content)
    before = _seen(home)
    done = _run("install", "--yes", "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: {scene.settings}")
    assert told in done.stderr
    assert done.stderr.endswith(f"{AGAIN}\n")
    assert done.stderr.count("\n") == 1
    assert _seen(home) == before
    with pytest.raises(SisyphusError, match="run this again"):
        actions.plan_install(claude.of_user(), Wish())


def _a_folder(scene: Scene) -> None:
    scene.settings.mkdir(parents=True)


def _a_pipe(scene: Scene) -> None:
    scene.settings.parent.mkdir()
    os.mkfifo(scene.settings)


def _read_only(scene: Scene) -> None:
    scene.put(_stop("/old/sisyphus hook stop"))
    scene.settings.chmod(0o444)


def _to_nowhere(scene: Scene) -> None:
    scene.settings.parent.mkdir()
    scene.settings.symlink_to("gone.json")


def _to_itself(scene: Scene) -> None:
    scene.settings.parent.mkdir()
    scene.settings.symlink_to("settings.json")


def _no_folder(scene: Scene) -> None:
    put(scene.settings.parent, "a file")


STRANGE = [
    pytest.param(_a_folder, "is a folder. Move it away", id="a folder"),
    pytest.param(_a_pipe, "is no regular file. Move it away", id="a pipe"),
    pytest.param(_read_only, "is read-only. Make it writable (chmod u+w)", id="read-only"),
    pytest.param(_to_nowhere, "which is not there. Remove the link", id="a dangling link"),
    pytest.param(_to_itself, "which is not there. Remove the link", id="a link to itself"),
]


@pytest.mark.parametrize(("make", "told"), STRANGE)
def test_what_is_no_ordinary_file_is_refused(
    scene: Scene, home: Path, make: Callable[[Scene], None], told: str
) -> None:
    make(scene)
    before = _seen(home)
    for verb in ("install", "uninstall"):
        done = _run(verb)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"error: {scene.settings} ")
        assert told in done.stderr
        assert _seen(home) == before


def test_a_read_only_file_is_no_obstacle_where_it_stays_as_it_is(scene: Scene, home: Path) -> None:
    scene.put(STOP)
    scene.settings.chmod(0o444)
    before = _seen(home)
    gone = _run("uninstall")
    assert (gone.returncode, gone.stderr) == (0, "")
    assert gone.stdout.startswith("Nothing to do: sisyphus is not in ~/.claude.")
    assert _run("install", "--only", "commands").returncode == 0
    assert _run("uninstall").returncode == 0
    assert _seen(home) == before
    scene.settings.chmod(0o644)
    _run("install")
    scene.settings.chmod(0o444)
    assert _run("install").stdout == "Nothing to do: sisyphus is in ~/.claude.\n"


def _broken(scene: Scene) -> None:
    scene.put('{"hooks": ')


UNREAD = [*STRANGE[:2], *STRANGE[3:], pytest.param(_broken, "the end comes too", id="broken")]


@pytest.mark.parametrize(("make", "told"), UNREAD)
def test_slash_commands_alone_need_no_settings(
    scene: Scene, home: Path, make: Callable[[Scene], None], told: str
) -> None:
    make(scene)
    before = _seen(home)
    done = _run("install", "--only", "commands")
    assert (done.returncode, done.stderr) == (0, "")
    assert (home / ".claude/commands/ralph-loop.md").exists()
    assert {name: _seen(home)[name] for name in before} == before
    for words in (["--only", "statusline"], ["--only", "commands", "--without", "hooks"]):
        refused = _run("install", *words)
        assert refused.returncode == 1
        assert told in refused.stderr


def test_a_folder_that_cannot_be_written_is_refused(not_root: Path) -> None:
    folder = not_root / "project/.claude"
    put(folder / "settings.json", STOP)
    folder.chmod(0o500)
    before = tree(not_root / "project")
    with pytest.raises(SisyphusError, match=r"Permission denied\. Nothing changed\. Make it wr"):
        installed(claude.of_project(str(not_root / "project")))
    assert tree(not_root / "project") == before


def _stop(*commands: str) -> str:
    hooks = [{"type": "command", "command": command} for command in commands]
    return json.dumps({"hooks": {"Stop": [{"hooks": hooks}]}}) + "\n"


def test_foreign_hooks_in_one_group_with_ours_stay_in_their_order(scene: Scene) -> None:
    scene.put(_stop("one", "/old/sisyphus hook stop", "two"))
    assert _run("install").returncode == 0
    theirs, ours = json.loads(scene.settings.read_bytes())["hooks"]["Stop"]
    assert [one["command"] for one in theirs["hooks"]] == ["one", "two"]
    called = [f"{COMMAND} hook stop", f"{COMMAND} hook idle"]
    assert [one["command"] for one in ours["hooks"]] == called
    assert _run("uninstall").returncode == 0
    assert scene.settings.read_text() == _stop("one", "two")


def test_a_file_in_the_place_of_the_folder_is_refused(scene: Scene, home: Path) -> None:
    _no_folder(scene)
    before = tree(home)
    done = _run("install")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{scene.settings.parent} is no folder. Move it away" in done.stderr
    assert tree(home) == before


def test_a_link_of_the_users_own_is_followed_and_stays(scene: Scene, home: Path) -> None:
    target = put(home / "dotfiles/claude.json", STOP)
    scene.settings.parent.mkdir()
    scene.settings.symlink_to("../dotfiles/claude.json")
    before = _seen(home)

    done = _run("install")

    assert done.returncode == 0
    assert f"{scene.settings} is a link: {target} is what changes." in done.stdout
    assert scene.settings.is_symlink()
    assert "SessionEnd" in _installed_events(target.read_bytes())
    assert _run("uninstall").returncode == 0
    assert _seen(home) == before


LINKS = [
    pytest.param(".claude/settings.json", id="the file"),
    pytest.param(".claude", id="the folder"),
]


@pytest.mark.parametrize("name", LINKS)
def test_a_link_out_of_a_project_is_not_followed(scene: Scene, tmp_path: Path, name: str) -> None:
    outside = put(tmp_path / "outside/settings.json", STOP)
    link = scene.project / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside if name.endswith(".json") else outside.parent)
    for words in (["install", "--yes"], ["uninstall"]):
        done = _run(*words, "--scope", "project")
        assert (done.returncode, done.stdout) == (1, "")
        assert f"which is not in {scene.project}" in done.stderr
    assert outside.read_text() == STOP
    assert os.listdir(outside.parent) == ["settings.json"]
