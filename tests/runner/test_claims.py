"""Whether a run is complete by what its client said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import put

from runner.runs import DONE
from runner.scripted import entry, plain, said, write
from sisyphus.runner import claims
from sisyphus.runner.client.stream import Seen
from sisyphus.runner.desk import Desk, Screen
from sisyphus.runner.keep.places import Places
from sisyphus.runner.keep.state import Run
from sisyphus.runner.task import fix_plan
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from runner.runs import Scene
    from runner.scripted import Entry

ASKED = f"Mend it.\nThen say\n\n{DONE}\n"

ECHOES = [
    pytest.param("cat", "do it", "circuit_breaker", id="the prompt"),
    pytest.param("cat; echo; echo I am at it", "do it", "circuit_breaker", id="and more"),
    pytest.param("cat", ASKED, "circuit_breaker", id="a promise in the user's prompt"),
    pytest.param("cat >&2; tail -n 30 .claude/PROMPT.md", ASKED, "circuit_breaker", id="its end"),
    pytest.param(f"cat; echo; echo '{DONE}'", ASKED, "completed", id="a promise of its own"),
    pytest.param(f"cat >/dev/null; echo '{DONE}'", ASKED, "completed", id="no prompt"),
]


@pytest.mark.parametrize(("command", "prompt", "status"), ECHOES)
def test_a_client_that_prints_its_prompt_promises_nothing(
    scene: Scene, command: str, prompt: str, status: str
) -> None:
    done = scene.run(prompt=prompt, completion_promise="DONE", client_command=command)

    assert done.run.status == status


def test_a_prompt_that_the_client_removed_is_no_failure(scene: Scene) -> None:
    command = f"cat >/dev/null; rm .claude/PROMPT.md; echo '{DONE}'"
    done = scene.run(completion_promise="DONE", client_command=command)

    assert done.run.status == "completed"


def test_the_clients_own_report_counts_as_it_is(scene: Scene) -> None:
    done = scene.run(said(f"{ASKED}"), prompt=ASKED, completion_promise="DONE")

    assert done.run.status == "completed"


NESTED = [
    pytest.param("- [x] a\n  - [ ] b\n", "max_iterations", id="an open step"),
    pytest.param("- [x] a\n  - [x] b\n", "completed", id="all steps done"),
    pytest.param("- [x] a\n  - [-] b\n", "completed", id="a step that was cancelled"),
]


@pytest.mark.parametrize(("text", "status"), NESTED)
def test_an_item_with_open_steps_is_not_done(scene: Scene, text: str, status: str) -> None:
    put(scene.project / "fix_plan.md", "- [ ] a\n  - [ ] b\n")
    client: Entry = entry(write("fix_plan.md", text), plain("words"))
    done = scene.run(client, max_iterations=1)

    assert done.run.status == status


BLOCKED = [
    pytest.param("- [!] a\n- [x] b\n", "", "every open item of fix_plan.md is blocked", id="all"),
    pytest.param("- [!] a\n- [ ] b\n", "", "", id="one is open"),
    pytest.param("- [!] a\n", "a", "", id="the last one has just been tried"),
]


@pytest.mark.parametrize(("text", "item", "why"), BLOCKED)
def test_another_iteration_is_no_use_where_all_is_blocked(
    scene: Scene, text: str, item: str, why: str
) -> None:
    space = Workspace(str(scene.project))
    run = Run({"in_flight": {"item": item}})
    desk = Desk(space, Places(space), run, Screen())
    claim = claims.check(desk, Seen(), fix_plan.parse(text, "fix_plan.md"))

    assert (claim.completed, claim.blocked) == ("", why)
