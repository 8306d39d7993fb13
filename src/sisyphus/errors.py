class SisyphusError(Exception):
    """An expected failure. Its text is shown to the user as it is: what, why, what to do."""


class UnreadableError(SisyphusError):
    """A file that is not read: absent, no regular file, too large, not UTF-8, or out of bounds."""


class NewerVersionError(SisyphusError):
    """A state file written by a newer sisyphus: read as far as it goes, never overwritten."""


class LockedError(SisyphusError):
    """Another process held a lock for too long."""


class MemoryOffError(SisyphusError):
    """The memory cannot be used: a newer sisyphus made it, or the home cannot be written."""


class TooMuchError(SisyphusError):
    """It took too long, or was too much."""
