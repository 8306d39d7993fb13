"""The project's rules, and the settings that are in force here."""

from __future__ import annotations

from sisyphus.configuring import complaints
from sisyphus.doctor.finding import Finding, count, ok, warning
from sisyphus.rules import lint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.doctor.case import Case

RULES, CONFIG = "rules", "config"


def rules(case: Case) -> Iterator[Finding]:
    rows = lint.lint(case.space)
    if rows:
        text = count(len(rows), "finding")
        yield warning(RULES, f"{text} in the rule files of this project", "`sisyphus rules lint`")
    else:
        yield ok(RULES, "no findings")


def config(case: Case) -> Iterator[Finding]:
    found = complaints.complaints(case.space.ours, case.space.root)
    for one in found:
        where = f"{case.shown(one.path)}: {one.key}" if one.key else case.shown(one.path)
        yield warning(CONFIG, f"{where}: {one.text}", one.hint)
    if not found:
        yield ok(CONFIG, "every key is known and of its type")
