"""The lines by which clients call us: what they start, in any environment, and what they do where
nothing starts."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from world import SISYPHUS, Reply, World

from sisyphus.clients import entry

Json = dict[str, Any]

SHELLS = sorted({path for name in ("sh", "bash", "dash", "zsh") if (path := shutil.which(name))})
"""The shells of this machine that clients start us with."""

PROMISE = "<promise>DONE</promise>"


def settings_file(world: World, scope: str) -> Path:
    folder = world.claude if scope == "user" else world.project / ".claude"
    return folder / ("settings.local.json" if scope == "local" else "settings.json")


def lines(file: Path) -> dict[str, str]:
    """Returns event → the line that a settings file has for it, in our words."""
    groups = json.loads(file.read_text())["hooks"].values()
    every = [hook["command"] for group in groups for each in group for hook in each["hooks"]]
    return {event: line for line in every if (event := entry.call(line)[1])}


def install(world: World, scope: str = "user", client: str = "claude-code") -> dict[str, str]:
    answer = world.cli("install", "--yes", "--client", client, "--scope", scope)
    assert answer.code == 0, answer
    return lines(settings_file(world, scope))


def call(line: str, payload: Json, shell: str = "/bin/sh", **variables: str) -> Reply:
    """A client calls us."""
    done = subprocess.run(
        [shell, "-c", line],
        input=json.dumps(payload),
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return Reply(done.returncode, done.stdout, done.stderr)


def by_name(*folders: Path | str) -> str:
    """A PATH of these folders, and of those of the system."""
    return os.pathsep.join([*map(str, folders), "/usr/bin", "/bin"])


def put_program(world: World, text: str) -> str:
    """Puts a `sisyphus` on the PATH; returns the PATH."""
    program = world.write(world.root / "tools" / "sisyphus", text)
    program.chmod(0o755)
    return by_name(program.parent)


# ---------------------------------------------------------------- what they start


def put_traps(world: World) -> tuple[Path, dict[str, str]]:
    """A hostile project, and an environment that leads Python into it. Returns the file that is
    there once something of it has run, and the variables."""
    mark = world.root / "ran"
    trap = f"open({str(mark)!r}, 'a').write(__file__ + chr(10))\n"
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    names = (
        "sitecustomize.py", "usercustomize.py", "re.py", "json.py", "sisyphus/__init__.py",
        "sisyphus/__main__.py", f"user/lib/{version}/site-packages/usercustomize.py",
        f"lib/{version}/os.py", f"{version}/os.py", "warned.py",
    )  # fmt: skip
    for name in names:
        world.write(name, trap)
    (world.project / "user/lib" / version / "site-packages/x.pth").write_text(f"import os; {trap}")
    program = world.write("bin/sisyphus", f"#!/bin/sh\necho program >> {mark}\n")
    program.chmod(0o755)
    project = str(world.project)
    return mark, {
        "PYTHONPATH": f".:{project}",
        "PYTHONHOME": project,
        "PYTHONPLATLIBDIR": project,
        "PYTHONPYCACHEPREFIX": f"{project}/cache",
        "PYTHONUSERBASE": f"{project}/user",
        "PYTHONWARNINGS": "error,error::warned.Warning",
    }


@pytest.mark.parametrize("scope", ["user", "local", "project"])
def test_nothing_of_a_project_runs_in_our_place(world: World, scope: str) -> None:
    mark, variables = put_traps(world)
    world.write("README.md", "MARK\n")
    line = install(world, scope)["session-start"]
    folders = [SISYPHUS.parent] if scope == "project" else [world.project / "bin"]

    payload = world.payload("SessionStart.startup")
    reply = call(line, payload, PATH=by_name(*folders), **variables)

    assert "MARK" in reply.text, reply
    assert not reply.err
    assert not mark.exists(), mark.read_text()
    assert not (world.project / "cache").exists()


@pytest.mark.parametrize("name", entry.CLEARED)
def test_each_variable_that_a_shared_line_clears_leads_astray(world: World, name: str) -> None:
    """What the line clears, without that keeps our script from its work or runs something else."""
    mark, variables = put_traps(world)
    line = install(world, "project")["session-start"]
    payload = world.payload("SessionStart.startup")
    python = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    program = f"{python} -c 'import sys, os; print(sys.pycache_prefix, sys.warnoptions)'"
    variable = {name: variables[name]}

    harmed = call(program, payload, **variable)
    cleared = call(f"{name}= {program}", payload, **variable)
    has_run = mark.exists()
    mark.unlink(missing_ok=True)

    assert f"{name}= " in line
    assert has_run or harmed != cleared
    assert cleared.code == 0
    assert cleared.out == call(program, payload).out
    assert not mark.exists()


def test_a_check_gets_the_users_own_variables(world: World) -> None:
    """They are for what the user runs, and there alone."""
    line = install(world)["stop"]
    world.loop("--verify", "echo $PYTHONPATH > seen")

    call(line, world.stop_payload(PROMISE), PYTHONPATH="lib")

    assert (world.project / "seen").read_text() == "lib\n"


def test_a_program_on_the_path_has_no_say(world: World) -> None:
    """Neither another version there nor the one that a shell would take."""
    before = install(world)

    world.setenv("PATH", put_program(world, "#!/bin/sh\nexit 0\n"))

    assert "Nothing to do" in world.cli("install", "--client", "claude-code").out
    assert install(world) == before
    assert {entry.call(line)[0] for line in before.values()} == {
        f"{shlex.quote(sys.executable)} -I -m sisyphus"
    }


def test_what_only_the_user_site_has_is_found_there(world: World) -> None:
    """As after `pip install --user`, where an isolated Python does not look."""
    python = Path(sys.base_prefix) / "bin" / "python3"
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    packages = Path(sys.prefix) / "lib" / version / "site-packages"
    user_site = world.home / ".local" / "lib" / version / "site-packages"
    source = Path(entry.__file__).parents[2]
    world.write(user_site / "all.pth", f"{source}\n{packages}\n")
    world.write("README.md", "MARK\n")
    words = [str(python), "-m", "sisyphus", "install", "--yes", "--client", "claude-code"]
    subprocess.run(words, check=True, capture_output=True)
    line = lines(settings_file(world, "user"))["session-start"]

    assert entry.call(line)[0] == f"{python} -P -m sisyphus"
    assert "MARK" in call(line, world.payload("SessionStart.startup"), PYTHONPATH="/nowhere").text


# ---------------------------------------------------------------- where nothing starts


GONE = "/gone/python"


def broken(world: World, how: str) -> tuple[dict[str, str], str]:
    """Returns the lines of an installation that does not start, and the PATH."""
    scripts = {
        "its Python is gone": f"#!{GONE}\n",
        "its Python is broken": "#!/bin/sh\nexit 1\n",
        "its module is gone": f"#!{sys.base_prefix}/bin/python3\nimport sisyphus_is_not_here\n",
    }
    if how in scripts:
        return install(world, "project"), put_program(world, scripts[how])
    if how == "it is not on the PATH":
        return install(world, "project"), by_name()
    pythons = {
        "the path leads nowhere": GONE,
        "the path is no program": str(world.write(world.root / "python")),
        "the environment has no sisyphus": f"{sys.base_prefix}/bin/python3",
    }
    found = install(world).items()
    return {event: line.replace(sys.executable, pythons[how]) for event, line in found}, by_name()


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "how",
    ["it is not on the PATH", "its Python is gone", "its Python is broken", "its module is gone",
     "the path leads nowhere", "the path is no program", "the environment has no sisyphus"],
)  # fmt: skip
def test_the_start_alone_says_that_nothing_starts(world: World, how: str, shell: str) -> None:
    found, path = broken(world, how)

    for event, line in found.items():
        reply = call(line, {}, shell, PATH=path)

        assert reply.code == 0, (event, reply)
        if event == "session-start":
            assert reply.json.keys() == {"systemMessage"}
            assert "sisyphus does not start" in reply.message
            assert "`uv tool install sisyphus-hooks`" in reply.message
            assert "take the lines that call it out" in reply.message
        else:
            assert not reply.out, event


def test_a_line_by_path_names_no_script(world: World) -> None:
    """Without its script Python exits with 2, by which `hook idle` wakes a session."""
    for line in install(world).values():
        words = shlex.split(entry.call(line)[0])
        assert words == [sys.executable, "-I", "-m", "sisyphus"]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("scope", ["user", "project"])
def test_what_wakes_a_session_gets_through(world: World, shell: str, scope: str) -> None:
    found = install(world, scope)
    path = put_program(world, "#!/bin/sh\ncat >&2\nexit 2\n")
    program = path.partition(os.pathsep)[0] + "/sisyphus"
    start = f"{shlex.quote(sys.executable)} -I -m sisyphus"
    world.write(world.ours / "ralph" / "loops" / "ralph-loop.s1.local.md", "---\n---\n")

    for event, line in found.items():
        reply = call(line.replace(start, program), {"go": "on"}, shell, PATH=path)

        if event != "session-start":
            assert not reply.out
            assert reply.code == (2 if event == "idle" else 0)
        assert reply.err == '{"go": "on"}'


WORK = {
    "a loop": ("ralph/loops/ralph-loop.s1.local.md",),
    "a hold": ("projects/a-1/hold.json",),
    "enforcement": ("projects/a-1/x", "projects/b-2/enforce.json"),
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("files", [(), ("projects/a-1/handoffs/x.md",), *WORK.values()])
def test_where_there_is_no_work_a_shell_looks_and_no_python_starts(
    world: World, shell: str, files: tuple[str, ...]
) -> None:
    line = install(world)["idle"]
    start = f"{shlex.quote(sys.executable)} -I -m sisyphus"
    path = put_program(world, f"#!/bin/sh\ntouch {world.root}/started\nexit 2\n")
    program = path.partition(os.pathsep)[0] + "/sisyphus"
    for name in files:
        world.write(world.ours / name, "{}")

    reply = call(line.replace(start, program), {}, shell, PATH=path)

    is_work = files in WORK.values()
    assert (reply.code, reply.out, reply.err) == (2 if is_work else 0, "", "")
    assert (world.root / "started").exists() == is_work


@pytest.mark.parametrize("shell", SHELLS)
def test_without_a_home_python_is_asked_where_it_is(
    world: World, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = install(world)["idle"]
    start = f"{shlex.quote(sys.executable)} -I -m sisyphus"
    path = put_program(world, "#!/bin/sh\nexit 2\n")
    monkeypatch.delenv("HOME")

    program = path.partition(os.pathsep)[0] + "/sisyphus"
    assert call(line.replace(start, program), {}, shell, PATH=path).code == 2


def test_each_kind_of_work_has_its_file(world: World) -> None:
    world.write("PLAN.md", "# Kiln\n\n- [ ] fire\n")
    world.start()
    found = []
    for words in (("ralph", "start", "--", "x"), ("boulder", "hold", "on"), ("enforce", "on")):
        world.cli(*words)
        below = [str(file.relative_to(world.ours)) for file in world.ours.rglob("*")]
        found.append([name for name in below if "ralph-loop." in name or "projects/" in name])

    assert any(name.startswith("ralph/loops/ralph-loop.") for name in found[0])
    assert any(name.count("/") == 2 and name.endswith("/hold.json") for name in found[1])
    assert any(name.count("/") == 2 and name.endswith("/enforce.json") for name in found[2])


def test_the_lines_of_other_clients_wake_nobody_by_exit_code(world: World) -> None:
    """Codex runs them in the user's shell, which may be one that knows no `$?`."""
    world.setenv("CODEX_HOME", str(world.root / "codex"))
    world.cli("install", "--yes", "--client", "codex")

    for line in lines(world.root / "codex" / "hooks.json").values():
        assert "$" not in line
        assert " || " in line


@pytest.mark.parametrize("kill", [os.killpg, os.kill], ids=["its group", "the shell alone"])
def test_a_hook_that_takes_too_long_leaves_nothing(world: World, kill: Any) -> None:
    """The client ends the group. One that ends the shell alone leaves the hook to its check."""
    line = install(world)["stop"]
    world.loop("--verify", "sleep 1; echo $$ > pid; sleep 2; touch over")
    pid = world.project / "pid"
    with subprocess.Popen(
        ["/bin/sh", "-c", line], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        start_new_session=True,
    ) as hook:  # fmt: skip
        assert hook.stdin
        hook.stdin.write(json.dumps(world.stop_payload(PROMISE)).encode())
        hook.stdin.close()
        while hook.poll() is None and not (pid.exists() and pid.read_text().strip()):
            time.sleep(0.01)

        kill(hook.pid, signal.SIGTERM)
        assert hook.stdout
        hook.stdout.read()  # until the last process that writes there has ended

    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    assert (world.project / "over").exists() is (kill is os.kill)
    assert len(world.loops()) == (kill is os.killpg)


AT_THE_WORST_MOMENT = """
import os, signal, subprocess, sys, threading
if sys.argv[1] == "asked now and then":
    del os.pidfd_open
else:
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGTERM)).start()
kill = iter([os.kill])

class Lock:
    "The client ends us between the lock of `Popen` and its release."
    def __init__(self): self.lock = threading.Lock()
    def acquire(self, blocking=True):
        is_free = self.lock.acquire(blocking)
        next(kill, print)(os.getpid(), signal.SIGTERM)
        return is_free
    def release(self): self.lock.release()
    def __enter__(self): self.lock.acquire()
    def __exit__(self, *_): self.lock.release()

real = subprocess.Popen.__init__
def begin(self, *args, **kwargs):
    real(self, *args, **kwargs)
    self._waitpid_lock = Lock()
subprocess.Popen.__init__ = begin

from sisyphus.ground import processes
processes.run("sleep 30", os.getcwd(), 30)
"""


@pytest.mark.parametrize("how", ["woken at its end", "asked now and then"])
def test_a_hook_that_is_ended_while_it_asks_for_its_check_ends(how: str) -> None:
    """Python's own wait took a lock, and the hook hung at it for ever."""
    done = subprocess.run(
        [sys.executable, "-c", AT_THE_WORST_MOMENT, how],
        check=False,
        timeout=20,
        capture_output=True,
    )

    assert done.returncode == 143


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("home", ["", "mine"])
def test_codex_is_known_behind_the_shell_that_waits_for_us(
    world: World, scope: str, home: str
) -> None:
    """By its process a hook knows whether the session is still open."""
    codex = world.root / "codex"
    codex.symlink_to("/bin/bash")
    world.setenv("CODEX_HOME", str(world.root / "codex home"))
    if home:
        world.setenv("CLAUDE_CONFIG_DIR", str(world.home / home))
    world.cli("install", "--yes", "--client", "codex", "--scope", scope)
    folder = world.project / ".codex" if scope == "project" else world.root / "codex home"
    line = lines(folder / "hooks.json")["session-start"]
    payload = {"session_id": "c1", "cwd": str(world.project), "source": "startup"}

    done = subprocess.run(
        [codex, "-c", f"/bin/bash -c {shlex.quote(line)}; echo $$"],
        input=json.dumps(payload),
        env={**os.environ, "PATH": by_name(SISYPHUS.parent)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    store = world.home / (home or ".claude") / ".sisyphus" / "sisyphus.db"
    with closing(sqlite3.connect(store)) as database:
        [(process,)] = database.execute("SELECT process FROM session")
    assert process.split()[0] == done.stdout.split()[-1]


# ---------------------------------------------------------------- what is ours


OLD = (
    "sisyphus hook stop",
    "/home/you/.local/bin/sisyphus hook stop",
    "'/my tools/sisyphus' hook stop",
    "/usr/bin/python3 -P -m sisyphus hook stop",
    "env CLAUDE_CONFIG_DIR=/home/you/claude sisyphus hook stop --client codex",
    "env CLAUDE_CONFIG_DIR='/my home' /usr/bin/python3 -P -m sisyphus hook stop --client codex",
    "PYTHONPATH= PYTHONHOME= sisyphus hook idle; [ $? -ne 2 ] || exit 2",
)
"""The lines of version 1.0.0."""

NEW = (
    entry.line("stop"),
    entry.line("idle", wakes=True),
    entry.with_start(entry.line("session-start"), "'/my tools/bin/python' -I -m sisyphus"),
    entry.with_start(entry.line("stop"), "/usr/bin/python3 -P -m sisyphus"),
    entry.with_start(entry.line("stop"), "env CLAUDE_CONFIG_DIR=/c /p -I -m sisyphus"),
    entry.with_start(entry.line("stop"), "env CLAUDE_CONFIG_DIR=/c /p -P -m sisyphus"),
)


@pytest.mark.parametrize("line", [*OLD, *NEW])
def test_a_line_of_any_version_is_replaced_and_taken_out(world: World, line: str) -> None:
    file = settings_file(world, "user")
    hook = {"type": "command", "command": line, "timeout": 900}
    old = {"hooks": {"Stop": [{"hooks": [hook]}]}}
    world.write(file, json.dumps(old))

    found = install(world)

    assert len(json.loads(file.read_text())["hooks"]["Stop"]) == 2
    assert entry.call(found["stop"])[0] == f"{shlex.quote(sys.executable)} -I -m sisyphus"
    world.write(file, json.dumps(old))
    world.cli("uninstall", "--yes")
    assert "hooks" not in json.loads(file.read_text() if file.exists() else "{}")


@pytest.mark.parametrize(
    "line",
    ["my-sisyphus hook stop", "echo sisyphus hook stop", "HOOK=1 sisyphus hook stop",
     "PYTHONPATH= my-sisyphus hook stop", "PYTHONPATH=", "env", "python -I -m other hook stop",
     'for d in ~/code/*; do test -d "$d/.git" || continue; sisyphus hook stop; done'],
)  # fmt: skip
def test_a_line_that_only_looks_like_ours_stays(world: World, line: str) -> None:
    file = settings_file(world, "user")
    before = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": line}]}]}})
    world.write(file, before)

    install(world)
    world.cli("uninstall", "--yes")

    assert json.loads(file.read_text()) == json.loads(before)


@pytest.mark.parametrize(
    ("line", "start", "event"),
    [
        *((entry.with_start(entry.line("stop"), start), start, "stop") for start in (
            "sisyphus", "/p/python -I -m sisyphus", "/p/python -P -m sisyphus",
            "env CLAUDE_CONFIG_DIR='/a hook b' /p/python -I -m sisyphus",
            "'/my hook dir/python' -I -m sisyphus",
        )),
        (entry.line("idle", wakes=True), "sisyphus", "idle"),
        (entry.line("session-start", "--client", "codex"), "sisyphus", "session-start"),
        ("/a/sisyphus hook stop", "/a/sisyphus", "stop"),
        ("/a/sisyphus", "/a/sisyphus", ""),
    ],
)  # fmt: skip
def test_a_line_says_what_it_starts(line: str, start: str, event: str) -> None:
    assert entry.call(line) == (start, event)


def test_doctor_names_the_lines_of_an_earlier_version(world: World) -> None:
    """They start the same program, and without a guard."""
    install(world)
    file = settings_file(world, "user")
    settings = json.loads(file.read_text())
    for groups in settings["hooks"].values():
        for hook in (hook for group in groups for hook in group["hooks"]):
            event = entry.call(hook["command"])[1]
            hook["command"] = f"{shlex.quote(str(SISYPHUS))} hook {event}"
    file.write_text(json.dumps(settings))

    def said() -> list[str]:
        found = world.cli("doctor", "--client", "claude-code", "--json").json["findings"]
        return [each["text"] for each in found if each["subject"] == "Claude Code hooks"]

    [text] = said()
    assert "has other hooks than this version installs: SessionStart" in text
    install(world)
    assert "wired by ~/.claude/settings.json" in said()[0]


@pytest.mark.parametrize(
    ("first", "is_same"),
    [
        (f"#!{sys.executable}", True),
        (f"#!{Path(sys.executable).with_name('python3')}", True),
        (f"#!{sys.base_prefix}/bin/python3", False),
        ("#!/bin/sh", False),
        ("#!", False),
        ("", False),
    ],
    ids=["our Python", "its other name", "that which ours links to", "a shell", "nothing", "empty"],
)
def test_a_name_is_ours_if_its_script_runs_in_our_environment(
    world: World, first: str, is_same: bool
) -> None:
    install(world, "project")
    world.setenv("PATH", put_program(world, f"{first}\necho 1.2.3\n"))

    found = world.cli("doctor", "--client", "claude-code", "--json").json["findings"]

    texts = [each["text"] for each in found if each["subject"] == "Claude Code hooks"]
    assert any("starts sisyphus, and this command is" in text for text in texts) is not is_same
    assert len(texts) == 1, texts
