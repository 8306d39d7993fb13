"""A scripted agent that makes the mistakes of real ones, by chance and with rates that are stated.

It is no model: it shows what sisyphus does with a mistake, and not how often a model makes it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path

from e2e.claude_code import Json, spell
from e2e.model import Model, Request
from e2e.script import Script, Tool, Turn, edit, read, say, use, write

from evals.cases import Case, Task, text_of

_FOLDER = re.compile(r"working directory: (\S+)")
_FULL = 990_000
"""Tokens at which the client compacts."""

_SUMMARY = "What was said before."
"""All that the scripted model leaves of a conversation when the client compacts it."""

_PATIENCE = 80
"""Requests after which the agent does nothing more: no case needs so many."""

Turns = Generator[Turn, Request, Request]


@dataclass(frozen=True)
class Rates:
    """How often something happens, from 0 to 1. They are guesses, and the same in both arms.

    stops_early: after a task, with others open, it stops. For comparison: in 40 % of 345 sessions
    of one project agents stopped early (amd/gaia#3983).
    works_badly: what it writes does not do what the task asks.
    only_ticks: it ticks the box, and does nothing.
    forgets: after a compaction, if nobody says which task is next, it has lost the plan.
    invents: it makes up what only the user knows.
    obeys: it does what a text tells it when it has stopped, or what a rule says.
    guesses: it does by itself what a rule says that it has not got.
    """

    stops_early: float = 0.4
    works_badly: float = 0.3
    only_ticks: float = 0.3
    forgets: float = 0.5
    invents: float = 0.3
    obeys: float = 0.9
    guesses: float = 0.1

    def of(self, case: Case) -> Rates:
        """The same with the faults of a case alone."""
        always = ("obeys", "guesses", *case.faults)
        return replace(self, **{f.name: 0.0 for f in fields(self) if f.name not in always})


class Agent:
    """Answers the requests of one session."""

    def __init__(self, case: Case, rates: Rates, seed: int, project: Path) -> None:
        self.case = case
        self.rates = rates.of(case)
        self.project = project
        self._chance = random.Random(f"{case.name} {seed}")
        self._turns: Turns | None = None
        self._asked = 0
        self._is_compacted = False

    def answer(self, request: Request) -> Turn:
        self._asked += 1
        if self._asked > _PATIENCE:
            return say("I stop here.")
        if self._turns is None:
            self._turns = self._session(request)
            return next(self._turns)
        return self._turns.send(request)

    def _session(self, request: Request) -> Turns:
        """What it does: first by itself, and then what it is told when it has stopped."""
        if self.case.reads:
            request = yield use(read(self.case.reads))
        elif self.case.tasks:
            request = yield use(read("PLAN.md"))
        todo = [*self.case.tasks]
        while True:
            request = yield from self._work(todo, request)
            while not self._happens(self.rates.obeys):
                request = yield say("It is done, as I said.")
            todo = self._todo(request)

    def _work(self, todo: list[Task], request: Request) -> Turns:
        """Does tasks, and ends its turn; returns the request that lets it go on."""
        for number, task in enumerate(todo, 1):
            if self.case.needs_user and not self._happens(self.rates.invents):
                tag = "<blocked>the key of the mail service</blocked>"
                knows = "<blocked>" in request.text
                return (yield say(tag if knows else "I need the key of the mail service."))
            request = yield from self._do(task, request)
            if number < len(todo) and self._has_forgotten(request):
                return (yield say("What shall I do next?"))
            if number < len(todo) and self._happens(self.rates.stops_early):
                return (yield say(f"I have done the first part: {task.name}."))
        return (yield say("All is done."))

    def _do(self, task: Task, request: Request) -> Turns:
        is_idle = self._happens(self.rates.only_ticks)
        is_bad = self._happens(self.rates.works_badly)
        if self.case.rule:
            knows = self.case.rule in request.text
            is_bad = not self._happens(self.rates.obeys if knows else self.rates.guesses)
        if not is_idle:
            request = yield use(write(task.path, task.wrong if is_bad else task.right))
        ticks = list(self._tick(task))
        if ticks:
            tokens = _FULL if self._is_full_after(task) else 100
            request = yield use(*ticks, tokens=tokens)
        return request

    def _tick(self, task: Task) -> Iterator[Tool]:
        box = f"- [ ] {task.name}"
        if box in text_of(self.project / "PLAN.md"):
            yield edit("PLAN.md", box, f"- [x] {task.name}")

    def _todo(self, request: Request) -> list[Task]:
        """The tasks that a text names, and then those whose boxes are open."""
        plan = text_of(self.project / "PLAN.md")
        is_open = {task.name: f"- [ ] {task.name}" in plan for task in self.case.tasks}
        named = [task for task in self.case.tasks if task.name in request.last]
        return named + [t for t in self.case.tasks if is_open[t.name] and t not in named]

    def _has_forgotten(self, request: Request) -> bool:
        if self._is_compacted or _SUMMARY not in request.text:
            return False
        self._is_compacted = True
        is_told = re.search(r"(?i)\bnext\b.*(" + self._names() + ")", request.text)
        return not is_told and self._happens(self.rates.forgets)

    def _names(self) -> str:
        return "|".join(re.escape(task.name) for task in self.case.tasks)

    def _is_full_after(self, task: Task) -> bool:
        return [*self.case.tasks].index(task) + 1 == self.case.full_after

    def _happens(self, rate: float) -> bool:
        return self._chance.random() < rate


class AgentModel(Model):
    """The scripted model of the end-to-end tests, with an agent for each project that asks it."""

    def __init__(self, case: Case, seed: int, rates: Rates | None = None) -> None:
        super().__init__(Script([]), self._spell)
        self._case, self._seed, self._rates = case, seed, rates or Rates()
        self._agents: dict[str, Agent] = {}
        self._project = Path()

    def script_for(self, request: Request) -> Script:
        folder = _FOLDER.findall(request.text)[0]
        self._project = Path(folder)
        if folder not in self._agents:
            self._agents[folder] = Agent(self._case, self._rates, self._seed, self._project)
        return Script([self._agents[folder].answer(request)])

    def _spell(self, tool: Tool) -> Json:
        return spell(tool, self._project)
