"""Who may import whom, and where the client's words may stand, read from the source itself."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sisyphus

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(sisyphus.__file__).parent
MODULES = {
    ".".join(("sisyphus", *path.relative_to(PACKAGE).with_suffix("").parts)): path
    for path in sorted(PACKAGE.rglob("*.py"))
}

DOORS = {"hook", "cli"}
GROUND = {"state", "session", "opencode"}
FEATURES = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} - DOORS - GROUND

EDGES = {
    ("arbiter", "ralph"), ("arbiter", "boulder"), ("arbiter", "checkpoint"), ("arbiter", "notify"),
    ("arbiter", "enforce"), ("enforce", "ralph"),
    ("checkpoint", "ralph"), ("checkpoint", "boulder"), ("checkpoint", "notify"),
    ("ralph", "notify"), ("install", "rules"),
    ("doctor", "install"), ("doctor", "ralph"), ("doctor", "boulder"), ("doctor", "rules"),
    ("doctor", "configuring"), ("doctor", "runner"),
    ("runner", "ralph"), ("runner", "checkpoint"), ("runner", "notify"), ("runner", "boulder"),
    ("dashboard", "arbiter"), ("dashboard", "boulder"), ("dashboard", "checkpoint"),
    ("dashboard", "context"), ("dashboard", "enforce"), ("dashboard", "ralph"),
    ("dashboard", "rules"), ("dashboard", "runner"), ("dashboard", "upkeep"),
    ("upkeep", "ralph"), ("upkeep", "runner"), ("upkeep", "checkpoint"), ("upkeep", "boulder"),
}  # fmt: skip
"""The features that may import another one."""

FOR_PEOPLE = {"typer", "rich", "click"}

OF_THE_DASHBOARD = {"fastapi", "starlette", "uvicorn", "jinja2", "watchfiles"}
"""An extra: whoever has not installed it misses it nowhere else."""

HEAVY = {
    "yaml": {"sisyphus.documents"},
    "frontmatter": {"sisyphus.documents"},
    "pathspec": {"sisyphus.rules.globs"},
}
"""What costs a hook 10 ms and more -> the modules that may import it, inside functions."""

CLIENTS_WORDS = {
    "additionalContext", "agent_id", "agent_type", "background_tasks", "hookEventName",
    "hookSpecificOutput", "hook_event_name", "last_assistant_message", "notebook_path",
    "session_crons", "stop_hook_active", "systemMessage", "tool_input", "tool_name",
    "tool_response", "transcript_path",
}  # fmt: skip

SPEAK_THEM = {
    "sisyphus.clients.base", "sisyphus._types", "sisyphus.demo.stage", "sisyphus.demo.story",
    "sisyphus.opencode.payload",
}  # fmt: skip
"""The demo plays the client; what another client says is put into this one's words."""


class Import:
    """One imported module. `when`: "import" (of the module), "call" or "types" (never)."""

    def __init__(self, name: str, when: str) -> None:
        self.name = name
        self.when = when

    def is_of(self, package: str) -> bool:
        return f"{self.name}.".startswith(f"{package}.")


def _imports(node: ast.AST, when: str = "import") -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, when) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (Import(f"{child.module}.{alias.name}", when) for alias in child.names)
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            yield from _imports(child, "types")
        elif isinstance(child, ast.FunctionDef):
            yield from _imports(child, "call")
        else:
            yield from _imports(child, when)


def _tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


IMPORTS = {module: list(_imports(_tree(module))) for module in MODULES}


def _part(module: str) -> str:
    """The door, feature or part of the ground that a module belongs to; "" = above them all."""
    words = module.split(".")
    return words[1] if len(words) > 1 and words[1] in DOORS | FEATURES | GROUND else ""


def _below(module: str) -> set[str]:
    """The parts that a module imports, its own aside."""
    return {_part(found.name) for found in IMPORTS[module]} - {_part(module), ""}


ENTRY = {"sisyphus.entry", "sisyphus.__main__"}
IN_FEATURES = [module for module in MODULES if _part(module) in FEATURES]
IN_GROUND = [m for m in MODULES if _part(m) in {*GROUND, ""} and m not in ENTRY]
NOT_FOR_PEOPLE = [module for module in MODULES if _part(module) != "cli"]


def test_there_is_something_to_look_at() -> None:
    assert {"boulder", "ralph", "rules", "context", "arbiter"} <= FEATURES
    assert len(MODULES) > 50


@pytest.mark.parametrize("door", sorted(DOORS))
def test_the_doors_do_not_import_each_other(door: str) -> None:
    inside = [module for module in MODULES if _part(module) == door]
    assert {module: _below(module) & DOORS for module in inside if _below(module) & DOORS} == {}


@pytest.mark.parametrize("module", IN_FEATURES)
def test_a_feature_imports_no_door(module: str) -> None:
    assert _below(module) & DOORS == set()


@pytest.mark.parametrize("module", IN_FEATURES)
def test_a_feature_imports_only_the_features_it_may(module: str) -> None:
    edges = {(_part(module), other) for other in _below(module) & FEATURES}
    assert edges <= EDGES


@pytest.mark.parametrize("module", IN_GROUND)
def test_the_ground_stands_on_nothing_above_it(module: str) -> None:
    assert _below(module) <= GROUND


@pytest.mark.parametrize("module", [m for m in MODULES if _part(m) not in {"hook", "opencode"}])
def test_what_another_client_says_is_known_to_its_door_alone(module: str) -> None:
    assert "opencode" not in _below(module)


@pytest.mark.parametrize("module", NOT_FOR_PEOPLE)
def test_only_the_command_line_imports_what_is_for_people(module: str) -> None:
    assert [f.name for f in IMPORTS[module] if any(f.is_of(name) for name in FOR_PEOPLE)] == []


@pytest.mark.parametrize("module", [m for m in MODULES if _part(m) != "dashboard"])
def test_only_the_dashboard_imports_what_its_extra_brings(module: str) -> None:
    found = IMPORTS[module]
    assert [f.name for f in found if any(f.is_of(name) for name in OF_THE_DASHBOARD)] == []


def test_only_its_command_imports_the_dashboard() -> None:
    """A module of it that is loaded with the command line needs none of the extra."""
    users = {module for module in MODULES if "dashboard" in _below(module)}
    assert users == {"sisyphus.cli.dashboard"}
    loaded = {f.name for f in IMPORTS["sisyphus.cli.dashboard"] if f.when == "import"}
    ours = {name for name in loaded if name.startswith("sisyphus.dashboard")}
    assert ours == {"sisyphus.dashboard.needs"}
    names = {f.name.partition(".")[0] for f in IMPORTS["sisyphus.dashboard.needs"]}
    assert not names & OF_THE_DASHBOARD


@pytest.mark.parametrize("module", NOT_FOR_PEOPLE)
def test_what_is_heavy_is_imported_in_few_functions(module: str) -> None:
    for found in IMPORTS[module]:
        for name, allowed in HEAVY.items():
            if found.is_of(name) and found.when != "types":
                assert (found.when, module in allowed) == ("call", True), found.name


@pytest.mark.parametrize("module", MODULES)
def test_shapes_are_imported_for_type_checking_only(module: str) -> None:
    assert {f.when for f in IMPORTS[module] if f.is_of("sisyphus._types")} <= {"types"}


@pytest.mark.parametrize("module", MODULES)
def test_imports_are_absolute(module: str) -> None:
    froms = [node for node in ast.walk(_tree(module)) if isinstance(node, ast.ImportFrom)]
    assert [node.module for node in froms if node.level] == []


@pytest.mark.parametrize("module", [module for module in MODULES if module not in SPEAK_THEM])
def test_the_clients_words_stand_in_the_contract_alone(module: str) -> None:
    constants = [node.value for node in ast.walk(_tree(module)) if isinstance(node, ast.Constant)]
    assert [word for word in constants if word in CLIENTS_WORDS] == []
