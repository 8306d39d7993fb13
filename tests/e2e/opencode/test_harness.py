"""What the scenarios beside this file stand on: the client alone, without a plugin of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from e2e.opencode.client import USABLE
from e2e.opencode.script import Unfinished, bash, read, task
from e2e.opencode.tui import ESCAPE
from e2e.script import Turn, say, use

if TYPE_CHECKING:
    from e2e.opencode.lab import Lab

TOASTING = """\
export const Toasting = async ({ client }) => {
  const show = () => client.tui.showToast({ body: { message: "Good morning", variant: "warning" } })
  setInterval(() => show().catch(() => {}), 500)
  return {}
}
"""
"""Again and again: the terminal of a busy machine drops a toast now and then."""


def test_a_run_is_one_conversation(bare_lab: Lab) -> None:
    file = bare_lab.write("one.txt", "the first file")

    run = bare_lab.run("look", turns=[use(read(file)), say("I have seen it.")])

    assert run.requests[0].users == ["look"]
    assert "the first file" in run.requests[1].results[0]
    assert run.texts == ["I have seen it."]


def test_a_run_goes_on_with_a_session(bare_lab: Lab) -> None:
    first = bare_lab.run("hello", turns=[say("hi")])

    second = bare_lab.run("more", "--session", first.session, turns=[say("yes")])

    assert second.session == first.session
    assert second.requests[0].users == ["hello", "more"]


def test_a_subagent_is_told_apart(bare_lab: Lab) -> None:
    turns = [use(task("count the files")), say("There are two.")]

    run = bare_lab.run("delegate", turns=turns, agent_turns=[use(bash("ls")), say("two files")])

    assert [request.parent for request in run.agents] == [run.session] * 2
    assert "two files" in run.main[1].results[0]


def test_a_server_takes_prompts_one_after_the_other(bare_lab: Lab) -> None:
    with bare_lab.serve(turns=[use(bash("echo from-bash")), say("done"), say("gladly")]) as server:
        session = server.new_session()
        server.prompt(session, "work")
        server.until_idle(session)
        server.prompt(session, "more")
        server.until_idle(session)

        assert "from-bash" in server.requests[1].results[0]
        assert server.requests[2].users == ["work", "more"]
        assert [message["info"]["role"] for message in server.messages(session)][-1] == "assistant"


def test_an_abort_ends_the_turn(bare_lab: Lab) -> None:
    with bare_lab.serve(turns=[Unfinished("I begin"), say("yes?")]) as server:
        session = server.new_session()
        server.prompt(session, "work")
        server.until(lambda: "I begin" in server.said, "answer")
        server.abort(session)
        server.until_idle(session)

        [error] = server.events_of("session.error", session=session)
        assert error["error"]["name"] == "MessageAbortedError"
        assert server.model.hung_up == 1
        server.prompt(session, "hello?")


def test_a_full_context_is_compacted_and_gone_on_with(bare_lab: Lab) -> None:
    file = bare_lab.write("one.txt", "1")
    full = Turn("Reading.", (read(file),), tokens=USABLE)

    run = bare_lab.run("look", turns=[full, say("I go on.")])

    assert "look" in run.compactions[0].text
    assert "What was said before." in run.requests[1].text


def test_a_session_is_compacted_on_demand(bare_lab: Lab) -> None:
    with bare_lab.serve(turns=[say("hi"), say("yes")]) as server:
        session = server.new_session()
        server.prompt(session, "hello")
        server.until_idle(session)
        server.summarize(session)
        server.prompt(session, "more")
        server.until_idle(session)

        assert len(server.model.compactions) == 1
        assert "What was said before." in server.requests[1].text


def test_a_file_is_a_slash_command(bare_lab: Lab) -> None:
    bare_lab.write(".opencode/command/greet.md", "Greet $ARGUMENTS.")

    with bare_lab.serve(turns=[say("Hello, Ada.")]) as server:
        session = server.new_session()
        server.command(session, "greet", "Ada")

        assert server.requests[0].users == ["Greet Ada."]
    run = bare_lab.run("Bob", "--command", "greet", turns=[say("Hello, Bob.")])
    assert run.requests[0].users == ["Greet Bob."]
    with bare_lab.tui(turns=[say("Hello, Eve.")]) as tui:
        tui.enter("/greet Eve")
        tui.until_shown("Hello, Eve.")

        assert tui.requests[0].users == ["Greet Eve."]


def test_a_command_of_the_user_needs_no_model(bare_lab: Lab) -> None:
    with bare_lab.serve(turns=[]) as server:
        session = server.new_session()
        server.shell(session, "echo from-shell")
        server.until_idle(session)

        assert "from-shell" in str(server.messages(session))


def test_a_refusal_of_the_model_is_an_error(bare_lab: Lab) -> None:
    with bare_lab.serve(turns=[Turn("no such model", status=400)]) as server:
        session = server.new_session()
        server.prompt(session, "hello")
        server.until_idle(session)

        [error] = server.events_of("session.error", session=session)
        assert error["error"]["name"] == "APIError"


def test_a_plugin_shows_a_toast(bare_lab: Lab) -> None:
    bare_lab.write(".opencode/plugin/toasting.js", TOASTING)

    with bare_lab.serve(turns=[say("hi")]) as server:
        server.prompt(server.new_session(), "hello")
        server.until(lambda: server.toasts, "toast")

        assert server.toasts[0]["message"] == "Good morning"
    with bare_lab.tui(turns=[say("hi")]) as tui:
        tui.enter("hello")
        tui.until_shown("Good morning")


def test_the_terminal_shows_what_is_said(bare_lab: Lab) -> None:
    turns = [say("First answer."), Unfinished("Second"), say("Third answer.")]
    with bare_lab.tui(turns=turns) as tui:
        tui.enter("hello")
        tui.until_shown("First answer.")
        tui.enter("and then?")
        tui.until_shown("Second")
        tui.press(ESCAPE)
        tui.until_shown("again to interrupt")
        tui.press(ESCAPE)
        tui.until(lambda: tui.model.hung_up, "end of the request")
        tui.enter("go on")
        tui.until_shown("Third answer.")

        assert tui.requests[2].users[-1] == "go on"
