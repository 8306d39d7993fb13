"""Writes docs/settings.md from the table of settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sisyphus.configuring import keys, values
from sisyphus.configuring.explain import who
from sisyphus.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = Path(__file__).parents[1] / "docs" / "settings.md"

_HEAD = """\
# Settings

(Written from the code by `make docs`.)

Each setting stands in a section of a TOML file. The later of these is the stronger:

| | where | who writes it |
|---|---|---|
| 1 | its default | |
| 2 | `~/.claude/.sisyphus/config.toml` (below `CLAUDE_CONFIG_DIR` where that is set) | you: `sisyphus config set KEY VALUE` |
| 3 | `PROJECT/.claude/sisyphus.toml` | whoever writes the project: `sisyphus config set KEY VALUE --project DIR` |
| 4 | `SISYPHUS_SECTION_KEY` in the environment | you for one session, or a project: `SISYPHUS_RULES_ENABLED=0 claude` |

The last column of the tables below says who may set what. All of it is yours. A project can be a stranger's, and its
`.claude/settings.json` can set the variables that hooks get, so a project's file and a variable may do the same few things:

- switch a feature off, or lower a limit, measured by your own value: where you have `max_iterations = 20`, a project may say 10
  and not 30, and what you switched off stays off;
- choose which of its documents are sent (`context.agents_md`, `context.directory_readme`).

Whatever runs a command, names a path or an account, lifts a limit, or shortens a pause that keeps the cost down is yours alone.

A variable spells a switch as 0 or 1, a list with commas.

A value that is of the wrong kind, or that may not stand where it does, is passed over, and so is a setting that does not
exist: no hook fails for it. `sisyphus config show` tells what is in force, where it comes from and what was passed over;
`sisyphus doctor` names what does not count, and the debug log has a line for each refused value.

```console
$ sisyphus config show --changed
$ sisyphus config explain boulder.stale_days
$ sisyphus config set boulder.stale_days 30
$ sisyphus config unset boulder.stale_days
$ sisyphus config edit
```
"""  # noqa: E501  # Markdown's tables have long lines


_COLUMNS = "| setting | default | takes | meaning | who may set it |\n|---|---|---|---|---|"


def page() -> str:
    return "\n".join([_HEAD, *(_section(section) for section in keys.sections())])


def _section(section: str) -> str:
    found = keys.of_section(section)
    rows = "\n".join(map(_row, found))
    examples = "\n".join(_examples(found))
    return (
        f"## {section}\n\n{keys.SECTIONS[section]}\n\n"
        f"{_COLUMNS}\n{rows}\n\n"
        f"```toml\n[{section}]\n{examples}\n```\n"
    )


def _row(key: str) -> str:
    setting = SETTINGS[key]
    cells = (
        f"`{key.partition('.')[2]}`", f"`{values.spelled(setting.default)}`",
        values.kind(setting), setting.doc, who(key),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _examples(found: list[str]) -> Iterator[str]:
    for key in found:
        yield f"{key.partition('.')[2]} = {values.spelled(values.example(SETTINGS[key]))}"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
