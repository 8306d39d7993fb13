"""A run that believes no bare tick: the checks of its items, run by us and read in what the agent
did."""

from __future__ import annotations

import pytest
from patience import PATIENCE
from test_run import NOT_PROVEN, PLAN, Process, Runs, done, runs
from world import World

__all__ = ["runs"]

TRUST = "--trust-checks"


def plan(*lines: str) -> str:
    return "# Shop\n\n" + "".join(f"- [ ] {line}\n" for line in lines)


def tick(item: str, said: str = "Implemented, all tests pass.") -> Process:
    """A process of a liar, that only ticks a box."""
    return [["tick", item], ["say", said]]


def words(runs: Runs) -> dict[str, str]:
    found: dict[str, str] = runs.state["evidence"]
    return found


def test_a_run_in_which_only_boxes_were_ticked(runs: Runs) -> None:
    answer = runs.run(processes=[tick("cart"), tick("total"), tick("receipt")])

    assert answer.code == NOT_PROVEN
    assert "✓ cart · unchanged" in answer.out
    assert "3 of 3 are ticked without any change." in answer.out
    assert "Look at 3 points below." in answer.out
    assert "- Ticked without any change: cart\n" in answer.out
    assert "There is nothing to do" not in answer.out
    assert words(runs) == {"cart": "unchanged", "total": "unchanged", "receipt": "unchanged"}
    assert [row["evidence"] for row in runs.log()] == ["unchanged"] * 3


def test_work_that_changed_something(runs: Runs) -> None:
    answer = runs.run(processes=[done("cart"), done("total"), tick("receipt")])

    assert answer.code == NOT_PROVEN
    assert "1 of 3 is ticked without any change." in answer.out
    assert words(runs) == {"cart": "changed", "total": "changed", "receipt": "unchanged"}


def test_work_that_was_committed(runs: Runs) -> None:
    runs.git()
    commit = "git add -A; git -c user.name=u -c user.email=u@e.org commit -qm cart"
    first: Process = [["write", ["cart.py", "1\n"]], ["run", commit], ["say", "Half."]]
    answer = runs.run(
        "--allow-dirty", processes=[first, tick("cart"), done("total"), done("receipt")]
    )

    assert answer.code == 0, answer
    assert words(runs)["cart"] == "changed"


def test_a_check_that_the_run_may_run(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (verify: `test -f cart.py`)"))
    answer = runs.run(TRUST, processes=[done("cart")])

    assert answer.code == 0, answer
    assert "✓ cart · checked" in answer.out
    assert "- cart: checked\n" in answer.out
    assert "which are new here:\n  test -f cart.py\n" in answer.out
    assert (
        "Its check: `test -f cart.py`. The run executes it when the box is ticked."
        in (runs.prompts[0])
    )


def test_a_ticked_item_whose_check_fails_is_given_again(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (verify: `cat cart.py`)", "total"))
    mended: Process = [["write", ["cart.py", "cart = 1\n"]], ["say", "Mended."]]
    answer = runs.run(TRUST, processes=[tick("cart"), mended, done("total")])

    assert answer.code == 0, answer
    assert runs.items == ["cart", "cart", "total"]
    assert "The box is ticked, and its check fails: `cat cart.py` exited 1." in runs.prompts[1]
    assert "No such file" in runs.prompts[1]
    assert "leave the box ticked" in runs.prompts[1]
    assert "✗ cart · failed" in answer.out
    assert "✓ cart · checked" in answer.out
    assert words(runs) == {"cart": "checked", "total": "changed"}


def test_an_item_whose_check_fails_three_times_is_set_aside(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (verify: `test -f cart.py`)", "total"))
    lies = [tick("cart"), [["say", "It is right."]], [["say", "It is right."]]]
    answer = runs.run(TRUST, processes=[*lies, done("total")])

    assert answer.code == 4, answer
    assert runs.items == ["cart", "cart", "cart", "total"]
    assert "Blocked: cart: its check fails: test -f cart.py" in answer.out
    assert "It is complete" not in answer.out
    assert "1 of 2 items is done" in answer.out

    mended: Process = [["write", ["cart.py", "1\n"]], ["say", "Now."]]
    again = runs.resume(processes=[[["say", "It is right."]], mended])
    assert again.code == 0, again
    assert words(runs) == {"cart": "checked", "total": "changed"}


def test_how_often_a_check_may_fail_is_a_setting(runs: Runs) -> None:
    (runs.world.ours / "config.toml").write_text("[runner]\nitem_tries = 1\n")
    runs.world.write("fix_plan.md", plan("cart (verify: `false`)"))
    answer = runs.run(TRUST, processes=[done("cart")])
    assert answer.code == 4
    assert len(runs.prompts) == 1


def test_a_flaky_check_is_run_again(runs: Runs) -> None:
    flaky = "test -f ran || { touch ran; false; }"
    runs.world.write("fix_plan.md", plan(f"cart (verify: `{flaky}`)"))
    (runs.world.ours / "config.toml").write_text("[runner]\ncheck_before = false\n")
    answer = runs.run(TRUST, processes=[done("cart"), [["say", "It is right."]]])
    assert answer.code == 0, answer
    assert words(runs) == {"cart": "checked"}
    assert "Its check failed, and passed without a change: cart" in answer.out


def test_a_check_that_ran_no_test_gives_the_item_again(runs: Runs) -> None:
    runs.world.write("Makefile", "check:\n")
    runs.world.write("fix_plan.md", plan("cart (verify: `make check`)"))
    mended: Process = [["write", ["Makefile", "check:\n\t@test -f cart.py\n"]], ["say", "Now."]]
    answer = runs.run(TRUST, processes=[done("cart"), mended])

    assert answer.code == 0, answer
    assert "`make check` exited 0, but ran no test." in runs.prompts[1]
    assert "✗ cart · unproven" in answer.out
    assert words(runs) == {"cart": "checked"}
    assert "File of the check that changed: `Makefile`" in answer.out


def test_a_check_that_passed_before_the_work_proves_nothing(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (verify: `true`)"))
    answer = runs.run(TRUST, processes=[done("cart")])

    assert answer.code == NOT_PROVEN
    assert "Its check passes already: it proves nothing. Make it fail first" in runs.prompts[0]
    assert words(runs) == {"cart": "unproven"}
    assert "1 of 1 is ticked, and its check passed before the work began." in answer.out


def test_a_check_that_the_agent_made_fail_first(runs: Runs) -> None:
    runs.world.write("t.sh", "true\n")
    runs.world.write("fix_plan.md", plan("cart (verify: `sh t.sh`)"))
    honest: Process = [
        ["write", ["t.sh", "test -f cart.py\n"]],
        ["run", "sh t.sh"],
        *done("cart"),
    ]
    answer = runs.run(TRUST, processes=[honest])
    assert answer.code == 0, answer
    assert words(runs) == {"cart": "checked"}


def test_a_check_that_the_agent_made_fail_an_iteration_before(runs: Runs) -> None:
    runs.world.write("t.sh", "true\n")
    runs.world.write("fix_plan.md", plan("cart (verify: `sh t.sh`)"))
    red: Process = [["write", ["t.sh", "test -f cart.py\n"]], ["run", "sh t.sh"], ["say", "Red."]]
    answer = runs.run(TRUST, processes=[red, done("cart")])
    assert answer.code == 0, answer
    assert "Its check passes already" in runs.prompts[0]
    assert "Its check passes already" not in runs.prompts[1]
    assert words(runs) == {"cart": "checked"}


def test_no_check_is_run_that_nobody_trusts(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (verify: `touch ran`)"))
    answer = runs.run(processes=[done("cart")])

    assert answer.code == 0
    assert not (runs.world.project / "ran").exists()
    assert "1 check of the plan is not trusted, so the run does not execute it" in answer.out
    assert "- Not checked: `touch ran` is not trusted" in answer.out
    assert "Its check: `touch ran`. Run it before you tick." in runs.prompts[0]
    assert words(runs) == {"cart": "changed"}


def test_a_check_that_the_agent_ran_itself(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (verify: `test -f cart.py`)"))
    write, ticked, said = done("cart")
    honest = [write, ["run", "test -f cart.py"], ticked, said]
    assert runs.run(processes=[honest]).code == 0
    assert words(runs) == {"cart": "checked"}


def test_a_check_that_failed_when_the_agent_ran_it(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (verify: `test -f shop.py`)"))
    write, ticked, said = done("cart")
    liar = [write, ["run", "test -f shop.py"], ticked, said]
    mended: Process = [
        ["write", ["shop.py", "1\n"]],
        ["run", "test -f shop.py"],
        ["say", "Mended."],
    ]
    answer = runs.run(processes=[liar, mended])
    assert answer.code == 0, answer
    assert "`test -f shop.py` failed when the agent ran it." in runs.prompts[1]
    assert words(runs) == {"cart": "checked"}


def test_a_command_that_appears_during_the_night_is_not_run(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart", "total"))
    sly: Process = [
        ["write", ["fix_plan.md", plan("cart", "total (verify: `touch ran`)")]],
        *done("cart"),
    ]
    answer = runs.run(TRUST, processes=[sly, done("total")])
    assert answer.code == 0, answer
    assert not (runs.world.project / "ran").exists()
    assert "- Not checked: `touch ran` is not trusted" in answer.out


def test_a_check_that_is_taken_out_of_the_plan_is_named(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (verify: `test -f shop.py`)"))
    sly: Process = [["write", ["fix_plan.md", plan("cart")]], *done("cart")]
    answer = runs.run(TRUST, processes=[sly])
    assert answer.code == NOT_PROVEN
    assert "1 of 1 is ticked, and its check was taken out of the plan." in answer.out
    assert words(runs) == {"cart": "changed"}
    assert "- Check that was taken out of the plan: " in answer.out
    assert "test -f shop.py" in answer.out


def test_several_boxes_in_one_iteration_are_all_judged(runs: Runs) -> None:
    runs.world.write(
        "fix_plan.md", plan("cart (verify: `test -f cart.py`)", "total (verify: `test -f t`)")
    )
    both: Process = [["write", ["cart.py", "1\n"]], ["tick", "cart"], ["tick", "total"]]
    mended: Process = [["write", ["t", "1\n"]], ["say", "Mended."]]
    answer = runs.run(TRUST, processes=[both, mended])
    assert answer.code == 0, answer
    assert runs.items == ["cart", "total"]
    assert words(runs) == {"cart": "checked", "total": "checked"}


def test_a_tick_of_an_iteration_that_was_cut_off_is_judged(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (verify: `test -f cart.py`)"))
    runs.script([["tick", "cart"], ["signal", "SIGKILL"], ["sleep", 60]])
    assert runs.process(TRUST).wait(PATIENCE) == -9

    answer = runs.resume(processes=[[["write", ["cart.py", "1\n"]], ["say", "Mended."]]])
    assert answer.code == 0, answer
    assert "The box is ticked, and its check fails" in runs.prompts[1]
    assert words(runs) == {"cart": "checked"}


def test_the_checks_of_the_whole_plan(runs: Runs) -> None:
    whole = plan("cart") + "\n## Validation Commands\n\n- `test -f shop.py`\n"
    runs.world.write("fix_plan.md", whole)
    mended: Process = [["write", ["shop.py", "1\n"]], ["say", "Mended."]]
    answer = runs.run(TRUST, processes=[done("cart"), mended])
    assert answer.code == 0, answer
    assert "but the check test -f shop.py exited 1" in answer.out
    assert "all items are done, test -f shop.py passed" in answer.out


def test_criteria_in_prose_are_shown_and_not_run(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (check: both themes)"))
    assert runs.run(TRUST, processes=[done("cart")]).code == 0
    assert "It is done when: both themes." in runs.prompts[0]
    assert "\n> cart\n" in runs.prompts[0]


@pytest.mark.parametrize("command", ["sleep 60", "kill -9 $$", "rm -rf ../project/x; false"])
def test_checks_that_misbehave(runs: Runs, command: str) -> None:
    (runs.world.ours / "config.toml").write_text(
        "[runner]\nitem_tries = 1\ncheck_before = false\n[ralph]\nverify_seconds = 1\n"
    )
    runs.world.write("fix_plan.md", plan(f"cart (verify: `{command}`)"))
    answer = runs.run(TRUST, processes=[done("cart")])
    assert answer.code == 4, answer
    assert words(runs) == {"cart": "failed"}


def test_a_plan_without_checks_says_nothing_of_them(runs: Runs) -> None:
    answer = runs.run(processes=[done("cart"), done("total"), done("receipt")])
    assert answer.code == 0
    assert "not trusted" not in answer.out
    assert "Its check" not in runs.prompts[0]
    assert PLAN.count("[ ]") == 3


def test_a_followed_plan_knows_what_the_run_found(runs: Runs) -> None:
    world: World = runs.world
    (world.project / "fix_plan.md").unlink()
    world.write("PLAN.md", plan("cart (verify: `test -f cart.py`)"))
    world.start()
    tick_it = "sed -i.old 's/\\[ \\]/[x]/' PLAN.md && rm PLAN.md.old"
    answer = runs.run(TRUST, processes=[[["run", tick_it]], [["write", ["cart.py", "1\n"]]]])
    assert answer.code == 0, answer
    assert world.plan()["evidence"] == {"cart": "checked"}


def test_boxes_that_were_ticked_before_the_run_are_checked_at_its_end(runs: Runs) -> None:
    runs.world.write("fix_plan.md", "- [x] cart (verify: `test -f cart.py`)\n- [ ] total\n")
    mended: Process = [["write", ["cart.py", "1\n"]], ["say", "Mended."]]
    answer = runs.run(TRUST, processes=[done("total"), mended])
    assert answer.code == 0, answer
    assert "but the check test -f cart.py exited 1" in answer.out
    assert "all items are done, test -f cart.py passed" in answer.out


def test_an_item_that_is_set_aside_says_what_its_check_printed(runs: Runs) -> None:
    (runs.world.ours / "config.toml").write_text("[runner]\nitem_tries = 1\n")
    runs.world.write("fix_plan.md", plan("cart (verify: `echo 3 is not 4; false`)"))
    answer = runs.run(TRUST, processes=[done("cart")])
    assert "3 is not 4" in answer.out.partition("## Look at first")[2]


LIMIT = {"status": 429, "error": "rate_limit", "text": "API Error: Request rejected (429)"}
BOTH = ("cart (verify: `test -f cart.py`)", "total (verify: `test -f total.py`)")


def test_a_limit_after_the_last_tick_ends_nothing(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan(*BOTH))
    cut: Process = [
        ["write", ["cart.py", "1\n"]], ["tick", "cart"], ["tick", "total"], ["fail", LIMIT],
    ]  # fmt: skip
    mended: Process = [["write", ["total.py", "1\n"]], ["say", "Mended."]]
    answer = runs.run(TRUST, processes=[cut, mended])
    assert answer.code == 0, answer
    assert words(runs) == {"cart": "checked", "total": "checked"}
    assert (runs.world.project / "total.py").exists()


def test_ticks_of_a_run_that_was_ended_are_judged_at_its_resume(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan(*BOTH))
    cut: Process = [
        ["write", ["cart.py", "1\n"]], ["tick", "cart"], ["tick", "total"],
        ["signal", "SIGTERM"], ["sleep", 60],
    ]  # fmt: skip
    runs.script(cut)
    runs.process(TRUST).wait(PATIENCE)
    answer = runs.resume(processes=[[["write", ["total.py", "1\n"]], ["say", "Mended."]]])
    assert answer.code == 0, answer
    assert words(runs) == {"cart": "checked", "total": "checked"}
    assert (runs.world.project / "total.py").exists()


def test_an_item_that_breaks_an_earlier_one(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (verify: `test -f cart.py`)", "total"))
    breaks: Process = [["run", "rm cart.py"], ["write", ["t", "1\n"]], ["tick", "total"]]
    mended: Process = [["write", ["cart.py", "1\n"]], ["say", "Mended."]]
    answer = runs.run(TRUST, processes=[done("cart"), breaks, mended])
    assert answer.code == 0, answer
    assert "but the check test -f cart.py exited 1" in answer.out


def test_an_item_that_is_renamed_without_its_check(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (verify: `test -f cart.py`)"))
    sly: Process = [["write", ["x", "1\n"]], ["write", ["fix_plan.md", "- [x] The cart\n"]]]
    answer = runs.run(TRUST, processes=[sly])
    assert answer.code == NOT_PROVEN
    assert "- Check that was taken out of the plan: `test -f cart.py`, of cart" in answer.out


def test_a_handoff_is_no_work(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart"))
    bare: Process = [["write", [".claude/handoffs/x.md", "h\n"]], ["tick", "cart"]]
    assert runs.run(processes=[bare]).code == NOT_PROVEN
    assert words(runs) == {"cart": "unchanged"}


def test_what_a_run_may_run_is_forgotten_with_the_rest(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (verify: `touch ran; false`)", "total"))
    runs.run(TRUST, "--max-iterations", "1", processes=[[["say", "Nothing yet."]]])
    (runs.world.project / "ran").unlink()
    runs.world.cli("boulder", "checks", "--forget")
    runs.resume("--max-iterations", "9", processes=[done("cart"), done("total")])
    assert not (runs.world.project / "ran").exists()
    assert words(runs) == {"cart": "changed", "total": "changed"}


def test_a_failed_check_stays_until_it_passes(runs: Runs) -> None:
    """Nobody trusts it, so only the agent runs it; it says that all is right, and runs nothing."""
    runs.world.write("fix_plan.md", plan("cart (verify: `test -f shop.py`)"))
    write, ticked, said = done("cart")
    liar = [write, ["run", "test -f shop.py"], ticked, said]
    idle: Process = [["say", "It is right."]]
    answer = runs.run(processes=[liar, idle, idle])
    assert answer.code == 4, answer
    assert words(runs) == {"cart": "failed"}
    assert "passed without a change" not in answer.out


def test_an_item_with_another_name_and_the_same_check(runs: Runs) -> None:
    check = "(verify: `test -f cart.py`)"
    runs.world.write("fix_plan.md", plan(f"cart {check}"))
    renamed = f"# Shop\n\n- [x] The cart {check}\n"
    honest: Process = [["write", ["cart.py", "1\n"]], ["write", ["fix_plan.md", renamed]]]
    answer = runs.run(TRUST, processes=[honest])
    assert answer.code == 0, answer
    assert words(runs) == {"The cart": "checked"}


def test_prose_that_is_written_anew_is_no_lost_check(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (check: both themes)"))
    honest: Process = [["write", ["fix_plan.md", plan("cart (check: all themes)")]], *done("cart")]
    answer = runs.run(TRUST, processes=[honest])
    assert answer.code == 0, answer
    assert "taken out" not in answer.out


def test_a_red_check_before_an_account_s_limit(runs: Runs) -> None:
    runs.world.write("t.sh", "true\n")
    runs.world.write("fix_plan.md", plan("cart (verify: `sh t.sh`)"))
    red: Process = [
        ["write", ["t.sh", "test -f cart.py\n"]], ["run", "sh t.sh"], ["fail", LIMIT],
    ]  # fmt: skip
    answer = runs.run(TRUST, processes=[red, done("cart")])
    assert answer.code == 0, answer
    assert words(runs) == {"cart": "checked"}


def test_what_was_deleted_unseen_is_found_at_the_end(runs: Runs) -> None:
    """No file's time tells that an untracked file is gone."""
    runs.git()
    runs.world.write("fix_plan.md", plan("cart (verify: `test -f cart.py`)", "total"))
    breaks: Process = [["run", "rm cart.py"], ["tick", "total"]]
    mended: Process = [["write", ["cart.py", "1\n"]], ["say", "Mended."]]
    answer = runs.run(TRUST, "--allow-dirty", processes=[done("cart"), breaks, mended])
    assert "but the check test -f cart.py exited 1" in answer.out
    assert (runs.world.project / "cart.py").exists()


def test_an_iteration_without_an_item_mends_nothing_unless_something_failed(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan("cart (verify: `test -f cart.py`)"))
    promise: Process = [["say", "<promise>DONE</promise>"]]
    words_ = ("--completion-promise", "DONE")
    answer = runs.run(TRUST, *words_, processes=[done("cart"), [["say", "Looked."]], promise])
    assert "make the check pass" not in answer.out
