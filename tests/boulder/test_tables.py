from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sisyphus.boulder import tables
from sisyphus.style import Style
from sisyphus.times import clock

if TYPE_CHECKING:
    from sisyphus._types import Json

NOW = 1_771_000_000.0
AT = "2026-02-13T15:00:00Z"
ASCII = Style(is_ascii=True)


def a_row(name: str = "Shop", root: str = "/p/shop", **fields: object) -> Json:
    return {
        "project_root": root, "plan_name": name, "active_plan": f"{root}/PLAN.md",
        "state": "active", "completed": 5, "total": 20, "touched_at": AT, "sessions_open": 0,
        "is_current": False, "in_use": False, "enforced": False, **fields,
    }  # fmt: skip


def test_plans_are_listed_by_project_the_latest_first() -> None:
    rows = [
        a_row("Old", touched_at="2026-01-13T16:26:40Z", state="no_tasks", completed=0, total=0),
        a_row("Blog posts", "/p/blog", touched_at="2026-02-13T14:00:00Z", is_current=True),
        a_row(in_use=True, is_current=True, sessions_open=2),
        a_row("Odd", "/p/blog", touched_at="soon", enforced=True, sessions_open=1, state="stale"),
    ]
    assert tables.list_text(rows, NOW, width=100) == (
        "/p/shop\n"
        "  *>   Shop        active    5/20  25 %  1 h 26 min ago  2 sessions  PLAN.md\n"
        "       Old         no tasks   0/0        31 d ago                    PLAN.md\n"
        "\n"
        "/p/blog\n"
        "   >   Blog posts  active    5/20  25 %  2 h 26 min ago              PLAN.md\n"
        "    !  Odd         stale     5/20  25 %                  1 session   PLAN.md\n"
        "\n"
        "* the plan in use   > its project's current plan   ! enforced"
    )


def test_a_list_without_marks_needs_no_legend_and_no_empty_column() -> None:
    row = a_row(touched_at="", active_plan="/else/where.md")
    assert tables.list_text([row], NOW) == (
        "/p/shop\n       Shop  active  5/20  25 %  /else/where.md"
    )


FITTED = [
    pytest.param(
        Style(), 66, "Docs audit  active  5/20  25 %  docs/kord/plans/epic-13.md", id="all of it"
    ),
    pytest.param(
        Style(),
        64,
        "Docs audit  active  5/20  25 %  …cs/kord/plans/epic-13.md",
        id="a path without its beginning",
    ),
    pytest.param(
        ASCII, 64, "Docs audit  active  5/20  25 %  .../kord/plans/epic-13.md", id="in ascii"
    ),
]


@pytest.mark.parametrize(("style", "width", "told"), FITTED)
def test_a_path_keeps_its_end(style: Style, width: int, told: str) -> None:
    row = a_row("Docs audit", active_plan="/p/shop/docs/kord/plans/epic-13.md", touched_at="")
    text = tables.list_text([row], NOW, width=width, style=style)
    assert text.splitlines()[1] == f"       {told}"


def test_a_name_gives_way_to_the_path() -> None:
    row = a_row("long " * 20, active_plan="/p/shop/docs/kord/plans/epic-13.md", touched_at="")
    text = tables.list_text([row], NOW, width=68)
    assert text.splitlines()[1] == (
        "       long long long…  active  5/20  25 %  …s/kord/plans/epic-13.md"
    )


def test_where_there_is_no_room_beside_it_the_path_stands_below() -> None:
    row = a_row("Docs audit", active_plan="/p/shop/docs/kord/plans/epic-13.md", touched_at="")
    text = tables.list_text([row, a_row("Shop", touched_at="")], NOW, width=40)
    assert text.splitlines()[1:] == [
        "       Docs audit  active  5/20  25 %",
        "       docs/kord/plans/epic-13.md",
        "       Shop        active  5/20  25 %",
        "       PLAN.md",
    ]


def test_a_projects_folder_keeps_its_end() -> None:
    rows = [a_row("Shop", f"/home/ada/code/clients/acme/{name}") for name in ("shop", "depot")]
    lines = tables.list_text(rows, NOW, width=30).splitlines()
    assert [line for line in lines if "acme" in line] == [
        "…me/ada/code/clients/acme/shop",
        "…e/ada/code/clients/acme/depot",
    ]


def test_a_list_fits() -> None:
    row = a_row("long " * 20, "/p\n/x", is_current=True, state="missing", active_plan="/a" * 50)
    lines = tables.list_text([row], NOW, width=30).splitlines()
    assert lines[:2] == ["/p /x", "   >   long long long long lo…"]
    assert lines[2] == "       …" + "/a" * 11
    assert max(map(len, lines)) == 30


def test_how_a_plan_that_is_gone_is_forgotten_is_told() -> None:
    rows = [a_row("Gone", state="missing"), a_row("There", in_use=True)]
    told = "To forget a plan that is missing: sisyphus boulder clear NAME --project DIR"
    assert tables.list_text(rows, NOW).endswith(f"\n\n* the plan in use\n{told}")
    assert told not in tables.list_text(rows[1:], NOW)


def test_nothing_is_said_in_words() -> None:
    assert "sisyphus boulder start" in tables.list_text([], NOW)
    assert tables.history_text([]) == tables.NO_HISTORY
    assert tables.todos_text([{}]) == tables.NO_TODOS


def test_the_history_is_told_in_the_order_given() -> None:
    rows: list[Json] = [
        {"at": AT, "what": "checkpoint", "plan_name": "Docs", "message": "one " * 30, "by": "you"},
        {"at": AT, "what": "completed", "plan_name": "Docs", "message": None},
        {"active_plan": "/p/PLAN.md"},
    ]
    assert tables.history_text(rows, width=60) == (
        f"{clock(AT)}  checkpoint  Docs  (you)\n"
        "  one one one one one one one one one one one one one one\n"
        "  one one one one one one one one one one one one one one\n"
        "  one one\n"
        f"{clock(AT)}  completed   Docs\n"
        f"{'':<30}/p/PLAN.md"
    )


TODOS = [
    pytest.param(Style(), "◐ w2   Write it\n✓ 1@x  Read it\n○      Ask", id="unicode"),
    pytest.param(ASCII, "/ w2   Write it\nx 1@x  Read it\n.      Ask", id="ascii"),
]


@pytest.mark.parametrize(("style", "text"), TODOS)
def test_todos_are_listed_with_what_is_done(style: Style, text: str) -> None:
    found: list[Json] = [
        {"id": "w2", "content": "Write it", "status": "in_progress"},
        {"id": "1@x", "content": "Read it", "status": "cancelled"},
        {"content": "Ask"},
    ]
    assert tables.todos_text(found, style=style) == text
