"""A store that somebody has worked with for a week: sessions of two clients, loops in every state,
runs, plans and handoffs, with their files. The same each time, but for the clock.

Everything is below the home that the store is in, and goes through the product's own functions.
"""

from __future__ import annotations

import json
import os
import random
import time
from datetime import UTC, datetime
from pathlib import Path

from world import begin_git

from sisyphus.boulder import find, progress
from sisyphus.boulder import plans as plan_rows
from sisyphus.clients.transcript_records import RecordedCall
from sisyphus.enforce import enforcements
from sisyphus.ground import paths, processes
from sisyphus.ground.store import Store
from sisyphus.handoff import handoffs
from sisyphus.handoff import messages as handoff_messages
from sisyphus.hook.event import EDIT, OTHER, Event
from sisyphus.hook.hook import Hook
from sisyphus.hook.outcome import Outcome, Text
from sisyphus.hook.session import Session
from sisyphus.hook.standing import Standing
from sisyphus.loops import iterations, loops, messages, runs, transcripts
from sisyphus.loops.iterations import Iteration
from sisyphus.loops.loop import (
    BLOCKED,
    CANCELLED,
    FATAL_ERROR,
    LIMIT,
    MAX_ITERATIONS,
    PAUSED,
    STUCK,
    SUCCESS,
    Counters,
    Loop,
    Options,
)
from sisyphus.runner import messages as runner_messages
from sisyphus.runner import report
from sisyphus.sessions import journal, ledger, sessions
from sisyphus.sessions.turns import Turn

_DAY = 24 * 3600
_MOST_LIVE = 16
"""How many loops have not ended, however many there are: people end theirs. It is every other one
of the latest."""

_LOOPS_A_WEEK = 400
"""Where there are more, the rest is older."""

_WITH_FILES = 40
"""How many of the last loops have transcripts on the disk."""

_PROJECTS = ("work/shop", "work/bank/api", "clients/north/api", "notes", "play/ray-tracer")
"""Two have the same last name."""

_TASKS = (
    "Make the tests of the checkout pass",
    "Move the sessions from cookies to the database, then delete the old table",
    "Fix the flaky upload test",
    "Translate every message of the shop into Norwegian.\n\nKeep the placeholders. Run `make lint` "
    "after each file, and write down what you were not sure of.",
    "Upgrade to Django 6",
    "Why does the import take 40 seconds? Find out, and bring it below 5",
    "تحديث صفحة الدفع حتى تعمل على الهاتف",
    "Write the API documentation from the handlers; every example has to run",
    "<img src=x onerror=alert(1)> is shown as a picture in the list of orders: escape it",
    "Render the glass spheres without noise \u202edesrever\u202c at 64 samples",
    "Reduce_the_size_of_the_bundle_that_the_shop_sends_to_phones_" * 3,
    "Remove the feature flag new-cart",
)
_SAID = (
    "The cart is stored now, and three of five tests pass. Next is the total.",
    "I found the cause: the client retries after 200 ms, and the lock is held longer. I changed "
    "the order of the two statements, and the test passed twenty times in a row.",
    "`make lint` is clean.\n\n- moved 14 templates\n- two strings have no translation yet",
    "All tests pass. <promise>DONE</promise>",
)
_FILES = ("src/cart.py", "src/total.py", "tests/test_cart.py", "templates/checkout.html")
_PLANS = (
    ("Checkout", 9, 6),
    ("Move to the new bank", 24, 5),
    ("<b>Ship it</b> {{7*7}}", 5, 5),
    ("Ray tracer, part two", 12, 0),
)
_ITEMS = ("Store the cart", "Show the total", "Ask the bank for the rate", "Print the receipt")


def lived_in(store: Store, loops: int = 30, runs: int = 5, plans: int = 3) -> None:
    """Fills a store with a week's work.

    loops, runs, plans: how many of each, the latest first.
    """
    assert os.path.dirname(store.path) == paths.our_home(), "its files go below HOME"
    week = _Week(store)
    with store.write():
        week.make_projects()
        for number in range(plans):
            week.add_plan(number)
        for number in range(loops):
            week.add_loop(number, 6 * _DAY * number / min(loops, _LOOPS_A_WEEK))
        for number in range(runs):
            week.add_run(number)
        week.add_handoffs()
        week.enforce()


class _Week:
    def __init__(self, store: Store) -> None:
        self.store = store
        self.now = time.time()
        self.random = random.Random(7)
        self.home = Path(store.path).parents[2]
        self.projects = [str(self.home / name) for name in _PROJECTS]
        self.ids: set[str] = set()
        self.sessions: list[tuple[Session, Loop]] = []

    def make_projects(self) -> None:
        for project in self.projects:
            begin_git(Path(project))
        enforcements.switch(self.store, self.projects[0], is_on=True, now=self.now - 5 * _DAY)

    # ------------------------------------------------------------ sessions

    def new_session(self, number: int, project: str, began: float) -> Hook:
        """Starts a session; every third one is of OpenCode. It returns a hook of it."""
        client = "opencode" if number % 3 == 2 else "claude-code"
        id = f"ses_{self.hexa(20)}" if client == "opencode" else self.uuid()
        event = Event(client, "session-start")
        event.session, event.source = id, "startup"
        event.transcript = str(self.home / ".claude" / "projects" / f"{id}.jsonl")
        hook = Hook(
            event, str(self.home / ".claude"), project, self.store, {}, Session(), Standing(), began
        )
        hook.session = sessions.ensure(hook)
        sessions.start(hook)
        hook.session.save(self.store)
        return hook

    def note(self, hook: Hook, name: str, decision: str, what: str, at: float) -> None:
        """Writes a line of the journal."""
        hook.now, hook.event.name = at, name
        sessions.ensure(hook)
        outcome = Outcome(notes=[what], reason=what if decision == "block" else None)
        journal.write(hook, outcome, [], self.random.uniform(20, 60))

    def send_documents(self, hook: Hook) -> None:
        """Sends the model of a session a rule and the project's README."""
        sent = [
            Text("rules", "Use ruff.", "rule", f"{hook.project}/.claude/rules/python.md"),
            Text("readme", "# A project", "readme", f"{hook.project}/README.md"),
        ]
        hook.event.name = "post-tool-use"
        ledger.add(hook, sent)
        journal.write(hook, Outcome(), sent, self.random.uniform(20, 60))

    def write_transcript(self, hook: Hook, prompt: str) -> None:
        """Writes the client's own file of a session."""
        file = Path(hook.event.transcript)
        file.parent.mkdir(parents=True, exist_ok=True)
        at = datetime.fromtimestamp(hook.now, UTC).isoformat()
        if hook.event.client == "opencode":
            stamp = int(hook.now * 1000)
            lines = [
                {"at": stamp, "kind": "prompt", "id": "p1", "text": prompt},
                {"at": stamp + 1, "kind": "text", "id": "t1", "text": _SAID[1]},
            ]
        else:
            said = {"role": "assistant", "content": [{"type": "text", "text": _SAID[1]}]}
            typed = {"role": "user", "content": prompt}
            lines = [
                {"type": "user", "uuid": "u1", "timestamp": at, "message": typed},
                {"type": "assistant", "uuid": "u2", "timestamp": at, "message": said},
            ]
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")

    # ------------------------------------------------------------ loops

    def add_loop(self, number: int, age: float) -> None:
        """age: how long ago it began, in seconds; one that has not ended is younger."""
        is_live = number % 2 == 0 and number < 2 * _MOST_LIVE
        project = self.projects[number % len(self.projects)]
        began = self.now - 900 - (age / 20 if is_live else age)
        hook = self.new_session(number, project, began)
        loop = self.new_loop(project, _TASKS[number % len(_TASKS)], began)
        loop.session = hook.session.n
        count = loop.counters.iteration
        loops.insert(self.store, loop)
        if number < _WITH_FILES:
            self.write_transcript(hook, loop.prompt)
            self.send_documents(hook)
            self.sessions.append((hook.session, loop))
        end = self.add_iterations(hook, loop, count, with_files=number < _WITH_FILES)
        if is_live:
            self.leave_open(hook, loop, number // 2, end)
        else:
            self.end_loop(loop, number, end)
            hook.session.end(end)
            hook.session.save(self.store)
        loops.save(self.store, loop)

    def new_loop(self, project: str, prompt: str, began: float) -> Loop:
        options = Options(
            promise="DONE", max_iterations=self.random.choice((20, 50, 100)),
            verify=self.random.choice(("", "", "make test", "npm run e2e -- --project=chromium")),
        )  # fmt: skip
        count = self.random.choice((1, 2, 2, 3, 4, 7))
        return Loop(self.new_id(), project, prompt, options, began, Counters(count))

    def add_iterations(self, hook: Hook, loop: Loop, count: int, *, with_files: bool) -> float:
        """Adds the iterations that are over; returns when the last one ended."""
        at = loop.started_at
        for number in range(1, count + 1):
            seconds = self.random.uniform(30, 800 / count)
            at += seconds
            said = _SAID[number % 3]
            why = "the promise was not said" if number % 2 else "`make test` failed: exit code 1"
            each = Iteration(
                number, at, "block", why, self.random.randrange(20_000, 400_000), said=said,
                seconds=seconds, files=self.random.randrange(5), percent=min(95, 9 * number + 4),
            )  # fmt: skip
            iterations.record(self.store, loop, hook.session.n, each)
            loop.counters.tokens += each.tokens
            self.note(hook, "stop", "block", f"loop {loop.id}: {why}", at)
            if with_files:
                self.write_entry(hook, loop, each)
        return at

    def write_entry(self, hook: Hook, loop: Loop, each: Iteration) -> None:
        calls = (
            RecordedCall("1", "Edit", EDIT, target=self.random.choice(_FILES)),
            RecordedCall("2", "Bash", OTHER, target="make test"),
        )
        check = (
            "The check `make test` ended with exit code 1:\nE   assert 3 == 5\n1 failed, 14 passed"
        )
        turn = Turn(steps=(*calls, each.said))
        decision = f"{each.decision}, {each.why}"
        transcripts.write(
            transcripts.Entry(loop, hook.event.session, each.number, each.at, turn, check, decision)
        )

    def leave_open(self, hook: Hook, loop: Loop, number: int, at: float) -> None:
        """Makes it one of those that have not ended: every other one works."""
        match number % 8:
            case 1:
                loop.pause(PAUSED, messages.YOU_PAUSED, at)
            case 3:
                why = "the password of the test account at the bank; is it in the vault?"
                loop.pause(BLOCKED, why, at)
                hook.session.idle_since = at
            case 5:
                loop.pause(STUCK, "the same error came 3 times: No space left on device", at)
            case 7:
                loop.left_at = at
                hook.session.end(at)
            case 6:
                hook.session.idle_since = at
                hook.session.question = "Shall I delete the old table too?"
        hook.session.save(self.store)

    def end_loop(self, loop: Loop, number: int, at: float) -> None:
        match number % 7:
            case 2:
                loop.end(CANCELLED, messages.BY_USER, at)
            case 4:
                last = loop.counters.iteration
                loop.options.max_iterations = last
                loop.end(MAX_ITERATIONS, f"iteration {last} was the last", at)
            case 5:
                loop.end(LIMIT, "it has run for 24 hours", at)
            case _:
                loop.end(SUCCESS, "the promise was said, and `make test` passed", at)

    # ------------------------------------------------------------ runs

    def add_run(self, number: int) -> None:
        """Adds a run of a night; the first one works now, in the process that asks for it."""
        project = self.projects[number % len(self.projects)]
        began = self.now - 3600 - number * _DAY
        like = self.new_loop(project, f"fix_plan.md of {Path(project).name}", began)
        hook = self.new_session(number, project, began)
        run = runs.Run(
            like.id, project, like.prompt, like.options, began, like.counters,
            setup=runs.RunOptions(max_usd=20.0, seats=[runs.Seat(mode="acceptEdits")]),
        )  # fmt: skip
        self.write_transcript(hook, run.prompt)
        run.state.action = "[Edit] src/receipt.py"
        run.state.todo = list(_ITEMS)
        loops.insert(self.store, run)
        run.session = hook.session.n
        for at, item in enumerate(_ITEMS[: 3 if number else 2], 1):
            self.add_run_iteration(run, hook, at, item)
        if number == 0:
            run.runner, run.state.item = processes.key(os.getpid()), _ITEMS[2]
            run.state.is_working, run.state.began_at = True, self.now - 300
        elif number == 1:
            run.end(FATAL_ERROR, "the client is not logged in", began + 3000)
        elif number == 2:
            self.block_item(run, began + 3000)
        else:
            run.end(SUCCESS, "no item is open", began + 3000)
        loops.save(self.store, run)
        if number:
            self.write_report(run)

    def block_item(self, run: runs.Run, at: float) -> None:
        """Lets a run stop at an item that its user has answered since."""
        item, why = run.state.todo[0], "which of the two printers?"
        plan = Path(run.project) / "fix_plan.md"
        plan.write_text(f"- [ ] {item}\n  {runner_messages.answer('The one at the door.')}\n")
        run.state.plan, run.state.blocked = str(plan), {item: why}
        run.state.answers = {item: ["The one at the door."]}
        run.pause(BLOCKED, f"all that is left is blocked: {item} ({why})", at)

    def write_report(self, run: runs.Run) -> None:
        file = Path(transcripts.report_file(run.id))
        file.parent.mkdir(parents=True, exist_ok=True)
        rows = iterations.of(self.store, run)
        file.write_text(report.render(run, rows, "", [], []), encoding="utf-8")

    def add_run_iteration(self, run: runs.Run, hook: Hook, number: int, item: str) -> None:
        each = Iteration(
            number, run.started_at + 900 * number, "continue", "the item is done", 800_000,
            said=f"{item}: done.", seconds=880, files=3, percent=40, item=item, is_done=True,
            cost=1.4, denied=["Bash(curl https://example.com)"] if number == 2 else [],
        )  # fmt: skip
        iterations.record(self.store, run, hook.session.n, each)
        run.state.done.append(item)
        run.state.todo.remove(item)
        run.state.cost += each.cost
        run.counters.tokens += each.tokens
        run.counters.iteration = number + 1

    # ------------------------------------------------------------ plans and handoffs

    def add_plan(self, number: int) -> None:
        name, total, done = _PLANS[number % len(_PLANS)]
        project = self.projects[number % len(self.projects)]
        folder = Path(project) / ".claude" / "plans"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"plan-{number}.md"
        began = self.now - (number + 1) * 7200
        for completed in (done - 1, done):  # a plan is followed while it has open tasks
            boxes = (
                f"- [{'x' if at < completed else ' '}] {_ITEMS[at % 4]} {at + 1}\n"
                for at in range(total)
            )
            path.write_text(f"# {name}\n\n## Wave 1\n\n{''.join(boxes)}", encoding="utf-8")
            progress.update(self.store, find.read(str(path), project), began)
        hook = self.new_session(number, project, began)
        self.write_transcript(hook, "Go on with the plan.")
        plan = plan_rows.find(self.store, str(path))
        assert plan is not None
        plan = plan.with_session(hook.event.session)
        plan.used_at = plan.started_at = began
        plan.checkpoint = plan_rows.Checkpoint(
            datetime.fromtimestamp(began, UTC).isoformat(), "the cart is stored", wave=1
        )
        hook.session.plan = plan_rows.save(self.store, plan)
        hook.session.save(self.store)
        plan_rows.add_history(self.store, plan, "started", began)

    def add_handoffs(self) -> None:
        """Adds handoffs of the last loops that have files: one in five."""
        for session, loop in self.sessions[::5]:
            folder = Path(loop.project) / ".claude" / "handoffs"
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / f"{loop.id}.md"
            text = f"# Handoff\n\n**Task**: {loop.task}\n\n## Next\n\n1. Show the total\n"
            file.write_text(text, encoding="utf-8")
            handoff = handoffs.Handoff(
                session.n, loop.id, loop.project, str(file), handoffs.OPEN, 2, 78,
                self.now - 1800, "Go on with the total.", "Show the total",
                json.dumps([[_FILES[0], "10-40"]]), why=handoff_messages.CONTEXT,
            )  # fmt: skip
            handoffs.insert(self.store, handoff)
            if loop.ended_at:
                handoffs.give(self.store, handoff)

    def enforce(self) -> None:
        """Makes the first session of the enforced project one that was made to go on."""
        for session, _ in self.sessions[:1]:
            enforcements.save(
                self.store, session, enforcements.Enforcement(3, 1, self.now - 600, is_pending=True)
            )

    # ------------------------------------------------------------ ids

    def new_id(self) -> str:
        while True:
            id = "".join(self.random.choices("ABCDEFGHKLMNPQRSTabcdefghkmnpqrst23456789", k=5))
            if id not in self.ids:
                self.ids.add(id)
                return id

    def hexa(self, length: int) -> str:
        return "".join(self.random.choices("0123456789abcdef", k=length))

    def uuid(self) -> str:
        return "-".join(self.hexa(length) for length in (8, 4, 4, 4, 12))
