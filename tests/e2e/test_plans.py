"""Plans with waves and stories, several of them at once, through the real client."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from e2e.desk import WITH_SHELL, Desk, make_project
from e2e.script import Tool, edit, read, say, use, write
from e2e.texts import continuation

if TYPE_CHECKING:
    from pathlib import Path

PLAN = """\
# Docs audit

## Wave 1 — Inventory

### S01: List the pages
- [x] Walk the tree
- [ ] Note the owners

### S02: Headers
- [ ] Add headers

## Wave 2 — Cleaning
- [ ] Remove dead links
"""
LOGIN, LOGOUT = "docs/kord/plans/login.md", "docs/kord/plans/logout.md"
TASKS_MODEL = ["--model", "claude-sonnet-4-5"]
"""A model whose client still has todo tools."""


def bash(command: str) -> Tool:
    return Tool("Bash", {"command": command})


def record(desk: Desk) -> dict[str, Any]:
    """The project's record, as anybody may read it."""
    [path] = (desk.home / ".claude/.sisyphus/projects").glob("*/boulder.json")
    found: dict[str, Any] = desk.state(str(path.relative_to(desk.home / ".claude")))
    return found


def two_plans(desk: Desk) -> None:
    desk.write(LOGIN, "# Login\n\n- [ ] Form\n- [ ] Token\n")
    desk.write(LOGOUT, "# Logout\n\n- [ ] Button\n- [ ] Redirect\n")


def test_a_story_that_is_done_makes_a_checkpoint_that_the_next_session_reads(desk: Desk) -> None:
    plan = desk.write(".claude/PLAN.md", PLAN)
    done = edit(plan, "- [ ] Note", "- [x] Note")

    desk.run("work", turns=[use(read(plan)), use(done), say("listed")])
    run = desk.run("go on", turns=[say("gladly")])

    assert record(desk)["progress"]["stories"]["S01"] == {"status": "completed", "wave": 1}
    assert record(desk)["currentStory"] == "S02"
    [request] = run.requests
    assert request.count(continuation("Docs audit", "2/4")) == 1
    assert "Current story: S02: Headers" in request.text
    assert "Last checkpoint: S01 complete; Wave 1 S02 (Headers): 0/1 tasks done" in request.text


def test_a_checkpoint_of_the_users_costs_no_request_and_is_told_to_the_next_session(
    desk: Desk,
) -> None:
    desk.write(".claude/PLAN.md", PLAN)
    start = desk.run("hello", turns=[say("hi")])

    set_it = desk.resume(start, '/sisyphus:checkpoint "owners half noted" --story S02', turns=[])
    run = desk.run("go on", turns=[say("gladly")])

    assert set_it.requests == []
    assert "owners half noted" in set_it.result
    assert "Last checkpoint: owners half noted" in run.requests[0].text
    assert "Current story: S02: Headers" in run.requests[0].text


def test_a_compaction_leaves_the_short_form(desk: Desk) -> None:
    plan = desk.write(".claude/PLAN.md", PLAN)
    done = edit(plan, "- [ ] Note", "- [x] Note")

    run = desk.run(
        "work", "/compact", "go on", turns=[use(read(plan)), use(done), say("listed"), say("on")]
    )

    last = run.requests[-1]
    assert "Continuing from where you left off." not in last.text
    assert last.count("Active plan: Docs audit (2/4 tasks complete, .claude/PLAN.md)") == 1
    assert "Next task: Add headers" in last.text
    assert "Current story: S02: Headers" in last.text
    assert "Last checkpoint: S01 complete" in last.text


@pytest.mark.parametrize(
    ("env", "calls", "todos"),
    [
        pytest.param(
            {},
            [
                [
                    Tool("TaskCreate", {"subject": "find owners", "description": "ask around"}),
                    Tool("TaskCreate", {"subject": "write header", "description": "by hand"}),
                ],
                [Tool("TaskUpdate", {"taskId": "1", "status": "completed"})],
                [Tool("TaskUpdate", {"taskId": "2", "status": "in_progress"})],
            ],
            [("1", "find owners", "completed"), ("2", "write header", "in_progress")],
            id="tasks",
        ),
        pytest.param(
            {"CLAUDE_CODE_ENABLE_TASKS": "0"},
            [
                [
                    Tool(
                        "TodoWrite",
                        {
                            "todos": [
                                {
                                    "content": "find owners",
                                    "status": "completed",
                                    "activeForm": "f",
                                },
                                {"content": "write header", "status": "pending", "activeForm": "w"},
                            ]
                        },
                    )
                ]
            ],
            [("t1", "find owners", "completed"), ("t2", "write header", "pending")],
            id="a list",
        ),
    ],
)
def test_todos_of_the_model_are_mirrored_and_told_to_the_next_session(
    desk: Desk, env: dict[str, str], calls: list[list[Tool]], todos: list[tuple[str, str, str]]
) -> None:
    desk.write(".claude/PLAN.md", PLAN)

    turns = [*(use(*call) for call in calls), say("noted")]
    desk.run("plan it", turns=turns, flags=TASKS_MODEL, env=env)
    run = desk.run("go on", turns=[say("gladly")])

    kept = record(desk)["todos"]
    assert [(todo["id"], todo["content"], todo["status"]) for todo in kept] == todos
    assert "write header" in run.requests[0].text.partition("Open todos:")[2]
    assert "find owners" not in run.requests[0].text.partition("Open todos:")[2]


def test_a_new_session_beside_several_plans_is_asked_and_not_hijacked(desk: Desk) -> None:
    two_plans(desk)

    run = desk.run("hello", turns=[say("Which one?")])

    [request] = run.requests
    assert request.count("[BOULDER PLANS OPEN]") == 1
    assert "Continuing from where you left off." not in request.text
    assert "Login" in run.told
    assert "Logout" in run.told


def test_two_sessions_on_two_plans_keep_to_their_own(desk: Desk) -> None:
    two_plans(desk)
    one = desk.run("/sisyphus:start-work login", turns=[say("I begin.")])
    two = desk.run("/sisyphus:start-work logout", turns=[say("I begin.")])
    login, logout = desk.project / LOGIN, desk.project / LOGOUT

    desk.resume(two, "on", turns=[
        use(read(logout)), use(edit(logout, "- [ ] Button", "- [x] Button")), say("done"),
    ])  # fmt: skip
    again = desk.resume(one, "on", turns=[
        use(read(login)), use(edit(login, "- [ ] Form", "- [x] Form")), say("done"),
    ])  # fmt: skip
    more = desk.resume(one, "/compact", "on", turns=[say("yes")])

    books = (desk.home / ".claude/.sisyphus/projects").glob("*/plans.json")
    plans = desk.state(str(next(books).relative_to(desk.home / ".claude")))["plans"]
    progress = {path: plan["progress"]["completed"] for path, plan in plans.items()}
    assert progress == {str(login): 1, str(logout): 1}
    assert plans[str(login)]["session_ids"] == [one.session]
    assert plans[str(logout)]["session_ids"] == [two.session]
    assert "Logout" not in again.requests[-1].last
    assert "Active plan: Login (1/2 tasks complete" in more.requests[-1].text


def test_two_projects_in_turn_keep_their_records(desk: Desk, tmp_path: Path) -> None:
    desk.write(".claude/PLAN.md", PLAN)
    other = Desk(desk.home, make_project(tmp_path / "other"))
    plan = other.write("PLAN.md", "# Other work\n\n## Wave 1\n- [ ] Begin\n- [ ] End\n")
    begun = edit(plan, "- [ ] Begin", "- [x] Begin")

    desk.run("hello", turns=[say("hi")])
    other.run("work", turns=[use(read(plan)), use(begun), say("begun")])
    there = other.run("go on", turns=[say("gladly")])
    back = desk.run("go on", turns=[say("gladly")])

    assert "Last checkpoint: W1.1 complete" in there.requests[0].text
    assert back.requests[0].count(continuation("Docs audit", "1/4")) == 1
    assert "W1.1" not in back.requests[0].text


def test_a_plan_worked_through_to_the_end_is_told_once_and_its_record_keeps_the_last_word(
    desk: Desk,
) -> None:
    plan = desk.write(".claude/PLAN.md", PLAN)
    tasks = ["Note", "Add", "Remove"]
    turns = [use(edit(plan, f"- [ ] {task}", f"- [x] {task}")) for task in tasks]

    run = desk.run("work it through", turns=[use(read(plan)), *turns, say("done")])
    following = desk.run("what now?", turns=[say("nothing left")])

    told = [hook for hook in [*run.hooks, *following.hooks] if "4/4" in hook["stdout"]]
    assert len(told) == 1
    assert desk.state(".boulder.json") is None
    assert set(record(desk)) == {"checkpoint"}
    assert "[BOULDER" not in following.requests[0].text
    history = desk.sisyphus("boulder", "history", "--project", str(desk.project))
    assert "S01 complete" in history
    assert "completed" in history


def test_the_record_in_the_project_carries_the_plan_to_another_machine(
    desk: Desk, tmp_path: Path
) -> None:
    desk.write(".claude/PLAN.md", PLAN)
    desk.sisyphus("boulder", "start", "--in-repo", "--project", str(desk.project))
    desk.sisyphus("boulder", "checkpoint", "halfway", "--project", str(desk.project))
    clone = tmp_path / "clone"
    subprocess.run(["cp", "-r", desk.project, clone], check=True)
    elsewhere = Desk(tmp_path / "elsewhere", clone)
    (elsewhere.home / "tmp").mkdir(parents=True)

    run = elsewhere.run("go on", turns=[say("gladly")])

    assert "Last checkpoint: halfway" in run.requests[0].text


def test_a_plan_that_is_renamed_is_followed(desk: Desk) -> None:
    plan = desk.write("PLAN.md", PLAN)
    desk.run("hello", turns=[say("hi")])

    moved = desk.project / "docs/audit.md"
    command = f"mkdir -p {moved.parent} && mv {plan} {moved}"
    run = desk.run("move it", turns=[use(bash(command)), say("moved")], flags=WITH_SHELL)
    following = desk.run("go on", turns=[say("gladly")])

    assert "docs/audit.md" in run.told
    assert desk.state(".boulder.json")["active_plan"] == str(moved)
    assert following.requests[0].count(continuation("Docs audit", "1/4", "docs/audit.md")) == 1


def test_a_worktree_and_a_subfolder_continue_the_plan(desk: Desk, tmp_path: Path) -> None:
    git = ["git", "-C", str(desk.project), "-c", "user.name=n", "-c", "user.email=e"]
    desk.write("src/main.py", "1")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "begin"], check=True)
    subprocess.run([*git, "worktree", "add", "--quiet", str(tmp_path / "tree")], check=True)
    plan = desk.write(".claude/PLAN.md", PLAN)
    tree = Desk(desk.home, tmp_path / "tree")

    below = desk.run("hello", turns=[say("hi")], folder="src")
    beside = tree.run("work", turns=[
        use(read(plan)), use(edit(plan, "- [ ] Note", "- [x] Note")), say("listed"),
    ], flags=["--permission-mode", "bypassPermissions"])  # fmt: skip
    back = desk.run("go on", turns=[say("gladly")])

    assert below.requests[0].count(continuation("Docs audit", "1/4")) == 1
    assert "Active plan: Docs audit" in beside.requests[0].text
    assert back.requests[0].count(continuation("Docs audit", "2/4")) == 1


def test_a_plan_of_the_clients_plan_mode_is_adopted_by_name(desk: Desk) -> None:
    desk.write_home("plans/quiet-otter.md", "# Cache the feed\n\n- [ ] Measure\n- [ ] Cache\n")

    before = desk.run("hello", turns=[say("hi")])
    run = desk.run("/sisyphus:start-work quiet-otter", turns=[say("I begin.")])

    assert "[BOULDER" not in before.requests[0].text
    assert "Active plan: Cache the feed" in run.requests[0].text


def test_a_plan_written_by_the_model_in_a_session_that_was_asked_is_its_own(desk: Desk) -> None:
    two_plans(desk)
    new = desk.project / "docs/kord/plans/search.md"

    run = desk.run("plan it", turns=[use(write(new, "# Search\n\n- [ ] Index\n")), say("planned")])

    assert desk.state(".boulder.json")["plan_name"] == "Search"
    assert desk.state(".boulder.json")["session_ids"] == [run.session]
