"""`sisyphus ralph run --worktree`: the run works beside the project, and the user's checkout stays
theirs."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path

import pytest
from browser import Browser
from patience import PATIENCE, wait_for
from test_run import ALL, PLAN, Process, done, runs
from test_run_commits import Nights, nights
from world import Reply

from sisyphus.runner import worktrees

__all__ = ["nights", "runs"]

BLOCKED: Process = [["write", ["total.py", "half\n"]], ["say", "<blocked>the rate</blocked>"]]


def night(nights: Nights, *words: str, processes: list[Process]) -> Reply:
    return nights.run("--worktree", *words, processes=processes)


def tree(nights: Nights) -> Path:
    """The worktree of the last run."""
    project = nights.world.project
    return project.with_name(f"{project.name}-sisyphus-{run_id(nights)}")


def run_id(nights: Nights) -> str:
    return branch(nights).removeprefix("sisyphus/")


def branch(nights: Nights) -> str:
    return nights.ask("branch", "--format=%(refname:short)", "--list", "sisyphus/*").split()[0]


def checkout(nights: Nights) -> dict[str, bytes]:
    """All files of the user's checkout, and what git knows of it, byte for byte."""
    project = nights.world.project
    files = {
        str(path.relative_to(project)): path.read_bytes()
        for path in project.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(project).parts
    }
    for name in ("HEAD", "index"):
        files[f".git/{name}"] = (project / ".git" / name).read_bytes()
    return files


def test_the_users_checkout_stays_as_it_is(nights: Nights) -> None:
    nights.world.write("draft.py", "mine\n")
    nights.commit("add", "draft.py")
    nights.commit("stash", "-q")
    nights.world.write("draft.py", "mine again\n")
    nights.commit("status")  # refreshes the index
    before = checkout(nights), nights.ask("stash", "list"), nights.subjects()

    answer = night(nights, processes=ALL)

    assert answer.code == 0, answer
    assert (checkout(nights), nights.ask("stash", "list"), nights.subjects()) == before
    name = branch(nights)
    assert nights.subjects(name) == ["first", "cart", "total", "receipt"]
    assert "Not in the worktree, because it is not committed: draft.py." in answer.out
    assert f"`git merge {name}` brings its 3 commits into `" in answer.out
    assert "Nothing conflicts now." in answer.out
    nights.commit("merge", "-q", name)
    assert nights.ask("show", "HEAD:cart.py") == "cart = 1"


def test_the_worktree_goes_when_all_is_done(nights: Nights) -> None:
    assert night(nights, processes=ALL).code == 0
    assert [each.name for each in nights.world.project.parent.glob("*-sisyphus-*")] == []
    assert len(nights.ask("worktree", "list").splitlines()) == 1


def test_clients_work_in_it(nights: Nights) -> None:
    where: Process = [["run", "pwd > where.txt; echo $SISYPHUS_WORKER > worker.txt"], *done("cart")]
    assert night(nights, processes=[where, *ALL[1:]]).code == 0
    name = branch(nights)
    folder = Path(nights.ask("show", f"{name}:where.txt"))
    project = nights.world.project
    assert folder == project.with_name(f"{project.name}-{name.replace('/', '-')}")
    assert nights.ask("show", f"{name}:worker.txt") == "1"


def test_open_edits_of_the_plan_go_along(nights: Nights) -> None:
    nights.world.write("fix_plan.md", PLAN + "- [ ] coupon\n")
    answer = night(nights, processes=[*ALL, done("coupon")])
    assert answer.code == 0, answer
    subjects = nights.subjects(branch(nights))
    assert subjects[1].startswith("Plan of run ")
    assert subjects[2:] == ["cart", "total", "receipt", "coupon"]
    assert (nights.world.project / "fix_plan.md").read_text() == PLAN + "- [ ] coupon\n"


def test_a_new_plan_goes_along(nights: Nights) -> None:
    nights.commit("rm", "-q", "--cached", "fix_plan.md")
    nights.commit("commit", "-qm", "no plan")
    answer = night(nights, processes=ALL)
    assert answer.code == 0, answer
    assert nights.subjects(branch(nights))[3:] == ["cart", "total", "receipt"]


def test_a_plan_that_git_ignores_is_refused(nights: Nights) -> None:
    nights.commit("rm", "-q", "--cached", "fix_plan.md")
    nights.world.write(".gitignore", "fix_plan.md\n")
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "no plan")
    answer = night(nights, processes=ALL)
    assert answer.code == 1
    assert "git ignores fix_plan.md" in answer.err
    assert not nights.calls


def test_a_repository_without_commits_is_refused(nights: Nights) -> None:
    nights.commit("update-ref", "-d", "HEAD")
    answer = night(nights, processes=ALL)
    assert answer.code == 1
    assert "--worktree needs a commit" in answer.err


def test_a_detached_head_is_fine(nights: Nights) -> None:
    nights.commit("checkout", "-q", "--detach")
    answer = night(nights, processes=ALL)
    assert answer.code == 0, answer
    assert "into what you have checked out" in answer.out


def test_half_work_is_set_aside_there(nights: Nights) -> None:
    answer = night(nights, processes=[done("cart"), BLOCKED, done("receipt")])
    assert answer.code == 4, answer
    folder = tree(nights)
    assert f"Its worktree, `{folder}`, stays for `--resume`." in answer.out
    assert folder.is_dir()
    name = f"sisyphus/{run_id(nights)}"
    assert nights.subjects(name) == ["first", "cart", "receipt"]
    assert nights.ask("show", f"{name}-total:total.py") == "half"

    again = nights.resume(processes=[done("total")])
    assert again.code == 0, again
    assert nights.subjects(name) == ["first", "cart", "receipt", "total"]
    assert not folder.exists()


def test_a_worktree_whose_folder_is_gone_is_made_again(nights: Nights) -> None:
    assert night(nights, processes=[done("cart"), BLOCKED, done("receipt")]).code == 4
    shutil.rmtree(tree(nights))
    again = nights.resume(processes=[done("total")])
    assert again.code == 0, again
    assert nights.subjects(f"sisyphus/{run_id(nights)}") == ["first", "cart", "receipt", "total"]


def test_the_user_commits_meanwhile(nights: Nights) -> None:
    main = nights.world.project
    mine = f"cd '{main}' && echo 1 > mine.py && git add mine.py && git commit -qm mine"
    first: Process = [["run", mine], *done("cart")]
    answer = night(nights, processes=[first, *ALL[1:]])
    assert answer.code == 0, answer
    assert nights.subjects() == ["first", "mine"]
    nights.commit("merge", "-q", "--no-edit", branch(nights))
    assert {"mine", "cart", "total", "receipt"} < set(nights.subjects())


def test_what_would_conflict_is_named(nights: Nights) -> None:
    main = nights.world.project
    mine = f"cd '{main}' && echo mine > cart.py && git add cart.py && git commit -qm mine"
    first: Process = [["run", mine], *done("cart")]
    answer = night(nights, processes=[first, *ALL[1:]])
    assert answer.code == 0, answer
    assert "They conflict in `cart.py`." in answer.out


def test_ignored_files_that_are_named_go_along(nights: Nights) -> None:
    nights.world.write(".gitignore", ".env*\nsecret/\nbuild/\nCLAUDE.local.md\n*.log\n")
    nights.world.write(".worktreeinclude", ".env*\n!.env.old\nsecret/\ncart.txt\n")
    for name in (".env", ".env.old", "secret/a/key", "build/x", "CLAUDE.local.md", "a.log"):
        nights.world.write(name, name)
    os.symlink("/etc/passwd", nights.world.project / ".env.link")
    nights.commit("add", ".gitignore", ".worktreeinclude")
    nights.commit("commit", "-qm", "ignore")
    nights.world.write("cart.txt", "not ignored")
    (nights.world.project / ".env").chmod(0o600)
    look: Process = [
        ["run", "ls -A . secret/a > seen.txt; find .env -perm 600 -exec echo 600 ';' >> seen.txt"],
        *done("cart"),
    ]

    assert night(nights, processes=[look, *ALL[1:]]).code == 0
    seen = nights.ask("show", f"{branch(nights)}:seen.txt").split()
    assert {".env", "key", "CLAUDE.local.md", "600"} <= set(seen)
    assert not {".env.old", ".env.link", "build", "a.log", "cart.txt"} & set(seen)


def test_the_users_command_sets_it_up(nights: Nights) -> None:
    config = nights.world.ours / "config.toml"
    setup = 'setup = "echo $SISYPHUS_WORKER > .git/../setup.log; pwd > set-up.txt"'
    config.write_text(f"[runner]\nretry_seconds = 0\n{setup}\n")
    assert night(nights, processes=ALL).code == 0
    assert "set-up.txt" in nights.ask("ls-tree", "--name-only", branch(nights)).split()
    assert not (nights.world.project / "set-up.txt").exists()


def test_a_project_cannot_name_that_command(nights: Nights) -> None:
    nights.world.write(".claude/sisyphus.toml", '[runner]\nsetup = "touch set-up.txt"\n')
    nights.commit("add", "-A")
    nights.commit("commit", "-qm", "settings")
    assert night(nights, processes=ALL).code == 0
    assert "set-up.txt" not in nights.ask("ls-tree", "--name-only", branch(nights)).split()


def test_a_command_that_fails_starts_nothing(nights: Nights) -> None:
    config = nights.world.ours / "config.toml"
    config.write_text('[runner]\nretry_seconds = 0\nsetup = "echo no network; exit 3"\n')
    answer = night(nights, processes=ALL)
    assert answer.code == 1, answer
    assert "exited 3" in answer.err
    assert "no network" in answer.err
    assert not nights.calls

    config.write_text("[runner]\nretry_seconds = 0\n")
    assert nights.resume(processes=ALL).code == 0
    assert nights.subjects(branch(nights)) == ["first", "cart", "total", "receipt"]


def test_trusted_checks_run_in_the_worktree(nights: Nights) -> None:
    nights.plan("cart (verify: `grep -q 1 cart.py`)")
    answer = night(nights, "--trust-checks", processes=[done("cart")])
    assert answer.code == 0, answer
    assert "✓ cart · checked" in answer.out


@pytest.mark.parametrize(
    ("project", "place"),
    [
        ("code/shop", "code/shop-sisyphus-k7Qm2"),
        ("code/.claude/shop", "home/.local/share/sisyphus/worktrees/shop-k7Qm2"),
        ("repository/modules/shop", "home/.local/share/sisyphus/worktrees/shop-k7Qm2"),
    ],
)
def test_where_it_lies(nights: Nights, tmp_path: Path, project: str, place: str) -> None:
    nights.world.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / project).mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    (tmp_path / "repository" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert worktrees.place(str(tmp_path / project), "k7Qm2") == str(tmp_path / place)


def test_a_run_in_the_project_cannot_move(nights: Nights) -> None:
    assert nights.run("--commit", "--max-iterations", "1", processes=[done("cart")]).code == 3
    answer = nights.resume("--worktree", "--max-iterations", "9", processes=ALL[1:])
    assert answer.code == 2
    assert "works in the project itself" in answer.err


def test_an_agent_that_removes_its_worktree(nights: Nights) -> None:
    removes: Process = [["run", "cd / && git -C $OLDPWD worktree remove --force $OLDPWD"]]
    answer = night(nights, processes=[done("cart"), removes, *ALL[1:]])
    assert answer.code == 0, answer
    assert nights.subjects(branch(nights)) == ["first", "cart", "total", "receipt"]
    assert "The worktree was gone, and was made again from" in answer.out


def test_open_edits_that_a_merge_would_meet_are_named(nights: Nights) -> None:
    nights.world.write("fix_plan.md", PLAN + "- [ ] coupon\n")
    answer = night(nights, processes=[*ALL, done("coupon")])
    assert answer.code == 0, answer
    assert "First commit or stash what you have changed in `fix_plan.md`." in answer.out
    assert "Nothing conflicts now." not in answer.out


def test_only_what_the_run_has_changed_is_in_its_report(nights: Nights) -> None:
    answer = night(nights, processes=ALL)
    assert "3 commits · 3 changed files" in answer.out


def test_a_worktree_that_stays_is_named(nights: Nights) -> None:
    assert night(nights, processes=[done("cart"), BLOCKED, done("receipt")]).code == 4
    folder, id = tree(nights), run_id(nights)
    assert f"at work in {folder}" in nights.world.cli("ralph", "list").out
    assert str(folder) in Browser(nights.world).page(f"/loops/{id}")
    answer = nights.world.cli("ralph", "cancel", id)
    assert f"Its worktree stays: `git worktree remove {folder}` removes it." in answer.out


def test_a_file_that_the_agent_wrote_is_no_plan_to_be_replaced(nights: Nights) -> None:
    nights.commit("rm", "-q", "fix_plan.md")
    nights.commit("commit", "-qm", "no plan")
    writes: Process = [["write", ["fix_plan.md", "- [ ] theirs\n"]], ["say", "So far."]]
    words = ("--completion-promise", "MOVED", "--max-iterations", "1", "--", "Move it")
    assert night(nights, *words, processes=[writes]).code == 3
    nights.world.write("fix_plan.md", "- [ ] mine\n")
    ends: Process = [["tick", "theirs"], ["say", "<promise>MOVED</promise>"]]
    answer = nights.resume("--max-iterations", "3", processes=[ends])
    assert answer.code in (0, 5), answer
    assert nights.ask("show", f"{branch(nights)}:fix_plan.md") == "- [x] theirs"
    assert (nights.world.project / "fix_plan.md").read_text() == "- [ ] mine\n"


def test_a_worktree_that_is_made_again_is_set_up_again(nights: Nights) -> None:
    assert night(nights, processes=[done("cart"), BLOCKED, done("receipt")]).code == 4
    shutil.rmtree(tree(nights))
    config = nights.world.ours / "config.toml"
    config.write_text('[runner]\nretry_seconds = 0\nsetup = "exit 3"\n')
    for _ in range(2):
        answer = nights.resume(processes=[done("total")])
        assert answer.code == 1, answer
        assert "exited 3" in answer.err


def test_a_branch_that_was_deleted_is_made_again_at_its_last_commit(nights: Nights) -> None:
    assert night(nights, processes=[done("cart"), BLOCKED, done("receipt")]).code == 4
    name = branch(nights)
    nights.commit("worktree", "remove", str(tree(nights)))
    nights.commit("branch", "-q", "-D", name)
    answer = nights.resume(processes=[done("total")])
    assert answer.code == 0, answer
    assert nights.subjects(name) == ["first", "cart", "receipt", "total"]


def test_a_run_that_nothing_would_end_names_the_project(nights: Nights) -> None:
    nights.commit("rm", "-q", "fix_plan.md")
    nights.commit("commit", "-qm", "no plan")
    answer = night(nights, "--", "Move it", processes=ALL)
    assert answer.code == 2
    assert f"there is no fix_plan.md in {nights.world.project}, " in answer.err


def test_a_worktree_needs_a_repository(nights: Nights) -> None:
    shutil.rmtree(nights.world.project / ".git")
    answer = night(nights, processes=ALL)
    assert answer.code == 1
    assert "--worktree needs a git repository" in answer.err


def test_ctrl_c_while_the_worktree_is_set_up(nights: Nights) -> None:
    config = nights.world.ours / "config.toml"
    config.write_text('[runner]\nretry_seconds = 0\nsetup = "touch begun; sleep 60"\n')
    process = nights.process("--worktree")
    wait_for(lambda: list(nights.world.project.parent.glob("*-sisyphus-*/begun")))
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    assert process.wait(PATIENCE) == 130
    assert "paused (you pressed Ctrl-C twice" in nights.world.cli("ralph", "list").out

    config.write_text("[runner]\nretry_seconds = 0\n")
    assert nights.resume(processes=ALL).code == 0
    assert nights.subjects(branch(nights))[-3:] == ["cart", "total", "receipt"]
