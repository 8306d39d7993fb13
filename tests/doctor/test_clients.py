from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import put

from doctor.scene import told
from sisyphus.doctor import clients
from sisyphus.doctor.trial import Tried

if TYPE_CHECKING:
    from doctor.scene import Scene

VERSIONS = [
    pytest.param("2.1.329 (Claude Code)\n", "ok", False, id="as measured"),
    pytest.param("2.2.0 (Claude Code)\n", "ok", False, id="newer"),
    pytest.param("2.1.9 (Claude Code)\n", "ok", True, id="older"),
    pytest.param("Hello\n", "warning", True, id="no version"),
]


@pytest.mark.parametrize(("output", "state", "has_hint"), VERSIONS)
def test_a_clients_version(scene: Scene, output: str, state: str, has_hint: bool) -> None:
    scene.trials.answers["--version"] = Tried(0, output)

    (found,) = clients.check(scene.case())

    assert (found.state, bool(found.hint)) == (state, has_hint)


def test_a_client_that_does_not_start_is_told(scene: Scene) -> None:
    scene.trials.answers["--version"] = Tried(None, error="it did not end within 5 s")

    ((state, text),) = told(clients.check(scene.case()))

    assert state == "warning"
    assert text.endswith("claude --version fails: it did not end within 5 s")


def test_a_client_beside_the_path_is_found(scene: Scene) -> None:
    path = put(scene.home / ".opencode/bin/opencode", "")
    path.chmod(0o755)

    assert [one.text.rpartition(" ")[2] for one in clients.check(scene.case())] == [
        f"({scene.bin}/claude)",
        f"({path})",
    ]


def test_no_client_is_a_warning(scene: Scene) -> None:
    (scene.bin / "claude").unlink()

    ((state, text),) = told(clients.check(scene.case()))

    assert (state, text) == ("warning", "neither `claude` nor `opencode` is on your PATH")
