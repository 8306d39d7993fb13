"""The checks of a plan at the Stop that would end its hold, or a loop that needs it complete."""

from __future__ import annotations

import pytest
from test_ticks import Agent
from world import World

from sisyphus.boulder import closing

PLAN = "# Cart\n\n- [ ] Show the total (verify: `test -f total.py`)\n- [ ] Show the tax\n"
TOTAL, TAX = "Show the total", "Show the tax"


def held(world: World, plan: str = PLAN, *, trusts: bool = True) -> Agent:
    model = Agent(world).begin(plan)
    if trusts:
        assert world.cli("boulder", "checks", "--trust", "--yes").code == 0
    assert world.cli("boulder", "hold", "on", "--session-id", "s1").code == 0
    return model


def test_a_hold_does_not_end_while_a_check_fails(world: World) -> None:
    model = held(world)
    model.work()
    model.tick(TOTAL, TAX)

    answer = world.stop()
    assert answer.reason, answer
    assert "not complete: 1 of 2 tasks" in answer.reason
    assert f"The check of “{TOTAL}” does not pass: test -f total.py exited 1" in answer.text
    assert "its box is ticked, but its check fails" in answer.reason
    status = world.plan()
    assert status["evidence"][TOTAL] == "failed"
    assert status["state"] == "active"

    again = world.stop()
    assert again.reason
    assert "does not pass" not in again.text

    world.write("total.py")
    last = world.stop()
    assert not last.reason
    assert "[BOULDER HOLD COMPLETE]" in last.message
    assert "Its ticks: 1 checked, 1 changed." in last.message
    assert world.plan()["evidence"] == {TOTAL: "checked", TAX: "changed"}


def test_what_a_failed_check_printed_is_said(world: World) -> None:
    model = held(world, "- [ ] a (verify: `echo 3 is not 4; false`)\n")
    model.work()
    model.tick("a")
    assert "exited 1\n3 is not 4" in world.stop().text


def test_nothing_runs_that_nobody_trusts(world: World) -> None:
    model = held(world, "- [ ] a (verify: `touch ran; false`)\n", trusts=False)
    model.work()
    model.tick("a")
    answer = world.stop()
    assert not answer.reason
    assert not (world.project / "ran").exists()
    assert "Its ticks: 1 changed." in answer.message
    assert "1 check is not trusted and does not run" in answer.message


def test_a_check_that_the_session_has_seen_to_pass_is_not_run_again(world: World) -> None:
    model = held(world, "- [ ] a (verify: `echo x >> ran`)\n")
    model.work()
    model.run("echo x >> ran", "")
    model.tick("a")
    assert not world.stop().reason
    assert not (world.project / "ran").exists()


def test_a_check_runs_once_for_all_tasks_that_name_it(world: World) -> None:
    check = "echo x >> $HOME/ran"
    model = held(world, f"- [ ] a (verify: `{check}`)\n- [ ] b (verify: `{check}`)\n")
    model.work()
    model.tick("a", "b")
    assert not world.stop().reason
    assert (world.home / "ran").read_text() == "x\n"


def test_a_check_that_ran_no_test_holds(world: World) -> None:
    world.write("Makefile", "check:\n")
    model = held(world, "- [ ] a (verify: `make check`)\n")
    model.work()
    model.tick("a")
    answer = world.stop()
    assert answer.reason
    assert "make check exited 0, but ran no test" in answer.text
    assert world.plan()["evidence"] == {"a": "unproven"}
    assert world.plan()["progress"]["failed"] == 1


def test_the_check_of_the_whole_plan(world: World) -> None:
    model = held(world, "---\nverify: '`test -f all.py`'\n---\n- [ ] a\n")
    model.work()
    model.tick("a")
    answer = world.stop()
    assert answer.reason
    assert "The check of the plan does not pass: test -f all.py exited 1" in answer.text
    assert "make the check of the plan pass: test -f all.py" in answer.reason

    world.write("all.py")
    assert "[BOULDER HOLD COMPLETE]" in world.stop().message


def test_a_plan_that_is_rewritten_while_its_check_runs(world: World) -> None:
    """What was found out about another text is not noted."""
    check = "echo '- [ ] b' >> PLAN.md"
    model = held(world, f"- [ ] a (verify: `{check}`)\n")
    model.work()
    model.tick("a")
    world.stop()
    answer = world.stop()
    assert answer.reason
    assert "1 of 2 tasks" in answer.reason


def test_a_loop_that_needs_its_plan(world: World) -> None:
    model = Agent(world).begin(PLAN)
    world.cli("boulder", "checks", "--trust", "--yes")
    world.loop("--verify-plan")
    world.stop("So far.")
    model.work()
    model.tick(TOTAL, TAX)
    answer = world.stop("<promise>DONE</promise>")
    assert "The plan Cart is not complete: 1 of 2 tasks" in answer.reason
    assert "test -f total.py exited 1" in answer.text

    world.write("total.py")
    done = world.stop("<promise>DONE</promise>")
    assert not done.reason
    assert "the plan is complete (1 checked, 1 changed)." in done.message


def test_a_loop_that_has_not_promised_runs_no_check(world: World) -> None:
    model = Agent(world).begin("- [ ] a (verify: `touch ran; false`)\n")
    world.cli("boulder", "checks", "--trust", "--yes")
    world.loop("--verify-plan")
    model.work()
    model.tick("a")
    world.stop("So far.")
    assert not (world.project / "ran").exists()


def test_a_loop_inside_a_hold(world: World) -> None:
    model = held(world)
    world.loop()
    world.stop("So far.")
    model.work()
    model.tick(TOTAL, TAX)
    answer = world.stop("<promise>DONE</promise>")
    assert "test -f total.py exited 1" in answer.text
    assert "[BOULDER HOLD]" in answer.reason


@pytest.mark.parametrize(
    "check",
    [
        "sleep 60",
        "sleep 60 & echo started",
        "(sleep 60 &) ; (sleep 60 &) ; exit 1",
        "yes | head -c 200000000; exit 1",
        'rm -rf "$PWD"; exit 1',
        "kill -9 $$",
    ],
)
def test_checks_that_misbehave(world: World, check: str) -> None:
    world.ours.mkdir(parents=True, exist_ok=True)
    (world.ours / "config.toml").write_text("[ralph]\nverify_seconds = 1\n")
    model = held(world, f"- [ ] a (verify: `{check}`)\n- [ ] b\n")
    model.work()
    model.tick("a", "b")
    answer = world.stop()
    assert answer.code == 0
    assert answer.reason or "BOULDER HOLD COMPLETE" in answer.message or "is gone" in answer.message
    assert world.stop().code == 0


def test_a_check_that_was_replaced_proves_less(world: World) -> None:
    model = held(world, "- [ ] a (verify: `test -f a`)\n- [ ] b (verify: `true`)\n")
    world.edit("PLAN.md", "`test -f a`", "`true`")
    model.work()
    model.tick("a", "b")
    answer = world.stop()
    assert not answer.reason
    assert "Its ticks: 1 checked, 1 changed." in answer.message


def test_what_a_check_depends_on_is_named_when_it_changed(world: World) -> None:
    world.write("check.sh", "test -f total.py\n")
    model = held(world, "- [ ] a (verify: `sh check.sh`)\n")
    model.work("check.sh", "true\n")
    model.tick("a")
    answer = world.stop()
    assert "Files that the check depends on changed" in answer.message
    assert "check.sh" in answer.message


def test_what_a_check_only_looks_at_is_the_work(world: World) -> None:
    world.write("total.py", "old\n")
    model = held(world, "- [ ] a (verify: `test -f total.py && test -f made.py`)\n")
    model.work("total.py", "new\n")
    world.write("made.py")
    model.tick("a")
    answer = world.stop()
    assert "[BOULDER HOLD COMPLETE]" in answer.message
    assert "depends on" not in answer.message


def test_the_last_tick_under_a_hold_is_not_the_end(world: World) -> None:
    model = held(world)
    model.work()
    answer = model.tick(TOTAL, TAX)
    assert answer.message == "Cart: all 2 tasks are ticked. The checks run when the session stops."


def test_a_hold_says_which_checks_it_does_not_run(world: World) -> None:
    Agent(world).begin(PLAN)
    answer = world.cli("boulder", "hold", "on", "--session-id", "s1")
    assert (
        "1 check is not trusted and does not run: `sisyphus boulder checks --trust`." in answer.out
    )


def test_the_reason_says_what_to_do_about_a_check(world: World) -> None:
    model = held(world)
    model.work()
    model.tick(TOTAL, TAX)
    assert "Make its check pass." in world.stop().reason


def test_the_time_of_other_checks_fails_none(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closing, "_LEAST_SECONDS", 1.2)
    monkeypatch.setattr(closing, "_SECONDS", 1.2)
    slow = "- [ ] a (verify: `sleep 0.5`)\n- [ ] b (verify: `sleep 1`)\n"
    model = held(world, slow)
    model.work()
    model.tick("a", "b")
    answer = world.stop()
    assert not answer.reason
    assert "Its ticks: 1 checked, 1 changed." in answer.message


def test_the_check_of_the_plan_passes_after_the_hold(world: World) -> None:
    model = held(world, "---\nverify: test -f all.py\n---\n- [ ] a\n")
    model.work()
    model.tick("a")
    assert world.stop().reason
    world.cli("boulder", "hold", "off")
    world.write("all.py")
    model.run("test -f all.py", "")
    world.stop()
    assert world.plan()["state"] == "complete"


def test_the_check_of_the_plan_that_fails_is_named(world: World) -> None:
    whole = "- [ ] a\n\n## Validation Commands\n\n- `true`\n- `test -f all.py`\n"
    model = held(world, whole)
    model.work()
    model.tick("a")
    answer = world.stop()
    assert "make the check of the plan pass: test -f all.py exited 1" in answer.reason
    assert "Make its check pass." in answer.reason


def test_a_check_that_ran_no_test_stays_so(world: World) -> None:
    world.write("Makefile", "check:\n")
    model = held(world, "- [ ] a (verify: `make check`)\n")
    model.work()
    model.tick("a")
    world.stop()
    world.cli("boulder", "hold", "off")
    answer = world.stop()
    assert "is complete" not in answer.message
    assert world.plan()["state"] == "active"


def test_the_failed_check_of_the_plan_is_told_by_its_name(world: World) -> None:
    model = held(world, "---\nverify: test -f all.py\n---\n- [ ] a\n")
    model.work()
    model.tick("a")
    assert "The check of the plan does not pass" in world.stop().text
    model.work()
    later = world.stop()
    assert "Ticked: ." not in later.text
    assert "is complete" not in later.message


def test_a_check_that_found_no_time_is_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closing, "_LEAST_SECONDS", 1)
    monkeypatch.setattr(closing, "_SECONDS", 1)
    model = held(world, "- [ ] a (verify: `sleep 30`)\n")
    model.work()
    model.tick("a")
    answer = world.stop()
    assert "1 check of the plan found no time at this Stop, and proves nothing." in answer.message


def test_a_failed_task_whose_check_is_taken_out_ends_the_hold(world: World) -> None:
    model = held(world, "- [ ] a (verify: `false`)\n")
    model.work()
    model.tick("a")
    assert world.stop().reason
    world.edit("PLAN.md", " (verify: `false`)", "")
    assert not world.stop().reason
    assert world.plan()["evidence"] == {"a": "changed"}


def test_a_check_that_the_session_ran_needs_no_trust(world: World) -> None:
    model = held(world, "- [ ] a (verify: `make test`)\n", trusts=False)
    model.work()
    model.run("make test")
    model.tick("a")
    assert "not trusted" not in world.stop().message


@pytest.mark.parametrize("passes", [False, True])
def test_a_tick_by_the_shell_is_told_as_it_is_after_the_checks(
    world: World, *, passes: bool
) -> None:
    model = held(world, "# Gamma\n\n- [ ] Four (verify: `test -f four`)\n")
    model.work()
    if passes:
        world.write("four")
    file = world.project / "PLAN.md"
    file.write_text(file.read_text().replace("[ ]", "[x]"))
    model.run("sed -i 's/\\[ \\]/[x]/' PLAN.md", "")

    answer = world.stop()

    assert bool(answer.reason) is not passes
    assert ("[BOULDER HOLD COMPLETE]" in answer.message) is passes
    assert ("The check of “Four” does not pass" in answer.text) is not passes
    assert "Gamma is complete" not in answer.message
    assert "has not run since the last change" not in answer.text


def test_a_tick_by_the_shell_is_not_the_end_at_a_prompt(world: World) -> None:
    model = held(world, "# Gamma\n\n- [ ] Four (verify: `test -f four`)\n")
    model.work()
    file = world.project / "PLAN.md"
    file.write_text(file.read_text().replace("[ ]", "[x]"))

    answer = world.prompt()

    assert answer.message == "Gamma: its task is ticked. The checks run when the session stops."
