"""Runs the installed client against a model on this machine and tells what reached us.

The user's state, account and network are not touched: see `stage`.
"""

from __future__ import annotations

import os
import tempfile
import time

from sisyphus.doctor import clients
from sisyphus.doctor.finding import Finding, problem, warning
from sisyphus.doctor.live import opinion
from sisyphus.doctor.live.judge import CHECK, judge
from sisyphus.doctor.live.play import play
from sisyphus.doctor.live.stage import Stage
from sisyphus.doctor.sources import MANAGED, PLUGIN
from sisyphus.processes import interruptible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sisyphus.doctor.case import Case, Hook

SECONDS = 60.0
"""The client takes about one, on a slow machine perhaps ten."""

_DEVICE_POLICIES = "/Library/Managed Preferences"
_POLICY_FILE = "com.anthropic.claudecode.plist"


def prove(case: Case, seconds: float = SECONDS) -> list[Finding]:
    """Ctrl-C and a signal to end take effect when the client is gone and its folder with it."""
    client = clients.place(case, "claude")
    if not client:
        return [warning(CHECK, "there is no Claude Code to run", _without_client(case))]
    if where := _managed(case):
        return [_not_run(where)]
    end = time.monotonic() + seconds
    with (
        interruptible(),
        tempfile.TemporaryDirectory(prefix="sisyphus-live-", ignore_cleanup_errors=True) as folder,
    ):
        return _proved(case, client, os.path.realpath(folder), lambda: time.monotonic() > end)
    return []  # told to end, and whoever told us goes on


def _proved(case: Case, client: str, folder: str, is_over: Callable[[], bool]) -> list[Finding]:
    found = opinion.of_settings(case, client, os.path.join(folder, "opinion"))
    stage = Stage(os.path.join(folder, "stage"), case.programs)
    stage.set_up(case, found.dropped)
    try:
        return [*found.findings, *judge(play(client, stage, is_over), _untried(case))]
    except OSError as error:
        why = error.strerror or str(error)
        return [problem(CHECK, f"{client} could not be run: {why}", "Install it again")]


def _untried(case: Case) -> frozenset[str]:
    """The events of hooks that are not ours to start."""
    return frozenset(hook.wired.event for hook in case.hooks if not _is_started(case, hook))


def _is_started(case: Case, hook: Hook) -> bool:
    """A plugin the client starts itself, unless we leave it out."""
    if hook.source.kind == PLUGIN:
        return not case.programs.is_strangers(hook.source.path)
    return hook in case.trusted


def _without_client(case: Case) -> str:
    if clients.place(case, "opencode"):
        return "Only Claude Code is run here; what is said above of OpenCode's plugin holds"
    return "Install it, or put it on the PATH"


def _managed(case: Case) -> str:
    """Where an organisation's settings are, which nothing could overrule; "" = there are none."""
    found = [one.path for one in case.settings if one.kind == MANAGED]
    return next(iter([*found, *device_policies()]), "")


def device_policies(root: str = _DEVICE_POLICIES) -> Iterator[str]:
    """What a device management of macOS set, for all users or for one."""
    for folder, _, names in os.walk(root):
        if _POLICY_FILE in names:
            yield os.path.join(folder, _POLICY_FILE)


def _not_run(where: str) -> Finding:
    return warning(
        CHECK,
        f"not run: {where} may lead the client's requests elsewhere",
        "Try a session by hand; `sisyphus why` shows which hooks came",
    )
