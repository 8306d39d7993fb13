"""Runs with workers go on after anything: git, a client, a worker or the run itself was killed, or
somebody has changed what is theirs."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from patience import wait_for
from test_run import PLAN, Process, done
from test_run_commits import TRUST
from test_run_jobs import EACH, Jobs, jobs

from sisyphus.ground import repository

__all__ = ["jobs"]


def waiting(jobs: Jobs) -> Path:
    """A run that waits for its user, with an item merged; returns its worktree."""
    asks: Process = [["say", "<blocked>the rate</blocked>"]]
    answer = jobs.jobs(1, items={"cart": [done("cart")], "total": [asks], "receipt": [asks]})
    assert answer.code == 4, answer
    return jobs.tree()


def goes_on(jobs: Jobs) -> None:
    """It comes to its end, and nothing is left of it but its branch."""
    jobs.items_script({item: [done(item)] for item in ("total", "receipt")})
    answer = jobs.resume()
    assert answer.code == 0, answer
    assert jobs.subjects(jobs.run_branch)[1:] == ["cart", "total", "receipt"]
    assert jobs.file("fix_plan.md") == PLAN.replace("[ ]", "[x]").strip()
    assert jobs.trees == []
    assert jobs.ask("for-each-ref", "refs/sisyphus/*/merged") == ""


def test_locks_of_a_git_that_was_killed(jobs: Jobs) -> None:
    waiting(jobs)
    folder, id = jobs.world.project / ".git", jobs.run_id
    for number in ("", "-1"):
        tree = folder / "worktrees" / f"project-sisyphus-{id}{number}"
        (tree / "index.lock").touch()
        (tree / "HEAD.lock").touch()
        (tree / "locked").write_text("initializing")
        (folder / "refs" / "heads" / "sisyphus" / f"{id}{number}.lock").touch()
    goes_on(jobs)


def test_the_lock_of_a_git_that_is_at_work(jobs: Jobs) -> None:
    tree = jobs.world.project
    lock = jobs.world.write(".git/index.lock", "")
    with subprocess.Popen(["git", "cat-file", "--batch"], cwd=tree, stdin=subprocess.PIPE) as git:
        repository.unlock(str(tree))
        assert lock.exists()
        git.kill()
    repository.unlock(str(tree))
    assert not lock.exists()


def test_the_lock_of_packed_refs_of_a_git_that_was_killed(jobs: Jobs) -> None:
    """It keeps every branch from going, of the run and of the user."""
    waiting(jobs)
    lock = jobs.world.write(".git/packed-refs.lock", "")
    os.utime(lock, (1, 1))
    goes_on(jobs)
    assert not lock.exists()


@pytest.mark.parametrize("case", ["a git is at work", "it is new", "it is left"])
def test_the_lock_of_packed_refs_that_somebody_may_hold(
    jobs: Jobs, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs.commit("branch", "other")
    jobs.commit("config", "core.packedRefsTimeout", "0")  # git itself waits for no lock
    monkeypatch.setattr(repository, "_LOCK_SECONDS", 2)
    monkeypatch.setattr(repository, "_LEFT_SECONDS", 60)
    tree, lock = jobs.world.project, jobs.world.write(".git/packed-refs.lock", "")
    if case != "it is new":
        os.utime(lock, (1, 1))
    with subprocess.Popen(["git", "cat-file", "--batch"], cwd=tree, stdin=subprocess.PIPE) as git:
        if case != "a git is at work":
            git.communicate()
        done = repository.run(str(tree), "branch", "-D", "other")
        git.communicate()
    is_left = case == "it is left"
    assert (done.code, lock.exists()) == (0 if is_left else 1, not is_left), done


@pytest.mark.parametrize("known", [("head-name", "onto", "orig-head"), ("onto",), ()])
def test_a_rebase_at_which_git_was_killed_begins_anew(jobs: Jobs, known: tuple[str, ...]) -> None:
    """It has written half of its files, and noted a part of where it began."""
    jobs.plan("total")
    works: Process = [["write", ["total.py", "total = 1\n"]], ["tick", "total"], ["sleep", 60]]
    jobs.items_script({"total": [works, done("total")]})
    run = jobs.process("--jobs", "1")
    wait_for(lambda: bool(jobs.calls) and "[x]" in (jobs.tree(1) / "fix_plan.md").read_text())
    for process in [run.pid, *jobs.left()]:
        os.kill(process, signal.SIGKILL)
    run.wait()
    with closing(sqlite3.connect(jobs.world.ours / "sisyphus.db")) as store, store:
        store.execute("UPDATE run SET state = json_set(state, '$.is_merging', json('true'))")
    tree = jobs.tree(1)
    folder = jobs.world.project / ".git" / "worktrees" / tree.name / "rebase-merge"
    folder.mkdir()
    head = jobs.ask("rev-parse", "HEAD")
    facts = {"head-name": f"refs/heads/{jobs.run_branch}-1", "onto": head, "orig-head": head}
    for name in known:
        (folder / name).write_text(f"{facts[name]}\n")
    (tree / "total.py").write_text("tot")

    answer = jobs.resume()
    assert answer.code in (0, 5), answer
    assert jobs.file("total.py") == "total = 1"
    assert jobs.trees == []


def test_a_branch_that_somebody_has_deleted(jobs: Jobs) -> None:
    waiting(jobs)
    tip = jobs.ask("rev-parse", jobs.run_branch)
    jobs.ask("update-ref", "-d", f"refs/heads/{jobs.run_branch}-1")
    id = jobs.run_id
    jobs.ask("update-ref", "-d", f"refs/heads/sisyphus/{id}")
    jobs.items_script({item: [done(item)] for item in ("total", "receipt")})
    answer = jobs.resume()
    assert answer.code == 0, answer
    assert jobs.subjects(f"sisyphus/{id}")[1:] == ["cart", "total", "receipt"]
    assert jobs.ask("merge-base", tip, f"sisyphus/{id}") == tip


def test_worktrees_that_somebody_has_removed(jobs: Jobs) -> None:
    tree, worker = waiting(jobs), jobs.tree(1)
    shutil.rmtree(tree)
    shutil.rmtree(worker)
    jobs.commit("worktree", "prune")
    jobs.ask("update-ref", "-d", f"refs/heads/{jobs.run_branch}-1")
    goes_on(jobs)


def half_moved(jobs: Jobs, tree: Path) -> str:
    """An item that is not merged, though its files and its tick are in the run's worktree; returns
    its commit."""
    text = jobs.file("fix_plan.md") + "\n"
    (tree / "total.py").write_text("total = 1\n")
    (tree / "fix_plan.md").write_text(text.replace("[ ] total", "[x] total"))
    jobs.in_tree("add", "-A")
    made = jobs.in_tree("commit-tree", jobs.in_tree("write-tree"), "-p", "HEAD", "-m", "total")
    jobs.in_tree("reset", "-q")
    jobs.ask("update-ref", f"refs/{jobs.run_branch}/merged/0123", made)
    return made


def test_a_git_that_was_killed_while_it_moved_the_branch_on(jobs: Jobs) -> None:
    half_moved(jobs, waiting(jobs))
    goes_on(jobs)
    assert jobs.branches == [""]


def test_what_is_in_neither_of_both_is_kept(jobs: Jobs) -> None:
    tree = waiting(jobs)
    half_moved(jobs, tree)
    (tree / "mine.py").write_text("mine\n")
    goes_on(jobs)
    (aside,) = (name for name in jobs.branches if name)
    assert jobs.ask("show", f"{jobs.run_branch}{aside}:mine.py") == "mine"


def test_a_complete_run_that_was_killed_before_its_worktree_went(jobs: Jobs) -> None:
    answer = jobs.jobs(1, items=EACH)
    assert answer.code == 0, answer
    tree = jobs.tree()
    jobs.commit("worktree", "add", "-q", str(tree), jobs.run_branch)
    again = jobs.resume()
    assert (again.code, "is complete" in again.err) == (1, True), again
    assert jobs.trees == []


def test_a_plan_at_which_a_client_was_killed(jobs: Jobs) -> None:
    empties: Process = [["run", ": > fix_plan.md"], ["exit", 1]]
    answer = jobs.jobs(2, items={**EACH, "cart": [empties, done("cart")]})
    assert answer.code == 0, answer
    assert jobs.file("fix_plan.md") == PLAN.replace("[ ]", "[x]").strip()


def test_what_a_killed_worker_has_started_ends(jobs: Jobs) -> None:
    """Its check is run again: the first one must not be in its way."""
    check = "mkdir busy && (test -f go || sleep 600) && rmdir busy"
    jobs.plan(f"cart (verify: `{check}`)")
    jobs.items_script({"cart": [done("cart")] * 3})
    (jobs.world.ours / "config.toml").write_text("[runner]\ncheck_before = false\n")
    process = jobs.process("--jobs", "1", TRUST)
    wait_for(lambda: bool(jobs.left("sleep 600")))
    (worker,) = jobs.left("runner.worker")
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: not jobs.left("sleep 600"))
    process.kill()
    process.wait()


def test_a_git_that_was_killed_when_it_made_a_worktree(jobs: Jobs) -> None:
    tree = waiting(jobs)
    folder = jobs.world.project / ".git" / "worktrees" / tree.name
    (folder / "HEAD").write_text("0" * 40 + "\n")
    for name in ("index", "sisyphus-is-ready"):
        (folder / name).unlink()
    goes_on(jobs)
