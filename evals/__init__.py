"""How good sisyphus is: cases with and without it, for a real model or a scripted agent.

Each folder is a case of `claude plugin eval`: `case.yaml` has the prompt and the graders, and
`scaffold.sh` makes the project and what its user has switched on. `agent.toml` says what the
scripted agent knows of it. `docs/how-good-it-is.md` has the figures.
"""
