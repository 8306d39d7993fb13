"""A home in which everything that others write is an attack on the page that shows it."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

from making import run_hook

from e2e.client import environment
from e2e.desk import Desk, make_project
from e2e.lived_in import in_project
from e2e.script import Turn, read
from sisyphus.paths import project_id
from sisyphus.ralph import iterations, statefile, store
from sisyphus.ralph.checklists import checklist_store, criteria
from sisyphus.ralph.loop import ERROR, Loop
from sisyphus.ralph.past import history
from sisyphus.state.files import append_line, ensure_folder, write_text
from sisyphus.times import iso

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json

BAIT = "<img src=x onerror=window.pwned=1><script>window.pwned=1</script>{{7*7}}"
QUOTED = '"\'><svg onload="window.pwned=1"> autofocus onfocus="window.pwned=1" x="'
NAME = '"><img src=x onerror="window.pwned=1">{{7*7}}'
"""As a file or a folder may be called: without a slash."""
FLAG = "pwned"
"""What every one of them would set on the window."""

OURS, SESSION, LOOP, ENDED = ".claude/.sisyphus", "hostile-session", "bait1", "bait2"
PLAN = f"# {BAIT}\n\n## Wave 1: {QUOTED}\n\n### Story 1.1: {BAIT}\n\n- [x] {QUOTED}\n- [ ] {BAIT}\n"
RULE = f"---\napplies_to: '**/*.py'\ndescription: {json.dumps(BAIT)}\n---\n{BAIT}\n"
_WINDOW = 1_000_000


def furnish(folder: Path) -> Desk:
    (folder / "home/tmp").mkdir(parents=True)
    desk = Desk(folder / "home", make_project(folder / NAME))
    desk.write("README.md", BAIT)
    desk.write(".claude/PLAN.md", PLAN)
    desk.write(f"docs/kord/plans/{NAME}.md", PLAN)
    desk.write(f".claude/rules/{NAME}.md", RULE)
    _work(desk)
    _loops(desk)
    _told(desk)
    in_project(desk, "enforce", "on")
    in_project(desk, "boulder", "start", ".claude/PLAN.md")
    in_project(desk, "boulder", "checkpoint", QUOTED)
    return desk


def _work(desk: Desk) -> None:
    """A loop of the real client that fills its context, and hands its work over."""
    file = desk.write(f"{NAME}.py", "pass\n")
    looks = [Turn(BAIT, (read(file),), tokens=_WINDOW * n // 100) for n in (30, 50, 72, 87)]
    typed = f'/sisyphus:ralph-loop "{BAIT}" --completion-promise "{BAIT}"'
    desk.run(typed, turns=[*looks, Turn(QUOTED, tokens=_WINDOW * 96 // 100)])


def _loops(desk: Desk) -> None:
    """One that has not ended, and one that has."""
    ours, now = str(desk.home / OURS), time.time()
    _leave(ours, _loop(desk, LOOP, now))
    over = _loop(desk, ENDED, now)
    _leave(ours, over)
    history.ended(ours, over, ERROR, now, BAIT)
    os.unlink(store.loop_path(ours, over.session_id))


def _loop(desk: Desk, loop_id: str, now: float) -> Loop:
    loop = Loop(f"{SESSION}-{loop_id}", loop_id, BAIT + QUOTED)
    loop.project, loop.started_at, loop.completion_promise = str(desk.project), iso(now), BAIT
    loop.verified = {"command": BAIT, "at": int(now), "exit_code": 1, "why": QUOTED}
    loop.options = {"verify": BAIT}
    return loop


def _leave(ours: str, loop: Loop) -> None:
    """All that a loop writes."""
    history.started(ours, loop, store.loop_path(ours, loop.session_id))
    at, said = loop.started_at, (BAIT, QUOTED)
    ensure_folder(store.folder(ours))
    write_text(store.loop_path(ours, loop.session_id), statefile.render(loop))
    row: Json = {"iteration": 1, "ended_at": at, "decision": "blocked", "why": BAIT}
    iterations.note(ours, loop.loop_id, row, QUOTED + BAIT)
    write_text(iterations.verify_path(ours, loop.loop_id), BAIT)
    head = {"loop_id": loop.loop_id, "session_id": loop.session_id, "project": BAIT}
    checklist_store.update(ours, head, at, lambda found: criteria.added(found, said, at))


def _told(desk: Desk) -> None:
    """Lines of logs that no feature of ours would write."""
    ours = desk.home / OURS
    told: Json = {"at": time.time(), "event": BAIT, "ms": 1.0, "sent": 1, "blocked": True}
    journal = str(ours / f"logs/journal-{SESSION}.jsonl")
    append_line(journal, {**told, "notes": [BAIT, QUOTED], "project": f"/{NAME}", "client": BAIT})
    enforced = {"at": iso(time.time()), "session_id": SESSION, "what": BAIT, "why": QUOTED}
    folder = ours / "projects" / project_id(str(desk.project.resolve()))
    append_line(str(folder / "enforcements.jsonl"), {**enforced, "claim": BAIT, "layer": BAIT})
    met = {"session_id": SESSION, "cwd": str(desk.project), "source": "startup"}
    run_hook("session-start", met, env=environment(desk.home), cwd=desk.project)
