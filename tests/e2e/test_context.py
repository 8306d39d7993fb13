"""README.md and AGENTS.md: each once, however the session starts."""

from __future__ import annotations

import re

from e2e.codex import NO_AGENTS
from e2e.copilot import LATE, NO_FORK
from e2e.desk import CODEX, COPILOT, OPENCODE, QWEN, Desk
from e2e.model import Request
from e2e.scenario import Scenario, Step, play, rows
from e2e.script import delegate, read, say, use

FRAME = "The following project documentation is available:"
README = {"README.md": "# Lighthouse\n\nKeeps ships off the rocks.\n"}
SHIPS = "Keeps ships off the rocks."
AGENTS = {"AGENTS.md": "# For agents\n\nNever touch the lamp.\n"}
LAMP = "Never touch the lamp."
HELLO = Step(["hello"], [say("hi")])
MORE = Step(["more"], [say("yes")], how="resume")
THEIRS = "the other clients load it by themselves"
NO_PLUGIN = '{"enabledPlugins": {"cc-plugin-agents-md@builtin": false}}'


@rows(
    Scenario("once over a start and two resumes", README, [HELLO, MORE, MORE],
             model={SHIPS: [1, 1, 1]}),
    Scenario("once more after a compaction", README,
             [Step(["hello", "/compact", "more"], [say("hi"), say("yes")]), MORE],
             model={SHIPS: [1, 1, 1]}, out={COPILOT: LATE}),
    Scenario("once more after a clear", README,
             [Step(["hello", "/clear", "again", "more"], [say("hi"), say("hi"), say("yes")])],
             model={SHIPS: [1, 1, 1], "hello": [1, 0, 0]}),
    Scenario("a README that changed is sent on resume", README,
             [HELLO, Step(["more"], [say("yes")], how="resume",
                          files={"README.md": "# Lighthouse\n\nAnd now with fog horn.\n"})],
             model={"And now with fog horn.": [0, 1]}),
    Scenario("a fork is not sent what it inherited", README,
             [HELLO, Step(["another way", "on"], [say("yes")] * 2, how="fork")],
             model={SHIPS: [1, 1, 1]},
             out={OPENCODE: "a fork does not say whose it is", COPILOT: NO_FORK}),
    Scenario("both in one block, README first", {**README, **AGENTS, "CLAUDE.md": "Be kind.\n"},
             [HELLO], user=["sisyphus sent README.md, AGENTS.md to the model, about "],
             model={f"{FRAME}\n\n# README.md\n\n{README['README.md']}\n---\n\n# AGENTS.md\n\n"
                    f"{AGENTS['AGENTS.md']}": [1]},
             only=THEIRS),
    Scenario("five hundred lines of a README that is longer",
             {"README.md": "".join(f"line {n}\n" for n in range(1, 1_201))}, [HELLO],
             model={"line 500\n": [1], "line 501\n": [0],
                    "README.md is cut after line 500 of 1,200: read the file for the rest.": [1]},
             user=["README.md (first 500 of 1,200 lines)"]),
    Scenario("neither: not a word", {"main.py": ""}, [HELLO], silent=[FRAME, "to the model"]),
    Scenario("of a package, when a tool touches it",
             {"CLAUDE.md": "Be kind.\n", "packages/api/AGENTS.md": f"{LAMP}\n",
              "packages/api/one.py": "1", "packages/api/two.py": "2", "main.py": ""},
             [Step(["look"], [use(read("main.py")),
                              use(read("packages/api/one.py"), read("packages/api/two.py")),
                              use(read("packages/api/two.py")), say("seen")]),
              Step(["more"], [use(read("packages/api/one.py")), say("yes")], how="resume")],
             model={LAMP: [0, 0, 1, 1, 1, 1]}, user=["packages/api/AGENTS.md"],
             out={OPENCODE: THEIRS, COPILOT: THEIRS,
                  QWEN: "a resume says them again; see test_qwen.py"}),
    Scenario("of a package, by the client itself",
             {"packages/api/AGENTS.md": f"{LAMP}\n", "packages/api/one.py": "1"},
             [Step(["look"], [use(read("packages/api/one.py")), use(read("packages/api/one.py")),
                              say("seen")])],
             model={LAMP: [0, 1, 1]}, silent=[FRAME],
             out=dict.fromkeys((CODEX, QWEN), "it loads none below the folder of the session")),
    Scenario("of another package than the session's",
             {"packages/api/AGENTS.md": f"{LAMP}\n", "packages/api/one.py": "1",
              "packages/web/one.py": "1"},
             [Step(["look"], [use(read("packages/api/one.py")), use(read("packages/api/one.py")),
                              say("seen")], folder="packages/web")],
             model={f"{FRAME}\n\n# packages/api/AGENTS.md\n\n{LAMP}": [0, 1, 1]},
             out={COPILOT: THEIRS}),
)  # fmt: skip
def test_documents(desk: Desk, scenario: Scenario) -> None:
    play(desk, scenario)


def _agents(name: str, others: dict[str, str], *, ours: bool, folder: str = "") -> Scenario:
    start = Step(["hello"], [say("hi")], folder=folder)
    return Scenario(
        name,
        {**AGENTS, **others},
        [start, Step(["more"], [say("yes")], how="resume", folder=folder)],
        model={LAMP: [1, 1], FRAME: [1, 1] if ours else [0, 0]},
        only=THEIRS if ours else "the files of the other clients have their own",
    )


@rows(
    _agents("alone, the client's own job", {}, ours=False),
    _agents("next to CLAUDE.md", {"CLAUDE.md": "Be kind."}, ours=True),
    _agents("next to .claude/CLAUDE.md", {".claude/CLAUDE.md": "Be kind."}, ours=True),
    _agents("next to CLAUDE.local.md", {"CLAUDE.local.md": "Be kind."}, ours=True),
    _agents("below a CLAUDE.md", {"../CLAUDE.md": "Be kind."}, ours=True),
    _agents("imported by CLAUDE.md", {"CLAUDE.md": "See @AGENTS.md"}, ours=False),
    _agents("quoted in CLAUDE.md", {"CLAUDE.md": "```\n@AGENTS.md\n```"}, ours=True),
    _agents("above a CLAUDE.md", {"src/CLAUDE.md": "Be kind."}, ours=False),
    _agents("CLAUDE.md of the user", {"../home/.claude/CLAUDE.md": "Be kind."}, ours=False),
    _agents("its plugin switched off", {".claude/settings.json": NO_PLUGIN}, ours=True),
    _agents("a session in a folder", {"src/main.py": ""}, ours=False, folder="src"),
    _agents("a folder, and a CLAUDE.md", {"src/main.py": "", "CLAUDE.md": "Be kind."}, ours=True,
            folder="src"),
)  # fmt: skip
def test_the_model_gets_agents_md_once(desk: Desk, scenario: Scenario) -> None:
    play(desk, scenario)


LINES = [f"line {n:03d} " + "of a long read" * 6 for n in range(400)]  # about four replies
AT_ONCE = {OPENCODE: "the first prompt holds all of it"}
AT_RESUME = "at a resume it starts again, and prompts keep what they have got"
AGAIN = {**AT_ONCE, QWEN: AT_RESUME, COPILOT: AT_RESUME}
LONG = {"README.md": "\n".join(LINES), **{f"{n}.txt": f"file {n}" for n in range(5)}}
READS = [*(use(read(f"{n}.txt")) for n in range(5)), say("seen")]


def _lines(request: Request) -> list[str]:
    return re.findall(r"^line \d{3} .*$", request.text, re.MULTILINE)


@rows(
    Scenario("over several requests", LONG, [Step(["look"], READS)], out=AT_ONCE),
    Scenario("over a resume", LONG, [HELLO, Step(["more"] * 4, [say("yes")] * 4, how="resume")],
             out=AGAIN),
    Scenario("again after a compaction", LONG,
             [Step(["hello", "/compact", "look"], [say("hi"), *READS])], out=AT_ONCE),
    Scenario("a fork gets what its parent waited for", LONG,
             [HELLO, Step(["more"] * 4, [say("yes")] * 4, how="fork")],
             out=AGAIN),
    Scenario("a subagent takes nothing of it", LONG,
             [Step(["look"], [use(delegate("look")), *READS], agents=READS)],
             agents={"line 0": [0] * 6}, out={**AT_ONCE, CODEX: NO_AGENTS}),
)  # fmt: skip
def test_a_long_readme_arrives_whole_and_in_order(desk: Desk, scenario: Scenario) -> None:
    runs = play(desk, scenario)

    assert 0 < len(_lines(runs[0].main[0])) < len(LINES)
    assert _lines(runs[-1].main[-1]) == LINES
