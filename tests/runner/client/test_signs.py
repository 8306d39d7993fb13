from __future__ import annotations

import pytest

from sisyphus.runner.client import signs

WORDS = [
    pytest.param("write failed: ENOSPC: no space left on device", signs.DISK, id="disk"),
    pytest.param("OSError: [Errno 122] Disk quota exceeded", signs.DISK, id="quota"),
    pytest.param("Prompt is too long", signs.CONTEXT, id="too long"),
    pytest.param("input length and `max_tokens` exceed context limit", signs.CONTEXT, id="limit"),
    pytest.param("Autocompact is thrashing: the context refilled", signs.CONTEXT, id="thrashing"),
    pytest.param("Credit balance is too low", signs.BILLING, id="credit"),
    pytest.param("Not logged in · Please run /login", signs.AUTHENTICATION, id="no login"),
    pytest.param("Invalid API key · Fix external API key", signs.AUTHENTICATION, id="bad key"),
    pytest.param("There's an issue with the selected model (x).", signs.MODEL, id="model"),
    pytest.param("You've hit your 5-hour limit · resets 3am", signs.LIMIT, id="account's limit"),
    pytest.param("Claude AI usage limit reached|1795239999", signs.LIMIT, id="older limit"),
    pytest.param("API Error: Request rejected (429) · slow down", signs.LIMIT, id="too fast"),
    pytest.param("connect ECONNREFUSED 127.0.0.1:9", signs.NETWORK, id="refused"),
    pytest.param("getaddrinfo EAI_AGAIN api.example.com", signs.NETWORK, id="no name"),
    pytest.param("curl: (6) Could not resolve host: x", signs.NETWORK, id="no host"),
    pytest.param("API Error: 529 Overloaded.", signs.OVERLOADED, id="overloaded"),
    pytest.param("502 Bad Gateway", signs.OVERLOADED, id="gateway"),
    pytest.param("error: unknown option '--nonsense'", signs.CLIENT, id="option"),
    pytest.param(
        "--dangerously-skip-permissions cannot be used with root/sudo privileges",
        signs.CLIENT,
        id="root",
    ),
    pytest.param("Segmentation fault", "", id="something else"),
    pytest.param("5290 tests overloaded nothing", "", id="a number that looks like a status"),
]


@pytest.mark.parametrize(("words", "kind"), WORDS)
def test_words_show_a_kind(words: str, kind: str) -> None:
    assert signs.of_words(words) == kind


def test_the_last_line_with_a_sign_counts() -> None:
    text = "connect ECONNREFUSED 127.0.0.1:9\n  Not logged in  \nbye\n"
    assert signs.in_lines(text) == (signs.AUTHENTICATION, "Not logged in")
    assert signs.in_lines("bye\n") is None


def test_the_first_known_name_counts() -> None:
    assert signs.of_names("api_error", "success", "connection_failed", "server_error") == "network"
    assert signs.of_names("completed", "") == ""


def test_every_kind_has_words_and_one_class() -> None:
    classes = [*signs.FATAL, *signs.PASSING, signs.CONTEXT, *signs.COUNTING]
    assert sorted(signs.KINDS) == sorted(set(classes)) == sorted(signs.MEANING)
