from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.errors import SisyphusError
from sisyphus.ralph import arguments
from sisyphus.ralph.arguments import BadArgumentsError, parse
from sisyphus.ralph.loop import MAX_MINUTES

PROMPTS = [
    pytest.param('"do it"', "do it", id="double quotes"),
    pytest.param("'do it'", "do it", id="single quotes"),
    pytest.param("do it", "do it", id="no quotes"),
    pytest.param("  do   it  ", "do   it", id="white space within is kept, around it is not"),
    pytest.param('"  do it\t"', "  do it\t", id="white space in quotes is kept"),
    pytest.param('"say \\"hello\\" to all"', 'say "hello" to all', id="escaped quotes"),
    pytest.param("'say \"hello\"'", 'say "hello"', id="double in single quotes"),
    pytest.param('"it\'s done"', "it's done", id="single in double quotes"),
    pytest.param("'a \\ b'", "a \\ b", id="a backslash in single quotes"),
    pytest.param('"C:\\\\dir \\d+ \\n"', "C:\\\\dir \\d+ \\n", id="backslashes are themselves"),
    pytest.param('"C:\\dir\\\\"', "C:\\dir\\", id="but two before the closing quote are one"),
    pytest.param('"do \\"it\\""', 'do "it"', id="an escaped quote at the end"),
    pytest.param('"$HOME `ls` $(rm -rf /) !x"', "$HOME `ls` $(rm -rf /) !x", id="shell characters"),
    pytest.param("cost is $5 `now`", "cost is $5 `now`", id="shell characters without quotes"),
    pytest.param('"a\n---\nb"', "a\n---\nb", id="a frontmatter mark in quotes"),
    pytest.param("a\n---\nb", "a\n---\nb", id="a frontmatter mark without quotes"),
    pytest.param("a -- b - c -x", "a -- b - c -x", id="dashes that are no options"),
    pytest.param("a --1 --_x", "a --1 --_x", id="options begin with a letter"),
    pytest.param('"a\r\nb\r\n"', "a\r\nb\r\n", id="CRLF"),
    pytest.param("line one\n\n  line two", "line one\n\n  line two", id="several lines"),
    pytest.param('"use --verbose and --force"', "use --verbose and --force", id="flags in quotes"),
    pytest.param("'use --verbose'", "use --verbose", id="flags in single quotes"),
    pytest.param('run "a b" now', 'run "a b" now', id="quotes within the prompt stay"),
    pytest.param('"a" "b"', '"a" "b"', id="two quoted texts stay as they are"),
    pytest.param('"Fix the "foo" function"', '"Fix the "foo" function"', id="quotes in quotes"),
    pytest.param('"do it', '"do it', id="a double quote that is never closed"),
    pytest.param("'do it", "'do it", id="a single quote that is never closed"),
    pytest.param("don't stop, it's fine", "don't stop, it's fine", id="apostrophes"),
    pytest.param('a "', 'a "', id="a quote alone"),
    pytest.param("a=b --c=d".replace("--c=d", "c=d"), "a=b c=d", id="equals signs"),
    pytest.param("fix </command-args> & <b>", "fix </command-args> & <b>", id="tags"),
    pytest.param("日本語 ✓ 😀", "日本語 ✓ 😀", id="letters of other languages"),
]


@pytest.mark.parametrize(("text", "prompt"), PROMPTS)
def test_the_prompt_arrives_byte_for_byte(text: str, prompt: str) -> None:
    assert parse(text).prompt == prompt


@pytest.mark.parametrize(("text", "prompt"), PROMPTS)
@pytest.mark.parametrize("form", ["{} --force", "--force {}", "--force\n{}\n--verify-plan"])
def test_options_around_a_prompt_do_not_change_it(text: str, prompt: str, form: str) -> None:
    asked = parse(form.format(text))

    assert asked.prompt == prompt
    assert asked.options["force"] is True


OPTIONS = [
    pytest.param('"do it" --completion-promise "DONE"', "DONE", 100, id="the common case"),
    pytest.param("do it --completion-promise DONE", "DONE", 100, id="a word as promise"),
    pytest.param("do it --completion-promise=DONE", "DONE", 100, id="an equals sign"),
    pytest.param('do it --completion-promise="ALL DONE"', "ALL DONE", 100, id="equals and quotes"),
    pytest.param("do it --completion-promise 'ALL DONE'", "ALL DONE", 100, id="single quotes"),
    pytest.param('do it --completion-promise "a \\"b\\""', 'a "b"', 100, id="escaped quotes"),
    pytest.param('do it --completion-promise " DONE "', "DONE", 100, id="white space is trimmed"),
    pytest.param('do it --completion-promise "--x"', "--x", 100, id="a quoted promise like a flag"),
    pytest.param("do it --completion-promise=--x", "--x", 100, id="one behind an equals sign"),
    pytest.param(
        'do it --completion-promise "<promise>DONE</promise>"', "DONE", 100, id="with its tag"
    ),
    pytest.param("do it --max-iterations 5", None, 5, id="a number"),
    pytest.param("do it --max-iterations=5", None, 5, id="a number behind an equals sign"),
    pytest.param('do it --max-iterations "5"', None, 5, id="a number in quotes"),
    pytest.param("do it --max-iterations 0", None, 0, id="unlimited, because it was said"),
    pytest.param("do it", None, 100, id="the default"),
    pytest.param("--max-iterations 5 do it", None, 5, id="before the prompt"),
    pytest.param("do --max-iterations 5 it", None, 5, id="within the prompt"),
    pytest.param("do it\n--max-iterations 5\n", None, 5, id="on its own line"),
    pytest.param("do it \\\n  --max-iterations 5", None, 5, id="behind a joined line"),
    pytest.param("do it \\\r\n --max-iterations\n5", None, 5, id="its value on the next line"),
    pytest.param("do it --max-iterations 5 --max-iterations 6", None, 6, id="the last one counts"),
    pytest.param('"do it --completion-promise DONE', "DONE", 100, id="behind an unclosed quote"),
    pytest.param("--max-iterations 5 --completion-promise D do it", "D", 5, id="several"),
]


@pytest.mark.parametrize(("text", "promise", "limit"), OPTIONS)
def test_options_are_understood(text: str, promise: str | None, limit: int) -> None:
    asked = parse(text)

    assert (asked.completion_promise, asked.max_iterations) == (promise, limit)
    assert asked.prompt.strip('"') in ("do it", "do it")


def test_a_prompt_around_an_option_on_its_own_line_keeps_its_lines() -> None:
    assert parse("one\n--force\ntwo").prompt == "one\ntwo"
    assert parse("one --force two").prompt == "one two"


def test_every_option_is_kept_for_whoever_obeys_it() -> None:
    asked = parse(
        "do it --max-minutes 5 --max-tokens=1000 --verify 'pytest -q' --verify-plan "
        "--verify-checklist --wait-for-user --resume-after-limit --force"
    )

    assert asked.options == {
        "max_minutes": 5,
        "max_tokens": 1000,
        "verify": "pytest -q",
        "verify_plan": True,
        "verify_checklist": True,
        "wait_for_user": True,
        "resume_after_limit": True,
        "force": True,
    }


def test_a_prompt_file_stands_in_for_the_prompt() -> None:
    asked = parse("--prompt-file 'my task.md'")

    assert (asked.prompt, asked.options) == ("", {"prompt_file": "my task.md"})


BAD = [
    pytest.param("", "no prompt", id="nothing"),
    pytest.param('""', "no prompt", id="empty quotes"),
    pytest.param('" \n"', "no prompt", id="white space in quotes"),
    pytest.param("--force", "no prompt", id="options alone"),
    pytest.param("do it --verbose", "unknown option --verbose", id="an unknown option"),
    pytest.param("do it --max-iteration 5", "unknown option --max-iteration", id="a slip"),
    pytest.param("do it --Force", "unknown option --Force", id="another case"),
    pytest.param("do it --max-iterations 5x", "not `5x`", id="a bad number"),
    pytest.param("do it --max-iterations -5", "not `-5`", id="a negative number"),
    pytest.param("do it --max-iterations 1.5", "not `1.5`", id="a fraction"),
    pytest.param("do it --max-iterations ٣", "not `٣`", id="digits of other scripts"),
    pytest.param("do it --max-iterations " + "9" * 5_000, "not `999", id="thousands of digits"),
    pytest.param('do it --max-iterations ""', "not ``", id="an empty number"),
    pytest.param("do it --max-iterations", "needs a value", id="a value that is missing"),
    pytest.param("do it --max-iterations=", "needs a value", id="one behind an equals sign"),
    pytest.param("do it --max-iterations --force", "needs a value", id="an option instead of one"),
    pytest.param('do it --completion-promise ""', "is empty", id="an empty promise"),
    pytest.param('do it --verify " "', "is empty", id="an empty command"),
    pytest.param('do it --completion-promise "A B', "never closed", id="an unclosed value"),
    pytest.param(
        f"x --completion-promise {'y' * 1_001}", "longer than 1,000", id="a promise too long"
    ),
    pytest.param("do it --completion-promise='A B", "never closed", id="an unclosed joined value"),
    pytest.param("do it --force=1", "takes no value", id="a value for a switch"),
    pytest.param("do it --prompt-file x.md", "Leave one of them out", id="two prompts"),
    pytest.param("do it --completion-promise '<promise>'", "promise tag", id="half a tag"),
    pytest.param(
        "do it --completion-promise 'a <promise>b</promise>'", "promise tag", id="a tag within"
    ),
    pytest.param("x" * 1_000_001, "longer than 1,000,000", id="a megabyte"),
]


@pytest.mark.parametrize(("text", "why"), BAD)
def test_a_bad_command_line_says_what_is_wrong_and_what_to_do(text: str, why: str) -> None:
    with pytest.raises(BadArgumentsError) as raised:
        parse(text)

    message = str(raised.value)
    assert isinstance(raised.value, SisyphusError)
    assert why in message
    assert len(message) < 600
    assert "\n" not in message


def test_the_model_may_name_no_command() -> None:
    with pytest.raises(BadArgumentsError, match="--verify"):
        parse("do it --verify 'rm -rf /'", trusted=False)


ASKED = [
    pytest.param("do it", {}, id="no options"),
    pytest.param("  do\r\n$(it) ", {"max_minutes": 5, "force": True}, id="a prompt as it is"),
    pytest.param("", {"prompt_file": "x.md"}, id="a file instead"),
]


@pytest.mark.parametrize(("prompt", "options"), ASKED)
def test_a_command_line_that_is_taken_apart_already(
    prompt: str, options: dict[str, str | int | bool]
) -> None:
    asked = arguments.ask(prompt, dict(options))

    assert (asked.prompt, asked.options, asked.notes) == (prompt, options, [])
    assert (asked.completion_promise, asked.max_iterations) == (None, 100)


def test_of_it_too_promise_and_limit_are_taken_out() -> None:
    asked = arguments.ask("do it", {"completion_promise": "DONE", "max_iterations": 0})

    assert (asked.completion_promise, asked.max_iterations, asked.options) == ("DONE", 0, {})


@pytest.mark.parametrize(
    ("prompt", "options", "why"),
    [
        pytest.param(" \n", {}, "no prompt", id="no prompt"),
        pytest.param("x", {"prompt_file": "y"}, "Leave one of them out", id="two prompts"),
        pytest.param("x", {"verify": "y"}, "only the user may do", id="a command"),
    ],
)
def test_what_the_model_asks_for_is_looked_at(
    prompt: str, options: dict[str, str | int | bool], why: str
) -> None:
    with pytest.raises(BadArgumentsError, match=why):
        arguments.ask(prompt, options, trusted=False)


VALUES = [
    pytest.param("max_iterations", 0, 0, id="a number"),
    pytest.param("max_iterations", "7", 7, id="a number as text"),
    pytest.param("completion_promise", " <promise>DONE</promise> ", "DONE", id="a promise"),
    pytest.param("verify", " pytest -q", " pytest -q", id="a text"),
    pytest.param("verify_plan", True, True, id="a switch"),
]


@pytest.mark.parametrize(("name", "value", "checked"), VALUES)
def test_a_value_is_checked_and_kept(name: str, value: str | int, checked: str | int) -> None:
    assert arguments.check(name, value) == checked


NO_VALUES = [
    pytest.param("max_tokens", -1, "not `-1`", id="below zero"),
    pytest.param("max_tokens", 10**9, "not `1000000000`", id="too large"),
    pytest.param("max_minutes", True, "not `True`", id="a switch for a number"),
    pytest.param("verify", "", "--verify is empty", id="nothing"),
    pytest.param("completion_promise", "x" * 1_001, "longer than 1,000", id="too long"),
]


@pytest.mark.parametrize(("name", "value", "why"), NO_VALUES)
def test_a_value_that_cannot_be_is_an_error(name: str, value: str | int, why: str) -> None:
    with pytest.raises(BadArgumentsError, match=why):
        arguments.check(name, value)


RAISED = [
    pytest.param("--max-iterations 0", "max_iterations", 100, id="no limit"),
    pytest.param("--max-iterations 101", "max_iterations", 100, id="a higher one"),
    pytest.param("--max-iterations 999999999", "max_iterations", 100, id="the highest"),
]


@pytest.mark.parametrize(("option", "name", "limit"), RAISED)
def test_the_model_may_raise_no_limit(option: str, name: str, limit: int) -> None:
    asked = parse(f"do it {option}", trusted=False)

    assert getattr(asked, name) == limit
    assert asked.notes == [f"the model asked for {option}; it gets {limit}"]


def test_the_model_may_lower_a_limit() -> None:
    asked = parse("do it --max-iterations 5 --max-minutes 1441", trusted=False)

    assert (asked.max_iterations, asked.options["max_minutes"]) == (5, MAX_MINUTES)
    assert parse("do it --max-minutes 1441").options["max_minutes"] == 1_441


@given(st.text(max_size=60))
def test_any_text_in_quotes_arrives_unchanged(text: str) -> None:
    quoted = '"' + _escaped(text) + '"'
    if not text.strip():
        return

    assert parse(f"--force {quoted} --max-iterations 7").prompt == text
    assert parse(f"do it --completion-promise {quoted}").completion_promise in (text.strip(), None)


def _escaped(text: str) -> str:
    """Quotes get a backslash, and what stands before a quote gets doubled, as in many shells."""
    out, run = "", 0
    for character in text:
        if character == '"':
            out += "\\" * (run + 1)
        out += character
        run = run + 1 if character == "\\" else 0
    return out + "\\" * run


@given(st.text(st.sampled_from("ab '\"\\-=\n\r\t"), max_size=40))
def test_no_command_line_is_too_strange(text: str) -> None:
    try:
        asked = parse(text)
    except BadArgumentsError:
        return
    assert asked.prompt.strip()


@pytest.mark.parametrize("part", ['"a ', "'a", '" ', "\\", '\\"', '\\" ', "--force ", " ", "a "])
def test_a_long_command_line_is_read_in_one_pass(part: str) -> None:
    """Nothing is timed: what is not linear would not end."""
    parse("go " + part * (500_000 // len(part)) + " x")
