"""What a repository or a transcript may hold without making a hook slow."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable

import pytest
from world import Reply, World

from sisyphus.boulder import find
from sisyphus.clients import lines
from sisyphus.ground import files, frontmatter
from sisyphus.rules import includes, sources

SECONDS = 12.0
"""More processor time than any of these hooks takes on a slow machine with other work: most take
less than one, one took 9.9. Without limits most took from 7 s to a minute."""

LARGE = "- [ ] a\n" * (find.MAX_BYTES // 16)


def quickly(hook: Callable[[], Reply]) -> Reply:
    before = time.process_time()
    reply = hook()
    assert time.process_time() - before < SECONDS
    return reply


def lint(world: World) -> str:
    return world.cli("rules", "lint").out


# ---------------------------------------------------------------- plans


def large_plans(world: World, number: int) -> None:
    for each in range(number):
        file = world.write(f"docs/kord/plans/{each:03}.md", f"# P{each}\n\n{LARGE}")
        os.utime(file, (each, each))


def test_large_plans_beyond_the_limit_are_left_out_and_counted(world: World) -> None:
    large_plans(world, 60)

    reply = quickly(world.start)

    news = "59 more plans here are not read: too many, or too large."
    assert news in reply.message
    assert "P59: 0 of" in reply.message, "the newest one is read"
    assert news in quickly(lambda: world.cli("boulder", "status")).out
    assert news in quickly(lambda: world.cli("status")).out
    assert news not in world.start("s2").message, "said once"


@pytest.mark.parametrize("text", ["- [ ] a\n", ""])
def test_the_number_of_plans_is_limited(world: World, text: str) -> None:
    for each in range(find.MAX_FILES + 1):
        world.write(f"docs/kord/plans/{each:03}.md", text)

    assert "1 more plan here is not read" in quickly(world.start).message


def test_the_plan_of_the_project_is_read_before_newer_ones(world: World) -> None:
    world.write("PLAN.md", "# Main\n\n- [ ] a\n")
    os.utime(world.project / "PLAN.md", (1, 1))
    large_plans(world, 4)

    world.start()

    assert "Main" in world.cli("boulder", "status").out


def test_a_plan_that_is_followed_is_read_whatever_its_size(world: World) -> None:
    world.write("PLAN.md", f"# Large\n\n{LARGE * 3}")
    large_plans(world, 3)

    assert "Large" not in world.start().message
    assert world.cli("boulder", "start", "PLAN.md").code == 0
    assert "Large: 0 of" in world.start("s2").message
    assert world.plan()["plan_name"] == "Large"


def test_the_plan_used_last_is_read_whatever_its_size(world: World) -> None:
    world.write("PLAN.md", f"# Large\n\n{LARGE * 3}")
    world.start()
    world.prompt(text="/sisyphus:start-work PLAN.md")

    assert "Large: 0 of" in world.start("s2").message


def test_a_plan_that_was_left_out_can_be_named(world: World) -> None:
    large_plans(world, 10)

    assert "P3" in quickly(lambda: world.cli("boulder", "start", "003")).out


def test_a_folder_of_endless_names_is_not_listed_whole(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files.entries, "__defaults__", (20,))
    for number in range(40):
        world.write(f"docs/kord/plans/{number}.md", "- [ ] a\n")
        world.write(f".claude/rules/{number}.md", f"---\napplies_to: '*'\n---\nRULE {number}\n")

    assert world.start().text.count("(docs/kord/plans/") == 10
    assert world.read("a.py").text.count("RULE") == 20


# ---------------------------------------------------------------- rules


@pytest.mark.parametrize("text", ["[" * 1_000, "{" * 1_000, "[{" * 500, "[[], " * 300])
def test_brackets_in_brackets_are_refused(world: World, text: str) -> None:
    for number in range(50):
        world.write(f".claude/rules/{number:02}.md", f"---\na: {text}\n---\nBAD\n")
    world.rule("z.md", "MARK", applies_to="*.py")

    assert "MARK" in quickly(lambda: world.read("a.py")).text
    assert f"more than {frontmatter.MAX_DEPTH} brackets in brackets" in lint(world)


@pytest.mark.parametrize("glob", ["[abc].{py,ts}", "{a,{b,{c,d}}}.py", "[" * 20])
def test_brackets_of_globs_are_no_fault(world: World, glob: str) -> None:
    world.rule("a.md", "MARK", applies_to=[glob, "*.py"])

    assert "MARK" in world.read("a.py").text


def test_the_includes_of_a_rule_are_limited(world: World) -> None:
    for depth in range(5):
        world.write(f"inc/{depth}.md", f"@{depth + 1}.md\n" * 3_000)
    world.rule("a.md", "MARK\n\n" + "@../../inc/0.md\n" * 3_000, applies_to="*.py")
    world.rule("b.md", "OTHER", applies_to="*.py")

    text = quickly(lambda: world.read("a.py")).text

    assert "MARK" in text
    assert "OTHER" in text
    assert "and all after it are not included: they are too many" in lint(world)


def test_the_includes_of_all_rules_are_limited(world: World) -> None:
    for number in range(12):
        names = "".join(f"@no{number}_{each}.md\n" for each in range(includes.MAX_FILES))
        world.rule(f"{number:02}.md", f"MARK{number}\n\n{names}", applies_to="*.py")

    found = lint(world)

    assert "@no9_99.md is not included: there is no such file" in found
    assert "@no10_0.md and all after it are not included: they are too many" in found


def test_an_include_that_is_repeated_is_included(world: World) -> None:
    world.write("a.txt", "AGAIN\n")
    world.rule("a.md", "@../../a.txt\n" * (includes.MAX_FILES + 1), applies_to="*.py")

    assert world.read("a.py").text.count("AGAIN") == includes.MAX_FILES


def test_the_rules_of_folders_below_the_root_are_limited(world: World) -> None:
    folder = ""
    for depth in range(12):
        folder += f"d{depth}/"
        for number in range(sources.MAX_NESTED + 1 if depth < 3 else 1):
            name = f"{folder}.cursor/rules/{number:03}.mdc"
            world.write(name, f"---\nglobs: '*.py'\n---\nRULE {depth} {number}.\n")

    quickly(lambda: world.read(f"{folder}a.py"))
    sent = "".join(world.drain())

    assert "RULE 2 198." in sent
    assert "RULE 2 200." not in sent
    assert "RULE 9 0." in sent
    assert "RULE 10 0." not in sent
    found = lint(world)
    assert "d0/.cursor/rules/199.mdc: it and all after it are not read: the limit is 200" in found
    assert "d9/d10/.cursor/rules: they are not read: the limit is 10 folders deep" in found


# ---------------------------------------------------------------- transcripts


@pytest.mark.parametrize("line", ["{}", '{"a": 1}', "[]", ""])
def test_a_transcript_of_short_lines_is_read_quickly(world: World, line: str) -> None:
    world.loop()
    world.transcript().write_text(f"{line}\n" * 2_000_000)

    assert quickly(world.stop).reason


@pytest.mark.parametrize("offset", [0, 7])
def test_only_the_last_lines_of_a_turn_are_read(world: World, offset: int) -> None:
    number = lines.MAX_LINES + 10
    path = world.write("t.jsonl", "".join(f'{{"n": {each}}}\n' for each in range(number)))

    objects, end = lines.read(str(path), lambda _: 0.0, offset=offset)

    assert objects[-1] == {"n": number - 1}
    assert len(objects) == lines.MAX_LINES
    assert end == path.stat().st_size


def test_a_line_that_is_being_written_is_read_later(world: World) -> None:
    path = world.write("t.jsonl", '{"n": 1}\n{"n": 2}\n{"n": ')

    objects, end = lines.read(str(path), lambda _: 0.0, offset=9)

    assert objects == [{"n": 2}]
    assert end == 18
    with path.open("a") as file:
        file.write("3}\n")
    assert lines.read(str(path), lambda _: 0.0, offset=end) == ([{"n": 3}], 27)


# ---------------------------------------------------------------- a home of somebody else


@pytest.mark.parametrize("is_new", [True, False])
def test_what_root_writes_belongs_to_the_owner_of_the_home(
    world: World, monkeypatch: pytest.MonkeyPatch, is_new: bool
) -> None:
    given = []
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "fchown", lambda file, *owner: given.append(owner))
    world.start()
    file = world.write(world.ours / "config.toml", "[rules]\n")
    owner = (file.stat().st_uid, file.stat().st_gid)
    if is_new:
        file.unlink()

    assert world.cli("config", "rules.unscoped", "send").code == 0

    assert given == [owner]
    assert json.loads(world.cli("config", "--json").out)
