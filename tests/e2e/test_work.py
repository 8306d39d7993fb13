"""What waits for the user: the session of a loop hangs in a permission dialog."""

from __future__ import annotations

import json

from e2e.desk import Desk
from e2e.script import say, shell, use
from e2e.terminal import terminal

TYPED = '/sisyphus:ralph-loop "deploy it" --completion-promise "DONE"'
PROMISE = say("<promise>DONE</promise>")
WAIT = "python3 -c 'import time; time.sleep(15)'"
ASKS = "asks for your permission to use Bash: " + WAIT
CONFIG = "../home/.claude/.sisyphus/config.toml"


def dialogs(desk: Desk) -> list[str]:
    waiting = json.loads(desk.sisyphus("status", "--json"))["waiting"]
    return [each["text"] for each in waiting if each["kind"] == "dialog"]


def test_a_dialog_that_nobody_answers_is_named_and_sent(desk: Desk) -> None:
    notice = desk.home / "notice.json"
    desk.write(CONFIG, f"[notify]\ncommand = 'cat > {notice}.new; mv {notice}.new {notice}'\n")
    turns = [use(shell(WAIT)), PROMISE]

    with terminal(desk, turns=turns) as client:
        client.type(TYPED)
        client.until_asking()
        assert dialogs(desk) == []
        client.until(lambda: dialogs(desk), "entry in the list")
        text = f"Session {client.session[:8]} in {desk.project.name} {ASKS}"
        status = desk.sisyphus("status")
        assert f"Waiting for you:\n    {text}" in status
        client.until(notice.exists, "notice")
        assert json.loads(notice.read_text())["text"] == text

        client.press("1")  # yes; the tool then runs for a while, and no event says so
        client.until(lambda: not dialogs(desk), "end of the entry")
        client.until_idle()

    assert dialogs(desk) == []


def test_a_dialog_that_is_answered_at_once_is_not_sent(desk: Desk) -> None:
    notices = desk.home / "notices"
    desk.write(CONFIG, f"[notify]\ncommand = 'echo $SISYPHUS_KIND >> {notices}'\n")
    turns = [use(shell("python3 -c 'import time; time.sleep(13)'")), PROMISE]

    with terminal(desk, turns=turns) as client:
        client.type(TYPED)
        client.until_asking()
        client.press("1")
        client.until(notices.exists, "end of the loop")
        client.until_idle()

    assert notices.read_text() == "completion\n"
