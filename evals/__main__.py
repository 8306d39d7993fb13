"""Prints how often the work is done with sisyphus and without it, and what it costs.

    PYTHONPATH=tests .e2e/venv/bin/python -m evals [--seeds N] [--jobs N] [--json FILE] [CASE …]
    PYTHONPATH=tests .e2e/venv/bin/python -m evals --real [--seeds N] [--model NAME] [CASE …]

The first plays the pinned client against the scripted agent, offline. `--real` lets the Claude Code
on your PATH do it, with your account: `claude plugin eval` plays each case N times with and without
the plugin, and your plan or your bill pays for it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

from e2e.install import CHECKOUT

from evals import cases
from evals.play import Result, play

Json = dict[str, Any]

_Z = 1.96
"""The normal quantile of an interval of 95 %."""


def main() -> int:
    words = argparse.ArgumentParser(prog="python -m evals", description=__doc__)
    words.formatter_class = argparse.RawDescriptionHelpFormatter
    words.add_argument("--seeds", type=int, default=10, help="sessions for each case and arm")
    words.add_argument("--jobs", type=int, default=2, help="sessions at a time")
    words.add_argument("--json", type=Path, help="also write each session as a line into a file")
    words.add_argument("--real", action="store_true", help="with your account and your client")
    words.add_argument("--model", help="of --real")
    words.add_argument("case", nargs="*", help="of the folders here; all, if none is named")
    options = words.parse_args()
    chosen = options.case or cases.names()
    if unknown := set(chosen) - {*cases.names()}:
        words.error(f"no case {', '.join(sorted(unknown))}")
    if options.real:
        return _real(chosen, options.seeds, options.model)
    results = list(_results(chosen, options.seeds, options.jobs))
    if options.json:
        lines = (json.dumps(asdict(result)) + "\n" for result in results)
        options.json.write_text("".join(lines), encoding="utf-8")
    print(table(results))
    return 0


def table(results: Sequence[Result]) -> str:
    """Returns the figures as a table of Markdown, a row for each case."""
    rows = [
        "| Case | Done with | Done without | False ticks | Requests | Stops held | Characters |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in sorted({result.case for result in results}):
        of_case = [result for result in results if result.case == name]
        arm = [result for result in of_case if result.has_sisyphus]
        plain = [result for result in of_case if not result.has_sisyphus]
        if not (arm and plain):
            continue
        cells = [
            name,
            *(share(sum(not r.failures for r in side), len(side)) for side in (arm, plain)),
            f"{_mean(r.false_ticks for r in arm)}, without {_mean(r.false_ticks for r in plain)}",
            f"{_mean(r.requests for r in arm)}, without {_mean(r.requests for r in plain)}",
            _mean(r.holds for r in arm),
            _mean(r.characters for r in arm),
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def share(count: int, total: int) -> str:
    """Returns a share with its interval of 95 % (Wilson's, which fits few sessions)."""
    if not total:
        return "no session"
    part, spread = count / total, _Z * _Z / total
    middle = (part + spread / 2) / (1 + spread)
    half = _Z * math.sqrt(part * (1 - part) / total + spread / total / 4) / (1 + spread)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return f"{count} of {total} ({low * 100:.0f} to {high * 100:.0f} %)"


def _mean(values: Iterable[float]) -> str:
    numbers = list(values)
    if not numbers:
        return "unknown"
    spread = statistics.stdev(numbers) if len(numbers) > 1 else 0.0
    return f"{statistics.mean(numbers):.1f} ± {spread:.1f}"


def _results(chosen: Sequence[str], seeds: int, jobs: int) -> Iterable[Result]:
    plays = itertools.product(range(seeds), chosen, (True, False))
    with ProcessPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(_play, *one) for one in plays]):
            yield done.result()


def _play(seed: int, name: str, has_sisyphus: bool) -> Result:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
        plugin = CHECKOUT if has_sisyphus else None
        return play(cases.load(name), plugin, seed=seed, root=Path(root).resolve())


def _real(chosen: Sequence[str], runs: int, model: str | None) -> int:
    client = shutil.which("claude")
    if client is None or shutil.which("sisyphus") is None:
        sys.stderr.write("error: claude and sisyphus must be on the PATH\n")
        return 1
    print("| Case | Done with | Done without | Turns |\n| --- | --- | --- | --- |")
    worst = 0
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            command = eval_command(client, name, runs, model, report)
            worst = max(worst, subprocess.run(command, check=False).returncode)
            if report.exists():
                print(real_line(json.loads(report.read_text(encoding="utf-8"))), flush=True)
            else:
                print(f"| {name} | the client has written no report | | |", flush=True)
    return worst


def eval_command(client: str, name: str, runs: int, model: str | None, report: Path) -> list[str]:
    """Returns the command by which the client plays a case in both arms."""
    command = [client, "plugin", "eval", str(CHECKOUT), "--case", name, "--runs", str(runs)]
    command += ["--trust-plugin", "--scaffold", "--allow-tools", "Write", "Edit", "--no-publish"]
    command += ["--ablation", "with-without", "--threshold", "0"]
    command += ["--output-dir", str(report.parent), "--json", str(report)]
    return [*command, "--model", model] if model else command


def real_line(report: Json) -> str:
    """Returns the row of a case of what `claude plugin eval` reports."""
    (case,) = report["cases"]
    arms = {name: case["arms"][name] for name in ("with", "without")}
    done = (share(sum(run["passed"] for run in runs), len(runs)) for runs in arms.values())
    turns = (_mean(run["turns"] for run in runs) for runs in arms.values())
    return f"| {' | '.join([case['name'], *done, ', without '.join(turns)])} |"


if __name__ == "__main__":
    sys.exit(main())
