"""What `/sisyphus:ralph-help` answers."""

HELP = """\
A ralph loop keeps the agent at one task until it gives its promise that the task is done.

  /sisyphus:ralph-loop "TASK" --completion-promise "TEXT" [options]   start one
  /sisyphus:ralph-status                                              how it stands
  /sisyphus:ralph-pause                                               let the session stop
  /sisyphus:ralph-resume                                              go on
  /sisyphus:cancel-ralph                                              end it
  /sisyphus:list-ralph-loops                                          loops of all sessions
  /sisyphus:ralph-stats                                               how loops ended

Options: --max-iterations N (100), --max-minutes N (1440), --max-tokens N, --verify "COMMAND",
--verify-plan, --verify-checklist, --wait-for-user, --resume-after-limit, --prompt-file FILE.

The agent ends its loop with <promise>TEXT</promise>, alone on a line. From any terminal:
`sisyphus ralph start|status|list|log|stats|pause|resume|cancel|checklist`; `sisyphus why` tells
the reasons. While the agent works, a command typed here waits: use a terminal, or Esc first."""
