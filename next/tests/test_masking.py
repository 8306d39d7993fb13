"""Masking: what has the shape of a secret goes, everything else stays."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.masking import mask

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
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
    ],
)
def test_everything_else_stays(text: str) -> None:
    assert mask(text) == text


@given(st.text(st.sampled_from("sk-AKIA0aB:=\"' \npasswordtoken…://@.") | st.characters()))
def test_masked_text_stays_as_it_is(text: str) -> None:
    assert mask(mask(text)) == mask(text)


@pytest.mark.parametrize(
    "piece", ["sk-", "token", "password=", "-----BEGIN PRIVATE KEY-----", "eyJ.", "://a:", "--auth"]
)
def test_masking_takes_linear_time(piece: str) -> None:
    start = time.process_time()
    mask(piece * (200_000 // len(piece)))
    assert time.process_time() - start < 5
