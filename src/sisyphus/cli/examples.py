"""An example of each command, for its help: as typed in a shell and, where a slash command does the
same, in a session of a client."""

from typing import NamedTuple

from sisyphus import clients
from sisyphus.sessions.command_names import PREFIX


class Examples(NamedTuple):
    """lines: what to type in a shell, without `sisyphus`. slash: the same as a slash command,
    without the sign before its name; "" = there is none."""

    lines: tuple[str, ...]
    slash: str = ""


EXAMPLES = {
    "status": Examples(("status", "status --all --watch")),
    "dashboard": Examples(("dashboard", "dashboard --port 0 --no-open")),
    "boulder": Examples(("boulder start docs/plan.md", "boulder status"), "boulder-status"),
    "boulder status": Examples(
        ("boulder status", "boulder status --plan docs/plan.md --json"), "boulder-status"
    ),
    "boulder start": Examples(("boulder start docs/plan.md",), "start-work docs/plan.md"),
    "boulder checkpoint": Examples(
        ('boulder checkpoint "Parser done" --wave 2',),
        'checkpoint "Parser done" --wave 2',
    ),
    "boulder clear": Examples(("boulder clear",), "boulder-clear"),
    "boulder hold": Examples(
        ("boulder hold on --max-iterations 30", "boulder hold off"),
        "boulder-hold on --max-iterations 30",
    ),
    "boulder checks": Examples(("boulder checks", "boulder checks --trust")),
    "ralph": Examples(("ralph list", "ralph cancel"), "ralph list"),
    "ralph start": Examples(
        (
            'ralph start --completion-promise DONE -- "Make it green"',
            'ralph start --verify "make test" --prompt-file task.md',
        ),
        'ralph-loop "Make it green" --completion-promise DONE',
    ),
    "ralph list": Examples(("ralph list", "ralph list k7Qm2 --json"), "list-ralph-loops"),
    "ralph log": Examples(
        (
            "ralph log --project . --outcome limit",
            "ralph log k7Qm2",
            "ralph log --stats --days 7",
        ),
        "ralph log k7Qm2",
    ),
    "ralph pause": Examples(("ralph pause k7Qm2",), "ralph pause"),
    "ralph resume": Examples(("ralph resume k7Qm2",), "ralph resume"),
    "ralph delete": Examples(("ralph delete k7Qm2 c5Hx2",)),
    "ralph cancel": Examples(("ralph cancel", "ralph cancel k7Qm2"), "cancel-ralph"),
    "ralph run": Examples((
        "ralph run --permission-mode acceptEdits --commit",
        'ralph run --permission-mode acceptEdits -- "Make it green"',
        "ralph run --client codex --permission-mode workspace-write",
        "ralph run --resume",
    )),
    "ralph decide": Examples(("ralph decide --output said.txt",)),
    "enforce": Examples(("enforce on", "enforce status"), "enforce on"),
    "enforce on": Examples(("enforce on",), "enforce on"),
    "enforce off": Examples(("enforce off",), "enforce off"),
    "enforce stop": Examples(("enforce stop",), "enforce stop"),
    "enforce status": Examples(("enforce status", "enforce status --json"), "enforce status"),
    "context": Examples(("context", "context --json"), "ralph-context"),
    "handoff": Examples(("handoff",), "ralph-checkpoint"),
    "rules show": Examples(("rules", "rules src/app.py")),
    "rules lint": Examples(("rules lint",)),
    "why": Examples(("why --limit 20", "why --follow")),
    "sessions": Examples(("sessions", "sessions --all --limit 50")),
    "demo": Examples(("demo",)),
    "doctor": Examples(("doctor", "doctor --live --client codex")),
    "install": Examples(("install", "install --client codex --dry-run", "install --scope project")),
    "uninstall": Examples(("uninstall --dry-run", "uninstall --scope project")),
    "config show": Examples((
        "config --verbose", "config rules.enabled false --in-project",
        "config rules.enabled --unset",
    )),
    "config schema": Examples(("config schema",)),
    "purge": Examples(("purge --days 90 --dry-run",)),
    "notify": Examples(("notify test",)),
    "notify test": Examples(("notify test",)),
    "plugin-path": Examples(("plugin-path",)),
}  # fmt: skip
"""The words of a row of the table → its examples. Not of those that agents call, and not of a group
whose help is that of its default."""


def epilog(words: str) -> str:
    """Returns the examples of a row as its help ends with them; "" = it has none."""
    if words not in EXAMPLES:
        return ""
    lines, typed = EXAMPLES[words]
    text = "\n".join(["Examples:", *(f"  sisyphus {line}" for line in lines)])
    return f"{text}\n\nIn a session:\n" + "\n".join(_spellings(typed)) if typed else text


def _spellings(typed: str) -> list[str]:
    """Returns how a slash command is typed after `install`, with the plugin alone, and in clients
    whose commands begin with another sign."""
    usual = clients.native(clients.DEFAULT).COMMAND_SIGN
    others = {name: clients.native(name).COMMAND_SIGN for name in clients.NAMES}
    return [
        f"  {usual}{typed}",
        f"  {usual}{PREFIX}{typed}  (plugin)",
        *(
            f"  {sign}{typed}  (in {clients.wiring(name).TITLE})"
            for name, sign in others.items()
            if sign != usual
        ),
    ]
