"""The Tab key: what a shell gets from us, and what `--install-completion` writes."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from world import SISYPHUS, World

from sisyphus.ground.settings import SETTINGS
from sisyphus.ground.store import open_store
from sisyphus.hook.session import Session
from sisyphus.loops import loops
from sisyphus.loops.loop import Loop, Options
from sisyphus.terminal import completion

BASH = shutil.which("bash") or "there is no bash"
HOSTILE = "\\`touch ran\\` $(touch ran) \\$(touch ran) \"a\" 'b'; touch ran\x1b[2J [red]x[/red] `"


def ask(world: World, *words: str, shell: str = "zsh") -> str:
    """What a shell gets that wants the last of these words completed."""
    line = " ".join(("sisyphus", *words))
    variables = {
        "_SISYPHUS_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "COMP_WORDS": "\n".join(("sisyphus", *words)),
        "COMP_CWORD": str(len(words)),
    }
    with pytest.MonkeyPatch.context() as shell_sets:
        for name, value in variables.items():
            shell_sets.setenv(name, value)
        done = world.cli()
    assert done.err == ""
    return done.out


def offered(world: World, *words: str) -> list[str]:
    return ask(world, *words, shell="bash").split()


def seen(world: World) -> set[str]:
    """Every file below the home."""
    return {str(each) for each in world.home.rglob("*")}


@pytest.mark.parametrize(
    ("words", "some", "none"),
    [
        ([""], ["status", "ralph", "config", "purge"], ["show"]),
        (["sta"], ["status", "statusline"], ["ralph"]),
        (["ralph", ""], ["pause", "cancel"], ["status"]),
        (["ralph", "start", "--max-i"], ["--max-iterations"], []),
        (["--"], ["--version", "--install-completion"], []),
        (["config", ""], [*SETTINGS], []),
        (["config", "rules."], ["rules.enabled", "rules.unscoped"], ["ralph.enabled"]),
        (["config", "rules.enabled", ""], ["true", "false"], ["send"]),
        (["config", "rules.unscoped", "s"], ["skip", "send"], ["true"]),
        (["ralph", "log", "--outcome", ""], ["complete", "max_iterations"], ["success"]),
        (["install", "--client", ""], ["claude-code", "opencode"], []),
    ],
)
def test_words_are_completed(
    world: World, words: list[str], some: list[str], none: list[str]
) -> None:
    answer = offered(world, *words)

    assert set(some) <= set(answer)
    assert not set(none) & set(answer)


@pytest.mark.parametrize(
    ("shell", "words"),
    [
        ("bash", ["ralph", "cancel", ""]),
        ("zsh", ["ralph", "cancel", ""]),
        ("fish", ["ralph", "cancel", ""]),
        ("bash", ["config", "x", ""]),
        ("bash", ["config", "'"]),
        ("zsh", ["config", '"']),
        ("bash", ["nonsense", ""]),
        ("zsh", ["rules", ""]),
        ("fish", ["ralph", "nonsense", "--x", ""]),
        ("bash", ["--install-completion", ""]),
        ("bash", ["--show-completion", ""]),
        ("bash", ["status", "--project", "/nowhere", ""]),
    ],
)
def test_a_completion_makes_nothing_and_says_nothing(
    world: World, shell: str, words: list[str]
) -> None:
    before = seen(world)

    answer = ask(world, *words, shell=shell)

    assert not [word for word in ("Traceback", "rror:", "Usage") if word in answer]
    assert seen(world) == before


@pytest.mark.parametrize(
    "content", [b"", b"garbage" * 1_000, b"SQLite format 3\0" + bytes(44) + b"\0\0\0\2" + bytes(99)]
)
def test_a_store_that_cannot_be_read_stays_as_it_is(world: World, content: bytes) -> None:
    file = world.write(world.ours / "sisyphus.db", content)
    before = seen(world)

    assert offered(world, "ralph", "cancel", "") == []

    assert (file.read_bytes(), seen(world)) == (content, before)


def test_ids_of_loops_that_the_command_takes(world: World) -> None:
    ended, paused = world.loop(session="s1"), world.loop(session="s2")
    active = world.loop(session="s3")
    world.cli("ralph", "cancel", ended)
    world.cli("ralph", "pause", paused)

    for command, ids in (
        ("cancel", {active, paused}),
        ("pause", {active}),
        ("resume", {paused}),
        ("delete", {ended}),
        ("log", {active, paused, ended}),
        ("list", {active, paused, ended}),
    ):
        assert set(offered(world, "ralph", command, "")) == ids, command
    assert offered(world, "ralph", "cancel", active[:4]) == [active]


def test_the_newest_loops_alone_are_offered(world: World) -> None:
    world.loop()
    with closing(open_store(str(world.ours))) as store:
        n = Session.find(store, "s1").n
        assert n
        for number in range(completion.MOST):
            id = f"id{number:03}"
            loops.insert(store, Loop(id, str(world.project), "x", Options(), 1.0, session=n))

    answer = offered(world, "ralph", "cancel", "")

    assert sorted(answer) == [f"id{number:03}" for number in range(completion.MOST)]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_a_shell_shows_the_task_and_evaluates_nothing_of_it(world: World, shell: str) -> None:
    id = world.loop(prompt=HOSTILE)

    answer = ask(world, "ralph", "cancel", "", shell=shell)

    assert id in answer
    assert "touch ran touch ran touch ran" in answer
    shown = answer.replace("_arguments '*: :((", "").replace("))'", "")
    assert not set("\\`$;'[]\x1b") & set(shown)


def test_a_slash_command_does_not_answer_a_shell(world: World) -> None:
    world.loop()
    world.setenv("_SISYPHUS_COMPLETE", "complete_bash")
    world.setenv("COMP_WORDS", "sisyphus ")
    world.setenv("COMP_CWORD", "1")

    assert "active, iteration 1" in world.prompt(text="/sisyphus:list-ralph-loops").reason
    answer = world.prompt(text="/sisyphus:list-ralph-loops --install-completion").reason
    assert "No such option: --install-completion" in answer


# ---------------------------------------------------------------- in the shells


def run_in(shell: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs sisyphus below a bash that goes by the name of this shell."""
    command = f"{shlex.join([str(SISYPHUS), *words])}; exit $?"
    return subprocess.run(
        [shell, "-c", command], executable=BASH, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("shell", "names"),
    [
        ("bash", [".bash_completions/sisyphus.sh", ".bashrc"]),
        ("zsh", [".zfunc/_sisyphus", ".zshrc"]),
        ("fish", [".config/fish/completions/sisyphus.fish"]),
    ],
)
def test_it_is_installed_in_the_shell_that_the_user_is_in(
    world: World, shell: str, names: list[str]
) -> None:
    assert completion.files() == []
    script = run_in(shell, "--show-completion")
    assert completion.files() == []

    answer = run_in(shell, "--install-completion")

    shown = ", ".join(f"~/{name}" for name in names)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert (
        answer.stdout == f"The Tab key completes sisyphus in every new {shell}. Changed: {shown}\n"
    )
    assert all((world.home / name).exists() for name in names)
    own = [str(world.home / name) for name in names if name != ".zshrc"]
    assert completion.files() == own
    assert Path(own[0]).read_text().strip() == script.stdout.strip()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_second_time_it_changes_nothing_and_says_so(world: World, shell: str) -> None:
    run_in(shell, "--install-completion")
    before = {file: file.read_bytes() for file in world.home.rglob("*") if file.is_file()}

    answer = run_in(shell, "--install-completion")

    assert answer.stdout == f"The Tab key completes sisyphus in every new {shell}. Nothing to do.\n"
    assert {file: file.read_bytes() for file in before} == before


def test_the_users_own_lines_stay(world: World) -> None:
    rc = world.write(world.home / ".bashrc", "alias ll='ls -l'\n")

    run_in("bash", "--install-completion")

    assert rc.read_text().startswith("alias ll='ls -l'\n")
    assert completion.files()[-1] == str(rc)


@pytest.mark.parametrize(
    ("shell", "rc", "problem"),
    [
        ("dash", b"", "The Tab key completes in bash, zsh and fish, and this is dash."),
        ("bash", b"\xff", "~/.bashrc cannot be changed: it is not UTF-8."),
        ("bash", None, "~/.bash_completions cannot be changed: File exists."),
    ],
)
def test_where_it_cannot_be_installed_it_says_why(
    world: World, shell: str, rc: bytes | None, problem: str
) -> None:
    if rc is None:
        (world.home / ".bash_completions").write_text("")
    else:
        (world.home / ".bashrc").write_bytes(rc)

    answer = run_in(shell, "--install-completion")

    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.startswith(f"error: {problem}")
    assert answer.stderr.count("\n") == 1


def test_only_the_user_installs_it(world: World) -> None:
    world.setenv("CLAUDE_CODE_SESSION_ID", "s1")

    answer = run_in("bash", "--install-completion")

    assert (answer.returncode, "Use another terminal" in answer.stderr) == (1, True)
    assert seen(world) == set()


def test_a_real_bash_completes(world: World) -> None:
    world.setenv("PATH", f"{SISYPHUS.parent}{os.pathsep}{os.environ['PATH']}")
    id = world.loop()
    run_in("bash", "--install-completion")
    driver = """
        complete_line() {
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            _sisyphus_completion "$1" "${!#}" "${@: -2:1}"
            echo "${COMPREPLY[*]}"
        }
        complete -p sisyphus
        complete_line sisyphus ralph pau
        complete_line sisyphus ralph cancel ''
        complete_line sisyphus config state.
    """
    done = subprocess.run(["bash", "-i"], input=driver, capture_output=True, text=True, check=False)

    assert done.stdout.splitlines() == [
        "complete -o default -F _sisyphus_completion sisyphus", "pause", id, "state.keep_days",
    ]  # fmt: skip
