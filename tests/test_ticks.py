"""What stands behind a tick: from what a session has recorded, and from the files."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from test_cases import linear_time
from world import Json, Reply, World, agent, result, use

from sisyphus.boulder import check_runs

PLAN = """# Cart

- [ ] Show the total (verify: `pytest tests/test_total.py`)
- [ ] Show the tax
- [ ] Round it
  verify: `./round.sh`
"""
TOTAL, TAX, ROUND = "Show the total", "Show the tax", "Round it"
CHECK = "pytest tests/test_total.py"


class Agent:
    """An agent whose client writes down what it does before the hook runs."""

    def __init__(self, world: World, session: str = "s1", plan: str = "PLAN.md") -> None:
        self.world, self.session, self.plan = world, session, plan
        self._calls = 0

    def begin(self, plan: str = PLAN) -> Agent:
        past = time.time() - 100
        os.utime(self.world.write("src/cart.py"), (past, past))
        os.utime(self.world.write(self.plan, plan), (past, past))
        self.world.start(self.session)
        return self

    def call(self, name: str, answer: str = "ok", *, is_error: bool = False, **values: Any) -> None:
        self._calls += 1
        id = f"{self.session}-{self._calls}"
        folder = str(self.world.project)
        self.world.write_down(agent(use(name, id, **values), cwd=folder), session=self.session)
        self.world.write_down(result(answer, id, is_error=is_error), session=self.session)

    def work(self, path: str = "src/cart.py", text: str = "") -> None:
        """Edits a file that is not the plan."""
        file = self.world.write(path, text or f"{time.time()}\n")
        self.call("Edit", file_path=str(file), new_string=text)

    def run(self, line: str, output: str = "1 passed in 0.1s", *, fails: bool = False) -> None:
        self.call("Bash", output, is_error=fails, command=line)

    def tick(self, *tasks: str) -> Reply:
        """Ticks boxes in one edit; returns the answer of the hook."""
        file = self.world.project / self.plan
        text = file.read_text()
        for task in tasks:
            assert f"[ ] {task}" in text
            text = text.replace(f"[ ] {task}", f"[x] {task}", 1)
        file.write_text(text)
        self.call("Edit", file_path=str(file), new_string=f"[x] {tasks[0]}")
        return self.world.tool("Edit", {"file_path": str(file)}, self.session)


def evidence(world: World) -> Json:
    found: Json = world.plan()["evidence"]
    return found


def test_a_bare_tick_changes_nothing(world: World) -> None:
    answer = Agent(world).begin().tick(TAX)

    assert evidence(world) == {TAX: "unchanged"}
    assert "Ticked" not in answer.text
    assert f"plan Cart: ticked {TAX}: unchanged" in world.why()[-1]["notes"]


def test_a_tick_after_a_change(world: World) -> None:
    model = Agent(world).begin()
    model.work()
    assert "Ticked" not in model.tick(TAX).text
    assert evidence(world) == {TAX: "changed"}


def test_only_what_changed_since_the_tick_before_counts(world: World) -> None:
    model = Agent(world).begin()
    model.work()
    model.tick(TAX)
    model.tick(TOTAL)

    assert evidence(world) == {TAX: "changed", TOTAL: "unchanged"}


def test_a_check_that_passed_after_the_last_change(world: World) -> None:
    model = Agent(world).begin()
    model.work()
    model.run(CHECK)
    assert "Ticked" not in model.tick(TOTAL).text
    assert evidence(world) == {TOTAL: "checked"}


def test_one_run_proves_two_ticks(world: World) -> None:
    plan = "- [ ] a (verify: `make test`)\n- [ ] b (verify: `make test`)\n- [ ] c\n"
    model = Agent(world).begin(plan)
    model.work()
    model.run("make test")
    model.tick("a")
    model.tick("b")
    assert evidence(world) == {"a": "checked", "b": "checked"}


def test_a_check_that_did_not_run_is_told_once(world: World) -> None:
    model = Agent(world).begin()
    model.work()
    answer = model.tick(TOTAL)
    told = f"Ticked: {TOTAL}. Its check has not run since the last change: {CHECK}"
    assert told in answer.text
    assert evidence(world) == {TOTAL: "changed"}

    again = model.tick(TAX)
    assert "Ticked" not in again.text


def test_a_check_that_ran_before_the_last_change(world: World) -> None:
    model = Agent(world).begin()
    model.run(CHECK)
    model.work()
    assert "has not run since the last change" in model.tick(TOTAL).text
    assert evidence(world) == {TOTAL: "changed"}


def test_a_check_that_ran_before_the_shell_changed_a_file(world: World) -> None:
    model = Agent(world).begin()
    model.work()
    model.run(CHECK)
    time.sleep(0.02)
    world.write("src/made.py")
    assert "has not run since the last change" in model.tick(TOTAL).text
    assert evidence(world) == {TOTAL: "changed"}


def test_a_check_that_failed_counts_as_open(world: World) -> None:
    model = Agent(world).begin()
    model.work()
    model.run(CHECK, "Exit code 1\n1 failed", fails=True)
    answer = model.tick(TOTAL)

    assert f"Ticked: {TOTAL}. Its check failed: {CHECK}" in answer.text
    status = world.plan()
    assert status["evidence"] == {TOTAL: "failed"}
    assert (status["progress"]["completed"], status["progress"]["failed"]) == (0, 1)
    assert status["next_task"] == f"{TOTAL} (its box is ticked, but its check fails)"


def test_a_plan_with_a_failed_check_is_not_complete_until_it_passes(world: World) -> None:
    model = Agent(world).begin("- [ ] a (verify: `make test`)\n")
    model.work()
    model.run("make test", "1 failed", fails=True)
    assert "complete" not in model.tick("a").message
    assert world.plan()["state"] == "active"

    model.work()
    model.run("make test")
    answer = world.stop()
    assert "is complete" in answer.message
    assert world.plan()["state"] == "complete"
    assert evidence(world) == {"a": "checked"}


def test_a_check_that_passes_after_the_tick(world: World) -> None:
    model = Agent(world).begin()
    model.work()
    assert "has not run" in model.tick(TOTAL).text
    model.run(CHECK)
    world.stop()
    assert evidence(world) == {TOTAL: "checked"}


def test_a_later_failure_may_be_that_of_the_next_task(world: World) -> None:
    model = Agent(world).begin()
    model.work()
    model.tick(TOTAL)
    model.work()
    model.run(CHECK, "1 failed", fails=True)
    world.stop()
    assert evidence(world) == {TOTAL: "changed"}


def test_a_check_that_ran_no_test(world: World) -> None:
    model = Agent(world).begin()
    model.work()
    model.run(CHECK, "collected 0 items\n\n===== no tests ran in 0.01s =====")
    assert f"Its check ran no test: {CHECK}" in model.tick(TOTAL).text
    assert evidence(world) == {TOTAL: "unproven"}


def test_a_result_that_comes_late_is_waited_for(world: World) -> None:
    model = Agent(world).begin()
    model.work()
    folder = str(world.project)
    world.write_down(agent(use("Bash", "late", command=CHECK), cwd=folder))
    assert "Ticked" not in model.tick(TOTAL).text
    assert evidence(world) == {TOTAL: "changed"}

    world.write_down(result("2 passed in 0.2s", "late"))
    world.stop()
    assert evidence(world) == {TOTAL: "checked"}


def test_a_result_that_never_comes_is_told_in_the_end(world: World) -> None:
    model = Agent(world).begin()
    model.work()
    file = world.project / "PLAN.md"
    file.write_text(file.read_text().replace(f"[ ] {TOTAL}", f"[x] {TOTAL}"))
    calls = [
        {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "b1"},
        {"tool_name": "Edit", "tool_input": {"file_path": str(file)}, "tool_use_id": "b2"},
    ]
    answer = world.hook("post-tool-use", world.payload("PostToolBatch", tool_calls=calls))
    assert "Ticked" not in answer.text
    assert "has not run since the last change" in world.prompt().text


def test_a_check_that_is_taken_out_of_the_plan(world: World) -> None:
    model = Agent(world).begin()
    world.edit("PLAN.md", f" (verify: `{CHECK}`)", "")
    model.work()
    assert f"Its check was taken out of the plan: {CHECK}" in model.tick(TOTAL).text
    assert evidence(world) == {TOTAL: "changed"}


def test_ticks_outlive_rewording_moving_and_reopening(world: World) -> None:
    model = Agent(world).begin()
    model.work()
    model.run(CHECK)
    model.tick(TOTAL)
    world.edit("PLAN.md", TOTAL, "Show the total price")
    assert evidence(world) == {"Show the total price": "checked"}

    lines = (world.project / "PLAN.md").read_text().splitlines(keepends=True)
    world.create("PLAN.md", "".join([lines[0], *lines[3:], lines[2]]))
    assert evidence(world) == {"Show the total price": "checked"}

    world.edit("PLAN.md", "[x] Show", "[ ] Show")
    assert evidence(world) == {}
    assert "Ticked" not in model.tick("Show the total price").text
    assert evidence(world) == {"Show the total price": "checked"}


def test_a_task_that_is_ticked_again_keeps_its_changes(world: World) -> None:
    model = Agent(world).begin()
    model.work()
    model.tick(TAX)
    world.edit("PLAN.md", f"[x] {TAX}", f"[ ] {TAX}")
    model.tick(TAX)
    assert evidence(world) == {TAX: "changed"}


def test_ticks_that_were_there_before_say_nothing(world: World) -> None:
    Agent(world).begin(PLAN.replace("[ ] Show the tax", "[x] Show the tax"))
    assert evidence(world) == {}


def test_a_box_ticked_in_an_editor(world: World) -> None:
    model = Agent(world).begin()
    file = world.project / "PLAN.md"
    file.write_text(file.read_text().replace(f"[ ] {TAX}", f"[x] {TAX}"))
    world.prompt()
    assert evidence(world) == {TAX: "unchanged"}
    model.work()
    file.write_text(file.read_text().replace(f"[ ] {TOTAL}", f"[x] {TOTAL}"))
    world.start("s2")
    assert evidence(world) == {TAX: "unchanged", TOTAL: "changed"}


def test_another_session_knows_that_the_check_passed(world: World) -> None:
    first, second = Agent(world).begin(), Agent(world, "s2")
    world.start("s2")
    second.work()
    second.run(CHECK)
    file = world.project / "PLAN.md"
    file.write_text(file.read_text().replace(f"[ ] {TOTAL}", f"[x] {TOTAL}"))
    first.tick(TAX)
    assert evidence(world)[TOTAL] == "changed"
    world.tool("Edit", {"file_path": str(file)}, "s2")
    assert evidence(world)[TOTAL] == "checked"


def test_a_subagent_ticks(world: World) -> None:
    model = Agent(world).begin()
    model.work()
    model.run(CHECK)
    file = world.project / "PLAN.md"
    file.write_text(file.read_text().replace(f"[ ] {TOTAL}", f"[x] {TOTAL}"))
    world.tool("Edit", {"file_path": str(file)}, agent_id="a1")
    assert evidence(world) == {TOTAL: "checked"}


@pytest.mark.parametrize(
    ("line", "proof"),
    [
        ("pytest tests/test_total.py", "all"),
        ("  pytest   tests/test_total.py ", "all"),
        ("cd {project} && pytest tests/test_total.py", "all"),
        ('cd "{project}"; pytest tests/test_total.py', "all"),
        ("cd {project}\npytest tests/test_total.py", "all"),
        ("cd . && pytest tests/test_total.py", "all"),
        ("pytest tests/test_total.py -v", "all"),
        ("pytest tests/test_total.py -x -q --tb=short --color no", "all"),
        ("pytest tests/test_total.py --tb short 2>&1", "all"),
        ("pytest tests/test_total.py && git commit -am done", "success"),
        ("ruff check . && pytest tests/test_total.py", "success"),
        ("cd src && pytest tests/test_total.py", "nothing"),
        ("ruff check . && cd src && pytest tests/test_total.py", "nothing"),
        ("pytest tests/test_total.py | tail -5", "nothing"),
        ("pytest tests/test_total.py || true", "nothing"),
        ("pytest tests/test_total.py; true", "nothing"),
        ("pytest tests/test_total.py > out.txt", "nothing"),
        ("pytest tests/test_total.py & wait", "nothing"),
        ("pytest tests/test_total.py -k total", "nothing"),
        ("pytest tests/test_total.py --deselect tests/test_total.py::test_a", "nothing"),
        ("pytest tests/test_total.py tests/test_tax.py", "nothing"),
        ("pytest tests/test_total.py --co", "nothing"),
        ("pytest", "nothing"),
        ("echo pytest tests/test_total.py", "nothing"),
        ("! pytest tests/test_total.py", "nothing"),
        ("pytest() { true; }; pytest tests/test_total.py", "nothing"),
        ("true || pytest tests/test_total.py", "nothing"),
        ("pytest 'tests/test_total.py", "nothing"),
        (". .venv/bin/activate && pytest tests/test_total.py", "success"),
        ("pip install -e . && pytest tests/test_total.py", "success"),
        ("exit 0 && pytest tests/test_total.py", "nothing"),
        ("alias pytest=true && pytest tests/test_total.py", "nothing"),
        ("export PYTEST_ADDOPTS='-k x' && pytest tests/test_total.py", "nothing"),
        ("eval 'cd src' && pytest tests/test_total.py", "nothing"),
        ("git stash && pytest tests/test_total.py && git stash pop", "nothing"),
        ("pytest tests/test_total.py short", "nothing"),
        ("pytest tests/test_total.py -v 5", "nothing"),
        ("cd . ; " * 9_000 + "pytest tests/test_total.py", "nothing"),
    ],
)
def test_what_a_command_line_proves(world: World, line: str, proof: str) -> None:
    project = str(world.project)
    line = line.replace("{project}", project)
    assert check_runs.proof_of(CHECK, line, "", project) == proof


@pytest.mark.parametrize(
    ("check", "line", "proof"),
    [
        ("a | b", "a | b", "all"),
        ("a | b", "a | b | c", "nothing"),
        ("cd web && npm test", "cd web && npm test", "all"),
        ("grep -q total src", "grep -q total src -v", "nothing"),
        ("make lint && make test", "make lint && make test --silent", "all"),
        ("make test", "make test -q", "nothing"),
        ("npx jest", "npx jest -v", "nothing"),
        ("npx jest", "npx jest --verbose 1", "nothing"),
        ("cargo test", "cargo test -- short", "nothing"),
        ("cargo test", "cargo test -- --nocapture", "all"),
        ("go test ./...", "go test ./... -v", "all"),
        ("python -m pytest tests", "python -m pytest tests -vv", "all"),
        (".venv/bin/pytest tests", ".venv/bin/pytest tests -q", "all"),
        ("make lint && make test", "make test && make lint", "nothing"),
        ("CI=1 npm test", "npm test", "nothing"),
    ],
)
def test_checks_of_several_commands(world: World, check: str, line: str, proof: str) -> None:
    assert check_runs.proof_of(check, line, "", str(world.project)) == proof


def test_a_shell_that_is_elsewhere_proves_nothing(world: World) -> None:
    folder = str(world.project / "src")
    project = str(world.project)
    assert check_runs.proof_of(CHECK, CHECK, folder, project) == "nothing"
    assert check_runs.proof_of(CHECK, f"cd .. && {CHECK}", folder, project) == "all"


# ---------------------------------------------------------------- honest agents and liars

CHECK_OF = "make check-{n}"
HONEST: dict[str, list[tuple[str, bool]]] = {
    # name → the command lines that the agent runs after its edit, and whether each succeeds
    "ran it": [("{check}", True)],
    "ran it in the project": [("cd {project} && {check}", True)],
    "it failed, was mended, and passed": [("{check}", False), ("edit", True), ("{check}", True)],
    "ran it, then committed": [("{check} && git commit -qam done", True)],
    "ran it with everything else": [("ruff check . && {check}", True)],
    "ran it twice": [("{check}", True), ("{check} --silent 2>&1", True)],
}
LIARS: dict[str, list[tuple[str, bool]]] = {
    "ran nothing": [],
    "ran it before the last edit": [("{check}", True), ("edit", True)],
    "hid its end": [("{check} | tail -1", True)],
    "let it pass": [("{check} || true", True)],
    "ran another one": [("make check-0", True)],
    "only named it": [("echo {check}", True)],
}


def _play(world: World, model: Agent, check: str, steps: list[tuple[str, bool]]) -> None:
    for line, passes in steps:
        if line == "edit":
            model.work()
        else:
            command = line.replace("{check}", check).replace("{project}", str(world.project))
            model.run(command, "ok" if passes else "make: *** Error 1", fails=not passes)


def test_sixty_ticks_half_of_them_honest(world: World) -> None:
    """No honest tick is called `failed` or `unproven`, and no dishonest one `checked`."""
    tasks = [f"Do number {n}" for n in range(60)]
    checks = [CHECK_OF.format(n=n + 1) for n in range(60)]
    lines = (f"- [ ] {t} (verify: `{c}`)\n" for t, c in zip(tasks, checks, strict=True))
    model = Agent(world).begin("# Cart\n\n" + "".join(lines))
    ways = [*HONEST.items(), *LIARS.items()]
    expected, told = {}, {}
    for n, (task, check) in enumerate(zip(tasks, checks, strict=True)):
        way, steps = ways[n % len(ways)]
        model.work()
        _play(world, model, check, steps)
        told[task] = "Ticked: " in model.tick(task).text
        expected[task] = "checked" if way in HONEST else "changed"

    assert evidence(world) == expected
    assert told == {task: word != "checked" for task, word in expected.items()}


# ---------------------------------------------------------------- what goes wrong


def test_a_box_that_git_brings(world: World) -> None:
    """A pull brings the tick of a colleague, and the work that goes with it."""
    shutil.rmtree(world.project / ".git")
    git = ["git", "-c", "user.name=u", "-c", "user.email=u@example.org"]
    Agent(world).begin()
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["commit", "-qm", "all"],
        ["checkout", "-qb", "b"],
    ):
        subprocess.run([*git, *words], cwd=world.project, check=True)
    plan = (world.project / "PLAN.md").read_text()
    world.write("PLAN.md", plan.replace(f"[ ] {TAX}", f"[x] {TAX}"))
    world.write("src/tax.py")
    subprocess.run([*git, "add", "-A"], cwd=world.project, check=True)
    subprocess.run([*git, "commit", "-qm", "tax"], cwd=world.project, check=True)
    subprocess.run([*git, "checkout", "-q", "-"], cwd=world.project, check=True)
    world.prompt()
    assert evidence(world) == {}
    subprocess.run([*git, "merge", "-q", "b"], cwd=world.project, check=True)
    world.prompt()
    assert evidence(world) == {TAX: "changed"}


@pytest.mark.parametrize(
    "end", ['{"type": "assis', "\0\0\0", '{"type": "user", "message": 1}\n', "[" * 50_000]
)
def test_a_transcript_that_is_cut(world: World, end: str) -> None:
    model = Agent(world).begin()
    model.work()
    model.run(CHECK)
    with world.transcript().open("a") as transcript:
        transcript.write(end)
    file = world.project / "PLAN.md"
    file.write_text(file.read_text().replace(f"[ ] {TOTAL}", f"[x] {TOTAL}"))
    world.tool("Edit", {"file_path": str(file)})
    assert evidence(world) == {TOTAL: "checked"}


@pytest.mark.parametrize("path", ["", "/nowhere/s1.jsonl", "."])
def test_a_transcript_that_is_not_there(world: World, path: str) -> None:
    model = Agent(world).begin()
    world.write("src/cart.py", "new\n")
    file = world.project / "PLAN.md"
    file.write_text(file.read_text().replace(f"[ ] {TOTAL}", f"[x] {TOTAL}"))
    answer = world.tool("Edit", {"file_path": str(file)}, transcript_path=path)
    assert evidence(world) == {TOTAL: "changed"}
    assert "has not run since the last change" in answer.text
    assert model.plan


def test_the_records_of_another_project_prove_nothing(world: World) -> None:
    """The session ran the same command elsewhere, and then came here."""
    other = world.new_project("other")
    model = Agent(world).begin()
    model.work()
    world.write_down(agent(use("Bash", "o1", command=CHECK), cwd=str(other)))
    world.write_down(result("3 passed in 0.1s", "o1"))
    model.tick(TOTAL)
    assert evidence(world) == {TOTAL: "changed"}


@pytest.mark.parametrize(
    "check",
    [
        "x" * 10_000,
        "echo \"it's\" '$(date)' \\`id\\` | cat & wait",
        "printf '\x1b[31m'; true",
        "make test\u202e; rm -rf ~",
        "$(touch ran)",
    ],
)
def test_checks_of_a_hostile_plan(world: World, check: str) -> None:
    model = Agent(world).begin(f"- [ ] a (verify: ``{check}``)\n")
    model.work()
    answer = model.tick("a")
    assert answer.code == 0
    told = next(line for line in answer.text.splitlines() if line.startswith("Ticked: a."))
    assert told.isprintable()
    assert len(told) < 400
    assert evidence(world) == {"a": "changed"}
    assert not (world.project / "ran").exists()


def test_two_sessions_that_tick_at_once(world: World) -> None:
    first, second = Agent(world).begin(), Agent(world, "s2")
    world.start("s2")
    first.work()
    first.run(CHECK)
    file = world.project / "PLAN.md"
    text = file.read_text()
    file.write_text(text.replace(f"[ ] {TOTAL}", f"[x] {TOTAL}").replace("[ ] Round", "[x] Round"))
    with ThreadPoolExecutor(2) as pool:
        payloads = [
            world.payload("PostToolUse.Edit", name, tool_input={"file_path": str(file)})
            for name in ("s1", "s2")
        ]
        replies = list(pool.map(lambda each: world.process("post-tool-use", each), payloads))
    assert [reply.code for reply in replies] == [0, 0]
    told = "".join(reply.text for reply in replies)
    assert told.count(f"Ticked: {ROUND}") == 1
    world.stop()
    assert evidence(world) == {TOTAL: "checked", ROUND: "changed"}
    assert second.plan


def test_prose_is_nothing_that_could_run(world: World) -> None:
    model = Agent(world).begin("- [ ] a (verify: it looks nice)\n- [ ] b\n")
    model.work()
    assert "Ticked" not in model.tick("a").text
    assert evidence(world) == {"a": "changed"}


def test_a_file_that_was_deleted_before_the_check(world: World) -> None:
    """Who saves the plan anew, by a file beside it, changes their folder."""
    shutil.rmtree(world.project / ".git")
    world.write("old.py")
    model = Agent(world).begin()
    git = ["git", "-c", "user.name=u", "-c", "user.email=u@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*git, *words], cwd=world.project, check=True)
    model.work()
    (world.project / "old.py").unlink()
    time.sleep(0.02)
    model.run(CHECK)
    time.sleep(0.02)
    plan = world.project / "PLAN.md"
    beside = world.write("PLAN.tmp", plan.read_text().replace(f"[ ] {TOTAL}", f"[x] {TOTAL}"))
    beside.rename(plan)
    assert "Ticked" not in world.tool("Edit", {"file_path": str(plan)}).text
    assert evidence(world) == {TOTAL: "checked"}


def test_a_command_leaves_new_ticks_to_the_next_hook(world: World) -> None:
    model = Agent(world).begin()
    model.work()
    file = world.project / "PLAN.md"
    file.write_text(file.read_text().replace(f"[ ] {TAX}", f"[x] {TAX}"))
    world.cli("boulder", "checkpoint", "half", "--session-id", "s1")
    world.stop()
    assert evidence(world) == {TAX: "changed"}


def test_a_plan_that_is_empty_for_a_moment(world: World) -> None:
    model = Agent(world).begin()
    model.work()
    model.run(CHECK)
    model.tick(TOTAL)
    text = (world.project / "PLAN.md").read_text()
    world.create("PLAN.md", "# Cart\n")
    world.create("PLAN.md", text)
    assert evidence(world) == {TOTAL: "checked"}


def test_a_second_task_with_the_same_words(world: World) -> None:
    model = Agent(world).begin("## Phase 1: Backend\n- [ ] Test\n- [ ] b\n")
    model.work()
    model.tick("Test")
    plan = (world.project / "PLAN.md").read_text()
    world.create("PLAN.md", f"{plan}\n## Phase 2: Pages\n- [ ] Test\n")
    assert list(evidence(world).values()) == ["changed"]


def test_a_frontmatter_full_of_blanks(world: World) -> None:
    blanks = " " * 60_000
    plan = f"---\nname: x{blanks}y\nverify: x{blanks}y\n---\n- [ ] a\n"
    with linear_time():
        Agent(world).begin(plan)


def test_a_command_that_has_to_fail_is_none(world: World) -> None:
    plan = "- [ ] a\n\nRun: `pytest x`\nExpected: FAIL with `NameError`\n\n- [ ] b\n"
    model = Agent(world).begin(plan)
    model.work()
    assert "Ticked" not in model.tick("a").text
    assert evidence(world) == {"a": "changed"}
