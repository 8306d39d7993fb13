"""Remembers what `install` added, in the table `installed`, so that `uninstall` takes out that and
nothing else."""

import json

from sisyphus.ground.record import Record, asdict, field
from sisyphus.ground.store import Store


class Additions(Record, frozen=True):
    """What we added to a settings file, and next to it.

    is_new: we made the file. excludes, keys: globs and keys that we added to it. copies: path →
    fingerprint of the slash commands and plugins that we wrote. original: the settings before we
    first wrote them, as text that holds every byte; "" = they are not to be given back as they
    were. written: fingerprint of the settings that we wrote last. folders: those that we made.
    """

    is_new: bool = False
    excludes: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    copies: dict[str, str] = field(default_factory=dict)
    original: str = ""
    written: str = ""
    folders: list[str] = field(default_factory=list)


def load(store: Store, file: str) -> Additions:
    """Returns what we added; empty if there is no record of this file (see `installation.Site`)."""
    row = store.one("SELECT added FROM installed WHERE file = ?", file)
    return Additions(**json.loads(row[0])) if row else Additions()


def places(store: Store) -> list[tuple[str, str, str]]:
    """Returns where sisyphus is installed: project ("" = the user's own settings), file (see
    `installation.Site`) and client."""
    return store.all("SELECT project, file, client FROM installed ORDER BY project, file")


def save(store: Store, client: str, file: str, project: str, ours: Additions) -> None:
    """Replaces the record of a file (see `installation.Site`). project: "" for the user's own."""
    store.run("DELETE FROM installed WHERE file = ?", file)
    if ours != Additions():
        store.run(
            "INSERT INTO installed (file, client, project, added) VALUES (?, ?, ?, ?)",
            file, client, project, json.dumps(asdict(ours)),
        )  # fmt: skip
