"""Masking: what has the shape of a secret goes, everything else stays."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.ground.masking import mask

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
LINE = "MIIEpAIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM9OiKxYzabcdefghijklmnopqrst"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nabc\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("key sk-ant-api03-AbCdEfGhIjKlMnOp", "key sk-ant-…"),
        ("sk-proj-T3BlbkFJabcdefghijklmnop", "sk-proj-…"),
        ("sk-1234567890abcdefghij", "sk-…"),
        ("ghp_0123456789abcdefghij0123456789abcdef", "ghp_…"),
        ("github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz", "github_pat_…"),
        ("glpat-Xy12Zk34Lm56Np78Qr90", "glpat-…"),
        ("AKIAIOSFODNN7EXAMPLE now", "AKIA… now"),
        ("xoxb-12345678901-abcdefGHIJKL", "xoxb-…"),
        ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "sk_live_…"),
        ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "AIza…"),
        ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "npm_…"),
        (f"cookie: {JWT}; path=/", "cookie: eyJ…; path=/"),
        (f"a\n{KEY}\nb", "a\n-----BEGIN RSA PRIVATE KEY-----…\nb"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEv", "-----BEGIN PRIVATE KEY-----…"),
        ("postgres://me:hunter2@db.example.org/x", "postgres://me:…@db.example.org/x"),
        ("redis://:hunter2@cache:6379", "redis://:…@cache:6379"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer …"),
        ("-H 'Authorization: Basic dXNlcjpwYXNz'", "-H 'Authorization: Basic …'"),
        ("it sends Bearer abcdef1234567890.", "it sends Bearer …"),
        ("export TOKEN=xyzsecret", "export TOKEN=…"),
        ("export GITHUB_TOKEN='xyz secret'", "export GITHUB_TOKEN='…'"),
        ("DB_PASSWORD=correcthorse ./run", "DB_PASSWORD=… ./run"),
        ("password=hunter2&user=me", "password=…"),
        ("PASSWORD=12345678", "PASSWORD=…"),
        ('"api_key": "abcd1234"', '"api_key": "…"'),
        ('password = "correct horse battery"', 'password = "…"'),
        ("DB_PASSWORD: hunter22", "DB_PASSWORD: …"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = …"),
        ("mysql --password hunter22 -u root", "mysql --password … -u root"),
        ("gh --auth-token=abcdefgh", "gh --auth-token=…"),
        (f"a\n{LINE}\n{LINE}\nb", "a\n…\nb"),
        (f"{LINE}\n{LINE}\nQUJD==\n-----END PRIVATE KEY-----", "…\n-----END PRIVATE KEY-----"),
        ("mysql -u root -phunter2 shop", "mysql -u root -p… shop"),
        ("mysqldump -phunter2", "mysqldump -p…"),
        ("curl -s -u admin:hunter2 https://x", "curl -s -u admin:… https://x"),
        ("curl --user 'admin:hunter2' x", "curl --user 'admin:…' x"),
        ("machine x login y password hunter2", "machine x login y password …"),
        ("machine x\n  login y\n  password hunter2", "machine x\n  login y\n  password …"),
        ("DB_PASS=correcthorse", "DB_PASS=…"),
        ("PASS='hunter2'", "PASS='…'"),
        ("ENCRYPTION_KEY=0a1b2c3d4e5f", "ENCRYPTION_KEY=…"),
        (
            "https://hooks.slack.com/services/T00000000/B00000000/XXXX",
            "https://hooks.slack.com/services/…",
        ),
    ],
)
def test_secrets_are_masked_and_their_kind_stays(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "fix the token refresh",
        "The password: it must be long.",
        "token: expired",
        "max_tokens: 4096, max_token=4096",
        "TOKEN=$GITHUB_TOKEN",
        "password: <yours>",
        "api_key=os.environ['KEY']",
        "login(token=token, password=settings.DB_PASSWORD)",
        "token = next(tokens)",
        "if token == other1:",
        "const secret = await getSecret1();",
        "secret=/run/secrets/db",
        "task-runner-for-all-the-things, risk-assessment-of-the-year-2026",
        "sk-learn-style-estimators-for-all",
        "npm_config_registry_of_the_company",
        "src/secret_santa.py failed: 3 tests",
        "https://example.org:8080/path@2",
        "bearer authentication, basic authentication",
        "9fceb02d0ae598e95dc970b74767f19372d61af8",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "123e4567-e89b-12d3-a456-426614174000",
        "/home/user/project/src/auth/tokens.py:12",
        "git@github.com:owner/name.git",
        "auth: Optional[str] = None",
        "-----BEGIN CERTIFICATE-----",
        "mysql -u root -p shop, cp -pr a b, mkdir -p a/b",
        "mysql -p$DB_PASS",
        "curl -u $USER:$PASS https://x",
        "curl -s http://localhost:8080/users:list",
        "the login form has a password field, and login with password works",
        "PASS: test_login1, BYPASS=1, PASS=4, DB_PASS=$OTHER",
        'SORT_KEY = "name", KEY=id, KEY = value1.key',
        f"{'9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'}\n" * 3,
        "https://hooks.slack.com/services/",
    ],
)
def test_everything_else_stays(text: str) -> None:
    assert mask(text) == text


@given(st.text(st.sampled_from("sk-AKIA0aB:=\"' \npasswordtoken…://@.") | st.characters()))
def test_masked_text_stays_as_it_is(text: str) -> None:
    assert mask(mask(text)) == mask(text)


@pytest.mark.parametrize(
    "piece",
    ["sk-", "token", "password=", "-----BEGIN PRIVATE KEY-----", "eyJ.", "://a:", "--auth",
     "A_KEY=", "mysql ", "curl ", "machine x login ", f"{LINE}\n", "KEY_"],
)  # fmt: skip
def test_masking_takes_linear_time(piece: str) -> None:
    start = time.process_time()
    mask(piece * (200_000 // len(piece)))
    assert time.process_time() - start < 5
