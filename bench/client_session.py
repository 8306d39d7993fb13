"""What hooks add to a whole session of the real client: three prompts, each a run of its own.

The client answers to a scripted model on loopback. Every round runs the session with and without
hooks, in turn, beside `python -c "import json"`.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "src"))

import clean_venv  # noqa: E402
from e2e.client import CLIENT, environment  # noqa: E402
from e2e.install import CLAUDE, InstallError, ensure  # noqa: E402
from e2e.model import serving  # noqa: E402
from e2e.script import Script, Turn, read, say, use  # noqa: E402

TITLE = (
    "a session of the real client (3 runs, 4 reads, 2 of them parallel), more than without hooks"
)
TARGET = 22.0
ROUNDS = 7
FILES = ("a.py", "b.py", "c.py", "d.py")


def main() -> int:
    """Exit code 1 where the session did not go by its script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--command", type=Path, help="the `sisyphus` to measure")
    parser.add_argument("--against", type=Path, help="another `sisyphus`, measured in turn")
    options = parser.parse_args()
    try:
        ensure(CLAUDE)
    except (InstallError, OSError) as error:
        print(f"{TITLE}: not measured: {error}")
        return 0
    if options.command is None:
        clean_venv.ensure()
    commands = {"here": options.command or clean_venv.COMMAND}
    if options.against:
        commands["against"] = options.against
    _report(_measure(commands, options.rounds))
    return 0


def _measure(commands: dict[str, Path], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of every round, by what ran; the first round only warms up."""
    taken: dict[str, list[float]] = {}
    order = ["json", "without", *commands]
    with tempfile.TemporaryDirectory(prefix="sisyphus-bench-") as folder:
        for number in range(-1, rounds):
            random.Random(number).shuffle(order)  # noqa: S311  # no secret
            for name in order:
                if name == "json":
                    spent = median(_import_json() for _ in range(9))
                else:
                    spent = _session(Path(folder) / f"{name}{number}", commands.get(name))
                if number >= 0:
                    taken.setdefault(name, []).append(spent)
    return taken


def _import_json() -> float:
    began = time.perf_counter()
    subprocess.run([clean_venv.PYTHON, "-c", "import json"], check=True)
    return (time.perf_counter() - began) * 1_000


def _session(folder: Path, command: Path | None) -> float:
    """Milliseconds of the three runs; with hooks where there is a `command`."""
    home, project = folder / "home", folder / "project"
    (home / "tmp").mkdir(parents=True)
    (home / ".claude").mkdir()
    subprocess.run(["git", "init", "--quiet", project], check=True)  # noqa: S607
    paths = [project / name for name in FILES]
    for path in paths:
        path.write_text("value = 1\n", "utf-8")
    if command:
        text = (ROOT / "hooks.json").read_text("utf-8").replace("sisyphus hook", f"{command} hook")
        hooks = json.loads(text)["hooks"]
        (home / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}), "utf-8")
    one, two, three, four = map(read, paths)
    runs = ([use(one), say("A.")], [use(two, three), say("B.")], [use(four), say("C.")])
    spent, session = 0.0, ""
    for number, turns in enumerate(runs):
        took, session = _run(home, project, f"look {number}", [*turns], session)
        spent += took
    if command and not any((home / ".claude").glob(".sisyphus/**/*")):
        raise SystemExit(f"error: no hook of {command} ran")
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


def _report(taken: dict[str, list[float]]) -> None:
    """Medians, and the quartiles of the rounds: how noisy the machine was."""
    unit = median(taken["json"])
    print(f'{TITLE}, in times of `python -c "import json"` ({unit:.1f} ms):')
    print(f"without hooks: {median(taken['without']):.0f} ms")
    for name in taken.keys() - {"json", "without"}:
        more = [a - b for a, b in zip(taken[name], taken["without"], strict=True)]
        ratio = (median(taken[name]) - median(taken["without"])) / unit
        low, _, high = (part / unit for part in quantiles(more, n=4))
        verdict = "met" if ratio <= TARGET else "MISSED"
        print(f"{name}: {ratio:.1f} (quartiles {low:.1f} to {high:.1f}), ≤ {TARGET:.0f} {verdict}")


if __name__ == "__main__":
    sys.exit(main())
