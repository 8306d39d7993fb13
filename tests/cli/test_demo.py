from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from typer.testing import CliRunner

from sisyphus.cli.app import app


def test_the_demo_shows_each_step_and_its_verdict() -> None:
    result = CliRunner().invoke(app, ["demo"])

    assert result.exit_code == 0
    assert result.stdout.count("[ok]") == 10
    assert "All 10 steps answered as they should." in result.stdout


def test_the_demo_in_json_holds_what_model_and_user_read() -> None:
    rows = json.loads(CliRunner().invoke(app, ["demo", "--json"]).stdout)

    assert all(row["ok"] for row in rows)
    assert "[BOULDER STATE DETECTED]" in rows[0]["model"]
    assert "[RALPH LOOP COMPLETE]" in rows[8]["user"]


def test_the_demo_leaves_its_folder_only_when_asked() -> None:
    kept = CliRunner().invoke(app, ["demo", "--keep"]).stdout
    folder = Path(re.findall(r"The demo's folder: (\S+)", kept)[0])

    assert (folder / "home/.claude/.sisyphus/logs").is_dir()
    shutil.rmtree(folder)
