"""The judged merge of a worker's item: the plan by item, and the rest through a real git."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.boulder.plan import DONE, parse
from sisyphus.ground import repository
from sisyphus.ground.processes import CommandResult
from sisyphus.runner import merges
from sisyphus.runner.merges import Conflict, Failed, Merged, Outcome, Refused, Work
from sisyphus.runner.plan_merge import merge_plans

# ---------------------------------------------------------------- the plan, by item

BASE = "# Shop\n\n- [ ] cart\n- [ ] total\n- [ ] receipt\n"
TICKED = BASE.replace("[ ] total", "[x] total")

PLANS = {
    # what: (base, theirs, ours, merged); the item is "total"
    "the tick": (BASE, TICKED, BASE, TICKED),
    "adjacent ticks": (
        BASE,
        TICKED,
        BASE.replace("[ ] cart", "[x] cart"),
        "# Shop\n\n- [x] cart\n- [x] total\n- [ ] receipt\n",
    ),
    "the tick of another item is not taken": (
        BASE,
        BASE.replace("[ ]", "[x]"),
        BASE,
        TICKED,
    ),
    "a tick that the run has stays": (BASE, TICKED, TICKED, TICKED),
    "a mark of progress becomes a tick": (
        BASE,
        TICKED,
        BASE.replace("[ ] total", "[/] total"),
        TICKED,
    ),
    "a new item behind the one it follows": (
        BASE,
        TICKED.replace("- [ ] receipt", "- [ ] tax\n  with a note\n- [ ] receipt"),
        BASE.replace("- [ ] total", "- [ ] coupon\n- [ ] total"),
        "# Shop\n\n- [ ] cart\n- [ ] coupon\n- [x] total\n- [ ] tax\n  with a note\n"
        "- [ ] receipt\n",
    ),
    "two workers add behind the same item": (
        BASE,
        TICKED + "- [ ] tax\n",
        BASE + "- [ ] coupon\n",
        TICKED + "- [ ] tax\n- [ ] coupon\n",
    ),
    "two new items, one behind the other": (
        BASE,
        TICKED + "- [ ] tax\n- [ ] refund\n",
        BASE,
        TICKED + "- [ ] tax\n- [ ] refund\n",
    ),
    "the same new item from two workers": (
        BASE,
        TICKED + "- [ ] tax\n",
        BASE + "- [ ] tax\n",
        TICKED + "- [ ] tax\n",
    ),
    "a new item that is ticked is open": (
        BASE,
        TICKED + "- [x] tax\n",
        BASE,
        TICKED + "- [ ] tax\n",
    ),
    "the item it follows is gone": (
        BASE,
        TICKED.replace("- [ ] receipt", "- [ ] tax\n- [ ] receipt"),
        "# Shop\n\n- [ ] receipt\n",
        "# Shop\n\n- [ ] receipt\n- [ ] tax\n",
    ),
    "an item that the run took out does not come back": (
        BASE,
        TICKED,
        "# Shop\n\n- [ ] total\n",
        "# Shop\n\n- [x] total\n",
    ),
    "an item that the worker took out stays": (
        BASE,
        "# Shop\n\n- [x] total\n",
        BASE,
        TICKED,
    ),
    "an item in another section": (
        "# A\n\n- [ ] total\n\n# B\n\n- [ ] b\n",
        "# A\n\n- [x] total\n\n# B\n\n- [ ] b\n- [ ] tax\n",
        "# A\n\n- [ ] total\n\n# B\n\nWords.\n",
        "# A\n\n- [x] total\n\n# B\n\nWords.\n- [ ] tax\n",
    ),
    "a section without items": (
        "- [ ] total\n\n## Found\n\n## End\n\nWords.\n",
        "- [x] total\n\n## Found\n\n- [ ] tax\n\n## End\n\nWords.\n",
        "- [ ] total\n\n## Found\n\n## End\n\nWords.\n",
        "- [x] total\n\n## Found\n- [ ] tax\n\n## End\n\nWords.\n",
    ),
    "a new section": (
        BASE,
        TICKED + "\n## Found\n\n- [ ] tax\n- [ ] refund\n",
        BASE,
        TICKED + "\n## Found\n\n- [ ] tax\n- [ ] refund\n",
    ),
    "a new section that another worker has made": (
        BASE,
        TICKED + "\n## Found\n\n- [ ] tax\n",
        BASE + "\n## Found\n\n- [ ] refund\n",
        TICKED + "\n## Found\n\n- [ ] refund\n- [ ] tax\n",
    ),
    "notes below its own item": (
        BASE,
        TICKED.replace("total\n", "total\n  Rounded.\n"),
        BASE.replace("total\n", "total\n  See #7.\n"),
        TICKED.replace("total\n", "total\n  See #7.\n  Rounded.\n"),
    ),
    "notes below another item are not taken": (
        BASE,
        TICKED.replace("cart\n", "cart\n  Mine.\n"),
        BASE,
        TICKED,
    ),
    "a note with a code block, whose boxes are none": (
        BASE,
        TICKED.replace("total\n", "total\n  ```\n  - [ ] cart\n\n  x\n  ```\n"),
        BASE,
        TICKED.replace("total\n", "total\n  ```\n  - [ ] cart\n\n  x\n  ```\n"),
    ),
    "steps of its own item": (
        "- [ ] total\n  - [ ] sum\n  - [ ] round\n",
        "- [x] total\n  - [x] sum\n  - [ ] round\n  - [ ] test\n",
        "- [ ] total\n  - [ ] sum\n  - [ ] round\n",
        "- [x] total\n  - [x] sum\n  - [ ] round\n  - [ ] test\n",
    ),
    "a check that the worker took out stays": (
        "- [ ] total\n  verify: `make`\n",
        "- [x] total\n",
        "- [ ] total\n  verify: `make`\n",
        "- [x] total\n  verify: `make`\n",
    ),
    "a check beside its item stays beside it": (
        "- [ ] total\n\nRun: `make`\nExpected: 1\n",
        "- [x] total\n\nRun: `make`\nExpected: 1\n\n- [ ] tax\n",
        "- [ ] total\n\nRun: `make`\nExpected: 1\n",
        "- [x] total\n\nRun: `make`\nExpected: 1\n- [ ] tax\n",
    ),
    "its own item in other words": (
        "- [ ] cart\n- [ ] total\n",
        "- [ ] cart\n- [x] totals\n",
        "- [ ] cart\n- [ ] total\n",
        "- [ ] cart\n- [x] total\n",
    ),
    "a box in code is none": (
        "```\n- [ ] total\n```\n- [ ] total\n",
        "```\n- [x] total\n```\n- [x] total\n",
        "```\n- [ ] total\n```\n- [ ] total\n",
        "```\n- [ ] total\n```\n- [x] total\n",
    ),
    "line ends of Windows": (
        BASE,
        TICKED + "- [ ] tax\n",
        BASE.replace("\n", "\r\n"),
        (TICKED + "- [ ] tax\n").replace("\n", "\r\n"),
    ),
    "no line end at the end": (
        BASE.rstrip(),
        TICKED + "- [ ] tax",
        BASE.rstrip(),
        TICKED + "- [ ] tax\n",
    ),
    "an item without the rest of its section": (
        "- [ ] total\n",
        "- [x] total\n  - note\n",
        "# New\n\n1. [ ] total\n",
        "# New\n\n1. [x] total\n  - note\n",
    ),
    "a code block that nobody closes": (
        "- [ ] total\n",
        "- [x] total\n- [ ] tax\n",
        "- [ ] total\n\n```\n",
        "- [x] total\n- [ ] tax\n\n```\n",
    ),
    "no item of that name": (
        "- [ ] a\n",
        "- [x] a\n",
        "- [ ] a\n",
        "- [ ] a\n",
    ),
    "frontmatter with line ends of Windows": (
        "---\r\nname: x\r\n# A\r\n---\r\n- [ ] total\r\n",
        "---\r\nname: x\r\n# A\r\n---\r\n- [x] total\r\n\r\n# A\r\n- [ ] tax\r\n",
        "---\r\nname: x\r\n# A\r\n---\r\n- [ ] total\r\n",
        "---\r\nname: x\r\n# A\r\n---\r\n- [x] total\r\n\r\n# A\r\n\r\n- [ ] tax\r\n",
    ),
    "with frontmatter and a byte order mark": (
        "\ufeff---\nname: x\n---\n- [ ] total\n",
        "\ufeff---\nname: x\n---\n- [x] total\n- [ ] tax\n",
        "\ufeff---\nname: y\n---\n- [ ] total\n",
        "\ufeff---\nname: y\n---\n- [x] total\n- [ ] tax\n",
    ),
}


@pytest.mark.parametrize("what", PLANS)
def test_plans_are_merged_by_item(what: str) -> None:
    base, theirs, ours, merged = PLANS[what]
    assert merge_plans(base, theirs, ours, "total") == merged
    assert merge_plans(ours, merged, merged, "total") == merged  # once more changes nothing


def test_the_second_of_two_items_with_the_same_words() -> None:
    base = "# A\n\n- [ ] tests\n\n# B\n\n- [ ] tests\n"
    merged = merge_plans(base, base.replace("B\n\n- [ ]", "B\n\n- [x]"), base, "tests (B)")
    assert merged == "# A\n\n- [ ] tests\n\n# B\n\n- [x] tests\n"


def test_a_worker_that_writes_another_plan() -> None:
    theirs = TICKED + "".join(f"- [ ] {letter * 9}\n" for letter in "abcdefghijklmnopqrstu")
    assert merge_plans(BASE, theirs, BASE, "total") == TICKED


def test_a_task_below_a_task() -> None:
    base = "- [ ] 1 a\n  - [ ] 1.1 b\n- [ ] 2 c\n"
    theirs = base.replace("[ ] 1 a", "[x] 1 a").replace("- [ ] 2", "- [ ] 3 d\n- [ ] 2")
    ours = base.replace("1.1 b\n", "1.1 b\n  - [ ] 1.2 e\n")
    merged = merge_plans(base, theirs, ours, "1 a", "OpenSpec")
    assert merged == "- [x] 1 a\n  - [ ] 1.1 b\n  - [ ] 1.2 e\n- [ ] 3 d\n- [ ] 2 c\n"


LINES = st.sampled_from([
    "- [ ] a", "- [x] a", "- [ ] b", "  - [ ] step", "  - [x] step", "  note",
    "    deep", "", "# A", "## B", "```", "  ```", "words", "1. [ ] c", "* [/] d", "- plain",
    "Run: `x`", "> - [ ] quoted", "<!--", "-->", "-[ ] tight", "  - [ ] a", "\t- [ ] tab", "---",
])  # fmt: skip
TEXTS = st.lists(LINES, max_size=9).map("\n".join)


@given(TEXTS, TEXTS, TEXTS, st.sampled_from(["", "OpenSpec", "Kiro"]))
def test_any_plans(base: str, theirs: str, ours: str, tool: str) -> None:
    """Whatever a worker brings, the run's plan loses no line and no other tick comes or goes."""
    base, ours = f"- [ ] total\n{base}", f"- [ ] total\n{ours}"
    merged = merge_plans(base, f"- [x] total\n{theirs}", ours, "total", tool)
    assert merged.startswith("- [x] total")

    def states(text: str) -> dict[str, str]:
        plan = parse(text, tool)
        texts = Counter(task.text for task in plan.tasks)
        return {t.text: t.status for t in plan.tasks if texts[t.text] == 1 and t.text != "total"}

    rest = iter(merged.split("\n"))
    for line in ours.split("\n"):
        opened = line.replace("[x]", "[ ]")
        assert any(opened == each.replace("[x]", "[ ]") for each in rest), line
    after = states(merged)
    for text, status in states(ours).items():
        assert after.get(text, status) == status
    assert merge_plans(ours, merged, merged, "total", tool) == merged


# ---------------------------------------------------------------- through git

PLAN = "# Shop\n\n- [ ] cart\n- [ ] total\n- [ ] receipt\n"
RUN = "sisyphus/R"


class Worker:
    """A worker in a worktree of its own, and what its agent does there."""

    def __init__(self, shop: Shop, number: int) -> None:
        self.shop, self.branch = shop, f"{RUN}-{number}"
        self.tree = shop.folder / f"tree-{number}"
        shop.ask("worktree", "add", "-q", "-b", self.branch, str(self.tree), RUN)

    def ask(self, *words: str, code: int = 0) -> str:
        return self.shop.ask(*words, folder=self.tree, code=code)

    def write(self, name: str, text: str) -> None:
        file = self.tree / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())

    def read(self, name: str) -> str:
        return (self.tree / name).read_bytes().decode()

    def commit(self, subject: str, *, ours: bool = False) -> str:
        self.ask("add", "-A")
        text = f"{subject}\n\nSaid.\n\nSisyphus-Run: R\n" if ours else subject
        self.ask("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", text)
        return self.ask("rev-parse", "HEAD")

    def tick(self, item: str) -> None:
        self.write("PLAN.md", self.read("PLAN.md").replace(f"[ ] {item}", f"[x] {item}"))

    def does(self, item: str, name: str = "", text: str = "1\n") -> str:
        """Does an item as an agent, and commits it as the runner."""
        self.write(name or f"{item}.py", text)
        self.tick(item)
        return self.commit(item, ours=True)

    def work(self, item: str) -> Work:
        return Work(str(self.tree), self.branch, RUN, item, "PLAN.md")

    def merge(self, item: str, check: Callable[[], str | None] = lambda: None) -> Outcome:
        return merges.attempt(self.work(item), check)


class Shop:
    """A repository with a run's branch that is checked out nowhere."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.main = folder / "shop"
        self.ask("init", "-q", "-b", "main", str(self.main), folder=folder)
        for name, value in (
            ("user.name", "Ada"), ("user.email", "ada@example.org"), ("gc.auto", "0"),
        ):  # fmt: skip
            self.ask("config", name, value)
        (self.main / "PLAN.md").write_text(PLAN)
        (self.main / "shared.py").write_text("one\ntwo\nthree\n")
        self.ask("add", "-A")
        self.ask("commit", "-qm", "first")
        self.ask("branch", RUN)

    def ask(self, *words: str, folder: Path | None = None, code: int = 0) -> str:
        command = ["git", *words]
        environ = {**os.environ, "GIT_EDITOR": "true"}
        done = subprocess.run(
            command, cwd=folder or self.main, capture_output=True, text=True, env=environ,
            check=False,
        )  # fmt: skip
        assert done.returncode == code or code < 0, done.stdout + done.stderr
        return done.stdout.strip()

    def subjects(self, of: str = RUN) -> list[str]:
        return self.ask("log", "--reverse", "--format=%s", of).splitlines()

    def file(self, name: str, at: str = RUN) -> str:
        return self.ask("show", f"{at}:{name}")

    def ticked(self) -> list[str]:
        return [task.text for task in parse(self.file("PLAN.md")).tasks if task.status == DONE]

    def refs(self) -> list[str]:
        return self.ask("for-each-ref", "--format=%(refname)", "refs/sisyphus").splitlines()

    def kept(self) -> list[str]:
        """The commits of workers that are kept."""
        return [each.rpartition("/")[2] for each in self.refs() if "/kept/" in each]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.fixture
def pair(shop: Shop) -> tuple[Worker, Worker]:
    return Worker(shop, 1), Worker(shop, 2)


Pair = tuple[Worker, Worker]


def test_a_clean_merge(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart")
    two.write("feat.py", "1\n")
    two.commit("feat: total")
    two.does("total")

    first, second = one.merge("cart"), two.merge("total")

    assert isinstance(first, Merged)
    assert isinstance(second, Merged)
    assert second.commit == shop.ask("rev-parse", RUN)
    assert shop.subjects() == ["first", "cart", "feat: total", "total"]
    assert shop.ticked() == ["cart", "total"]
    text = shop.ask("log", "-1", "--format=%an <%ae>%n%B", RUN)
    assert text == "Ada <ada@example.org>\ntotal\n\nSaid.\n\nSisyphus-Run: R"
    assert two.ask("status", "--porcelain") == ""
    assert two.ask("symbolic-ref", "HEAD") == f"refs/heads/{RUN}-2"


def test_once_more_merges_nothing(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart")
    first = one.merge("cart")
    two.does("total")
    two.merge("total")
    assert one.merge("cart") == first
    assert shop.subjects() == ["first", "cart", "total"]
    merges.forget(str(shop.main), RUN)
    assert shop.refs() == []


def test_a_conflict_that_the_agent_resolves(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart", "shared.py", "one\ncart\nthree\n")
    two.does("total", "shared.py", "one\ntotal\nthree\n")
    one.merge("cart")

    assert two.merge("total") == Conflict(["shared.py"])
    assert "<<<<<<<" not in two.read("PLAN.md")
    assert two.merge("total") == Conflict(["shared.py"])
    two.write("shared.py", "one\ncart\ntotal\nthree\n")
    two.write("new.py", "1\n")
    assert isinstance(two.merge("total"), Merged)

    assert shop.subjects() == ["first", "cart", "total"]
    assert shop.file("shared.py") == "one\ncart\ntotal\nthree"
    assert shop.file("new.py") == "1"
    assert shop.ticked() == ["cart", "total"]
    assert "Said.\n\nSisyphus-Run: R" in shop.ask("log", "-1", "--format=%B", RUN)


def test_words_of_a_message_that_look_like_comments(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart", "shared.py", "one\ncart\nthree\n")
    one.merge("cart")
    two.write("shared.py", "total\n")
    two.tick("total")
    two.commit("# total", ours=True)
    two.merge("total")
    two.write("shared.py", "cart\ntotal\n")
    two.merge("total")
    assert shop.ask("log", "-1", "--format=%B", RUN) == "# total\n\nSaid.\n\nSisyphus-Run: R"


@pytest.mark.parametrize("is_staged", [True, False])
def test_marks_that_are_left(shop: Shop, pair: Pair, is_staged: bool) -> None:
    one, two = pair
    one.does("cart", "shared.py", "one\ncart\nthree\n")
    two.does("total", "shared.py", "one\ntotal\nthree\n")
    one.merge("cart")
    two.merge("total")
    if is_staged:
        two.ask("add", "-A")
    assert two.merge("total") == Conflict(["shared.py"])
    two.write("shared.py", "one\ncart\n=======\ntotal\nthree\n")
    assert two.merge("total") == Conflict(["shared.py"])


def test_marks_in_a_rebase_that_the_agent_ended(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart", "shared.py", "one\ncart\nthree\n")
    two.does("total", "shared.py", "one\ntotal\nthree\n")
    one.merge("cart")
    two.merge("total")
    two.ask("add", "-A")
    two.ask("rebase", "--continue")
    failed = Failed("Marks of a conflict are left in shared.py.")
    assert two.merge("total") == failed
    assert two.merge("total") == failed
    two.write("shared.py", "one\ncart\ntotal\nthree\n")
    two.commit("mend", ours=True)
    assert isinstance(two.merge("total"), Merged)
    assert shop.ticked() == ["cart", "total"]


def test_marks_that_were_there_before(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart", "guide.rst", "Conflicts\n=======\n\n<<<<<<< HEAD\n")
    one.merge("cart")
    two.does("total", "guide.rst", "Totals\n=======\n\n>>>>>>> 1234567 (x)\n")
    assert two.merge("total") == Conflict(["guide.rst"])
    text = "Conflicts\n=======\n\n<<<<<<< HEAD\n\nTotals\n=======\n\n>>>>>>> 1234567 (x)\n"
    two.write("guide.rst", text)
    assert isinstance(two.merge("total"), Merged)
    assert shop.file("guide.rst") == text.strip()


def test_an_agent_that_aborts_the_rebase(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart", "shared.py", "one\ncart\nthree\n")
    two.does("total", "shared.py", "one\ntotal\nthree\n")
    one.merge("cart")
    two.merge("total")
    two.ask("rebase", "--abort")
    assert two.merge("total") == Conflict(["shared.py"])
    two.ask("rebase", "--abort")
    two.write("shared.py", "one\ntwo\nthree\n")
    two.write("total.py", "1\n")
    two.commit("elsewhere", ours=True)
    assert two.merge("total") == Conflict(["shared.py"])  # the first of two commits
    two.write("shared.py", "one\ntwo\nthree\n")
    two.ask("add", "-A")
    outcome = two.merge("total")
    if outcome == Conflict(["shared.py"]):
        two.write("shared.py", "one\ncart\nthree\n")
        outcome = two.merge("total")
    assert isinstance(outcome, Merged)
    assert shop.ticked() == ["cart", "total"]


def test_an_agent_that_commits_during_the_rebase(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart", "shared.py", "one\ncart\nthree\n")
    two.does("total", "shared.py", "one\ntotal\nthree\n")
    one.merge("cart")
    two.merge("total")
    two.write("shared.py", "one\ncart\ntotal\nthree\n")
    lost = two.commit("resolved")
    assert isinstance(two.merge("total"), Merged)
    assert shop.subjects() == ["first", "cart", "resolved", "total"]
    assert shop.ask("merge-base", lost, RUN) == lost


def test_what_was_committed_during_a_rebase_that_is_aborted_is_kept(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart", "shared.py", "one\ncart\nthree\n")
    two.does("total", "shared.py", "one\ntotal\nthree\n")
    one.merge("cart")
    two.merge("total")
    two.write("shared.py", "one\ncart\ntotal\nthree\n")
    lost = two.commit("resolved")
    two.ask("rebase", "--abort")
    two.merge("total")
    assert lost in shop.kept()


def test_an_agent_that_merges_the_branch_itself(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart", "shared.py", "one\ncart\nthree\n")
    two.does("total", "shared.py", "one\ntotal\nthree\n")
    one.merge("cart")
    two.merge("total")
    two.ask("rebase", "--abort")
    two.ask("merge", "-q", RUN, code=1)
    assert isinstance(two.merge("total"), Refused)
    two.write("shared.py", "one\ncart\ntotal\nthree\n")
    two.write("PLAN.md", PLAN.replace("[ ] cart", "[x] cart").replace("[ ] total", "[x] total"))
    two.commit("Merge the run's branch")
    assert isinstance(two.merge("total"), Merged)
    assert shop.subjects() == ["first", "cart", "total"]
    assert shop.ask("rev-list", "--merges", RUN) == ""


def test_an_agent_that_throws_its_work_away(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart", "shared.py", "one\ncart\nthree\n")
    work = two.does("total", "shared.py", "one\ntotal\nthree\n")
    one.merge("cart")
    two.merge("total")
    two.ask("rebase", "--skip")
    outcome = two.merge("total")
    assert isinstance(outcome, Refused)
    assert "No commit of the work is left" in outcome.why
    assert work in shop.kept()
    assert shop.ticked() == ["cart"]
    two.commit("Nothing is left to do")
    assert isinstance(two.merge("total"), Merged)
    assert shop.ticked() == ["cart", "total"]


def test_a_rebase_of_its_own_that_leads_elsewhere(shop: Shop, pair: Pair) -> None:
    one, _ = pair
    shop.ask("commit", "-q", "--allow-empty", "-m", "of the user")
    (shop.main / "shared.py").write_text("user\n")
    shop.ask("commit", "-qam", "more")
    one.does("cart", "shared.py", "one\ncart\nthree\n")
    one.ask("rebase", "-q", "main", code=1)
    assert isinstance(one.merge("cart"), Refused)
    one.ask("rebase", "--abort")
    assert isinstance(one.merge("cart"), Merged)


def test_a_check_that_fails_on_the_merged_tree(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart", "name.py", "cart\n")
    two.does("total", "total.py", "uses name two\n")
    one.merge("cart")

    def check() -> str | None:
        names = two.read("name.py").strip()
        return None if names in two.read("total.py") else f"no {names}"

    assert two.merge("total", check) == Failed("no cart")
    assert shop.subjects() == ["first", "cart"]
    assert two.read("name.py") == "cart\n"
    two.write("total.py", "uses cart\n")
    two.write("PLAN.md", two.read("PLAN.md") + "- [ ] later\n")
    two.commit("mend")
    assert isinstance(two.merge("total", check), Merged)
    assert shop.subjects() == ["first", "cart", "total", "mend"]
    assert "later" in shop.file("PLAN.md")
    assert shop.kept() == []


def test_adjacent_ticks_and_nothing_else(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.tick("cart")
    one.commit("cart", ours=True)
    two.tick("total")
    two.commit("total", ours=True)
    one.merge("cart")
    assert isinstance(two.merge("total"), Merged)
    assert shop.subjects() == ["first", "cart", "total"]
    assert shop.ticked() == ["cart", "total"]


def test_items_that_are_added(shop: Shop, pair: Pair) -> None:
    one, two = pair
    for worker, item in ((one, "cart"), (two, "total")):
        worker.write("PLAN.md", PLAN + f"- [ ] found by {item}\n  and why\n")
        worker.does(item)
        assert isinstance(worker.merge(item), Merged)
    assert shop.subjects() == ["first", "cart", "total"]
    plan = shop.file("PLAN.md")
    assert "- [ ] found by cart\n  and why" in plan
    assert "- [ ] found by total\n  and why" in plan
    assert plan.count("[x]") == 2


@pytest.mark.parametrize("way", ["rm -q PLAN.md", "mv PLAN.md docs.md"])
def test_a_plan_that_the_worker_took_away(shop: Shop, pair: Pair, way: str) -> None:
    one, two = pair
    two.does("total")
    two.merge("total")
    one.ask(*way.split())
    one.write("cart.py", "1\n")
    one.commit("cart", ours=True)
    assert isinstance(one.merge("cart"), Merged)
    assert shop.ticked() == ["cart", "total"]


def test_a_plan_that_the_branch_has_no_more(shop: Shop, pair: Pair) -> None:
    one, two = pair
    work = Work(str(one.tree), one.branch, RUN, "cart", "")
    one.ask("rm", "-q", "PLAN.md")
    one.commit("no plan", ours=True)
    assert isinstance(merges.attempt(work, lambda: None), Merged)
    two.does("total")
    assert isinstance(two.merge("total"), Merged)
    assert shop.subjects() == ["first", "no plan", "total"]
    assert "PLAN.md" not in shop.ask("ls-tree", "--name-only", RUN)


def test_a_branch_that_moves_meanwhile(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart")
    two.does("total")
    checks = []

    def check() -> str | None:
        checks.append(one.ask("rev-parse", "HEAD"))
        if len(checks) == 1:
            assert isinstance(two.merge("total"), Merged)
        return None

    assert isinstance(one.merge("cart", check), Merged)
    assert len(checks) == 2
    assert shop.subjects() == ["first", "total", "cart"]
    assert shop.ticked() == ["cart", "total"]


def test_a_branch_that_never_stands_still(shop: Shop, pair: Pair) -> None:
    one, _ = pair
    one.does("cart")

    def check() -> str | None:
        tree = shop.ask("rev-parse", f"{RUN}^{{tree}}")
        commit = shop.ask("commit-tree", tree, "-p", RUN, "-m", "x")
        shop.ask("update-ref", f"refs/heads/{RUN}", commit)
        return None

    assert isinstance(one.merge("cart", check), Refused)


def test_empty_commits(shop: Shop, pair: Pair) -> None:
    one, two = pair
    two.does("total")
    two.merge("total")
    one.commit("thought")
    one.tick("cart")
    one.commit("cart", ours=True)
    assert isinstance(one.merge("cart"), Merged)
    assert shop.subjects() == ["first", "total", "thought", "cart"]


def test_the_same_change_of_two_workers(shop: Shop, pair: Pair) -> None:
    one, two = pair
    for worker, item in ((one, "cart"), (two, "total")):
        worker.write("lint.py", "1\n")
        worker.tick(item)
        worker.commit(item, ours=True)
        assert isinstance(worker.merge(item), Merged)
    assert shop.subjects() == ["first", "cart", "total"]
    assert shop.ticked() == ["cart", "total"]


def test_an_item_whose_last_commit_is_the_agents(shop: Shop, pair: Pair) -> None:
    one, two = pair
    two.does("total")
    two.merge("total")
    one.write("cart.py", "1\n")
    one.tick("cart")
    one.commit("feat: cart")
    assert isinstance(one.merge("cart"), Merged)
    assert shop.subjects() == ["first", "total", "feat: cart", "cart"]
    assert "Sisyphus-Run: R" in shop.ask("log", "-1", "--format=%B", RUN)


def test_an_item_without_any_commit(shop: Shop, pair: Pair) -> None:
    one, two = pair
    two.does("total")
    two.merge("total")
    assert isinstance(one.merge("cart"), Merged)
    assert shop.subjects() == ["first", "total", "cart"]
    assert shop.ticked() == ["cart", "total"]


def test_a_file_that_is_a_folder_elsewhere(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart", "lib", "a file\n")
    two.does("total", "lib/total.py", "1\n")
    one.merge("cart")
    outcome = two.merge("total")
    assert isinstance(outcome, Conflict)
    assert two.merge("total") == outcome
    two.ask("rm", "-q", *outcome.files)
    assert isinstance(two.merge("total"), Merged)
    assert shop.ask("ls-tree", "-r", "--name-only", RUN).split() == [
        "PLAN.md", "lib/total.py", "shared.py",
    ]  # fmt: skip


def test_a_file_that_one_side_deletes(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.ask("rm", "-q", "shared.py")
    one.does("cart")
    one.merge("cart")
    two.does("total", "shared.py", "one\ntotal\nthree\n")
    assert two.merge("total") == Conflict(["shared.py"])
    assert two.merge("total") == Conflict(["shared.py"])
    two.ask("add", "shared.py")
    assert isinstance(two.merge("total"), Merged)
    assert shop.file("shared.py") == "one\ntotal\nthree"


def test_binary_files(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart", "logo.png", "\0cart")
    two.does("total", "logo.png", "\0total")
    one.merge("cart")
    assert two.merge("total") == Conflict(["logo.png"])
    assert two.merge("total") == Conflict(["logo.png"])
    two.write("logo.png", "\0both")
    assert isinstance(two.merge("total"), Merged)
    assert shop.file("logo.png") == "\0both"


def test_modes(shop: Shop, pair: Pair) -> None:
    one, two = pair
    (one.tree / "shared.py").chmod(0o755)
    one.does("cart")
    two.does("total", "shared.py", "one\ntotal\nthree\n")
    one.merge("cart")
    assert isinstance(two.merge("total"), Merged)
    assert shop.ask("ls-tree", RUN, "shared.py").startswith("100755")
    assert shop.file("shared.py") == "one\ntotal\nthree"


def test_a_plan_that_can_be_executed_and_has_line_ends_of_windows(shop: Shop) -> None:
    shop.ask("checkout", "-q", RUN)
    (shop.main / "PLAN.md").write_bytes(PLAN.replace("\n", "\r\n").encode())
    (shop.main / "PLAN.md").chmod(0o755)
    shop.ask("commit", "-qam", "windows")
    shop.ask("checkout", "-q", "main")
    one, two = Worker(shop, 1), Worker(shop, 2)
    for worker, item in ((one, "cart"), (two, "total")):
        worker.does(item)
        assert isinstance(worker.merge(item), Merged)
    assert shop.ticked() == ["cart", "total"]
    assert shop.ask("cat-file", "blob", f"{RUN}:PLAN.md").count("\n") == PLAN.count("\n") - 1
    assert two.read("PLAN.md").count("\r\n") == PLAN.count("\n")
    assert shop.ask("ls-tree", RUN, "PLAN.md").startswith("100755")


def test_line_ends_that_git_changes(shop: Shop, pair: Pair) -> None:
    shop.ask("config", "core.autocrlf", "true")
    one, two = pair
    for worker, item in ((one, "cart"), (two, "total")):
        worker.write("PLAN.md", worker.read("PLAN.md").replace("\n", "\r\n"))
        worker.does(item, text="1\r\n")
        assert isinstance(worker.merge(item), Merged)
    assert shop.ticked() == ["cart", "total"]
    assert two.read("PLAN.md").count("\r\n") == PLAN.count("\n")
    assert two.ask("status", "--porcelain") == ""


def test_what_is_not_committed(shop: Shop, pair: Pair) -> None:
    one, _ = pair
    one.does("cart")
    one.write("shared.py", "open\n")
    outcome = one.merge("cart")
    assert outcome == Refused("Not all is committed: shared.py.")
    assert one.read("shared.py") == "open\n"


def test_settings_and_hooks_of_the_user(shop: Shop, pair: Pair) -> None:
    for name, value in (
        ("rebase.autoSquash", "true"), ("rebase.autoStash", "true"), ("rebase.updateRefs", "true"),
        ("rebase.rebaseMerges", "true"), ("rerere.enabled", "true"), ("commit.verbose", "true"),
        ("merge.conflictStyle", "diff3"), ("pull.rebase", "true"), ("core.commentChar", ";"),
        ("status.short", "true"), ("diff.noprefix", "true"), ("color.ui", "always"),
        ("log.showSignature", "true"), ("diff.external", "false"), ("rebase.backend", "apply"),
        ("core.quotePath", "true"), ("diff.renames", "copies"), ("log.date", "iso"),
    ):  # fmt: skip
        shop.ask("config", name, value)
    for name in ("pre-rebase", "pre-commit", "commit-msg", "post-rewrite", "reference-transaction"):
        hook = shop.main / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntest $SILENT || touch '{shop.folder}/{name}'\n")
        hook.chmod(0o755)
    one, two = pair
    os.environ["SILENT"] = "1"
    one.does("cart", "größe.py", "one\ncart\nthree\n")
    two.does("total", "größe.py", "one\ntotal\nthree\n")
    del os.environ["SILENT"]
    one.merge("cart")
    assert two.merge("total") == Conflict(["größe.py"])
    two.write("größe.py", "both\n")
    assert isinstance(two.merge("total"), Merged)
    assert shop.subjects() == ["first", "cart", "total"]
    assert not list(shop.folder.glob("p*-*"))


def test_a_signature_that_cannot_be_made(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart", "shared.py", "one\ncart\nthree\n")
    two.does("total", "shared.py", "one\ntotal\nthree\n")
    one.merge("cart")
    two.merge("total")
    shop.ask("config", "commit.gpgSign", "true")
    shop.ask("config", "gpg.program", "false")
    two.write("shared.py", "both\n")
    outcome = two.merge("total")
    assert isinstance(outcome, Refused)
    assert "gpg" in outcome.why
    assert two.read("shared.py") == "both\n"
    shop.ask("config", "commit.gpgSign", "false")
    assert isinstance(two.merge("total"), Merged)
    assert shop.file("shared.py") == "both"


def test_a_branch_that_somebody_has_checked_out(shop: Shop, pair: Pair) -> None:
    one, _ = pair
    one.does("cart")
    shop.ask("checkout", "-q", RUN)
    outcome = one.merge("cart")
    assert isinstance(outcome, Refused)
    assert "is checked out in" in outcome.why
    shop.ask("checkout", "-q", "main")
    assert isinstance(one.merge("cart"), Merged)


def test_a_merge_is_taken_back(shop: Shop, pair: Pair) -> None:
    one, two = pair
    one.does("cart", "shared.py", "one\ncart\nthree\n")
    work = two.does("total", "shared.py", "one\ntotal\nthree\n")
    one.merge("cart")
    two.merge("total")
    two.write("shared.py", "half\n")
    merges.take_back(two.work("total"))
    assert two.ask("rev-parse", "HEAD") == work
    assert two.ask("symbolic-ref", "HEAD") == f"refs/heads/{RUN}-2"
    assert two.read("shared.py") == "one\ntotal\nthree\n"
    assert "half" in [shop.file("shared.py", each) for each in shop.kept()]
    one.does("receipt")
    one.merge("receipt")
    assert "half" in [shop.file("shared.py", each) for each in shop.kept()]
    merges.take_back(two.work("total"))


def test_what_git_ignores_by_now_is_not_lost_when_a_merge_is_taken_back(
    shop: Shop, pair: Pair
) -> None:
    one, two = pair
    one.does("cart", "shared.py", "one\ncart\nthree\n")
    two.does("total", "shared.py", "one\ntotal\nthree\n")
    one.merge("cart")
    two.merge("total")
    two.ask("rm", "-q", "--cached", "shared.py")
    two.write(".gitignore", "shared.py\n")
    two.write("shared.py", "mine\n")
    merges.take_back(two.work("total"))
    assert two.read("shared.py") == "one\ntotal\nthree\n"
    assert "mine" in [shop.file("shared.py", each) for each in shop.kept()]


class Killed(BaseException):
    """We were killed."""


@pytest.mark.parametrize("has_conflict", [True, False])
def test_a_kill_between_any_two_calls_of_git(
    shop: Shop, pair: Pair, has_conflict: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = pair
    two.write("PLAN.md", PLAN + "- [ ] more\n")
    two.write("own.py", "1\n")
    two.commit("own")
    one.does("cart", "shared.py", "one\ncart\nthree\n")
    two.does("total", *(["shared.py", "one\ntotal\nthree\n"] if has_conflict else []))
    one.merge("cart")
    calls, kills, run = 0, 0, repository.run

    def count(*words: str, **options: Any) -> CommandResult:
        nonlocal calls
        calls += 1
        if calls == kills + 1:
            raise Killed
        return run(*words, **options)

    monkeypatch.setattr(repository, "run", count)
    outcome: Outcome | None = None
    while not isinstance(outcome, Merged):
        calls = 0
        try:
            outcome = two.merge("total")
        except Killed:
            kills += 1
        if isinstance(outcome, Conflict):
            two.write("shared.py", "both\n")
            outcome, kills = None, 0
    assert kills > 5
    assert shop.subjects() == ["first", "cart", "own", "total"]
    assert shop.ticked() == ["cart", "total"]
    assert "more" in shop.file("PLAN.md")
    assert two.ask("status", "--porcelain") == ""
