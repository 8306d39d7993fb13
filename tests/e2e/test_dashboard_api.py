"""The API keeps to its own description, whatever it is asked."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from past import Past, projects

from e2e.client import COMMANDS, environment
from e2e.dashboards import dashboard

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 180  # against a hang alone, a healthy run takes about ten
EXAMPLES = 15
"""Of each operation, in each phase."""
NOT_ASKED = "positive_data_acceptance"
"""A loop may be in a state in which what was asked for makes no sense: that is a 400, too."""


def test_nothing_that_is_asked_makes_it_fail(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "tmp").mkdir(parents=True)
    roots = projects(tmp_path / "projects", environment(home))
    Past(str(home / ".claude/.sisyphus"), time.time(), roots).write(30, 4)
    with dashboard(home) as served:
        described = json.loads(served.ask("/api/openapi.json").text)
        assert len(described["paths"]) >= 10
        ran = subprocess.run(
            [
                *(COMMANDS / "schemathesis", "run", f"{served.address}api/openapi.json"),
                *("--header", f"Authorization: Bearer {served.token}"),
                *("--max-examples", str(EXAMPLES), "--seed", "8", "--no-color"),
                *("--exclude-checks", NOT_ASKED),
                *("--request-timeout", "10", "--suppress-health-check", "all"),
            ],
            cwd=tmp_path,
            env=environment(home),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    sys.stdout.write(ran.stdout)
    assert ran.returncode == 0, ran.stdout[-6_000:] + ran.stderr[-2_000:]
