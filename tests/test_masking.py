from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.masking import MASK, masked


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("key sk-ant-api03-AbCdEfGhIjKlMnOp", f"key {MASK}", id="a model's API"),
        pytest.param("ghp_0123456789abcdefghij0123", MASK, id="GitHub"),
        pytest.param("AKIAIOSFODNN7EXAMPLE now", f"{MASK} now", id="AWS"),
        pytest.param(
            "https://me:hunter2@example.org/x", f"https://me:{MASK}@example.org/x", id="in a URL"
        ),
        pytest.param(
            "Authorization: Bearer abcdef123456", f"Authorization: Bearer {MASK}", id="a header"
        ),
        pytest.param("export TOKEN=xyzsecret99", f"export TOKEN={MASK}", id="a variable"),
        pytest.param('"api_key": "abcd1234"', f'"api_key": "{MASK}"', id="in JSON"),
        pytest.param("DB_PASSWORD: hunter22", f"DB_PASSWORD: {MASK}", id="in YAML"),
        pytest.param(
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nx",
            f"{MASK}\nx",
            id="a private key",
        ),
    ],
)
def test_what_looks_like_a_secret_is_masked(text: str, wanted: str) -> None:
    assert masked(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "fix the token refresh",
        "max_tokens: 4096",
        "TOKEN=$GITHUB_TOKEN",
        "password: <yours>",
        "task-runner-for-all-the-things",
        "src/secret_santa.py failed: 3 tests",
        "tokens = tokenize(text)"[:8],
        "https://example.org:8080/path",
    ],
)
def test_what_only_speaks_of_one_stays(text: str) -> None:
    assert masked(text) == text


@given(st.text())
def test_it_raises_nothing_and_is_done_at_once(text: str) -> None:
    assert masked(masked(text)) == masked(text)
