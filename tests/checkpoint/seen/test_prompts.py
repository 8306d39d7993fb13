from __future__ import annotations

import pytest
from ralph.lines import continued, expanded, line, notified, prompt, read, result, said, typed

from sisyphus.checkpoint.seen.prompts import asked

ASKED = [
    pytest.param(prompt("Fix the parser\n"), "Fix the parser", id="a prompt"),
    pytest.param(line("user", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        "a\nb", id="in two blocks"),
    pytest.param(line("user", [{"type": "text", "text": "<ide_opened_file>x"},
        {"type": "text", "text": "do it"}]), "do it", id="behind what an editor adds"),
    pytest.param(typed('"do it" --max-iterations 5'), "do it", id="a loop's prompt"),
    pytest.param(typed("do it --max-iterations x"), "do it --max-iterations x", id="a bad one"),
    pytest.param(typed("", "/sisyphus:boulder-status"), "", id="a command of ours"),
    pytest.param(typed("x", "/sisyphus:start-work"), "", id="one with arguments"),
    pytest.param(typed("", "/boulder-status"), "", id="without our prefix"),
    pytest.param(typed("do it --max-iterations 5", "/ralph-loop"), "do it", id="a bare loop's"),
    pytest.param(typed("x", "/start-work"), "/start-work x", id="whose it was is not recorded"),
    pytest.param(typed("keep it", "/compact"), "", id="the client's own"),
    pytest.param(typed("12", "/fix-issue"), "/fix-issue 12", id="the user's own"),
    pytest.param(typed("", "/review"), "/review", id="without arguments"),
    pytest.param(prompt("<command-name></command-name>"), "", id="no command"),
    pytest.param(prompt("<local-command-stdout>x"), "", id="what a command of the client's says"),
    pytest.param(prompt("<bash-input>ls</bash-input>"), "", id="what the user runs himself"),
    pytest.param(prompt("[Request interrupted by user]"), "", id="an interruption"),
    pytest.param(prompt("summary", isCompactSummary=True), "", id="a summary"),
    pytest.param(expanded("x"), "", id="an expanded command"),
    pytest.param(continued(), "", id="a hook's words"),
    pytest.param(notified(), "", id="a background task"),
    pytest.param(result("x"), "", id="a result"),
    pytest.param(said("x"), "", id="the model"),
    pytest.param({}, "", id="nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("record", "words"), ASKED)
def test_what_the_user_asks_for_is_told(record: dict[str, object], words: str) -> None:
    assert "".join(asked(one) for one in read(record)) == words
