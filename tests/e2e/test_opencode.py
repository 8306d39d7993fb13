"""OpenCode: what is different there, and what needs both clients. The tables of the other files run
with it too."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e import opencode, opencode_shared
from e2e.desk import OPENCODE, Desk
from e2e.model import Model, Request, serving
from e2e.scenario import Scenario, Step, play
from e2e.script import Script, Turn, delegate, edit, read, say, shell, todos, use, write
from e2e.test_boulder import PLAN, STATE, TEST_DONE, continuation
from e2e.test_rules import PYTHON, TEXT

pytestmark = pytest.mark.parametrize("desk", [OPENCODE], indirect=True)

BLOCK = "[RALPH LOOP ENFORCEMENT]"
COMPLETE = "[RALPH LOOP COMPLETE]"
HEADING = "[CONTINUOUS ENFORCEMENT]"
IDLE = "You have been idle for"
CONFIG = "../home/.claude/.sisyphus/config.toml"
LAMP = "Never touch the lamp."
PROMISE = say("<promise>DONE</promise>")
NOT_YET = say("Not yet.")
LOOKED = say("I had a look at the parser.")


@dataclass(frozen=True)
class Served:
    """A server with one session, and the model that it asks."""

    server: opencode.Server
    model: Model
    session: str

    @property
    def requests(self) -> list[Request]:
        return self.model.requests

    @property
    def toasts(self) -> list[str]:
        return [event["text"] for event in self.server.events if event["type"] == "message"]

    def enter(self, prompt: str) -> None:
        self.server.enter(prompt, self.session)

    def take(self, prompt: str) -> None:
        self.server.take(prompt, self.session)

    def until_asked(self, times: int) -> None:
        self.server.until(lambda: len(self.requests) == times, f"request {times}")

    def stays_quiet(self, seconds: float = 4.0) -> None:
        """Fails if the client asks the model again by itself."""
        before = len(self.requests)
        time.sleep(seconds)
        assert len(self.requests) == before


@contextmanager
def served(desk: Desk, turns: Sequence[Turn]) -> Iterator[Served]:
    script = Script([*turns])
    with serving(script, desk.spell) as model:
        variables = {**desk.environment(), **opencode.model_variables(model.url)}
        with opencode_shared.serving(desk.project, variables) as server:
            yield Served(server, model, server.call("POST", "/session", {})["id"])
    assert script.is_over, f"left: {script.main}; beyond: {script.surplus}"
    desk.check_log()


# ---------------------------------------------------------------- one database for both clients


def test_a_plan_of_claude_code_is_finished_in_opencode(desk: Desk) -> None:
    desk.write(".claude/PLAN.md", PLAN)
    first = Desk(desk.home, desk.project)
    ship = edit(".claude/PLAN.md", "- [ ] Ship it", "- [x] Ship it")

    one = first.run("go on", turns=[use(read(".claude/PLAN.md")), use(TEST_DONE), say("tested")])
    sessions = desk.boulder_file()["session_ids"]
    two = desk.run("go on", turns=[use(read(".claude/PLAN.md")), use(ship), say("shipped")])
    after = first.run("what now?", turns=[say("nothing")])

    assert sessions == [one.session]
    assert two.requests[0].text.count(continuation("Checkout page", "3/4")) == 1
    assert "Checkout page is complete: all 4 tasks are done." in two.messages + after.messages
    assert "4/4" in desk.sisyphus("boulder", "status")
    assert STATE not in after.requests[0].text
    shown = desk.sisyphus("sessions")
    assert one.session[:8] in shown
    assert two.session[:8] in shown


def test_a_plan_of_opencode_is_continued_in_claude_code(desk: Desk) -> None:
    turns = [use(write("PLAN.md", PLAN)), use(todos(("write header", "pending"))), say("planned")]

    run = desk.run("plan it", turns=turns)
    there = Desk(desk.home, desk.project).run("go on", turns=[say("gladly")])

    assert run.session in desk.boulder_file()["session_ids"]
    assert there.requests[0].text.count(continuation("Checkout page", "2/4", "PLAN.md")) == 1
    assert "write header" in there.requests[0].text


# ---------------------------------------------------------------- what the client loads itself


@pytest.mark.parametrize(
    "files",
    [
        {"AGENTS.md": f"{LAMP}\n"},
        {"AGENTS.md": f"{LAMP}\n", "CLAUDE.md": "Be kind.\n"},
        {"CLAUDE.md": f"{LAMP}\n"},
        {"packages/api/AGENTS.md": f"{LAMP}\n"},
    ],
    ids=["AGENTS.md", "both", "CLAUDE.md", "of a package"],
)
def test_the_model_gets_the_clients_own_documents_once(desk: Desk, files: dict[str, str]) -> None:
    files = {**files, "README.md": "# Lighthouse\n", "packages/api/one.py": "1"}
    look = [use(read("packages/api/one.py")), use(read("packages/api/one.py")), say("seen")]

    (run,) = play(desk, Scenario("", files, [Step(["look"], look)]))

    assert [request.text.count("# Lighthouse") for request in run.main] == [1, 1, 1]
    assert [request.text.count(LAMP) for request in run.main[1:]] == [1, 1]


def test_a_rule_comes_with_the_first_call_that_succeeds(desk: Desk) -> None:
    failing = edit("one.py", "nothing like it", "x")
    turns = [use(failing), use(read("missing.py"), read("one.py")), say("seen")]

    play(desk, Scenario("", PYTHON, [Step(["look"], turns)], model={TEXT: [0, 0, 1]}))


def test_a_rule_with_paths_is_sent_too(desk: Desk) -> None:
    files = {".claude/rules/py.md": f'---\npaths: "**/*.py"\n---\n\n{TEXT}\n', "one.py": "1"}
    turns = [use(read("one.py")), use(read("one.py")), say("seen")]

    play(desk, Scenario("", files, [Step(["look"], turns)], model={TEXT: [0, 1, 1]}))


# ---------------------------------------------------------------- loops

LOOP = '/ralph-loop "do it" --completion-promise "DONE"'
NO_BREAKER = {CONFIG: "[ralph]\nbreaker_stops = 0\n"}


def test_ten_iterations_with_a_check_in_a_run(desk: Desk) -> None:
    turns = [*[NOT_YET] * 8, PROMISE, use(shell("touch built")), PROMISE]
    step = Step([f'{LOOP} --verify "test -f built"'], turns)

    (run,) = play(desk, Scenario("", NO_BREAKER, [step], user=[COMPLETE]))

    assert [BLOCK in request.last for request in run.main] == [False, *[True] * 9, False]
    assert "exited 1" in run.main[9].last
    assert "No loop is running." in desk.sisyphus("ralph", "list")


def test_ten_iterations_in_a_server_and_a_question_to_the_user(desk: Desk) -> None:
    blocked = say("<blocked>a key</blocked>")
    turns = [*[NOT_YET] * 4, blocked, *[NOT_YET] * 4, PROMISE]
    step = Step([LOOP, "here is the key"], turns)

    (run,) = play(desk, Scenario("", NO_BREAKER, [step],
                                 user=["needs you: a key", COMPLETE]))  # fmt: skip

    expected = [False, *[True] * 4, False, *[True] * 4]
    assert [BLOCK in request.last for request in run.main] == expected


def test_an_abort_is_the_users_stop(desk: Desk) -> None:
    clients: list[Served] = []
    abort = say("Not yet.", meanwhile=lambda: clients[0].server.abort(clients[0].session))

    with served(desk, [NOT_YET, abort, PROMISE]) as client:
        clients.append(client)
        client.take(LOOP)
        client.stays_quiet(2.0)
        assert len(client.requests) == 2
        client.take("go on, please")

    assert COMPLETE in "\n".join(client.toasts)


def test_a_subagent_stops_freely(desk: Desk) -> None:
    run = desk.run(LOOP, turns=[use(delegate("do it")), NOT_YET, PROMISE], agents=[PROMISE])

    assert [BLOCK in request.last for request in run.main] == [False, False, True]
    assert BLOCK not in run.agents[0].text


# ---------------------------------------------------------------- enforcement


@pytest.fixture
def enforced(desk: Desk) -> Desk:
    settings = "idle_seconds = 1\ncountdown_seconds = 1\nstability_seconds = 0\nabort_seconds = 2\n"
    desk.write(CONFIG, f"[enforce]\ncooldown_seconds = 600\n{settings}")
    desk.write("one.py", "1")
    desk.sisyphus("enforce", "on")
    return desk


def test_an_idle_session_is_woken_after_a_countdown(enforced: Desk) -> None:
    with served(enforced, [LOOKED, use(read("one.py")), LOOKED]) as client:
        client.enter("work")
        client.until_asked(3)
        client.stays_quiet()

    assert HEADING in client.requests[1].last
    assert IDLE in client.requests[1].last
    woken = [toast for toast in client.toasts if "the agent was idle" in toast]
    assert [" (in 1 s)" in toast for toast in woken] == [True, False]


def test_a_prompt_starts_the_idle_time_again(enforced: Desk) -> None:
    enforced.write(CONFIG, "[enforce]\nidle_seconds = 3\ncooldown_seconds = 600\n"
                           "countdown_seconds = 0\nstability_seconds = 0\n")  # fmt: skip

    with served(enforced, [LOOKED] * 3) as client:
        client.enter("work")
        client.until_asked(1)
        time.sleep(1.5)
        client.enter("and now?")
        asked = time.monotonic()
        client.until_asked(3)

    assert time.monotonic() - asked > 3
    assert [IDLE in request.last for request in client.requests] == [False, False, True]


def test_a_claim_is_enforced_with_a_toast_and_then_the_cooldown_holds(enforced: Desk) -> None:
    done = say("All tests pass. The parser is done.")

    with served(enforced, [done, done]) as client:
        client.enter("work")
        client.until_asked(2)
        client.stays_quiet()

    assert [HEADING in request.last for request in client.requests] == [False, True]
    assert "the agent says that it is done" in "\n".join(client.toasts)


def test_after_an_abort_nothing_is_enforced(enforced: Desk) -> None:
    clients: list[Served] = []
    abort = say("The parser is done.",
                meanwhile=lambda: clients[0].server.abort(clients[0].session))  # fmt: skip

    with served(enforced, [abort]) as client:
        clients.append(client)
        client.enter("work")
        client.until_asked(1)
        client.stays_quiet()


def test_open_todos_are_named(enforced: Desk) -> None:
    turns = [use(todos(("parse", "completed"), ("print", "pending"))), LOOKED, LOOKED]

    with served(enforced, turns) as client:
        client.enter("work")
        client.until_asked(3)

    assert "print" in client.requests[2].last
    assert "parse;" not in client.requests[2].last


# ---------------------------------------------------------------- commands


def test_a_server_repeats_the_answer_and_nothing_is_decided_after_it(desk: Desk) -> None:
    desk.write("PLAN.md", PLAN)

    with served(desk, []) as client:
        client.take("/boulder-status")
        client.take("/boulder-hold on")
        client.stays_quiet(1.0)

    results = [event["result"] for event in client.server.events if event["type"] == "result"]
    assert "2/4" in results[0]
    assert "started: Complete the plan Checkout page (2 of 4 tasks)" in results[1]


# ---------------------------------------------------------------- `sisyphus install`


def files(folder: Path) -> dict[str, bytes]:
    """All files, except our own state, git's and what the client has written for itself."""
    every = sorted(path for path in folder.rglob("*") if path.is_file())
    others = {".sisyphus", ".git", ".cache", ".local", "tmp", ".gitignore"}
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in every
        if not others & set(path.parts)
    }


def test_without_the_plugin_nothing_of_ours_happens(desk: Desk) -> None:
    desk.write("README.md", "# Lighthouse\n")
    desk.write("PLAN.md", PLAN)
    desk.sisyphus("uninstall", "--client", OPENCODE, "--yes")
    left = files(desk.home)
    run = desk.run("hello", turns=[say("hi")])
    pure = desk.with_client(OPENCODE).run("hello", turns=[say("hi")], env={"SISYPHUS_DISABLE": "1"})

    assert not [name for name in left if "sisyphus" in name or "boulder" in name]
    for each in (run, pure):
        assert "# Lighthouse" not in each.requests[0].text
        assert STATE not in each.requests[0].text


def test_wired_for_user_and_project_each_text_arrives_once(desk: Desk) -> None:
    desk.write("README.md", "# Lighthouse\n")
    opencode.furnish_folder(desk.project / ".opencode")
    desk.sisyphus("install", "--client", OPENCODE, "--yes", "--scope", "local")
    words = ["git", "status", "--porcelain", "--untracked-files=all"]
    shown = subprocess.run(words, cwd=desk.project, capture_output=True, text=True, check=True)

    run = desk.run(LOOP, turns=[NOT_YET, PROMISE])

    assert "sisyphus.js" not in shown.stdout
    assert [request.text.count("# Lighthouse") for request in run.main] == [1, 1]
    assert [request.text.count(BLOCK) for request in run.main] == [0, 1]
