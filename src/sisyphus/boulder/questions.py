"""What is said where several plans are open. Pure."""

from __future__ import annotations

from sisyphus.paths import display
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.boulder.candidates import OpenPlan


def several(plans: Sequence[OpenPlan], total: int, root: str) -> str:
    """For the model where several plans are open and nobody has said which one goes on."""
    return (
        "[BOULDER PLANS OPEN]\n\n"
        f"{total} plans are open in this project, and this session continues none of them yet:\n\n"
        f"{_listed(plans, total, root)}\n\n"
        "If the user's message does not say which one to work on, or asks for something else, do "
        "not pick one: ask. To continue one: `sisyphus boulder start NAME`."
    )


def ask_which(plans: Sequence[OpenPlan], total: int) -> str:
    """The same for the user."""
    names = ", ".join(f"{line(p.name)} ({p.completed}/{p.total})" for p in plans)
    more = f" and {total - len(plans)} more" if total > len(plans) else ""
    return (
        f"Boulder: {total} plans are open here: {names}{more}. To continue one: "
        "/sisyphus:start-work NAME"
    )


def also_open(plans: Sequence[OpenPlan]) -> str:
    names = ", ".join(f"{line(p.name)} ({p.completed}/{p.total})" for p in plans)
    return f"Also open in this project: {names}."


def _listed(plans: Sequence[OpenPlan], total: int, root: str) -> str:
    rows = [
        f"- {line(p.name)}: {p.completed}/{p.total} tasks complete ({line(display(p.path, root))})"
        + (", stale" if p.is_stale else "")
        for p in plans
    ]
    return "\n".join([*rows, f"- and {total - len(rows)} more"] if total > len(rows) else rows)
