"""Which of the plans that are followed a command is about."""

from __future__ import annotations

import os

from sisyphus.boulder import answers, report
from sisyphus.boulder.discover import standing_place
from sisyphus.boulder.in_use import read_global
from sisyphus.boulder.look import Look
from sisyphus.boulder.record import last_touched
from sisyphus.boulder.store import read_plans
from sisyphus.boulder.titles import NO_FIT, fit
from sisyphus.errors import SisyphusError
from sisyphus.paths import display
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.boulder.follow import Follower
    from sisyphus.boulder.store import Plans
    from sisyphus.workspace import Workspace

_LISTED = 10


class NotFollowedError(SisyphusError):
    """The project has no plan, or several and none of them is chosen."""


def record_meant(space: Workspace, session: str, *, elsewhere: bool) -> Json | None:
    """Of the plan that `session` is at, else the project's current one, else (`elsewhere`) the one
    in use."""
    plans = read_plans(space.home, space.root)
    if path := plans.of_session(session):
        return plans.records[path]
    found = read_global(space.home)
    return found if found and (elsewhere or found["project_root"] == space.root) else None


def record_to_clear(space: Workspace, session: str, name: str, *, elsewhere: bool) -> Json:
    """The one called `name`; without a name as above, or the project's only one. Where it has
    several and none is chosen, none of another project is meant either. Raises `SisyphusError`
    where there is none."""
    plans = read_plans(space.home, space.root)
    if name:
        return _called(plans, name)
    if not plans.of_session(session) and plans.records:
        if len(plans.records) == 1:
            return next(iter(plans.records.values()))
        raise NotFollowedError(answers.not_followed(plans))
    record = record_meant(space, session, elsewhere=elsewhere)
    if record is None:
        raise SisyphusError(
            f"no plan is followed in {line(space.root)}, so there is nothing to clear. "
            "`sisyphus boulder start` begins with one."
        )
    return record


def _called(plans: Plans, name: str) -> Json:
    """A plan that may be gone, so its record alone says what it is called."""
    if not plans.records:
        raise SisyphusError(
            f"no plan is followed in {line(plans.root)}. `sisyphus boulder list` shows those of "
            "other projects."
        )
    records = sorted(plans.records.values(), key=last_touched, reverse=True)
    ranks = [fit(name, r["plan_name"], r["active_plan"], plans.root) for r in records]
    best = min(ranks, default=NO_FIT)
    matches = [r for r, rank in zip(records, ranks, strict=True) if rank == best < NO_FIT]
    if len(matches) != 1:
        which = "fits several plans; name one" if matches else "is no plan that is followed here"
        raise SisyphusError(f"'{line(name)}' {which}: {_listed(matches or records)}.")
    return matches[0]


def _listed(records: list[Json]) -> str:
    more = f" and {len(records) - _LISTED} more" if len(records) > _LISTED else ""
    names = (
        f"{line(r['plan_name'])} ({line(display(r['active_plan'], r['project_root']))})"
        for r in records[:_LISTED]
    )
    return ", ".join(names) + more


def names_of_followed(space: Workspace) -> list[str]:
    """What may follow `boulder clear`: the file stems of the plans that are followed, be they
    gone or not, those touched last first."""
    plans = read_plans(space.home, standing_place(space))
    records = sorted(plans.records.values(), key=last_touched, reverse=True)
    files = (os.path.basename(record["active_plan"]) for record in records)
    stems = dict.fromkeys(os.path.splitext(file)[0] for file in files)
    return [stem for stem in stems if stem.isprintable()]


def followed(plans: Plans, session: str) -> str:
    """The plan that `session` is at, else the project's current one."""
    if path := plans.of_session(session):
        return path
    raise NotFollowedError(answers.not_followed(plans))


def followed_look(follower: Follower, session: str) -> Look:
    """The same, looked at where its file is by now."""
    look = follower.look(followed(follower.book, session))
    if look.state == "missing":
        follower.follow(look)
        look = follower.look(follower.moved.get(look.path, look.path))
    return there(look)


def there(look: Look) -> Look:
    """`look` itself; raises `SisyphusError` where its file is gone or could not be read."""
    if look.state == "missing":
        place = line(look.place)
        raise SisyphusError(
            f"the plan {place} is gone. Restore the file, or run `sisyphus boulder clear`."
        )
    return report.readable(look)


def look_of(record: Json) -> Look:
    return Look(record["active_plan"], record["project_root"])
