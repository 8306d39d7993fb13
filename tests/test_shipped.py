from __future__ import annotations

import os

from sisyphus.shipped import plugin_folder


def test_the_plugin_has_its_manifest_hooks_and_commands() -> None:
    found = os.listdir(plugin_folder())

    assert {".claude-plugin", "hooks.json", "commands", "README.md"} <= set(found)
