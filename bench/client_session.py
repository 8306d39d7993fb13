"""What hooks add to a whole session of the real client: three prompts, each a run of its own.

The client answers to a scripted model on loopback. Every round runs the session with and without
hooks, in turn, beside `python -c "import json"`.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

import installation
import page

sys.path[:0] = [str(installation.ROOT / "tests"), str(installation.ROOT / "src")]

from e2e.client import CLIENT, environment  # noqa: E402
from e2e.install import CLAUDE, InstallError, ensure  # noqa: E402
from e2e.model import serving  # noqa: E402
from e2e.script import Script, Turn, read, say, use  # noqa: E402

TITLE = "3 runs, 4 reads, 2 of them parallel: more than without hooks"
TARGET = 22.0
ROUNDS = 21
FILES = ("a.py", "b.py", "c.py", "d.py")


def measure() -> tuple[list[page.Row], str]:
    """The rows of the page and what it says of them; the first round only warms up."""
    try:
        ensure(CLAUDE)
    except (InstallError, OSError) as error:
        return [page.Row(TITLE, "", "", f"≤ {TARGET:g}", f"not measured: {error}")], ""
    taken: dict[str, list[float]] = {"json": [], "without": [], "with": []}
    order = [*taken]
    with tempfile.TemporaryDirectory(prefix="sisyphus-bench-") as folder:
        for number in range(-1, ROUNDS):
            random.Random(number).shuffle(order)  # noqa: S311  # no secret
            for name in order:
                if name == "json":
                    spent = median(_import_json() for _ in range(9))
                else:
                    where = Path(folder) / f"{name}{number}"
                    spent = _session(where, with_hooks=name == "with")
                if number >= 0:
                    taken[name].append(spent)
    unit, without = median(taken["json"]), median(taken["without"])
    more = [a - b for a, b in zip(taken["with"], taken["without"], strict=True)]
    low, _, high = (part / unit for part in quantiles(more, n=4))
    spent = median(taken["with"]) - without
    rows = [
        page.Row("without hooks", f"{without:.0f} ms"),
        page.row(TITLE, f"{spent:.0f} ms", spent / unit, "times json", TARGET),
    ]
    return rows, f"{ROUNDS} rounds; half of them between {low:.1f} and {high:.1f} times json.\n"


def _import_json() -> float:
    began = time.perf_counter()
    subprocess.run([installation.PYTHON, "-c", "import json"], check=True)
    return (time.perf_counter() - began) * 1_000


def _session(folder: Path, *, with_hooks: bool) -> float:
    """Milliseconds of the three runs."""
    home, project = folder / "home", folder / "project"
    (home / "tmp").mkdir(parents=True)
    (home / ".claude").mkdir()
    subprocess.run(["git", "init", "--quiet", project], check=True)  # noqa: S607
    paths = [project / name for name in FILES]
    for path in paths:
        path.write_text("value = 1\n", "utf-8")
    if with_hooks:
        text = (installation.ROOT / "hooks.json").read_text("utf-8")
        hooks = json.loads(text.replace("sisyphus hook", f"{installation.COMMAND} hook"))["hooks"]
        (home / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}), "utf-8")
    one, two, three, four = map(read, paths)
    runs = ([use(one), say("A.")], [use(two, three), say("B.")], [use(four), say("C.")])
    spent, session = 0.0, ""
    for number, turns in enumerate(runs):
        took, session = _run(home, project, f"look {number}", [*turns], session)
        spent += took
    if with_hooks and not any((home / ".claude").glob(".sisyphus/**/*")):
        raise SystemExit("error: no hook ran in the client's session")
    return spent


def _run(
    home: Path, project: Path, prompt: str, turns: list[Turn], session: str
) -> tuple[float, str]:
    """Milliseconds of one process of the client, and the session's id."""
    script = Script(turns)
    resume = ("--resume", session) if session else ()
    flags = ("--print", "--output-format", "json", "--permission-mode", "bypassPermissions")
    with serving(script) as model:
        variables = {**environment(home), "ANTHROPIC_BASE_URL": model.url}
        began = time.perf_counter()
        ran = subprocess.run(
            [CLIENT, *flags, *resume, prompt],
            cwd=project, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        took = (time.perf_counter() - began) * 1_000
    if ran.returncode or not script.told:
        raise SystemExit(f"error: the session left its script: {ran.stdout[-300:]}{ran.stderr}")
    return took, str(json.loads(ran.stdout)["session_id"])
