"""Documents of a project in OpenCode, which loads AGENTS.md by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from e2e.opencode.script import task
from e2e.script import say, use
from e2e.texts import DOCUMENTS

if TYPE_CHECKING:
    from e2e.opencode.lab import Lab


@pytest.fixture(autouse=True)
def documents(lab: Lab) -> None:
    lab.write("README.md", "# Shop\n\nSells pears.\n")
    lab.write("AGENTS.md", "Weigh before you sell.\n")


def test_each_document_reaches_the_model_once(lab: Lab) -> None:
    run = lab.run("hello", turns=[say("hi")])
    resumed = lab.run("more", "--session", run.session, turns=[say("yes")])

    for request in (*run.requests, *resumed.requests):
        assert request.count("Sells pears.") == 1
        assert request.count("Weigh before you sell.") == 1
        assert request.count(DOCUMENTS) == 1
    assert "README.md" in run.told


def test_a_subagent_is_sent_none(lab: Lab) -> None:
    run = lab.run("go", turns=[use(task("look")), say("seen")], agent_turns=[say("seen")])

    assert "Sells pears." not in run.agents[0].text


def test_after_a_compaction_it_is_sent_again(lab: Lab) -> None:
    with lab.serve(turns=[say("hi"), say("yes")]) as server:
        session = server.new_session()
        server.prompt(session, "hello")
        server.until_idle(session)
        server.summarize(session)
        server.prompt(session, "more")
        server.until_idle(session)

        counts = [request.count("Sells pears.") for request in server.requests]
    assert counts == [1, 1]


def test_a_document_that_changed_is_sent_to_the_resumed_session(lab: Lab) -> None:
    run = lab.run("hello", turns=[say("hi")])
    lab.write("README.md", "# Shop\n\nSells plums.\n")

    resumed = lab.run("more", "--session", run.session, turns=[say("yes")])

    assert resumed.requests[0].count("Sells plums.") == 1
