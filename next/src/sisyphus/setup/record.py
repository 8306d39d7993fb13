"""What `install` added where, so that `uninstall` takes out that and nothing else: the table
`installed`."""

import json
from dataclasses import asdict, dataclass, field

from sisyphus.clients import CLAUDE_CODE
from sisyphus.store import Store


@dataclass(frozen=True)
class Additions:
    """is_new: we made the settings file. excludes: globs that we added to it. copies: path →
    fingerprint of the slash commands that we wrote."""

    is_new: bool = False
    excludes: list[str] = field(default_factory=list)
    copies: dict[str, str] = field(default_factory=dict)


def load(store: Store, file: str) -> Additions:
    """What we added to a settings file and with it; nothing if it is not noted."""
    row = store.one("SELECT added FROM installed WHERE file = ?", file)
    return Additions(**json.loads(row[0])) if row else Additions()


def projects(store: Store) -> list[str]:
    """Where sisyphus is installed: projects, and "" for the user's own settings."""
    return [row[0] for row in store.all("SELECT project FROM installed ORDER BY project")]


def save(store: Store, file: str, project: str, ours: Additions, now: float) -> None:
    scope = "project" if project else "user"
    store.run("DELETE FROM installed WHERE file = ?", file)
    if ours != Additions():
        store.run(
            "INSERT INTO installed (file, client, scope, project, added, at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            file, CLAUDE_CODE, scope, project, json.dumps(asdict(ours)), now,
        )  # fmt: skip
