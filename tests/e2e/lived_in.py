"""A home in which somebody has worked for weeks: what every page of the dashboard has to show."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

from past import Past, projects

from e2e.client import COMMANDS, environment
from e2e.desk import Desk, make_project
from e2e.script import Turn, read, say, use

if TYPE_CHECKING:
    from pathlib import Path

ENDED, ACTIVE = 60, 8
LOOP = '/sisyphus:ralph-loop "Add the discount rule" --completion-promise "DONE"'
PLAN = """\
# Shop checkout

## Wave 1: Cart

- [x] Model the cart
- [x] Show the cart
- [ ] Add the discount rule

## Wave 2: Payment

- [ ] Ask for the card
- [ ] Send the receipt
"""
RULE = "---\napplies_to: '**/*.py'\n---\nMoney is an integer number of cents.\n"
UNUSED = "---\napplies_to: '**/*.sql'\n---\nNo migration without a way back.\n"
_WINDOW = 1_000_000


def furnish(folder: Path) -> Desk:
    """A desk with a real session behind it, in which a loop went on until the context was full."""
    (folder / "home/tmp").mkdir(parents=True)
    desk = Desk(folder / "home", make_project(folder / "checkout"))
    desk.write("README.md", "# Checkout\n\nRun the tests with `make test`.\n")
    desk.write(".claude/PLAN.md", PLAN)
    desk.write(".claude/rules/money.md", RULE)
    desk.write(".claude/rules/schema.md", UNUSED)
    code = desk.write("cart.py", "total = 0\n")
    roots = projects(folder / "projects", environment(desk.home))
    Past(str(desk.home / ".claude/.sisyphus"), time.time(), roots).write(ENDED, ACTIVE)
    looks = [Turn("", (read(code),), tokens=_WINDOW * n // 100) for n in (20, 41, 58, 72, 87, 96)]
    desk.run(LOOP, turns=[*looks, Turn("I stop here.", tokens=_WINDOW * 97 // 100)])
    in_project(desk, "boulder", "checkpoint", "The cart is done")
    in_project(desk, "enforce", "on")
    desk.run("go on", turns=[use(read(code)), say("All tasks are done."), say("They are done.")])
    return desk


def in_project(desk: Desk, *words: str) -> str:
    """What a command of ours prints, typed in the project."""
    ran = subprocess.run(
        [COMMANDS / "sisyphus", *words],
        cwd=desk.project,
        env=environment(desk.home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
