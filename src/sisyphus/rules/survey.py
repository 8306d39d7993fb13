"""All rules of a project and its user, parsed and in order. Imports what the hooks must not."""

from __future__ import annotations

from sisyphus.clients import claude_code_setup
from sisyphus.clients.claude_code import settings_paths
from sisyphus.rules.discover import Discovery, Problem, discover
from sisyphus.rules.match import order
from sisyphus.rules.parse import BadRule, Rule, load
from sisyphus.rules.sources import HOME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sisyphus.rules.discover import Found

    Told = Callable[[int, int], None]

MAX_GLOBS = 15_000  # one that needs a regex counts as five
MAX_TEXT = 10_000_000
MAX_FRONTMATTER = 500_000
"""Of all rules of a project together, in globs and characters, and again of the user's own. They
keep a stranger's project from taking seconds of each hook; a thousand ordinary rules stay far
below."""


class Survey:
    """Rules in the order in which they go out, problems found on the way, and the paths whose
    change makes it out of date."""

    __slots__ = ("problems", "rules", "watched")

    def __init__(self, discovery: Discovery) -> None:
        self.rules: list[Rule] = []
        self.problems = list(discovery.problems)
        self.watched = discovery.watched


def survey(root: str, home: str, told: Told | None = None) -> Survey:
    """Reads every rule of the project at `root` and of the client's folder `home`.

    `told(done, total)` hears how far it is.
    """
    discovery = discover(root, home)
    done = Survey(discovery)
    done.watched += settings_paths(home, root, root)
    excludes = claude_code_setup.excludes(claude_code_setup.settings(home, root, root))
    budgets = {False: _Budget(), True: _Budget()}
    for count, found in enumerate(discovery.files):
        if told:
            told(count, len(discovery.files))
        _add(done, found, home, excludes, budgets[found.source == HOME])
    done.rules.sort(key=lambda rule: order(rule.priority, rule.source, rule.label))
    return done


def _add(done: Survey, found: Found, home: str, excludes: Collection[str], budget: _Budget) -> None:
    if budget.is_spent:
        text = "skipped: those before it are too large or too many"
        done.problems.append(Problem(found.label, found.path, text))
        return
    try:
        rule = load(found, home, excludes)
    except BadRule as error:
        budget.spend(0, error.cost)
        text = f"skipped: {error.reason}"
        done.problems.append(Problem(found.label, found.path, text, error.line))
        return
    globs = [*(one for _, one in rule.patterns or ()), *(rule.native or ())]
    budget.spend(sum(5 if regex else 1 for _, _, regex in globs), rule.cost)
    done.problems += rule.problems
    done.watched += rule.included
    done.rules.append(rule)


class _Budget:
    """What the rules of a project, or the user's own, may cost together."""

    def __init__(self) -> None:
        self._left = [MAX_GLOBS, MAX_FRONTMATTER, MAX_TEXT]

    def spend(self, globs: int, cost: tuple[int, int]) -> None:
        self._left = [left - some for left, some in zip(self._left, (globs, *cost), strict=True)]

    @property
    def is_spent(self) -> bool:
        return min(self._left) <= 0
