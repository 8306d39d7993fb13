"""Failures that we expect and can explain."""


class SisyphusError(Exception):
    """Its text is shown to the user unchanged: what failed, why, and what to do."""


class UsageError(SisyphusError):
    """A command was called wrongly: a word is missing, or a value is not allowed."""


class UnreadableError(SisyphusError):
    """A file that cannot or must not be read. The text says why, without the file's name."""
