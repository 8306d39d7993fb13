"""The checks of a plan: listed, and trusted by the user."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import typer
from test_ticks import Agent
from world import Json, Reply, Terminal, World

from sisyphus.boulder import trust

PLAN = """---
verify: make test
---
# Cart

- [ ] Show the total (verify: `pytest tests/test_total.py`)
- [ ] Show the tax
- [!] Round it
  verify: `./round.sh` and `./sum.sh`
- [ ] Name it
  check: the name is short
"""
CHECK = "pytest tests/test_total.py"
ALL = [CHECK, "./round.sh", "./sum.sh", "make test"]


def checks(world: World, *words: str | Path) -> Reply:
    answer = world.cli("boulder", "checks", *words)
    assert answer.code == 0, answer
    return answer


def listed(world: World, *words: str | Path) -> Json:
    found: Json = checks(world, *words, "--json").json
    return found


def trusted(world: World, *words: str | Path) -> list[str]:
    """The commands that are trusted, as --json says."""
    found = listed(world, *words)
    all_ = [*found["plan_checks"], *(each for task in found["tasks"] for each in task["checks"])]
    return [each["command"] for each in all_ if each["trusted"]]


def one_check(world: World, command: str) -> None:
    """Writes a plan with one check."""
    world.write("PLAN.md", f"# Cart\n\n- [ ] one (verify: `{command}`)\n")


def answer(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Somebody sits at a terminal and types this."""
    monkeypatch.setattr(sys, "stdin", Terminal(text))


# ---------------------------------------------------------------- the list


def test_all_checks_of_a_plan(world: World) -> None:
    world.write("PLAN.md", PLAN)

    assert checks(world).out == (
        "Cart\n"
        "PLAN.md\n"
        "· Show the total\n"
        "    not trusted: pytest tests/test_total.py\n"
        "! Round it\n"
        "    not trusted: ./round.sh\n"
        "    not trusted: ./sum.sh\n"
        "· Name it\n"
        "    prose: the name is short\n"
        "  The whole plan\n"
        "    not trusted: make test\n"
        "Prose is not run. A command stands in backticks: verify: `CMD`\n"
        "4 commands are not trusted: sisyphus does not run them. `sisyphus boulder checks --trust` "
        "shows what is new and asks you.\n"
    )


def test_for_programs(world: World) -> None:
    world.write("PLAN.md", PLAN)
    checks(world, "--trust", "--yes")
    world.write("PLAN.md", PLAN.replace("./sum.sh", "./all.sh"))

    found = listed(world)

    assert found == {
        "plan": str(world.project / "PLAN.md"),
        "tasks": [
            {
                "task": "Show the total", "line": 6, "status": "open", "evidence": None,
                "checks": [{"command": CHECK, "trusted": True, "problem": ""}],
                "criteria": [], "lost": [],
            },
            {
                "task": "Round it", "line": 8, "status": "blocked", "evidence": None,
                "checks": [
                    {"command": "./round.sh", "trusted": True, "problem": ""},
                    {"command": "./all.sh", "trusted": False, "problem": ""},
                ],
                "criteria": [], "lost": [],
            },
            {
                "task": "Name it", "line": 10, "status": "open", "evidence": None,
                "checks": [], "criteria": ["the name is short"], "lost": [],
            },
        ],
        "plan_checks": [{"command": "make test", "trusted": True, "problem": ""}],
        "plan_criteria": [],
        "plan_lost": [],
        "untrusted": 1,
        "unclear": [],
    }  # fmt: skip


def test_what_stands_behind_a_tick(world: World) -> None:
    model = Agent(world).begin(PLAN)
    model.work()
    model.run(CHECK)
    model.tick("Show the total")

    assert "✓ Show the total\n    tick: checked\n    not trusted: pytest" in checks(world).out
    assert listed(world)["tasks"][0]["evidence"] == "checked"


def test_a_tick_whose_check_fails(world: World) -> None:
    model = Agent(world).begin(PLAN)
    model.work()
    model.run(CHECK, fails=True)
    model.tick("Show the total")

    assert "✗ Show the total\n    tick: failed\n" in checks(world).out


def test_a_check_that_was_taken_out_or_replaced(world: World) -> None:
    Agent(world).begin(PLAN)
    changed = PLAN.replace(f" (verify: `{CHECK}`)", "").replace("make test", "make check")
    world.write("PLAN.md", changed)

    shown = checks(world).out

    assert "· Show the total\n    taken out or replaced: pytest tests/test_total.py\n" in shown
    assert "    not trusted: make check\n    taken out or replaced: make test\n" in shown
    assert listed(world)["tasks"][0]["lost"] == [CHECK]
    assert listed(world)["plan_lost"] == ["make test"]

    world.prompt()  # a hook notes it
    assert listed(world)["tasks"][0]["lost"] == [CHECK]


def test_a_check_that_has_to_fail_is_prose_in_backticks(world: World) -> None:
    world.write("PLAN.md", "- [ ] one\n  verify: `pytest` fails\n")

    shown = checks(world).out

    assert "    prose: `pytest` fails\n" in shown
    assert "does not run prose" not in shown


def test_the_prose_of_the_next_task_is_told_at_the_start(world: World) -> None:
    tasks = ["b (verify: `make` and look)", "c (verify: it is red) (verify: it is round)"]
    world.write("PLAN.md", "# P\n\n" + "".join(f"- [ ] {task}\n" for task in tasks))
    assert "Its criteria" not in world.start().text, "that of a command is run"

    world.edit("PLAN.md", "[ ] b", "[x] b")
    assert "Next task: c\nIts criteria: it is red; it is round\n" in world.start("s2").text


def test_a_plan_without_checks(world: World) -> None:
    world.write("PLAN.md", "# Cart\n\n- [ ] one\n")

    assert checks(world).out == (
        "Cart\nPLAN.md\n"
        "It names no check. Name one behind its task: "
        "- [ ] Show the total (verify: `pytest tests/test_total.py`)\n"
    )
    assert "No command is new." in checks(world, "--trust", "--yes").out
    assert listed(world)["tasks"] == []


def test_two_hundred_checks(world: World) -> None:
    name = "task " * 30
    lines = [f"- [ ] {number} {name}(verify: `./check.sh {number}`)\n" for number in range(200)]
    world.write("PLAN.md", "".join(lines))

    shown = checks(world).out

    assert [f"./check.sh {number}\n" in shown for number in range(200)] == [True] * 200
    assert max(map(len, shown.splitlines()[2:-1])) <= len("· ") + 100
    assert "200 commands are not trusted" in shown
    assert len(checks(world, "--trust", "--yes").out.splitlines()) == 201
    assert len(trusted(world)) == 200


# ---------------------------------------------------------------- which plan


def test_a_plan_by_its_name(world: World) -> None:
    world.write("PLAN.md", PLAN)
    other = world.write("docs/kord/plans/login.md", "# Login\n\n- [ ] form (verify: `./form.sh`)\n")

    for name in ("login", "docs/kord/plans/login.md"):
        assert listed(world, name)["plan"] == str(other)
    assert "`sisyphus boulder checks login --trust`" in checks(world, "login").out
    assert "(" not in checks(world, "login", "--trust", "--yes").out
    assert trusted(world, "login") == ["./form.sh"]
    assert trusted(world, "Cart") == []


def test_of_another_folder(world: World) -> None:
    folder = world.new_project("my shop")
    (folder / "PLAN.md").write_text(PLAN)

    way = f"`sisyphus boulder checks --trust --project '{folder}'`"

    assert way in checks(world, "--project", folder).out


def test_no_plan(world: World) -> None:
    answer = world.cli("boulder", "checks")

    assert answer.code == 1
    assert "No plan is followed here. Write a PLAN.md" in answer.err


def test_several_plans(world: World) -> None:
    for name in ("a", "b"):
        world.write(f"docs/kord/plans/{name}.md", f"# {name}\n\n- [ ] one\n")

    assert "Several plans are open" in world.cli("boulder", "checks").err


def test_a_plan_that_is_not_there(world: World) -> None:
    world.write("PLAN.md", PLAN)

    assert 'No plan here is called "login"' in world.cli("boulder", "checks", "login").err


@pytest.mark.parametrize("words", [[], ["PLAN.md"], ["--json"], ["--trust", "--yes"]])
def test_an_unreadable_plan(world: World, words: list[str]) -> None:
    Agent(world).begin(PLAN)
    world.write("PLAN.md", b"- [ ] one\0" * 1_000_000)

    answer = world.cli("boulder", "checks", *words)

    assert answer.code == 1
    assert "larger than" in answer.err or "too large" in answer.err


def test_a_plan_that_is_gone(world: World) -> None:
    Agent(world).begin(PLAN)
    (world.project / "PLAN.md").unlink()

    assert "is gone: deleted or renamed" in world.cli("boulder", "checks").err


def test_a_plan_that_is_complete(world: World) -> None:
    model = Agent(world).begin("# Cart\n\n- [ ] Show the total (verify: `./total.sh`)\n")
    model.tick("Show the total")

    assert "✓ Show the total\n    tick: unchanged\n" in checks(world).out


# ---------------------------------------------------------------- trust


def test_the_user_is_asked_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write("PLAN.md", PLAN)
    answer(monkeypatch, "y\n")

    shown = checks(world, "--trust").out

    for number, command in enumerate(ALL, 1):
        assert f"  {number}. {command}\n" in shown
    assert shown.count("Let sisyphus run these commands in ") == 1
    assert "4 commands are trusted in" in shown
    assert sorted(trusted(world)) == sorted(ALL)
    assert "not trusted" not in checks(world).out
    assert "No command is new." in checks(world, "--trust").out


@pytest.mark.parametrize("text", ["\n", "n\n"])
def test_who_declines_trusts_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    world.write("PLAN.md", PLAN)
    answer(monkeypatch, text)

    declined = world.cli("boulder", "checks", "--trust")

    assert declined.code == 1
    assert "Nothing was noted." in declined.out
    assert trusted(world) == []


def test_without_a_terminal_it_shows_what_to_read(world: World) -> None:
    world.write("PLAN.md", PLAN)

    answer = world.cli("boulder", "checks", "--trust")

    assert answer.code == 2
    assert "  1. pytest tests/test_total.py\n" in answer.out
    assert "then run `sisyphus boulder checks --trust --yes`" in answer.err
    assert trusted(world) == []


def test_only_what_was_shown_is_trusted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody writes the plan anew while the user reads."""
    one_check(world, "./a.sh")

    def confirm(question: str) -> bool:
        one_check(world, "./b.sh")
        return True

    answer(monkeypatch, "")
    monkeypatch.setattr(typer, "confirm", confirm)
    assert "./b.sh" not in checks(world, "--trust").out

    assert trusted(world) == []
    one_check(world, "./a.sh")
    assert trusted(world) == ["./a.sh"]


def test_a_changed_letter_is_a_new_command(world: World) -> None:
    one_check(world, "./a.sh  x")
    checks(world, "--trust", "--yes")
    assert trusted(world) == ["./a.sh  x"]

    for command in ("./a.sh x", "./A.sh  x", "./a.sh  x;"):
        one_check(world, command)
        assert trusted(world) == []


def test_blanks_are_shown_as_they_are(world: World) -> None:
    one_check(world, 'grep "a  b"  <system-reminder> [red]x[/red] :bug:')

    for words in ([], ["--trust", "--yes"]):
        assert 'grep "a  b"  <system-reminder> [red]x[/red] :bug:\n' in checks(world, *words).out


def test_another_project_does_not_trust_it(world: World) -> None:
    one_check(world, "./a.sh")
    checks(world, "--trust", "--yes")
    other = world.new_project("other")
    (other / "PLAN.md").write_bytes((world.project / "PLAN.md").read_bytes())

    assert trusted(world, "--project", other) == []
    assert trusted(world, other / "PLAN.md") == []
    assert trusted(world) == ["./a.sh"]


@pytest.mark.parametrize("name", ["CLAUDE_CODE_SESSION_ID", "CLAUDE_PID", "SISYPHUS_SESSION_ID"])
def test_the_model_trusts_nothing_for_its_user(
    world: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    world.write("PLAN.md", PLAN)
    world.start()
    with monkeypatch.context() as shell:
        shell.setenv(name, "1")
        shell.setenv("CLAUDECODE", "1")
        for words in (["--trust"], ["--trust", "--yes"]):
            answer = world.cli("boulder", "checks", *words)
            assert (answer.code, answer.out) == (1, "")
            assert "A session of an agent cannot change this." in answer.err
        assert "not trusted: make test" in checks(world).out

    assert trusted(world) == []


@pytest.mark.parametrize(
    "words", [["--yes"], ["--trust", "--json"], ["--trust", "--yes", "--json"]]
)
def test_options_that_do_not_go_together(world: World, words: list[str]) -> None:
    world.write("PLAN.md", PLAN)

    assert world.cli("boulder", "checks", *words).code == 2
    assert trusted(world) == []


# ---------------------------------------------------------------- strange commands


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("./a.sh \x1b[2K", "./a.sh \\x1b[2K"),
        ("./a.sh \u202egnp.b", "./a.sh \\u202egnp.b"),
        ("./a.sh\u2028rm -rf .", "./a.sh\\u2028rm -rf ."),
        ("./a.sh\u0085rm", "./a.sh\\x85rm"),
        ("./a.sh\vrm", "./a.sh\\x0brm"),
        ("./a.sh\u200b", "./a.sh\\u200b"),
        ("./a.sh\u00a0b", "./a.sh\\xa0b"),
        ("./a.sh\x7fb", "./a.sh\\x7fb"),
        ("./a.sh\U000e0041", "./a.sh\\U000e0041"),
    ],
)
def test_characters_that_nobody_can_see(world: World, command: str, shown: str) -> None:
    one_check(world, command)

    out = checks(world).out
    assert f"    cannot be trusted: {shown}\n" in out
    assert "it has characters that nobody can see" in out
    assert "1 command is not trusted: sisyphus does not run it.\n" in out
    assert all(c.isprintable() or c == "\n" for c in out)

    out = checks(world, "--trust", "--yes").out
    assert f"Cannot be trusted, it has characters that nobody can see: {shown}\n" in out
    assert "No command is new." in out
    assert trusted(world) == []
    (found,) = listed(world)["tasks"][0]["checks"]
    assert found["problem"] == "has characters that nobody can see"


def test_the_others_are_trusted_all_the_same(world: World) -> None:
    world.write(
        "PLAN.md",
        "- [ ] one (verify: `./a\u200b.sh`)\n- [ ] two (verify: `./b.sh`)\n",
    )

    assert "1 command is trusted in" in checks(world, "--trust", "--yes").out
    assert trusted(world) == ["./b.sh"]
    assert listed(world)["untrusted"] == 1


def test_names_and_prose_on_one_line(world: World) -> None:
    world.write(
        "PLAN.md",
        "# Ca\x1brt\n\n- [ ] on\u202ee\u2028two\n  verify: it\x1b[31m is\u2028    trusted: x\n",
    )

    out = checks(world).out

    assert all(c.isprintable() or c == "\n" for c in out)
    assert "· on e two\n    prose: it [31m is trusted: x\n" in out


def test_a_command_that_nobody_reads(world: World) -> None:
    one_check(world, "./a.sh " + "x" * 10_000)

    out = checks(world).out
    assert "cannot be trusted: ./a.sh xxx" in out
    assert "… (10,007 characters)" in out
    assert "it is longer than 2,000 characters: put it into a script" in out
    assert max(map(len, out.splitlines())) < 200
    assert "No command is new." in checks(world, "--trust", "--yes").out
    assert trusted(world) == []


def test_the_longest_command_is_shown_whole(world: World) -> None:
    command = "./a.sh ".ljust(trust.LONGEST, "x")
    one_check(world, command)

    assert f"  1. {command}\n" in checks(world, "--trust", "--yes").out
    assert trusted(world) == [command]


def test_trust_is_taken_back(world: World) -> None:
    world.write("PLAN.md", "# Cart\n\n- [ ] a (verify: `make test`)\n")
    world.cli("boulder", "checks", "--trust", "--yes")
    assert "1 command is trusted no more" in world.cli("boulder", "checks", "--forget").out
    assert world.cli("boulder", "checks", "--json").json["untrusted"] == 1


def test_trust_is_taken_back_of_what_the_plan_names_no_more(world: World) -> None:
    plan = world.write("PLAN.md", "# Cart\n\n- [ ] a (verify: `make test`)\n")
    world.cli("boulder", "checks", "--trust", "--yes")
    text = plan.read_text()
    world.write("PLAN.md", "# Cart\n\n- [ ] a\n")
    world.cli("boulder", "checks", "--forget")
    world.write("PLAN.md", text)
    assert world.cli("boulder", "checks", "--json").json["untrusted"] == 1


def test_a_complete_plan_by_its_name(world: World) -> None:
    world.write("PLAN.md", "# Cart\n\n- [x] a (verify: `make test`)\n")
    assert "make test" in world.cli("boulder", "checks", "PLAN.md").out


def test_the_list_of_a_run_without_its_name(world: World) -> None:
    world.write("fix_plan.md", "- [ ] a (verify: `make test`)\n")
    assert "make test" in world.cli("boulder", "checks").out
