"""`sisyphus ralph run --client claude-code,codex`: where the account of one client is at its limit,
the other one goes on."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import fake_codex
import pytest
from test_codex_headless import LOGGED_OUT
from test_completion import offered
from test_run import ALL, LIMIT, PLAN, Process, Runs, done
from test_run_jobs import Jobs
from world import SISYPHUS, Json, Reply, World

from sisyphus.runner.rota import Turn, next_turn

CLIENTS = ("--client", "claude-code,codex")
BOTH = (*CLIENTS, "--permission-mode", "acceptEdits,workspace-write")
CLAUDE, CODEX = "claude-code", "codex"


def at_limit(seconds: float, *before: list[Any]) -> Process:
    """Claude Code does these steps, and then its account is at a limit for so long."""
    return [*before, ["fail", LIMIT | {"resets_in": seconds}]]


def codex_at_limit(seconds: float) -> Process:
    """The same of Codex, which says the minute."""
    when = time.strftime("%b %d, %Y %I:%M %p", time.localtime(time.time() + seconds))
    day, rest = when.split(",", 1)
    return [["fail", f"You’ve hit your usage limit. Upgrade or try again at {day}th,{rest}."]]


class Nights(Runs):
    """A world with both clients on its PATH, which play one script."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        add_codex(self)

    def run(self, *words: str, processes: Any = ()) -> Reply:
        self.script(*processes)
        return self.world.cli("ralph", "run", *words)

    def begin(self, *words: str, processes: Any = ()) -> Reply:
        return self.run(*BOTH, *words, processes=processes)

    @property
    def clients(self) -> list[str]:
        """Who each process was."""
        return [CLAUDE if "--session-id" in call["words"] else CODEX for call in self.calls]

    @property
    def modes(self) -> list[str]:
        found = []
        for words in (call["words"] for call in self.calls):
            option = "--permission-mode" if "--permission-mode" in words else "--sandbox"
            found.append(words[words.index(option) + 1])
        return found

    def change(self, table: str, column: str, edit: Callable[[Json], object]) -> None:
        """Edits what a column of JSON of the last run has."""
        with closing(sqlite3.connect(self.world.ours / "sisyphus.db")) as database, database:
            (text,) = database.execute(f"SELECT {column} FROM {table}").fetchone()
            value = json.loads(text)
            edit(value)
            database.execute(f"UPDATE {table} SET {column} = ?", (json.dumps(value),))


def add_codex(runs: Runs) -> None:
    world = runs.world
    programs = fake_codex.install(world.root / "codex")
    for method in ("account", "hooks"):
        (runs.folder / method).write_text((world.root / "codex" / method).read_text())
    world.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    world.setenv("CODEX_HOME", str(world.home / ".codex"))


@pytest.fixture
def nights(world: World) -> Nights:
    world.write("fix_plan.md", PLAN)
    return Nights(world)


# ---------------------------------------------------------------- whose turn it is

NOW = 1_000.0
BETWEEN = {"a": NOW + 60, "b": NOW + 30, "c": NOW + 90}


@pytest.mark.parametrize(
    ("order", "limits", "turn"),
    [
        ("a", {}, Turn("a")),
        ("ab", {}, Turn("a")),
        ("ba", {}, Turn("b")),
        ("ab", {"a": NOW + 1}, Turn("b")),
        ("ab", {"b": NOW + 1}, Turn("a")),
        ("ab", {"a": NOW}, Turn("a")),
        ("ab", {"a": NOW - 1, "b": NOW - 9}, Turn("a")),
        ("abc", {"a": NOW + 1, "b": NOW + 1}, Turn("c")),
        ("a", {"a": NOW + 5}, Turn("a", NOW + 5)),
        ("abc", BETWEEN, Turn("b", NOW + 30)),
        ("ac", BETWEEN, Turn("a", NOW + 60)),
        ("ab", {"a": NOW + 5, "b": NOW + 5}, Turn("a", NOW + 5)),
        ("ab", {"x": NOW + 5}, Turn("a")),
    ],
)
def test_whose_turn_it_is(order: str, limits: dict[str, float], turn: Turn) -> None:
    assert next_turn(order, limits, NOW) == turn


# ---------------------------------------------------------------- nights


def test_a_night_with_a_limit(nights: Nights) -> None:
    """The other client goes on with the half work, and the first one when its limit has passed."""
    half: Process = [["write", ["total.py", "half = 1\n"]], ["checkpoint", 50]]
    slow = [*done("total"), ["sleep", 5]]

    answer = nights.begin(processes=[ALL[0], at_limit(3, *half), slow, ALL[2]])

    assert answer.code == 0, answer
    assert nights.clients == [CLAUDE, CLAUDE, CODEX, CLAUDE]
    assert nights.modes == ["acceptEdits", "acceptEdits", "workspace-write", "acceptEdits"]
    assert nights.items == ["cart", "total", "total", "receipt"]
    assert "CONTEXT CHECKPOINT RESUME" in nights.prompts[2]
    assert "Waiting until" not in answer.out
    lines = [line for line in answer.out.splitlines() if "The run goes on with" in line]
    at = time.strftime("%H:")
    assert lines[0].startswith(f"claude-code has reached its limit until {at[:1]}")
    assert lines[0].endswith("The run goes on with codex.")
    assert lines[1:] == ["The run goes on with claude-code again."]


def test_who_made_each_iteration_is_shown(nights: Nights) -> None:
    answer = nights.begin(processes=[ALL[0], at_limit(600), *ALL[1:]])

    assert answer.code == 0, answer
    assert "claude-code works, and at its limit codex." in answer.out
    assert "✓ cart · claude-code · changed" in answer.out
    assert "✓ total · codex · changed" in answer.out
    assert "| # | Item | Client | Result | Time | Tokens | Files | Context |" in answer.out
    assert "| 1 | cart | claude-code | done, changed |" in answer.out
    assert "| 2 | total | codex | done, changed |" in answer.out
    assert [row["iteration"] for row in nights.log()] == [1, 2, 3], "a limit costs no iteration"
    assert [row["client"] for row in nights.log()] == [CLAUDE, CODEX, CODEX]
    log = nights.world.cli("ralph", "log", nights.id).out
    assert "cart (done, changed), claude-code" in log
    assert "total (done, changed), codex" in log


def test_a_run_with_one_client_does_not_name_it(nights: Nights) -> None:
    answer = nights.run("--permission-mode", "acceptEdits", processes=ALL)

    assert CLAUDE not in answer.out
    assert "| # | Item | Result |" in answer.out
    assert CLAUDE not in nights.world.cli("ralph", "log", nights.id).out
    assert [row["client"] for row in nights.log()] == [CLAUDE] * 3


def test_both_at_a_limit(nights: Nights) -> None:
    """The run waits for the one that is free first."""
    answer = nights.begin(processes=[at_limit(4), codex_at_limit(7_200), *ALL])

    assert answer.code == 0, answer
    assert nights.clients == [CLAUDE, CODEX, CLAUDE, CLAUDE, CLAUDE]
    assert answer.out.count("Waiting until") == 1
    assert "claude-code and codex have reached their limits" in answer.out
    assert [row["iteration"] for row in nights.log()] == [1, 2, 3]


@pytest.mark.parametrize("status", [529, 500])
def test_what_is_no_limit_of_an_account_is_waited_for(nights: Nights, status: int) -> None:
    overload: Process = [["fail", {"status": status, "text": "API Error: Overloaded"}]]

    answer = nights.begin(processes=[overload, *ALL])

    assert answer.code == 0, answer
    assert nights.clients == [CLAUDE] * 4
    assert answer.out.count("Waiting until") == 1


def test_a_limit_whose_end_nobody_says_lasts_as_long_as_a_wait(nights: Nights) -> None:
    (nights.world.ours / "config.toml").write_text("[runner]\nretry_seconds = 600\n")

    answer = nights.begin(processes=[[["fail", LIMIT]], *ALL])

    assert answer.code == 0, answer
    assert nights.clients == [CLAUDE, CODEX, CODEX, CODEX]


def test_an_audit_is_made_by_the_client_at_work(nights: Nights) -> None:
    clean = [["say", "<audit>complete</audit>"]]

    answer = nights.begin("--audit", "2", processes=[*ALL, clean, at_limit(600), clean])

    assert answer.code == 0, answer
    assert nights.clients == [CLAUDE] * 5 + [CODEX]
    assert nights.modes[3:] == ["dontAsk", "dontAsk", "read-only"]


# ---------------------------------------------------------------- a resume


def test_a_resume_keeps_clients_modes_and_limits(nights: Nights) -> None:
    stop = [["signal", "SIGINT"], *done("cart")]
    assert nights.begin(processes=[at_limit(600), stop]).code == 130

    status = nights.world.cli("status").out
    assert "paused" in status
    assert "of 50, codex, 1 of 3 items" in status
    assert nights.world.cli("status", "--json").json["runs"][0]["client"] == CODEX
    answer = nights.run("--resume", processes=ALL[1:])

    assert answer.code == 0, answer
    assert nights.clients == [CLAUDE, CODEX, CODEX, CODEX]
    assert nights.modes == ["acceptEdits", *["workspace-write"] * 3]


def test_a_resume_with_other_clients(nights: Nights) -> None:
    """The limit of a client is no concern of a run that has no other one."""
    stop = [["signal", "SIGINT"], *done("cart")]
    assert nights.begin(processes=[at_limit(600), stop]).code == 130

    answer = nights.run("--resume", "--client", "claude-code", processes=[[*stop[:1], *ALL[1]]])
    assert answer.code == 130, answer
    answer = nights.run("--resume", *BOTH[:3], "bypassPermissions", processes=[])
    assert answer.code == 2, answer
    modes = ("--permission-mode", "danger-full-access,bypassPermissions")
    answer = nights.run("--resume", "--client", "codex,claude-code", *modes, processes=[ALL[2]])

    assert answer.code == 0, answer
    assert nights.clients == [CLAUDE, CODEX, CLAUDE, CODEX]
    assert nights.modes[2:] == ["acceptEdits", "danger-full-access"]


def test_a_second_client_for_a_run_that_waits(nights: Nights) -> None:
    stop = [["signal", "SIGINT"], *done("cart")]
    one = ("--permission-mode", "acceptEdits")
    assert nights.run(*one, processes=[stop]).code == 130

    answer = nights.run("--resume", *BOTH, processes=[at_limit(600), *ALL[1:]])

    assert answer.code == 0, answer
    assert nights.clients == [CLAUDE, CLAUDE, CODEX, CODEX]


def test_a_runner_that_was_killed(nights: Nights) -> None:
    """Its work goes on with the client that was at it."""
    half = [["write", ["cart.py", "half = 1\n"]], ["signal", "SIGKILL"], ["sleep", 60]]
    nights.script(at_limit(600), half)
    killed = subprocess.run([SISYPHUS, "ralph", "run", *BOTH], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL

    answer = nights.run("--resume", processes=ALL)

    assert answer.code == 0, answer
    assert nights.clients == [CLAUDE, CODEX, CODEX, CODEX, CODEX]
    assert nights.items == ["cart", "cart", "cart", "total", "receipt"]


@pytest.mark.parametrize("client", [CLAUDE, CODEX])
def test_a_run_that_an_earlier_version_has_begun(nights: Nights, client: str) -> None:
    mode = {CLAUDE: "acceptEdits", CODEX: "workspace-write"}[client]
    words = ("--client", client, "--permission-mode", mode)
    assert nights.run(*words, processes=[[["signal", "SIGINT"], *ALL[0]]]).code == 130

    def age_options(options: Json) -> None:
        del options["seats"]
        options |= {"client": client, "permission_mode": mode}

    def age_state(state: Json) -> None:
        del state["client"], state["limits"]

    nights.change("run", "options", age_options)
    nights.change("run", "state", age_state)

    assert "0 problems" not in nights.world.cli("status").err
    assert nights.run("--resume", processes=ALL[1:]).code == 0
    assert nights.clients == [client] * 3
    assert nights.modes == [mode] * 3


# ---------------------------------------------------------------- several workers


def test_a_limit_is_known_to_all_workers(world: World) -> None:
    """Who begins after it has been met begins with the other client."""
    world.write("fix_plan.md", PLAN)
    jobs = Jobs(world)
    add_codex(jobs)
    jobs.items_script(
        {
            "cart": [at_limit(600), done("cart")],
            "total": [[["sleep", 2], *done("total")]],
            "receipt": [done("receipt")],
        }
    )

    answer = world.cli("ralph", "run", *BOTH, "--jobs", "2")

    assert answer.code == 0, answer
    who = [("--session-id" in call["words"], item) for call, item in zip_items(jobs)]
    assert sorted(who) == [(False, "cart"), (False, "receipt"), (True, "cart"), (True, "total")]
    assert answer.out.count("The run goes on with codex.") == 1
    rows = jobs.log(jobs.run_id)
    assert {row["item"]: row["client"] for row in rows} == {
        "cart": CODEX,
        "total": CLAUDE,
        "receipt": CODEX,
    }


def test_other_clients_reach_the_items_that_are_begun(world: World) -> None:
    world.write("fix_plan.md", PLAN)
    jobs = Jobs(world)
    add_codex(jobs)
    half: Process = [["write", ["cart.py", "half = 1\n"]], ["say", "Half."]]
    items = {item: [done(item)] for item in ("total", "receipt")}
    jobs.items_script({"cart": [half, done("cart")], **items})
    one = ("--permission-mode", "acceptEdits")
    assert world.cli("ralph", "run", *one, "--jobs", "1", "--max-iterations", "1").code == 3

    modes = ("--permission-mode", "workspace-write")
    words = ("--client", "codex", *modes, "--max-iterations", "0")
    answer = world.cli("ralph", "run", "--resume", *words)

    assert answer.code == 0, answer
    assert ["--session-id" in call["words"] for call in jobs.calls] == [True, *[False] * 3]


def zip_items(jobs: Jobs) -> list[tuple[Json, str]]:
    return list(zip(jobs.calls, jobs.items, strict=True))


def test_workers_wait_where_both_are_at_a_limit(world: World) -> None:
    world.write("fix_plan.md", PLAN)
    jobs = Jobs(world)
    add_codex(jobs)
    jobs.items_script(
        {
            # Claude Code is still free when the other worker begins, however slow that is.
            "cart": [at_limit(6, ["sleep", 3]), codex_at_limit(7_200), done("cart")],
            "total": [[["sleep", 7], *done("total")]],
            "receipt": [done("receipt")],
        }
    )

    answer = world.cli("ralph", "run", *BOTH, "--jobs", "2")

    assert answer.code == 0, answer
    assert "claude-code and codex have reached their limits" in answer.out
    assert sum("--session-id" not in call["words"] for call in jobs.calls) == 1
    assert [row["client"] for row in jobs.log(jobs.run_id)] == [CLAUDE] * 3


# ---------------------------------------------------------------- what keeps it from starting

ONE_EACH = "Give one for each of claude-code, codex, in this order, with commas between."


@pytest.mark.parametrize(
    ("words", "problems"),
    [
        ((*CLIENTS, "--permission-mode", "acceptEdits"), [ONE_EACH]),
        ((*CLIENTS, "--permission-mode", "acceptEdits,"), [ONE_EACH]),
        ((*CLIENTS, "--permission-mode", "acceptEdits,workspace-write,auto"), [ONE_EACH]),
        (
            ("--permission-mode", "acceptEdits,workspace-write"),
            ["The run has one client, claude-code: give one mode."],
        ),
        (
            (*CLIENTS, "--permission-mode", "workspace-write,acceptEdits"),
            [
                "workspace-write is a mode of Codex.",
                "Claude Code has acceptEdits, auto, bypassPermissions, dontAsk. Give the modes in",
            ],
        ),
        (
            (*CLIENTS, "--permission-mode", "acceptEdits,auto"),
            ["auto is a mode of Claude Code. Codex has", "in the order of the clients."],
        ),
        (
            (*CLIENTS, "--permission-mode", "acceptEdits,never"),
            ["never does not fit a run", "read-only, workspace-write for codex."],
        ),
        (
            (*CLIENTS, "--permission-mode", "acceptEdits,read-only"),
            ["Give --permission-mode acceptEdits,workspace-write."],
        ),
        (CLIENTS, ["one for each client, in their order", "For claude-code: acceptEdits"]),
        (("--client", "codex,codex"), ["--client names codex twice", "Name each client once."]),
        (("--client", "codex,qwen"), ["--client 'qwen'", "Give claude-code, codex or copilot."]),
        (("--client", "codex,"), ["no client ''", "Give claude-code, codex or copilot."]),
        ((*BOTH, "--client-command", "true"), ["the run has 2 clients", "leave out the command"]),
        ((*BOTH, "--max-usd", "5"), ["codex does not say what it costs", "--max-tokens instead"]),
    ],
)
def test_words_that_do_not_fit(nights: Nights, words: tuple[str, ...], problems: list[str]) -> None:
    answer = nights.run(*words, processes=ALL)

    assert answer.code in (1, 2)
    assert [each for each in problems if each not in answer.err] == [], answer.err
    assert not nights.calls


def test_a_client_that_is_not_there(nights: Nights) -> None:
    (nights.world.root / "codex" / "bin" / "codex").unlink()

    answer = nights.begin(processes=ALL)

    assert answer.code == 1
    assert "There is no `codex` on the PATH" in answer.err
    assert "Give `--client claude-code`, which is here, or install it." in answer.err
    assert not nights.calls


@pytest.mark.parametrize("client", [CLAUDE, CODEX])
def test_a_client_that_is_not_logged_in(nights: Nights, client: str) -> None:
    if client == CODEX:
        fake_codex.answer(nights.folder, "account", LOGGED_OUT)
    else:
        (nights.folder / "logged-out").touch()

    answer = nights.begin(processes=ALL)

    assert answer.code == 1
    assert "is not logged in. Log in with" in answer.err
    assert not nights.calls


def test_the_modes_that_the_users_own_settings_choose(nights: Nights) -> None:
    home = nights.world.home
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex" / "config.toml").write_text('sandbox_mode = "danger-full-access"\n')
    settings = home / ".claude" / "settings.json"
    settings.write_text(json.dumps({"permissions": {"defaultMode": "acceptEdits"}}))

    answer = nights.run(*CLIENTS, processes=[at_limit(600), *ALL])

    assert answer.code == 0, answer
    assert nights.modes == ["acceptEdits", *["danger-full-access"] * 3]


def test_the_warnings_of_each_client_are_said(nights: Nights) -> None:
    assert nights.world.cli("install", "--client", "codex", "--yes").code == 0
    hook = {
        "command": f"{SISYPHUS} hook stop --client codex", "trustStatus": "untrusted",
        "enabled": True, "sourcePath": str(nights.world.home / ".codex" / "hooks.json"),
    }  # fmt: skip
    fake_codex.answer(nights.folder, "hooks", {"data": [{"hooks": [hook]}]})

    answer = nights.begin("--verify", "make test", processes=[*ALL, at_limit(1)])

    assert "warning: Codex does not run the hooks of sisyphus" in answer.err
    assert "the agent of Claude Code may not run `make test`" in answer.err


def test_names_are_completed_after_a_comma(world: World) -> None:
    line = ["ralph", "run", "--client"]
    assert offered(world, *line, "") == [CLAUDE, CODEX, "copilot"]
    assert offered(world, *line, "codex,copilot,") == ["codex,copilot,claude-code"]
    assert offered(world, *line, "claude-code,cod") == ["claude-code,codex"]
