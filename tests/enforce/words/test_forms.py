from __future__ import annotations

import pytest

from enforce.words.reading import place
from sisyphus.enforce.words import forms

DESCRIBING = [
    *("what is done", "a summary of work done", "a complete list", "well done", "than done"),
    *("the string done", "done by hand", "done via x", "done so", "done in `a`", "done in a/b"),
    *("Complete the form", "jobs complete it", "for completed tasks", "returns completed tasks"),
    *("Completed tasks", "Finished items are here", "all finished items", "the finished work"),
    *("it is implemented in x", "a set, all set of x", "I'm all set to go", "wrapped up in x"),
    *("that's it which fails", "that is all it takes"),
]
SAYING = [
    *("it is done", "done so far", "done in time", "done in", "it is complete", "complete"),
    *("it isn't complete", "it looks complete here", "complete and tested", "it is not complete"),
    *("I completed tasks 1 to 3", "and completed tests", "I've finished steps", "I finished it"),
    *(
        "Completed tests and docs",
        "Finished this",
        "it has been implemented in x",
        "you're all set",
    ),
    *("I'm all set", "all wrapped up", "that's it", "that's it for now", "you're all set to go"),
]


@pytest.mark.parametrize("text", DESCRIBING)
def test_it_describes(text: str) -> None:
    assert forms.describes(place(text))


@pytest.mark.parametrize("text", SAYING)
def test_it_says_something(text: str) -> None:
    assert not forms.describes(place(text))


TOOLS = [
    *(
        "npm install done",
        "The build is done",
        "The build has now been completed",
        "build complete",
    ),
    *("The background task is done", "finished with exit code 1", "done in 3s", "done in 3 s"),
    *("done in 4.2s", "completed in 5 minutes", "finished after 2 hours", "done within 10ms"),
]
WORKERS = [
    *("The work is done", "The task is done", "done in 3 commits", "done in", "done in three days"),
    *("The build is done and deployed", "done after 3", "done with it"),
]


@pytest.mark.parametrize("text", TOOLS)
def test_it_is_said_of_a_tool(text: str) -> None:
    assert forms.is_of_a_tool(place(text))


@pytest.mark.parametrize("text", WORKERS)
def test_it_is_not(text: str) -> None:
    assert not forms.is_of_a_tool(place(text))
