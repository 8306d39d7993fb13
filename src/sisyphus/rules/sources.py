"""The five sources of rules, in their order."""

COPILOT, GITHUB, CLAUDE, CURSOR, HOME = range(5)
