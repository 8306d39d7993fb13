"""Every sentence about sessions, for the user and for `sisyphus why`."""


def no_memory(problem: str) -> str:
    return f"sisyphus cannot use its database and will not remember this session: {problem}"


def started(source: str) -> str:
    return f"session started: {source or 'unknown'}"


def ended(reason: str) -> str:
    return f"session ended: {reason or 'unknown'}"


def forked(parent: str) -> str:
    return f"a fork of session {parent}" if parent else "a fork of a session that we do not know"


def wired_twice() -> str:
    return (
        "sisyphus is wired twice, as a plugin and in the settings, so each event starts two "
        "processes. The hooks of the settings answer; the plugin's say nothing. To keep one of "
        "them, run `sisyphus uninstall` or disable the plugin."
    )
