from __future__ import annotations

import pytest

from sisyphus.clients.claude_code_setup import beside_paths, native_globs

TS, PY, NOT_TESTS = "*.ts", "*.py", "!tests/**"

CLIENTS = [
    pytest.param({"paths": [TS]}, False, id="paths"),
    pytest.param({}, True, id="no keys"),
    pytest.param({}, False, id="no globs, on request"),
    pytest.param({"applies_to": [PY]}, True, id="always, whatever its globs"),
    pytest.param({"paths": [TS, PY], "globs": [PY]}, False, id="another key with the same globs"),
]
OURS = [pytest.param({key: [PY]}, id=key) for key in ("applies_to", "globs", "applyTo")]
SHARED = [
    pytest.param({"applies_to": [PY], "paths": [TS]}, False, ["applies_to"], id="applies_to"),
    pytest.param(
        {"paths": [TS], "globs": [TS], "applyTo": [TS, PY]}, False, ["applyTo"], id="one of two"
    ),
    pytest.param(
        {"paths": [PY, NOT_TESTS], "globs": [PY]}, False, ["globs"], id="what paths excludes"
    ),
    pytest.param({"paths": [TS]}, True, ["alwaysApply"], id="alwaysApply"),
    pytest.param({"paths": [TS], "globs": [PY]}, True, ["globs", "alwaysApply"], id="all of it"),
]


@pytest.mark.parametrize(("scope", "always"), CLIENTS)
def test_the_client_sends_all_that_it_understands(
    scope: dict[str, list[str]], *, always: bool
) -> None:
    assert native_globs(scope, always=always) is None
    assert beside_paths(scope, always=always) == []


@pytest.mark.parametrize("scope", OURS)
def test_a_scope_that_the_client_does_not_know_is_ours(scope: dict[str, list[str]]) -> None:
    assert native_globs(scope, always=False) == []
    assert beside_paths(scope, always=False) == []


@pytest.mark.parametrize(("scope", "always", "keys"), SHARED)
def test_of_several_keys_the_client_knows_paths_alone(
    scope: dict[str, list[str]], keys: list[str], *, always: bool
) -> None:
    assert native_globs(scope, always=always) == scope["paths"]
    assert beside_paths(scope, always=always) == keys
