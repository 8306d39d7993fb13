"""The index of a folder's rules: compiled and stored, so that a hook needs neither YAML nor
pathspec. It is rebuilt when a file or folder behind it changes. Hooks, `rules` and `rules lint`
use the same index, so people see what hooks do.
"""

from __future__ import annotations

from sisyphus import clients
from sisyphus.ground import files, log, quick_json
from sisyphus.ground.record import Record
from sisyphus.rules.rule import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Native
    from sisyphus.ground.store import Store
    from sisyphus.rules.pattern import Pattern
    from sisyphus.rules.reader import Reader

    Problem = tuple[str, int, str]

_MOST_LEFT_OUT = 500
"""The most globs of rules left out that we compile: 20,000 take 2.6 s."""

VERSION = 4
"""The version of the stored format, and of what rules are compiled to. An index of another version
is rebuilt whole."""

_NOTES = "notes"
"""Where an index keeps the notes of its reader, instead of the hash of a text."""


class Roots(Record):
    """The places of rules: a project, and `home`, the folder of the client that gets the rules.

    folder: where the client's session started, which may be a package of the project.
    """

    client: str
    project: str
    home: str
    folder: str


class Index:
    """The rules of a folder, in sending order.

    n: its number in the store. problems: (label, line, problem) of files that cannot be read as
    rules; line 0 = the whole file.
    """

    def __init__(self, n: int, rules: list[Rule], problems: list[Problem]) -> None:
        self.n = n
        self.rules = rules
        self.problems = problems

    def body(self, store: Store, rule: Rule) -> str:
        """Returns the text that we send for a rule; "" if another hook has rebuilt the index
        since."""
        row = store.one(
            "SELECT text FROM rule_text WHERE rule_index = ? AND hash = ?", self.n, rule.hash
        )
        return str(row[0]) if row else ""


def current(store: Store, roots: Roots, folder: str) -> Index:
    """Returns the index of `folder`, rebuilt if its files have changed. The project's root has all
    project rules and the user's own; a folder below it has only its `.cursor/rules`."""
    row = store.one(
        "SELECT n, stamps, rules FROM rule_index WHERE client = ? AND folder = ? AND version = ?",
        roots.client, folder, VERSION,
    )  # fmt: skip
    old, stamps = None, {}
    if row:
        data = quick_json.loads(row[2])
        old = Index(row[0], [Rule(**rule) for rule in data["rules"]], data["problems"])
        stamps = quick_json.loads(row[1])
        if all(files.stamp(path) == stamp for path, stamp in stamps.items()):
            return old
    new = _build(store, roots, folder, old, stamps)
    _log(new, old)
    return new


def _log(new: Index, old: Index | None) -> None:
    """Logs what is wrong with rules, once: not what was logged of an earlier index."""
    known = _problems(old) if old else []
    for each in _problems(new):
        if each not in known:
            label, line, problem = each
            log.write(f"rules: {label}{f':{line}' if line else ''}: {problem}")


def _problems(index: Index) -> list[tuple[str, int, str]]:
    """Returns what is wrong with files that are no rules, and with those that are."""
    skipped = [(label, line, problem) for label, line, problem in index.problems]
    inside = [(r.label, line, problem) for r in index.rules for line, problem in r.problems]
    return skipped + inside


def _build(
    store: Store, roots: Roots, folder: str, old: Index | None, old_stamps: dict[str, str]
) -> Index:
    """Builds the index. Stamps are taken before reading, so that a change during the build is
    noticed next time."""
    from sisyphus.ground.errors import SisyphusError
    from sisyphus.rules.parse import Room
    from sisyphus.rules.reader import Reader
    from sisyphus.rules.sources import search

    native = clients.native(roots.client)
    loaded = native.loads(roots.home, roots.project)
    result = search(folder, roots.project, roots.home, native)
    settings = native.rules_left_out(roots.home, roots.project)
    dependencies = [*result.dependencies, *settings, *loaded]
    stamps = {path: files.stamp(path) for path in dependencies}
    left_out, more_problems = _left_out(native, roots)
    texts_loaded = frozenset(loaded.values()) - {""}
    rules: list[Rule] = []
    texts: dict[str, str] = {}
    problems = [(label, 0, problem) for label, problem in [*result.problems, *more_problems]]
    room = Room() if folder == roots.project else Room.below_root()
    reader = Reader(native, left_out, texts_loaded, room, (folder, roots.project, roots.home))
    if old:
        _remind(reader, store, old, old_stamps)
    for file in result.files:
        try:
            parsed = reader.read(file)
        except SisyphusError as error:
            problems.append((file.label, getattr(error, "line", 0), f"skipped: {error}"))
            continue
        rules.append(parsed.rule)
        texts[parsed.rule.hash] = parsed.text
        stamps |= {path: files.stamp(path) for path in parsed.dependencies}
    rules.sort(key=lambda rule: -rule.priority)  # stable: equal ones stay in source order
    data: dict[str, object] = {"rules": [vars(rule) for rule in rules], "problems": problems}
    n = _save(store, roots.client, folder, stamps, data, {**texts, _NOTES: reader.notes()})
    return Index(n, rules, problems)


def _remind(reader: Reader, store: Store, old: Index, stamps: dict[str, str]) -> None:
    """Tells the reader of the last index."""
    rows = store.all("SELECT hash, text FROM rule_text WHERE rule_index = ?", old.n)
    texts: dict[str, str] = dict(rows)
    reader.remember(old.rules, texts, stamps, texts.get(_NOTES, ""))


def _left_out(native: Native, roots: Roots) -> tuple[list[Pattern], list[tuple[str, str]]]:
    """Returns the patterns of files that the client does not load, and what is wrong with them."""
    from sisyphus.rules import globs

    patterns: list[Pattern] = []
    problems = []
    label = native.RULES_SETTING
    every = clients.rules_left_out(roots.client, roots.home, roots.project)
    if len(every) > _MOST_LEFT_OUT:
        problems.append((label, f"only the first {_MOST_LEFT_OUT:,} of {len(every):,} count"))
    for glob in every[:_MOST_LEFT_OUT]:
        try:
            patterns += globs.compile_all([glob])
        except globs.BadGlob as error:
            problems.append((label, str(error)))
    return patterns, problems


def _save(
    store: Store,
    client: str,
    folder: str,
    stamps: dict[str, str],
    data: dict[str, object],
    texts: dict[str, str],
) -> int:
    """Replaces the index of a client and folder; returns its number. texts: hash → text."""
    with store.write():
        store.run("DELETE FROM rule_index WHERE client = ? AND folder = ?", client, folder)
        row = store.one(
            "INSERT INTO rule_index (client, folder, version, stamps, rules) "
            "VALUES (?, ?, ?, ?, ?) RETURNING n",
            client, folder, VERSION, quick_json.dumps(stamps),
            quick_json.dumps(data),
        )  # fmt: skip
        assert row is not None
        for hash, text in texts.items():
            store.run("INSERT INTO rule_text VALUES (?, ?, ?)", row[0], hash, text)
    return int(row[0])
