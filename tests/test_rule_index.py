"""An index of rules takes over what has not changed, and is the same as one that is built anew."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from world import World

from sisyphus.ground.store import open_store
from sisyphus.rules.parse import Room, parse


@pytest.fixture(autouse=True)
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the rule files that are parsed, in order."""
    names: list[str] = []

    def recorded(file: Any, *values: Any) -> Any:
        names.append(os.path.basename(file.path))
        return parse(file, *values)

    monkeypatch.setattr("sisyphus.rules.reader.parse", recorded)
    return names


def with_rules(world: World) -> None:
    world.rule("a.md", "A", applies_to="*.txt", priority=2)
    world.rule("b.md", "B\n\n@../inc.md\n\n@missing.md", applies_to="src/**/*.{ts,tsx}")
    world.rule("c.md", "C", paths=["*.txt"], priority="high")
    world.rule("d.md", "A")
    world.rule("bad.md", "X", applies_to={"a": 1})
    world.rule(".cursor/rules/e.mdc", "E", globs="*.txt")
    world.rule(".github/copilot-instructions.md", "F")
    world.write(".claude/inc.md", "included\n")
    world.write("a.txt")
    (world.claude / "rules").mkdir(parents=True)
    (world.claude / "rules" / "own.md").write_text("Mine.\n")


def seen(world: World) -> list[Any]:
    """What people and an agent see of the rules."""
    session = f"s{len(list(world.root.iterdir()))}-{os.urandom(4).hex()}"
    sent = [world.read(path, session).text for path in ("a.txt", "src/x/a.ts")]
    lists = [world.cli("rules", *words, "--json").out for words in ((), ("lint",))]
    return [*sent, *lists]


def anew(world: World) -> list[Any]:
    """The same of an index that nothing was taken over for."""
    store = open_store(str(world.ours))
    store.run("DELETE FROM rule_index")
    store.close()
    return seen(world)


def settings(world: World, **values: object) -> None:
    (world.claude / "settings.json").write_text(json.dumps(values))


def move(old: Path, new: Path) -> None:
    new.parent.mkdir(parents=True, exist_ok=True)
    old.rename(new)


RULES = Path(".claude/rules")
CHANGES: dict[str, tuple[Callable[[World], object], set[str]]] = {
    "nothing of a rule": (lambda w: w.write(RULES / "note.txt"), set()),
    "one rule": (lambda w: w.rule("a.md", "A new", applies_to="*.ts"), {"a.md"}),
    "one more": (lambda w: w.rule("new.md", "New", applies_to="*.txt"), {"new.md"}),
    "one less": (lambda w: (w.project / RULES / "a.md").unlink(), set()),
    "another name": (lambda w: move(w.project / RULES / "a.md", w.project / RULES / "z.md"),
                     {"z.md"}),
    "into a folder": (lambda w: move(w.project / RULES / "a.md", w.project / RULES / "x" / "a.md"),
                      {"a.md"}),
    "what is included": (lambda w: w.write(".claude/inc.md", "other\n"), {"b.md"}),
    "it is included no more": (lambda w: (w.project / ".claude/inc.md").unlink(), {"b.md"}),
    "what was missing": (lambda w: w.write(RULES / "missing.md", "here\n"),
                         {"b.md", "missing.md"}),
    "the text of another": (lambda w: w.rule("d.md", "B"), {"d.md"}),
    "a broken one": (lambda w: w.rule("a.md", "A", applies_to={"b": 2}), {"a.md"}),
    "a link": (lambda w: (w.project / RULES / "l.md").symlink_to("a.md"), set()),
    "a link out": (lambda w: (w.project / RULES / "l.md").symlink_to(w.root), set()),
    "one that nobody may read": (lambda w: (w.project / RULES / "c.md").write_bytes(b"\0"),
                                 {"c.md"}),
    "settings": (lambda w: settings(w, model="x"), set()),
    "excludes": (lambda w: settings(w, claudeMdExcludes=["**/c.md"]), {"*"}),
    "a memory file": (lambda w: w.write("CLAUDE.md", "Hello\n"), {"*"}),
    "a memory file with the text": (lambda w: w.write("CLAUDE.md", "@.cursor/rules/e.mdc\n"),
                                    {"*"}),
}  # fmt: skip


@pytest.mark.parametrize(("change", "files"), CHANGES.values(), ids=CHANGES)
def test_after_a_change_it_is_as_if_built_anew(
    world: World, reads: list[str], change: Callable[[World], object], files: set[str]
) -> None:
    with_rules(world)
    seen(world)
    every = set(reads)
    reads.clear()

    change(world)
    now = seen(world)

    assert set(reads) == (every if files == {"*"} else files | {"bad.md"})  # a bad one has no row
    assert now == anew(world)


def test_changes_add_up(world: World) -> None:
    with_rules(world)
    seen(world)
    for name, (change, _) in CHANGES.items():
        if name not in ("into a folder", "a link out", "a link"):
            world.rule("a.md", "A", applies_to="*.txt", priority=2)
            change(world)
            assert seen(world) == anew(world), name


def test_what_is_taken_over_takes_its_room(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits of a folder hold for what it has, not for what has changed."""
    small = {"rules": 20, "characters": 1_200, "yaml": 300, "includes": 20}
    monkeypatch.setattr("sisyphus.rules.parse.Room", lambda: Room(**small))
    for number in range(12):
        world.rule(f"r{number:02}.md", "@x.md\n" * 3 + "word " * 20, applies_to="*.txt")
    world.write(RULES / "x.md", "x\n")
    world.write("a.txt")
    seen(world)
    for number in (0, 11, 5):
        world.rule(f"r{number:02}.md", f"{number} " + "longer " * 30, applies_to="*.txt")
        assert seen(world) == anew(world)
    shutil.rmtree(world.project / RULES)
    assert seen(world) == anew(world)


def test_notes_that_cannot_be_read_are_no_notes(world: World) -> None:
    with_rules(world)
    seen(world)
    store = open_store(str(world.ours))
    store.run("UPDATE rule_text SET text = '{' WHERE hash = 'notes'")
    store.close()
    world.rule("a.md", "A new", applies_to="*.txt")

    assert seen(world) == anew(world)


def test_a_rule_without_text_sends_nothing(world: World) -> None:
    world.rule("empty.md", "", paths=["*.txt"])
    world.write("a.txt")
    world.write("package/b.txt")

    assert world.read("a.txt", cwd=str(world.project / "package")).is_silent
