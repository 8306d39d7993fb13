"""The options of `sisyphus ralph run`."""

from __future__ import annotations

from dataclasses import dataclass

MAX_ITERATIONS, MAX_MINUTES = 50, 24 * 60
"""The default limits. A night has fewer iterations, and nobody wants a run that never ends."""

MAX_AUDITS = 5
"""The most audits that a run makes: an auditor can always find something."""


@dataclass(slots=True)
class RunOptions:
    """What a run has besides the options of every loop (`ralph.loop.Options`).

    max_usd: dollars, as the client counts; 0 = no limit. audits: how many audits in a row have to
    find nothing before the run is complete. permission_mode: of the client; "" = its default.
    client_command: a shell command that works on the prompt on its stdin; "" = the client itself.
    """

    max_usd: float = 0.0
    audits: int = 0
    permission_mode: str = ""
    client: str = "claude-code"
    client_command: str = ""
