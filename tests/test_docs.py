"""The docs are true: what a console block shows is what the commands answer, and every link,
command, option and setting that a page names exists.

A page is played from top to bottom in a new project, `~/shop`:

- A block below a line like "`PLAN.md`:" is written to that file.
- In a `console` block each line with `$ ` is run. A line `…` stands for any lines, and a `…` in a
  line for any characters. Times and ids of loops may differ.
- `<!-- play: read cart.py -->` does what a session does, by a method of `World`. Blocks called
  `text model`, `text user` and `text reason` are what the model and the user get from it.
- `<!-- play: ran "make test" "3 passed in 0.1s" -->` is a command that the agent has run, and what
  it printed.
- `<!-- play: client "write cart.py" "tick Store the cart" "say Done." -->` is what the next client
  of a run does, in steps of `fake_client.py`.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import uuid
from collections.abc import Iterator
from pathlib import Path

import fake_client
import pytest
import typer
import yaml
from typer.core import TyperGroup
from world import SISYPHUS, Json, Reply, World, agent, result, use, user

from sisyphus.cli.app import app
from sisyphus.ground.settings import SETTINGS

ROOT = Path(__file__).parents[1]
PYTHON = "/home/you/.local/share/uv/tools/sisyphus-hooks/bin/python"
"""Where `uv tool install` puts what sisyphus runs in."""

PAGES = {file.name: file for file in sorted((ROOT / "docs").glob("*.md"))}
PAGES["/README.md"] = ROOT / "README.md"
SKILL = ROOT / "skills" / "sisyphus" / "SKILL.md"
TEXTS = [*PAGES.values(), SKILL, ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md"]

_STEP = re.compile(
    r"^<!-- play: (?P<play>.*?) -->$"
    r"|^(?:`(?P<file>[^`\n]+)`:\n\n)?```(?P<info>[^\n]*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_VARYING = re.compile(
    r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\dZ?|(?<=\bloop )\w{5}\b|(?<=\bhold )\w{5}\b"
    r"|^\w{5}(?=  active)"
    r"|(?<=ralph (?:cancel|resume) )\w{5}\b"
    r"|(?<=\"at\": )[\d.]+|(?<=\"ms\": )[\d.]+|(?<=\"seen\": )[\d.]+"
    r"|\b\w{5}(?=  (?:complete|cancelled|run,))|(?<=loop_id: \")\w{5}|(?<=loop_id\": \")\w{5}"
    r"|(?<=\brun )\w{5}\b|\w{5}(?=_(?:report\.md|full\.txt))"
    r"|\b(?<=[·-] )[0-9a-f]{7}(?= )|(?<=sisyphus/)\w{5}(?=[-`\n])"
    r"|^\d\d:\d\d(?= [✓↻✗!])|(?<=[·|] )(?:\d+ h )?\d+ (?:s|min)(?= [·|])",
    re.MULTILINE | re.IGNORECASE,
)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_COMMAND = re.compile(r"(?:^|[|(] ?)sisyphus ([^#<|]*)")
_OTHERS = "json|py|allow"  # names of files, and a setting of Claude Code
_SECTIONS = {name.partition(".")[0] for name in SETTINGS}
_SETTING = re.compile(rf"`(?:\[?)((?:{'|'.join(sorted(_SECTIONS))})\.(?!{_OTHERS})[a-z_]+)\b")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_OTHERS_OPTIONS = ("--", "--name", "--help", "--plugin-dir", "--tb", "--color", "--deselect")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest) -> Path:
    return PAGES[request.param]


def test_a_page_shows_what_happens(
    world: World, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.project = world.new_project("home/shop")
    world.has_claude_code()
    monkeypatch.chdir(world.project)
    reply = Reply(0, "", "")
    for step in _STEP.finditer(page.read_text()):
        body, info = step["body"], step["info"]
        if step["play"]:
            reply = _play(world, *shlex.split(step["play"]))
        elif step["file"]:
            world.write(os.path.expanduser(step["file"]), body)
        elif info == "console":
            for command, expected in _commands(body):
                _compare(expected, _run(world, command), command)
        elif info.startswith("text "):
            model = re.sub("<(?=/?system-reminder>)", "&lt;", reply.text)  # as Claude Code does
            answers = {"model": model, "user": reply.message}
            answer = answers.get(info.removeprefix("text "), reply.reason)
            _compare(body, f"{answer}\n", info)


def _play(world: World, name: str, *words: str) -> Reply:
    if name == "client":
        _script(world, words)
        return Reply(0, "", "")
    if name == "git":
        _make_repository(world.project)
        return Reply(0, "", "")
    if name == "ran":
        _note_call(world, *words)
        return Reply(0, "", "")
    if name == "start":
        return world.start(*words, transcript_path=str(world.transcript(words[0])))
    if name == "prompt":
        world.write_down(user(words[1]), session=words[0])
    result = getattr(world, name)(*words)
    return result if isinstance(result, Reply) else Reply(0, "", "")


def _make_repository(project: Path) -> None:
    """Makes a real repository of the project, whose user git knows."""
    shutil.rmtree(project / ".git", ignore_errors=True)
    for words in ("init -q -b main", "config user.name you", "config user.email you@example.org"):
        subprocess.run(["git", *words.split()], cwd=project, check=True)


def _note_call(world: World, command: str, output: str) -> None:
    """Adds to the transcript that the agent has run a command."""
    id = f"toolu_{uuid.uuid4()}"
    world.write_down(agent(use("Bash", id, command=command), cwd=str(world.project)))
    world.write_down(result(output, id))


def _script(world: World, steps: tuple[str, ...]) -> None:
    """Adds a process to what the client does, and puts the client on the PATH."""
    folder = world.root / "client"
    file = folder / "processes.json"
    if not folder.exists():
        programs = fake_client.install(folder)
        world.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
        world.setenv("FAKE_CLIENT", str(folder))
        file.write_text("[]")
    processes = json.loads(file.read_text())
    file.write_text(json.dumps([*processes, [_step(each) for each in steps]]))


def _step(text: str) -> list[str | int | list[str] | Json]:
    """Reads a step, as `write cart.py`, `deny Bash make test` or `fail {"status": 529}`."""
    name, _, value = text.partition(" ")
    if name == "write":
        return [name, [value, "x = 1\n"]]
    if name == "deny":
        return [name, value.split(maxsplit=1)]
    return [name, json.loads(value) if value[:1] == "{" or value.isdecimal() else value]


def _commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block, with the output that it shows."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def _run(world: World, command: str) -> str:
    words = shlex.split(command)
    if words[0] == "sisyphus":
        answer = world.cli(*words[1:])
        out = answer.err + answer.out
    else:
        env = os.environ | {"PATH": f"{SISYPHUS.parent}{os.pathsep}{os.environ['PATH']}"}
        out = subprocess.check_output(command, shell=True, encoding="utf-8", env=env)
    out = out.replace(str(world.home), "/home/you").replace(sys.executable, PYTHON)
    return out.replace(str(SISYPHUS), "sisyphus")


def _compare(expected: str, actual: str, what: str) -> None:
    """Fails if an output is not what the page shows."""
    shown, answer = (
        _VARYING.sub("*", re.sub(r" +$", "", text, flags=re.MULTILINE))
        for text in (expected, actual)
    )
    pattern = re.escape(shown).replace("…\\\n", "(?:.*\n)*?").replace("…", ".*")
    if not re.fullmatch(pattern, answer):
        assert answer == shown, what


def test_the_loop_of_the_readme_ends_without_a_warning(world: World) -> None:
    text = PAGES["/README.md"].read_text()
    [command] = re.findall(r"^<!-- play: prompt s1 '(.*)' -->$", text, re.MULTILINE)
    world.write("cart.py", "total = 0\n")
    world.start()
    world.prompt(text=command)
    world.create("cart.py", "total = sum(prices)\n")

    message = world.stop("<promise>DONE</promise>").message

    assert message.startswith("[RALPH LOOP COMPLETE]")
    assert "changed during" not in message


def test_the_index_names_every_page() -> None:
    links = _LINK.findall(PAGES["README.md"].read_text())
    assert {"README.md", "/README.md", *links} == set(PAGES)


def test_the_index_for_models_names_every_page_by_its_title() -> None:
    """The form is that of llmstxt.org: a title, a quote, words, sections of links with notes."""
    head, *sections = re.split(r"^## ", (ROOT / "llms.txt").read_text(), flags=re.MULTILINE)
    assert re.fullmatch(r"# sisyphus\n\n> [^\n]+\n\n(?:[^#>\n][^\n]*\n)+\n", head)
    links = [line for each in sections for line in each.strip().splitlines()[2:]]
    found = [re.fullmatch(r"- \[([^]]+)\]\(([^)]+)\): \S.*", line) for line in links]
    names = {each[2]: each[1] for each in found if each}
    assert len(names) == len(links)
    assert {name for name in names if name.startswith("docs/")} == {
        f"docs/{name}" for name in PAGES if name != "/README.md"
    }
    for name, title in names.items():
        assert title == "Skill" or (ROOT / name).read_text().startswith(f"# {title}\n"), name
        assert (ROOT / name).is_file(), name


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_links_lead_to_a_file_and_a_heading_in_it(file: Path) -> None:
    for link in _LINK.findall(file.read_text()):
        if "://" not in link:
            name, _, anchor = link.partition("#")
            target = file.parent / name if name else file
            assert target.exists(), link
            assert not anchor or anchor in _anchors(target), link


def _anchors(file: Path) -> list[str]:
    headings = _HEADING.findall(file.read_text())
    return [re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings]


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_commands_and_options_exist(file: Path) -> None:
    commands = dict(_walk(typer.main.get_command(app), ()))
    groups = {words[:-1] for words in commands if (*words[:-1], "show") not in commands}
    known = {option for options in commands.values() for option in options}
    for code in _code(file.read_text()):
        option = code.split()[0].partition("=")[0]
        assert not option.startswith("--") or option in (*known, *_OTHERS_OPTIONS), code
        for line in _COMMAND.findall(code):
            words = _QUOTED.sub("''", line).partition(" -- ")[0].replace("`", "").split()
            names = tuple(word for word in words if re.fullmatch(r"[a-z][a-z-]*", word))
            path = max((each for each in commands if names[: len(each)] == each), key=len)
            assert path not in groups or path == names, code
            options = [re.sub(r"\W+$", "", word.partition("=")[0]) for word in words]
            named = {option for option in options if option.startswith("--")}
            assert named <= {*commands[path], "--help"}, code


def _code(text: str) -> Iterator[str]:
    """Each span of code, and each command line of the blocks."""
    yield from _INLINE.findall(_FENCED.sub("", text))
    for step in _STEP.finditer(text):
        if step["info"] == "console":
            yield from (command for command, _ in _commands(step["body"]))
        elif step["info"] == "sh":
            yield from filter(None, step["body"].splitlines())
        elif step["info"] == "yaml":
            lines = (line.strip().removeprefix("- run: ") for line in step["body"].splitlines())
            yield from (line for line in lines if line.startswith("sisyphus "))


def _walk(command: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Each command's words and options; those of `rules FILE` are those of a hidden command."""
    params = list(getattr(command, "params", []))
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            yield from _walk(inner, (*path, name))
        if hidden := command.commands.get("show"):
            params += hidden.params
    yield path, [option for param in params for option in (*param.opts, *param.secondary_opts)]


def test_the_workflow_of_hooks_is_green(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own steps, in a repository with the files that the page shows before."""
    text, _, _ = PAGES["ci.md"].read_text().partition("### A workflow")
    for step in _STEP.finditer(text):
        if step["file"]:
            world.write(step["file"], step["body"])
    wheel = ".github/sisyphus_hooks-1.0.0-py3-none-any.whl"
    world.write(wheel)
    pipx = world.write(world.root / "bin" / "pipx", f'#!/bin/sh\ntest "$*" = "install {wheel}"\n')
    pipx.chmod(0o755)
    monkeypatch.setenv("PATH", f"{pipx.parent}:{SISYPHUS.parent}:{os.environ['PATH']}")
    job = yaml.safe_load(_file_of_ci(".github/workflows/hooks.yml"))["jobs"]["hooks"]
    steps = [step["run"] for step in job["steps"] if "run" in step]

    for run in steps:
        subprocess.run(["bash", "-ec", run], cwd=world.project, check=True)

    tests = {file.name for file in world.project.glob("test-*.sh")}
    assert {run.removeprefix("sh ") for run in steps[1:]} == tests


def _file_of_ci(name: str) -> str:
    """The body of a file that the page of CI shows."""
    [body] = [s["body"] for s in _STEP.finditer(PAGES["ci.md"].read_text()) if s["file"] == name]
    return str(body)


def test_the_workflow_merges_what_passes_and_leaves_the_rest(tmp_path: Path) -> None:
    """Its own steps, with jobs of which one conflicts, one fails the check and one is blocked."""
    jobs = yaml.safe_load(_file_of_ci(".github/workflows/night.yml"))["jobs"]
    [bundle] = [s["run"] for s in jobs["item"]["steps"] if "git bundle" in s.get("run", "")]
    [merge] = [s["run"] for s in jobs["merge"]["steps"] if "git bundle" in s.get("run", "")]
    origin = tmp_path / "origin"
    origin.mkdir()
    _make_repository(origin)
    (origin / "Makefile").write_text("test:\n\t! test -e broken\n")
    _git(origin, "add", "-A")
    _git(origin, "commit", "-qm", "Plans")
    works = {
        "a": "echo a > file",
        "b": "echo b > file",
        "c": "touch broken",
        "d": "git switch -qc sisyphus/k7Qm2-d; touch half",
        "e": "echo e > other",
    }

    def run(name: str, script: str, artifacts: str) -> int:
        tree, home = tmp_path / name, tmp_path / f"{name}-home"
        reports = home / ".claude/.sisyphus/ralph/transcripts"
        reports.mkdir(parents=True)
        (reports / "k7Qm2_report.md").write_text("# Run k7Qm2\n")
        for key in ("user.name", "user.email"):
            subprocess.run(["git", "config", "--file", home / ".gitconfig", key, "you"], check=True)
        _git(tmp_path, "clone", "-q", "--depth", "1", f"file://{origin}", name)
        env = os.environ | {
            "HOME": str(home),
            "GITHUB_SHA": _git(origin, "rev-parse", "HEAD"),
            "RUNNER_TEMP": str(tmp_path / artifacts),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        }
        (tmp_path / artifacts).mkdir(exist_ok=True)
        return subprocess.run(["bash", "-ec", script], cwd=tree, env=env, check=False).returncode

    for name, work in works.items():
        made = f"git switch -qc work; {work}; git add -A; git commit -qm {name}"
        assert run(f"job-{name}", f"{made}\n{bundle}", f"temp-{name}") == 0
        shutil.copytree(tmp_path / f"temp-{name}/out", tmp_path / f"temp/items/item-{name}")

    assert run("merge", merge, "temp") == 1
    summary = (tmp_path / "summary").read_text().splitlines()
    assert summary == [
        "- merged: item-a", "- left: item-b", "- left: item-c", "- left: item-d",
        "- merged: item-e",
    ]  # fmt: skip
    _git(origin, "fetch", "-q", str(tmp_path / "temp/night.bundle"), "night:night")
    assert _git(origin, "ls-tree", "--name-only", "night").split() == ["Makefile", "file", "other"]
    assert _git(origin, "show", "night:file") == "a"
    half = str(tmp_path / "temp/items/item-d/work.bundle")
    assert "sisyphus/k7Qm2-d" in _git(origin, "bundle", "list-heads", half)


def _git(folder: Path, *words: str) -> str:
    return subprocess.check_output(["git", *words], cwd=folder, encoding="utf-8").strip()


def test_the_plans_of_the_skill_are_read_whole(world: World) -> None:
    plans = re.findall(r"^```markdown\n(.*?)^```$", SKILL.read_text(), re.MULTILINE | re.DOTALL)
    assert plans
    for text in plans:
        file = world.write("PLAN.md", text)
        status = world.cli("boulder", "status", "--plan", file, "--json").json
        found = world.cli("boulder", "checks", file, "--json").json
        whole = [*found["plan_checks"], *found["plan_criteria"]]
        named = [(*each["checks"], *each["criteria"]) for each in found["tasks"]]

        tasks = text.count("\n- [ ] ")
        assert (status["progress"]["total"], status["unclear"]) == (tasks, [])
        assert [len(each) for each in named] == [1] * tasks
        assert tasks + len(whole) == text.count("verify: ")
        assert not [each for each in found["tasks"] if "(" in each["task"]]


def test_the_tasks_of_the_skill_wait_for_each_other(world: World) -> None:
    [plan] = re.findall(r"^```markdown\n(# Receipts\n.*?)^```$", SKILL.read_text(), re.M | re.S)
    plan = plan.replace("[ ] 1.1", "[!] 1.1").replace("[ ] 1.2", "[x] 1.2")
    file = world.write("PLAN.md", plan)

    status = world.cli("boulder", "status", "--plan", file, "--json").json

    assert status["next_task"] == "2.3 Choose the paper"


def test_the_skill_is_short_and_says_when_it_is_meant() -> None:
    _, head, text = SKILL.read_text().split("---\n", 2)
    keys = yaml.safe_load(head)

    assert keys["name"] == SKILL.parent.name
    assert 100 < len(keys["description"]) < 1024
    assert len(text.splitlines()) < 120


def test_settings_exist(page: Path) -> None:
    text = page.read_text()
    named = _SETTING.findall(text)
    for step in _STEP.finditer(text):
        if step["info"] == "toml":
            sections = tomllib.loads(step["body"]).items()
            named += [f"{section}.{key}" for section, keys in sections for key in keys]
    assert set(named) <= set(SETTINGS)


def test_the_table_of_settings_is_complete() -> None:
    rows = re.findall(r"^\| `([a-z_.]+)` \| (.*?) \| (.*?) \| (.*?) \|", _settings_page(), re.M)
    assert {row[0]: row[1:] for row in rows} == {
        name: (_type(setting.default, setting.choices), f"`{_toml(setting.default)}`", {
            "nothing": "the user", "lower": "all may turn it off", "anything": "all",
        }[setting.project])
        for name, setting in SETTINGS.items()
    }  # fmt: skip


def _settings_page() -> str:
    return PAGES["settings.md"].read_text()


def _type(default: object, choices: tuple[str, ...]) -> str:
    if choices:
        return ", ".join(f'`"{choice}"`' for choice in choices)
    names = {bool: "true or false", int: "number", str: "text", list: "list of texts"}
    return names[type(default)]


def _toml(value: object) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else (
        f'"{value}"' if isinstance(value, str) else str(value)
    )  # fmt: skip
