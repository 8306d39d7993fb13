from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.arbiter import let_go
from sisyphus.boulder import actions, answers, enforcement, enforcing
from sisyphus.boulder.choose import names_of_plans
from sisyphus.boulder.meant import names_of_followed
from sisyphus.cli import boulder_show
from sisyphus.cli.boulder_show import Session, session_of, show, started
from sisyphus.cli.output import AsJson, Project, workspace
from sisyphus.errors import SisyphusError
from sisyphus.session.client_process import is_inside_client
from sisyphus.text import line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sisyphus._types import PlanStatus
    from sisyphus.workspace import Workspace

app = typer.Typer(
    help="The plan that survives the session.",
    epilog="Example: `sisyphus boulder start docs/plan.md`",
    no_args_is_help=True,
)
app.command(epilog="Example: `sisyphus boulder status --watch`")(boulder_show.status)
app.command("list", epilog="Example: `sisyphus boulder list --json`")(boulder_show.list_plans)
app.command(epilog="Example: `sisyphus boulder todos`")(boulder_show.todos)
app.command(epilog="Example: `sisyphus boulder history -n 5`")(boulder_show.history)


def _names(incomplete: str) -> list[str]:
    return _completed(names_of_plans, incomplete)


def _names_of_followed(incomplete: str) -> list[str]:
    return _completed(names_of_followed, incomplete)


def _completed(names: Callable[[Workspace], list[str]], incomplete: str) -> list[str]:
    try:
        found = names(workspace(""))
    except SisyphusError:
        return []
    return [name for name in found if name.casefold().startswith(incomplete.casefold())]


Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A plan's name, a part of it, or a path.",
        show_default=False,
        autocompletion=_names,
    ),
]
Followed = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A plan that is followed here: its name or a part of it.",
        show_default=False,
        autocompletion=_names_of_followed,
    ),
]
InRepo = Annotated[
    bool,
    typer.Option(
        "--in-repo",
        help="Keep the plan's record in the project, as docs/kord/boulder.json, for everybody.",
    ),
]


@app.command(epilog="Example: `sisyphus boulder start checkout`")
def start(
    name: Name = "",
    project: Project = "",
    in_repo: InRepo = False,
    session_id: Session = "",
    as_json: AsJson = False,
) -> None:
    """Follow a plan of this project; its only open one where no name is given.

    Sessions that begin from now on continue with it.
    """
    space = workspace(project)
    found = actions.start(space, name, session_of(session_id), in_repo=in_repo)
    show(found, lambda: started(found, space.now), as_json)


@app.command(epilog="Example: `sisyphus boulder switch checkout`")
def switch(
    name: Name = "", project: Project = "", session_id: Session = "", as_json: AsJson = False
) -> None:
    """Put this project's plan, or the one named, in use instead of another."""
    space = workspace(project)
    found = actions.switch(space, name, session_of(session_id))
    show(found, lambda: started(found, space.now), as_json)


@app.command(epilog='Example: `sisyphus boulder checkpoint "headers done, tests next" --story S07`')
def checkpoint(  # one an option
    message: Annotated[
        str, typer.Argument(metavar="MESSAGE", help="How far the work is.", show_default=False)
    ] = "",
    wave: Annotated[
        int | None, typer.Option("--wave", metavar="N", help="The wave that goes on now.")
    ] = None,
    story: Annotated[
        str, typer.Option("--story", metavar="SNN", help="The story that goes on now.")
    ] = "",
    project: Project = "",
    session_id: Session = "",
    as_json: AsJson = False,
) -> None:
    """Note how far the work is; the next session is told.

    Without MESSAGE it says what is done and what comes next.
    """
    space = workspace(project)
    found = actions.checkpoint(
        space, message, wave=wave, story=story, session=session_of(session_id)
    )
    show(found, lambda: answers.noted(found), as_json)


@app.command(epilog="Example: `sisyphus boulder enforce on --max-iterations 40`")
def enforce(  # one an option
    state: Annotated[str, typer.Argument(metavar="on|off", help="on or off.")],
    max_iterations: Annotated[
        int | None,
        typer.Option(
            "--max-iterations",
            metavar="N",
            min=1,
            help="Iterations at most, as of a loop; else 100.",
        ),
    ] = None,
    max_minutes: Annotated[
        int | None, typer.Option("--max-minutes", metavar="N", min=1, help="Let go after so long.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", metavar="N", min=1, help="Let go after so many.")
    ] = None,
    project: Project = "",
    session_id: Session = "",
    as_json: AsJson = False,
) -> None:
    """Hold the sessions that work on the plan at Stop while it has open tasks, whatever else they
    turn to.

    Blocked and cancelled tasks, and a question to the user, hold nobody. The limits are those of
    a loop; `sisyphus ralph pause`, `resume` and `cancel` work for it too.
    """
    if state not in ("on", "off"):
        raise typer.BadParameter(f"{state!r} is neither on nor off.", param_hint="on|off")
    given = {
        "max_iterations": max_iterations, "max_minutes": max_minutes, "max_tokens": max_tokens,
    }  # fmt: skip
    space, session = workspace(project), session_of(session_id)
    found = _hold(space, session, given) if state == "on" else _let_go(space, session)
    show(found, lambda: answers.enforced(found), as_json)


def _hold(space: Workspace, session: str, given: Mapping[str, int | None]) -> PlanStatus:
    by_model = is_inside_client()
    limits, notes = enforcing.limits(given, by_model=by_model)
    found = enforcing.enforce(space, on=True, limits=limits, session=session, by_model=by_model)
    for note in notes:
        typer.echo(f"note: {note}", err=True)
    return found


def _let_go(space: Workspace, session: str) -> PlanStatus:
    sessions = enforcing.held_sessions(space, session)
    found = enforcing.enforce(space, on=False, session=session)
    let_go.tell(space, found, sessions, let_go.SWITCHED_OFF)
    return found


@app.command(epilog="Example: `sisyphus boulder clear --yes`")
def clear(
    name: Followed = "",
    project: Project = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    session_id: Session = "",
    as_json: AsJson = False,
) -> None:
    """Stop following a plan, without NAME the one in use. The plan file stays as it is.

    An open plan comes back by `boulder start`, or when its file changes.
    """
    space, session = workspace(project, may_be_gone=True), session_of(session_id)
    if not yes and not as_json and sys.stdin.isatty():
        _confirm(actions.to_clear(space, session, name, elsewhere=not project))
    found = actions.clear(space, session, name, elsewhere=not project)
    sessions = enforcement.held_sessions(found["session_ids"], found["enforced"])
    let_go.tell(space, found, sessions, let_go.CLEARED)
    show(found, lambda: answers.cleared(found), as_json)


def _confirm(found: PlanStatus) -> None:
    """Asked only where a person sits at the other end and there is something to lose."""
    if found["state"] in ("active", "stale"):
        progress = found["progress"]
        name = line(found["plan_name"] or "")
        done = f"{progress['completed']}/{progress['total']} tasks complete"
        typer.confirm(f"Stop following {name} ({done})?", abort=True)
