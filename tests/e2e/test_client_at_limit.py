"""`sisyphus ralph run --client claude-code,codex` with the real clients: one goes on where the
account of the other is at its limit."""

from __future__ import annotations

import json
import time

from e2e.desk import CODEX, Desk
from e2e.script import edit, read, say, use, write
from e2e.test_codex_run import playing as playing_codex
from e2e.test_run import DONE, RESUME, do, plan, playing

BOTH = (
    *("--client", "claude-code,codex"),
    *("--permission-mode", "acceptEdits,workspace-write"),
)
LIMIT_SECONDS = 8
"""How long the limit lasts, whose end the service does not say."""
KEY = "of-no-account"


def test_a_night_with_a_limit(desk: Desk) -> None:
    """Claude Code, its limit in the middle of an item, Codex, and back."""
    plan(desk, "cart", "total", "receipt")
    settings = desk.home / ".claude" / ".sisyphus" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[runner]\nretry_seconds = {LIMIT_SECONDS}\n")
    half = use(write("half.py", "half = 1\n"))
    refused = say("", status=429)
    claudes = [*do("cart"), half, refused, refused, *do("receipt")]
    tick = edit("fix_plan.md", "- [ ] total", "- [x] total")
    codexs = [
        use(read("half.py")),
        use(write("total.py", "x = 1\n"), tick),
        say(DONE.text, meanwhile=lambda: time.sleep(LIMIT_SECONDS)),
    ]

    with playing(desk, claudes) as runs, playing_codex(desk.with_client(CODEX), codexs) as other:
        code, printed = runs.run(*BOTH, SCRIPTED_KEY=KEY)

    assert code == 0, printed
    assert "Waiting until" not in printed
    assert "The run goes on with codex." in printed
    assert "The run goes on with claude-code again." in printed
    assert other.items == ["total"]
    assert RESUME in other.firsts[0].text
    assert "half.py" in other.firsts[0].text
    rows = [(row["iteration"], row["item"], row["client"], row["is_done"]) for row in runs.log()]
    assert rows == [
        (1, "cart", "claude-code", True),
        (2, "total", "codex", True),
        (3, "receipt", "claude-code", True),
    ]
    sessions = json.loads(desk.sisyphus("sessions", "--json"))["sessions"]
    assert [each["client"] for each in sessions].count("codex") == 1
