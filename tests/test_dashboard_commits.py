"""What the dashboard shows of the commits of a run: its items link to what they have changed."""

from __future__ import annotations

from browser import Browser
from test_dashboard import HOSTILE
from test_run import ALL, Process, done, runs
from test_run_commits import BLOCKED, Nights, nights

from sisyphus.dashboard import diff

__all__ = ["nights", "runs"]


def keys(browser: Browser, id: str) -> dict[str, str]:
    """The items of a run → their keys."""
    return {item["text"]: item["key"] for item in browser.json(f"/loops/{id}")["items"]}


def test_an_item_links_to_its_commit_and_its_diff(nights: Nights) -> None:
    nights.plan("cart (verify: `test -f cart.py`)", "total")
    assert nights.night("--trust-checks", processes=[done("cart"), done("total")]).code == 0
    browser = Browser(nights.world)
    commit = nights.ask("rev-parse", "HEAD~1")

    page = browser.get(f"/loops/{nights.id}").text
    key = keys(browser, nights.id)["cart"]
    link = f'href="/loops/{nights.id}/diff?item={key}"'
    assert f"{link}><code>{commit[:7]}</code>" in page

    shown = browser.page(f"/loops/{nights.id}/diff?item={key}")
    assert f"Its last commit is {commit[:7]} . Before it passed: test -f cart.py" in shown
    assert "+cart = 1" in shown
    assert "+- [x] cart" in shown
    assert "total = 1" not in shown
    assert browser.json(f"/loops/{nights.id}/diff?item={key}")["commit"] == commit


def test_the_commits_of_the_user_are_not_counted(nights: Nights) -> None:
    assert nights.night(processes=[*ALL]).code == 0
    nights.commit("commit", "-q", "--allow-empty", "-m", "Mine", "-m", "As Sisyphus-Run: says.")
    nights.world.start()
    browser = Browser(nights.world)
    assert nights.subjects() == ["first", "cart", "total", "receipt", "Mine"]
    assert browser.json("/")["news"]["commits"] == 3
    assert "3 commits of runs" in browser.page("/")


def test_the_commits_of_a_worktree_are_counted(nights: Nights) -> None:
    assert nights.night("--worktree", processes=[*ALL]).code == 0
    assert nights.subjects() == ["first"]
    assert Browser(nights.world).json("/")["news"]["commits"] == 3


def test_half_work_is_shown_from_its_branch(nights: Nights) -> None:
    assert nights.night(processes=[done("cart"), BLOCKED, done("receipt")]).code == 4
    browser = Browser(nights.world)
    key = keys(browser, nights.id)["total"]
    assert "half work" in browser.page(f"/loops/{nights.id}")
    shown = browser.page(f"/loops/{nights.id}/diff?item={key}")
    assert f"on the branch sisyphus/{nights.id}-total" in shown
    assert "+half" in shown
    assert "receipt" not in shown


def test_an_unknown_item_is_none(nights: Nights) -> None:
    assert nights.night(processes=ALL).code == 0
    browser = Browser(nights.world)
    assert browser.get(f"/loops/{nights.id}/diff?item=x").status_code == 404
    assert browser.get(f"/loops/{nights.id}/diff").status_code == 404
    assert browser.get("/loops/nnnnn/diff?item=x").status_code == 404


def test_a_diff_cannot_act_and_is_cut(nights: Nights) -> None:
    lines = f"{HOSTILE}\n" * (diff.SHOWN_CHARACTERS // len(HOSTILE) + 10)
    evil: Process = [["write", ["cart.py", lines]], ["tick", "cart"], ["say", "Done."]]
    assert nights.night(processes=[evil, *ALL[1:]]).code == 0
    browser = Browser(nights.world)
    key = keys(browser, nights.id)["cart"]
    answer = browser.get(f"/loops/{nights.id}/diff?item={key}")
    assert HOSTILE not in answer.text
    assert "It is cut here." in answer.text


def test_a_commit_that_is_gone_is_said_so(nights: Nights) -> None:
    assert nights.night(processes=ALL).code == 0
    browser = Browser(nights.world)
    key = keys(browser, nights.id)["cart"]
    nights.git()
    shown = browser.page(f"/loops/{nights.id}/diff?item={key}")
    assert "git shows no change" in shown


def test_the_report_names_the_checks_of_commits(nights: Nights) -> None:
    nights.plan("cart (verify: `test -f cart.py`)", "total")
    answer = nights.night("--trust-checks", processes=[done("cart"), done("total")])
    commit = nights.ask("rev-parse", "--short=7", "HEAD~1")
    assert f"- {commit} cart: `test -f cart.py` passed\n" in answer.out
    assert nights.state["commits"]["cart"].startswith(commit)
