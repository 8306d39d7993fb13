"""Programs that a code block may name and must not run. Each knows the few forms in which the
pages type it, as the real one takes them, and refuses every other: a slip on a page is noticed.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

MAKEFILE = Path(__file__).parents[2] / "Makefile"

_ANSWER = {
    "type": "assistant",
    "message": {
        "id": "m1", "role": "assistant", "model": "claude-opus-5-5",
        "content": [{"type": "text", "text": "<promise>ALL WRITTEN</promise>"}],
        "usage": {"input_tokens": 9, "output_tokens": 9},
    },
}  # fmt: skip
_END = {
    "type": "result", "subtype": "success", "is_error": False, "session_id": "s1",
    "result": "<promise>ALL WRITTEN</promise>", "permission_denials": [], "num_turns": 1,
}  # fmt: skip

_REFUSES = """\
#!/bin/sh
refuse() {
  echo "${0##*/}: no page types it so: $*" >&2
  exit 2
}
"""

_CLAUDE = f"""\
case "$*" in
  --version) echo '2.1.329 (Claude Code)'; exit ;;
  -p) cat >/dev/null; echo '<promise>DONE</promise>'; exit ;;
  '-p --output-format stream-json --verbose --session-id '*) shift 6 ;;
  *) refuse "$@" ;;
esac
while [ $# -gt 0 ]; do
  case "$1=$2" in
    --permission-mode=acceptEdits | --permission-mode=plan) shift 2 ;;
    *) refuse "$@" ;;
  esac
done
cat >/dev/null
echo '{json.dumps(_ANSWER)}'
echo '{json.dumps(_END)}'
"""

_MAKE = f"""\
for word; do
  case "$word" in
    *[!a-z0-9-]* | -*) refuse "$@" ;;
  esac
  grep -q "^$word:" '{MAKEFILE}' || refuse "$@"
done
"""

_GIT = f"""\
case "$1" in
  clone | fetch | pull | push) refuse "$@" ;;
esac
exec {shutil.which("git")} "$@"
"""


def _only(*forms: str, says: str = "") -> str:
    """Takes what is typed in one of the forms, patterns of a shell, and says something."""
    known = " | ".join(form.replace(" ", "\\ ") for form in forms)
    taken = f"  {known}) echo {says} ;;\n" if says else f"  {known}) ;;\n"
    return f'case "$*" in\n{taken if forms else ""}  *) refuse "$@" ;;\nesac\n'


_WHEEL = "*sisyphus-*-py3-none-any.whl"
_PROGRAMS = {
    "claude": _CLAUDE,
    "opencode": _only("--version", says="1.18.33"),
    "make": _MAKE,
    "git": _GIT,
    "pipx": _only("install .", f"install {_WHEEL}", "uninstall sisyphus", "reinstall sisyphus"),
    "uv": _only("tool install .", f"tool install {_WHEEL}", "tool uninstall sisyphus"),
    "pytest": _only("-q"),
    "vi": '[ $# = 1 ] && [ -f "$1" ] || refuse "$@"\n',
    **dict.fromkeys(("pip", "uvx", "npm", "npx", "curl", "wget", "sudo", "xdg-open"), _only()),
}


def put_into(folder: Path) -> None:
    folder.mkdir()
    for name, text in _PROGRAMS.items():
        (folder / name).write_text(_REFUSES + text, encoding="utf-8")
        (folder / name).chmod(0o755)
