"""Installing and removing in real folders; `before == after` is the promise."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import at_once, debug_log, put, stored
from making import ours as of_ours

from install.scene import MD, did, in_project, installed, ours, tree, uninstalled
from sisyphus.errors import SisyphusError
from sisyphus.install import actions, opencode
from sisyphus.install.claude import place as claude
from sisyphus.install.wish import Wish
from sisyphus.state.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.install.place import Place
    from sisyphus.install.plan import Plan

FOLDERS = ["plugin", "plugins", "command", "commands", "agent"]
MINE = {"plugins/mine.js": "export const A = 1\r\n", "commands/mine.md": MD, "opencode.json": "{}"}

BEFORE = [
    pytest.param({}, id="nothing"),
    pytest.param({".opencode/agent/a.md": MD}, id="another folder of the client's"),
    pytest.param({f".opencode/{name}": text for name, text in MINE.items()}, id="both folders"),
    pytest.param(
        {".opencode/plugin/a.ts": "", ".opencode/command/b.md": MD}, id="the older spelling"
    ),
    pytest.param({f".opencode/{folder}/x.md": MD for folder in FOLDERS}, id="both spellings"),
    pytest.param({".opencode/commands/checkpoint.md": MD}, id="a command of that name"),
    pytest.param({".opencode/command/ralph-loop.md": "", "opencode.json": "{"}, id="odd files"),
    pytest.param({".opencode/node_modules/x.js": "", ".opencode/.gitignore": "*"}, id="a used one"),
]  # fmt: skip


def _lay(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        put(root / name, text)


@pytest.mark.parametrize("files", BEFORE)
def test_a_project_is_left_as_it_was(project: Path, files: dict[str, str]) -> None:
    _lay(project, files)
    before = tree(project)

    done = installed(in_project(project))

    assert set(did(done).values()) <= {"write", "skip"}
    seen = tree(project)
    assert {name: one for name, one in seen.items() if name in before} == before
    assert {s.path for s in done.changes} <= {str(project / name) for name in seen}
    uninstalled(in_project(project))
    assert tree(project) == before


@pytest.mark.parametrize("files", BEFORE)
@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "OPENCODE_CONFIG_DIR", ""])
def test_the_users_folder_is_left_as_it_was(
    home: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], variable: str
) -> None:
    folders = {"XDG_CONFIG_HOME": "x/opencode", "OPENCODE_CONFIG_DIR": "o", "": ".config/opencode"}
    folder = folders[variable]
    if variable:
        monkeypatch.setenv(variable, str(home / folder.removesuffix("/opencode")))
    _lay(home, {name.replace(".opencode", folder): text for name, text in files.items()})
    before = tree(home)

    done = installed(opencode.of_user())

    assert done.place.folder == str(home / folder)
    assert (home / folder).is_dir()
    uninstalled(opencode.of_user())
    left = {name: one for name, one in tree(home).items() if not name.startswith(".claude")}
    assert left == before


def test_a_second_time_there_is_nothing_to_do(project: Path, home: Path) -> None:
    installed(in_project(project))
    before = tree(project), of_ours(home, "installs.json").stat().st_mtime_ns
    again = installed(in_project(project))
    assert set(did(again).values()) == {"same"}
    assert (tree(project), of_ours(home, "installs.json").stat().st_mtime_ns) == before


def test_a_plan_changes_nothing(project: Path, home: Path) -> None:
    actions.plan_install(in_project(project), Wish(replace=True))
    actions.plan_uninstall(in_project(project))
    assert os.listdir(project) == [".git"]
    assert tree(home) == {}


def test_what_was_written_is_noted(project: Path, home: Path) -> None:
    done = installed(in_project(project))
    (entry,) = stored(of_ours(home, "installs.json"))["installs"]
    assert entry["scope"] == "project"
    assert entry["folder"] == str(project / ".opencode")
    assert entry["folders"] == list(done.make)
    assert [row["path"] for row in entry["files"]] == [step.path for step in done.steps]
    uninstalled(in_project(project))
    assert stored(of_ours(home, "installs.json"))["installs"] == []


def test_an_older_version_is_upgraded(project: Path) -> None:
    place = in_project(project)
    put(project / ".opencode/commands/checkpoint.md", ours()).chmod(0o600)
    put(project / ".opencode/commands/forgotten.md", ours())
    installed(place)
    assert (
        b"sisyphus boulder checkpoint"
        in (project / ".opencode/commands/checkpoint.md").read_bytes()
    )
    assert (project / ".opencode/commands/checkpoint.md").stat().st_mode & 0o777 == 0o600
    assert not (project / ".opencode/commands/forgotten.md").exists()


def test_what_the_user_changed_is_replaced_by_consent_only(project: Path, home: Path) -> None:
    place = in_project(project)
    installed(place)
    path = project / ".opencode/plugins/sisyphus.js"
    original, edited = path.read_bytes(), path.read_bytes() + b"// mine\n"
    path.write_bytes(edited)

    kept = installed(place)
    assert did(kept)["plugins/sisyphus.js"] == "keep"
    assert path.read_bytes() == edited
    replaced = installed(place, replace=True)
    assert did(replaced)["plugins/sisyphus.js"] == "replace"
    assert path.read_bytes() == original
    (copy,) = of_ours(home, "replaced").iterdir()
    assert copy.read_bytes() == edited


def test_what_the_user_changed_is_not_removed(project: Path) -> None:
    place, before = in_project(project), tree(project)
    installed(place)
    path = project / ".opencode/commands/checkpoint.md"
    path.write_bytes(path.read_bytes() + b"mine")

    done = uninstalled(place)

    assert did(done)["commands/checkpoint.md"] == "keep"
    left = [name for name, one in tree(project).items() if one[0] == "file"]
    assert left == [".opencode/commands/checkpoint.md"]
    path.unlink()
    assert not uninstalled(place).changes
    assert tree(project) == before


def test_what_the_client_put_there_stays(project: Path) -> None:
    before = tree(project)
    installed(in_project(project))
    put(project / ".opencode/.gitignore", "node_modules\n")
    put(project / ".opencode/node_modules/x/index.js", "")
    done = uninstalled(in_project(project))
    assert done.left == ((str(project / ".opencode"), (".gitignore", "node_modules")),)
    assert set(tree(project)) - set(before) == {
        ".opencode",
        ".opencode/.gitignore",
        ".opencode/node_modules",
        ".opencode/node_modules/x",
        ".opencode/node_modules/x/index.js",
    }


def test_a_copy_in_a_clone_is_ours_too(project: Path, tmp_path: Path, home: Path) -> None:
    """Nobody here noted what another wrote."""
    installed(in_project(project))
    os.rename(project, tmp_path / "clone")
    of_ours(home, "installs.json").unlink()
    place = in_project(tmp_path / "clone")
    assert not installed(place).changes
    uninstalled(place)
    assert {name for name, one in tree(tmp_path / "clone").items() if one[0] == "file"} == set()


def test_another_folder_makes_no_difference(project: Path, home: Path) -> None:
    user = opencode.of_user()
    installed(user)
    before = tree(home / ".config")
    installed(in_project(project))
    uninstalled(in_project(project))
    assert tree(home / ".config") == before
    uninstalled(user)
    assert not (home / ".config").exists()


# --- what can go wrong ---------------------------------------------------------------------------


def test_what_changed_since_it_was_shown_is_not_done(project: Path) -> None:
    shown = actions.plan_install(in_project(project), Wish())
    put(project / ".opencode/commands/checkpoint.md", "mine")
    before = tree(project)
    with pytest.raises(SisyphusError, match=r"has changed there meanwhile\. Run this again"):
        actions.install(shown, Wish())
    assert tree(project) == before


def _carry_out(shown: Plan) -> bool:
    actions.install(shown, Wish())
    return True


def test_two_at_once_are_as_good_as_one(project: Path) -> None:
    """Those that come later find the work done."""
    shown = [actions.plan_install(in_project(project), Wish())] * 3

    assert at_once(_carry_out, shown) == [True] * 3
    assert set(did(installed(in_project(project))).values()) == {"same"}


def test_a_lock_that_another_holds_is_waited_for(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sisyphus.state.lock_deadline", 0.0)
    put(of_ours(home, "installs.json"), "{}")
    shown = actions.plan_install(in_project(project), Wish())
    with (
        Lock(str(of_ours(home, "installs.json"))),
        pytest.raises(SisyphusError, match="another process holds"),
    ):
        actions.install(shown, Wish())
    assert os.listdir(project) == [".git"]


def test_a_book_of_a_newer_version_is_left_alone(project: Path, home: Path) -> None:
    put(of_ours(home, "installs.json"), '{"version": 2, "installs": []}')
    with pytest.raises(SisyphusError, match="newer sisyphus"):
        installed(in_project(project))
    assert os.listdir(project) == [".git"]


def test_a_name_that_no_disk_takes_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCODE_CONFIG_DIR", str(home / ("x" * 300)))
    before = tree(home)
    with pytest.raises(SisyphusError, match=r"File name too long\. Nothing changed\. Mend that"):
        installed(opencode.of_user())
    assert {name for name in tree(home) if not name.startswith(".claude")} == set(before)


READ_ONLY = [
    pytest.param("", id="the project"),
    pytest.param(".opencode", id="the client's folder"),
    pytest.param(".opencode/commands", id="the folder for commands, after that for plugins"),
]


@pytest.mark.parametrize("name", READ_ONLY)
def test_a_folder_that_is_read_only_is_told(not_root: Path, name: str) -> None:
    root = not_root / "project"
    (root / name).mkdir(parents=True)
    (root / name).chmod(0o500)
    before = tree(root)
    with pytest.raises(SisyphusError) as caught:
        installed(in_project(root))
    assert str(caught.value).startswith(str(root / name))
    assert "Permission denied. Nothing changed. Make it writable for you, then run" in str(
        caught.value
    )
    assert tree(root) == before
    assert not (not_root / "claude/.sisyphus/installs.json").exists()


def test_what_cannot_be_removed_all_stays(not_root: Path) -> None:
    root = not_root / "project"
    root.mkdir()
    installed(in_project(root))
    (root / ".opencode/commands").chmod(0o500)
    before = tree(root)
    with pytest.raises(SisyphusError, match=r"Permission denied\. Nothing changed\."):
        uninstalled(in_project(root))
    assert tree(root) == before
    (root / ".opencode/commands").chmod(0o700)
    uninstalled(in_project(root))
    assert tree(root) == {}


def test_a_folder_that_cannot_be_read_is_told(not_root: Path) -> None:
    (not_root / "project/.opencode/commands").mkdir(parents=True)
    (not_root / "project/.opencode/commands").chmod(0)
    for ask in (installed, uninstalled):
        with pytest.raises(SisyphusError, match=r"opencode/commands: Permission denied\. Nothing"):
            ask(in_project(not_root / "project"))


def test_what_could_not_be_put_back_is_told(project: Path, home: Path) -> None:
    """Somebody puts a file into a new folder, and a folder into the way of the next file."""
    shown = actions.plan_install(in_project(project), Wish())
    target = shown.changes[-1].path

    def meddle(event: str, given: tuple[object, ...]) -> None:
        if event == "os.rename" and given[1] == target:
            put(Path(target) / "x", "")

    _with_audit(meddle, lambda: actions.install(shown, Wish()), told := home / "told")
    message = told.read_text()
    assert f"These could not be put back: {os.path.dirname(target)}, " in message
    assert "could not put back" in debug_log(home)
    left = [name for name, one in tree(project).items() if one[0] == "file"]
    assert left == [os.path.relpath(f"{target}/x", project)]


def _with_audit(
    look: Callable[[str, tuple[object, ...]], None], do: Callable[[], object], told: Path
) -> int:
    """What `do` comes to in a process that is looked at at every call of the system."""
    child = os.fork()
    if child == 0:
        sys.addaudithook(look)
        try:
            do()
        except SisyphusError as error:
            told.write_text(str(error))
            os._exit(1)
        except BaseException:  # noqa: BLE001
            os._exit(2)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


DECISIVE = {"os.mkdir", "os.rename", "os.remove", "os.rmdir"}


class _Killed:
    """Ends its process before the n-th change of a folder."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self, event: str, _: tuple[object, ...]) -> None:
        if event in DECISIVE:
            self.left -= 1
            if self.left < 0:
                os._exit(9)


VERBS = [pytest.param(installed, id="install"), pytest.param(uninstalled, id="uninstall")]


def _claude(project: Path) -> Place:
    """With a settings file that somebody wrote by hand, and a line in git's list."""
    put(project / ".claude/settings.local.json", '{"hooks" :{ "Stop":[]},"a":1 }')
    put(project / ".git/info/exclude", "mine")
    return claude.of_local(str(project))


def _new_claude(project: Path) -> Place:
    (project / ".git/info").mkdir()
    return claude.of_local(str(project))


def _opencode(project: Path) -> Place:
    put(project / ".opencode/plugin/mine.js", "")
    return in_project(project)


PLACES = [
    pytest.param(_opencode, id="opencode"),
    pytest.param(_claude, id="claude"),
    pytest.param(_new_claude, id="claude, all new"),
]


@pytest.mark.parametrize("make", PLACES)
@pytest.mark.parametrize("verb", VERBS)
def test_a_run_that_is_killed_can_be_repeated_and_undone(
    project: Path, home: Path, verb: Callable[[Place], object], make: Callable[[Path], Place]
) -> None:
    place = make(project)
    before, number, ended = tree(project), 0, 9
    while ended == 9:
        if verb is uninstalled:
            installed(place)
        ended = _with_audit(_Killed(number), lambda: verb(place), home / "told")
        if number % 2:
            installed(place)
            assert set(did(installed(place)).values()) == {"same"}
        uninstalled(place)
        assert tree(project) == before
        number += 1
    assert ended == 0
    assert number > 20


NAMES = ["sisyphus.js", "checkpoint.md", "ralph-loop.md", "mine.md", "mine.js", "sub"]
CONTENT = st.sampled_from([b"", b"mine\r\n", MD.encode(), b"\xff\0", b"// sisyphus 0.1.0 x\n"])
THING = st.one_of(CONTENT, st.sampled_from(["folder", "link", "link out", "nowhere"]))
TREES = st.dictionaries(
    st.one_of(
        st.tuples(st.sampled_from(FOLDERS)),
        st.tuples(st.sampled_from(FOLDERS), st.sampled_from(NAMES)),
        st.tuples(st.sampled_from(["opencode.json", ".gitignore", "package.json"])),
    ),
    THING,
    max_size=8,
)
WHOLE = st.sampled_from([*["folder"] * 9, "link", "nowhere", b""])
LINKS = {"link": "../other", "link out": "/", "nowhere": "no/such/file"}


def _grow(root: Path, things: dict[tuple[str, ...], bytes | str], whole: bytes | str) -> None:
    root.mkdir()
    if whole != "folder":
        things = {}
        _put(root / ".opencode", whole)
    for words, thing in sorted(things.items(), key=lambda one: -len(one[0])):
        with suppress(OSError):  # two of them wanted the same place
            _put(root.joinpath(".opencode", *words), thing)


def _put(path: Path, thing: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(thing, bytes):
        path.write_bytes(thing)
    elif thing == "folder":
        path.mkdir()
    else:
        path.symlink_to(LINKS[thing])


@given(TREES, WHOLE)
def test_whatever_was_there_is_there_again(
    things: dict[tuple[str, ...], bytes | str], whole: bytes | str
) -> None:
    with tempfile.TemporaryDirectory() as above:
        root = Path(above, "project")
        _grow(root, things, whole)
        before = tree(root)
        place = opencode.of_project(os.path.realpath(root))
        try:
            done = installed(place)
        except SisyphusError:
            assert tree(root) == before
            return
        seen = tree(root)
        assert {name: one for name, one in seen.items() if name in before} == before
        assert done.changes
        uninstalled(place)
        assert tree(root) == before
