"""One iteration: what it is about, its prompt, its client."""

from __future__ import annotations

import uuid

from sisyphus.checkpoint.outlook import complexity, forecast
from sisyphus.clients.running import CLIENT, DISK
from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.runner import handed, looks
from sisyphus.runner.attend import Landed, attend
from sisyphus.runner.client import failures, launch
from sisyphus.runner.client.stream import Seen
from sisyphus.runner.keep.state import RUNNING
from sisyphus.runner.task import fix_plan, progress, prompt, users_prompt
from sisyphus.times import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.checkpoint.outlook.complexity import Estimate
    from sisyphus.runner.desk import Desk
    from sisyphus.runner.task.fix_plan import FixPlan


def begin(desk: Desk) -> Landed:
    """Runs the client on the next iteration, or on the one that did not come to its end."""
    run = desk.run
    try:
        prepare(desk)
        child = launch.start(desk.places, run)
    except OSError as error:
        failure = failures.of_start(error, launch.program(run))
        return Landed(Seen(), failure, desk.now())
    except SisyphusError as error:
        kind = DISK if isinstance(error, UnreadableError) else CLIENT
        return Landed(Seen(), failures.Failure(kind, str(error)), desk.now())
    run.in_flight["child"] = child.as_json()
    desk.save()
    desk.screen.started(run, is_resumed=False)
    return attend(desk, child)


def prepare(desk: Desk) -> None:
    """Everything before the client starts. What it is about to do is noted first."""
    run, places = desk.run, desk.places
    session = str(uuid.uuid4())
    run.iteration, run.status, run.reason = run.judged + 1, RUNNING, ""
    plan = take_items(desk)
    looks.begin(desk)
    now = desk.now()
    open_one = run.open_checkpoint
    item = plan.todo[0] if plan.todo else ""
    estimate = estimated(desk, item)
    run.in_flight = {
        "iteration": run.iteration,
        "session_id": session,
        "item": item,
        "complexity": estimate.name if estimate else "",
        "started_at": iso(now),
        "began": round(now, 3),
        "stem": launch.stem(places, run),
        "argv": launch.words(run, places.root, session),
        "delivers": (open_one or {}).get("handoff_file", ""),
        "child": None,
    }
    write_prompt(desk, plan, estimate)
    desk.save()


def take_items(desk: Desk) -> FixPlan:
    """The items as they are now, in the run's state too."""
    plan = fix_plan.read(desk.places.root)
    plan.note_in(desk.run)
    return plan


def estimated(desk: Desk, item: str) -> Estimate | None:
    if not item:
        return None
    return complexity.refine(complexity.estimate(item), desk.run.item_costs)


def write_prompt(desk: Desk, plan: FixPlan, estimate: Estimate | None) -> None:
    run = desk.run
    entry = run.open_checkpoint
    around = prompt.Around(
        plan,
        progress.read_last(desk.places.progress),
        handed.block(entry) if entry else "",
        estimate,
        forecast.order(plan.todo, 100, run.item_costs),
    )
    desk.places.prepare(desk.places.prompt)
    users_prompt.write(desk.places, prompt.encode(prompt.build(run, around)))
