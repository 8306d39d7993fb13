"""What `sisyphus ralph run` costs by itself: 50 iterations of a client that does next to nothing.

The time of the runner's own process, on the processor, without its children's. Linux alone tells
it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import clean_venv
import machine

ITERATIONS = 50
TARGET_SECONDS = 2.0

CLIENT = """\
read -r line
echo x >> work.txt
echo '{"type":"system","subtype":"init","session_id":"s","model":"claude-opus-5-5"}'
echo '{"type":"assistant","session_id":"s","parent_tool_use_id":null,"message":\
{"id":"m","model":"claude-opus-5-5","content":[{"type":"text","text":"done"}],\
"usage":{"input_tokens":5000,"output_tokens":1}}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s"}'
"""


def main() -> int:
    if not os.path.exists("/proc/self/stat"):
        print("not measured: this system does not tell a process's own time")
        return 0
    clean_venv.ensure()
    with tempfile.TemporaryDirectory(prefix="sisyphus-bench-") as folder:
        seconds, code = _measure(Path(folder))
    verdict = "met" if seconds <= TARGET_SECONDS else "MISSED"
    print(f"{machine.describe()}\n")
    print(
        f"{ITERATIONS} iterations of `sisyphus ralph run`: {seconds:.2f} s on the processor, "
        f"≤ {TARGET_SECONDS:.0f} s {verdict}"
    )
    return 0 if code == EXIT_AT_LIMIT else 1


EXIT_AT_LIMIT = 3


def _measure(folder: Path) -> tuple[float, int]:
    """Seconds of the runner alone, and its exit code."""
    home, project = folder / "home", folder / "project"
    home.mkdir()
    subprocess.run(["git", "init", "--quiet", project], check=True)  # noqa: S607
    client = folder / "client.sh"
    client.write_text(CLIENT, encoding="utf-8")
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    limits = ["--max-iterations", str(ITERATIONS), "--prompt", "Do it."]
    process = subprocess.Popen(
        [clean_venv.COMMAND, "ralph", "run", *limits, "--client-command", f"sh {client}"],
        cwd=project,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    fields = Path(f"/proc/{process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds, process.wait()


if __name__ == "__main__":
    sys.exit(main())
