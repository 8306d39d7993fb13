"""Whether git may be run on a repository's own configuration. Pure.

A configuration may name programs (filters, `core.fsmonitor`, `core.sshCommand`, …) and take in
other files, and a project is a stranger's. Known to be harmless are the settings that git itself
writes, and a few that people do. Everything else is refused, and so is whatever is not understood.
"""

from __future__ import annotations

import re

_SECTIONS = frozenset(
    (
        "advice", "branch", "color", "gitflow", "init", "pull", "push", "rebase", "remote", "user",
    )
)  # fmt: skip
_SETTINGS = {
    "core": frozenset(
        (
            "abbrev", "autocrlf", "bare", "bigfilethreshold", "checkstat", "compression", "eol",
            "filemode", "hidedotfiles", "hookspath", "ignorecase", "logallrefupdates", "longpaths",
            "precomposeunicode", "protecthfs", "protectntfs", "quotepath",
            "repositoryformatversion", "safecrlf", "sharedrepository", "symlinks", "trustctime",
            "whitespace",
        )
    ),  # of them `hooksPath` is overruled on the command line
    "extensions": frozenset(
        ("objectformat", "partialclone", "preciousobjects", "refstorage", "worktreeconfig")
    ),
    "commit": frozenset(("gpgsign", "verbose", "status", "cleanup")),
    "gc": frozenset(("auto", "autodetach", "pruneexpire", "reflogexpire")),
    "index": frozenset(("version", "threads")),
    "lfs": frozenset(("access", "locksverify", "repositoryformatversion")),  # others name programs
    "merge": frozenset(("conflictstyle", "ff")),
    "feature": frozenset(("manyfiles",)),
}  # fmt: skip

_SECTION = re.compile(r"[ \t]*\[([A-Za-z0-9-]+)(?:[ \t]+\"(?:[^\"\\\n]|\\.)*\")?\][ \t]*")
_SETTING = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=.*)?(?:[#;].*)?")


def objection(config: str) -> str:
    """Why git does not run on this configuration; "" where nothing speaks against it."""
    section = ""
    for line in config.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"):
        rest = line
        if found := _SECTION.match(line):
            section, rest = found[1].lower(), line[found.end() :]
            if section not in _SECTIONS and section not in _SETTINGS:
                return f"the repository's configuration has a section [{section}]"
        if not rest.strip() or rest.lstrip()[0] in "#;":
            continue
        setting = _SETTING.fullmatch(rest)
        if setting is None or rest.endswith("\\") or not section:
            return "the repository's configuration is not understood"
        name = setting[1].lower()
        if section in _SETTINGS and name not in _SETTINGS[section]:
            return f"the repository's configuration sets {section}.{name}"
    return ""
