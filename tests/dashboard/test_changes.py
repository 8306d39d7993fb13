from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.dashboard import changes as ch

OURS = os.path.join(os.sep, "private", "home", "ann", ".claude", ".sisyphus")


@pytest.mark.parametrize(
    ("path", "topic"),
    [
        pytest.param("ralph/loops/s1.local.md", ch.LOOPS, id="a loop"),
        pytest.param("ralph/checklists/l1.json", ch.LOOPS, id="a checklist"),
        pytest.param("ralph/runs/r1.json", ch.LOOPS, id="a run"),
        pytest.param("ralph/transcripts/l1/0001.md", ch.TRANSCRIPTS, id="a transcript"),
        pytest.param("logs/sessions.jsonl", ch.HISTORY, id="the history"),
        pytest.param("logs/sessions.archive.jsonl", ch.HISTORY, id="the archive"),
        pytest.param("sisyphus.db", ch.JOURNAL, id="a journal"),
        pytest.param("checkpoint/s1.json", ch.CONTEXT, id="a session's context"),
        pytest.param("projects/p1/handoffs/h1.md", ch.CONTEXT, id="a handoff"),
        pytest.param("projects/p1/handoffs.json", ch.CONTEXT, id="the list of handoffs"),
        pytest.param("projects/p1/enforce.json", ch.ENFORCEMENT, id="enforcement"),
        pytest.param("projects/p1/boulders.json", ch.BOULDERS, id="a book of plans"),
        pytest.param("projects/p1", ch.BOULDERS, id="a project"),
        pytest.param("rules-injector/s1.json", ch.RULES, id="a ledger of rules"),
        pytest.param("context-injector/s1.json", ch.RULES, id="a ledger of documents"),
        pytest.param("logs/debug.log", "", id="the debug log"),
        pytest.param("logs/sessions", "", id="what is named like the history"),
        pytest.param("logs/sessions.jsonl.lock", "", id="a lock"),
        pytest.param("ralph/loops/s1.local.md.tmp", "", id="what is being written"),
        pytest.param("ralph/sessions/ppid_1.id", "", id="which session a process is in"),
        pytest.param("config.toml", "", id="settings"),
        pytest.param("", "", id="our folder itself"),
        pytest.param("..", "", id="the folder above"),
        pytest.param("../projects/a.jsonl", "", id="the client's"),
    ],
)
def test_a_file_is_about_a_topic(path: str, topic: str) -> None:
    assert ch.topic_of(os.path.join(OURS, *path.split("/")), OURS) == topic


@given(st.lists(st.text(st.characters(exclude_characters="\0"), min_size=1), max_size=5))
def test_whatever_lies_there_is_about_a_known_topic_or_none(names: list[str]) -> None:
    assert ch.topic_of(os.path.join(OURS, *names), OURS) in {*ch.TOPICS, ""}


def test_changes_are_counted_by_topic() -> None:
    changes = ch.Changes()
    changes.note([ch.LOOPS, ch.HISTORY])
    changes.note([ch.LOOPS])
    assert changes.count(ch.LOOPS, ch.HISTORY, ch.RULES) == (2, 1, 0)
    assert changes.total == 3
