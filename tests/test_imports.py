"""Who may import whom, and where the client's words may stand, read from the source itself."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sisyphus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

PACKAGE = Path(sisyphus.__file__).parent
MODULES = {
    ".".join(("sisyphus", *path.relative_to(PACKAGE).with_suffix("").parts)): path
    for path in sorted(PACKAGE.rglob("*.py"))
}

DOORS = {"hook", "cli"}
GROUND = {"state", "session", "opencode", "clients"}
"""Packages; modules right below `sisyphus` are ground as well, but for the entry and features."""
FEATURES = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} - DOORS - GROUND | {"purge"}
"""Those of one module are named."""

EDGES = {
    ("arbiter", "ralph"), ("arbiter", "boulder"), ("arbiter", "checkpoint"),
    ("arbiter", "enforce"), ("enforce", "ralph"),
    ("checkpoint", "ralph"), ("checkpoint", "boulder"), ("checkpoint", "notify"),
    ("ralph", "notify"), ("install", "rules"),
    ("doctor", "install"), ("doctor", "ralph"), ("doctor", "boulder"), ("doctor", "rules"),
    ("doctor", "configuring"), ("doctor", "runner"),
    ("runner", "ralph"), ("runner", "checkpoint"), ("runner", "notify"), ("runner", "boulder"),
    ("dashboard", "arbiter"), ("dashboard", "boulder"), ("dashboard", "checkpoint"),
    ("dashboard", "context"), ("dashboard", "enforce"), ("dashboard", "ralph"),
    ("dashboard", "rules"), ("dashboard", "runner"),
    ("purge", "ralph"), ("purge", "runner"), ("purge", "checkpoint"), ("purge", "enforce"),
    ("purge", "install"),
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
    "payloads and replies": (
        "additionalContext", "agent_id", "agent_type", "background_tasks", "hookEventName",
        "hookSpecificOutput", "hook_event_name", "last_assistant_message", "permission_mode",
        "session_crons", "stop_hook_active", "systemMessage", "tool_input", "tool_name",
        "tool_response", "tool_use_id", "transcript_path",
    ),
    "events": (
        "PostToolBatch", "PostToolUseFailure", "PreCompact", "SessionStart", "UserPromptSubmit",
    ),
    "the environment": (
        "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID",
        "CLAUDE_PLUGIN_ROOT", "CLAUDE_PROJECT_DIR",
    ),
    "tools": (
        "TaskCreate", "TaskUpdate", "TodoWrite", "backgroundTaskId", "filePath", "file_path",
        "newStart", "notebook_path", "oldStart", "old_string", "structuredPatch", "taskId",
        "tool_use_error",
    ),
    "transcripts": (
        "cache_creation_input_tokens", "cache_read_input_tokens", "compact_boundary",
        "input_tokens", "isCompactSummary", "isMeta", "isSidechain", "output_tokens", "promptId",
        "toolUseResult", "tool_result", "tool_use",
    ),
    "the report of a run": (
        "api_error_status", "modelUsage", "parent_tool_use_id", "permission_denials",
        "rate_limit_info", "stream-json", "terminal_reason",
    ),
    "settings": (
        "autoCompactWindow", "claudeMdExcludes", "disableAllHooks", "enabledPlugins",
        "managed-settings.json", "plansDirectory", "settings.json", "settings.local.json",
    ),
}  # fmt: skip
_EVERY_WORD = sorted((word for words in CLIENTS_WORDS.values() for word in words), reverse=True)
A_CLIENTS_WORD = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, _EVERY_WORD))})(?![\w-])")

SPEAK_THEM = {
    "sisyphus.demo.stage", "sisyphus.demo.story", "sisyphus.doctor.entry",
    "sisyphus.doctor.live.model", "sisyphus.doctor.live.opinion", "sisyphus.doctor.live.stage",
    "sisyphus.doctor.round_trip", "sisyphus.doctor.switches", "sisyphus.doctor.types",
}  # fmt: skip
"""Beside `clients`. The demo, the doctor's round trip and its live run play the client; `entry`,
`switches` and `types` say what it makes of its own settings."""


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


TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}
IMPORTS = {module: list(_imports(tree)) for module, tree in TREES.items()}


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


def _refused(modules: Iterable[str], refuse: Callable[[str], Iterable[object]]) -> list[str]:
    """What a law refuses: "MODULE: what", all of it, sorted."""
    return sorted(f"{module}: {what}" for module in modules for what in refuse(module))


def test_the_doors_do_not_import_each_other() -> None:
    doors = [module for module in MODULES if _part(module) in DOORS]
    assert _refused(doors, lambda module: _below(module) & DOORS) == []


def test_a_feature_imports_no_door() -> None:
    assert _refused(IN_FEATURES, lambda module: _below(module) & DOORS) == []


def test_a_feature_imports_only_the_features_it_may() -> None:
    def others(module: str) -> set[tuple[str, str]]:
        return {(_part(module), other) for other in _below(module) & FEATURES} - EDGES

    assert _refused(IN_FEATURES, others) == []


def test_every_edge_is_used_and_none_leads_round() -> None:
    used = {(_part(module), other) for module in IN_FEATURES for other in _below(module)}
    assert sorted(EDGES - used) == []
    left = set(EDGES)
    while ends := {below for _, below in left} - {above for above, _ in left}:
        left = {edge for edge in left if edge[1] not in ends}
    assert sorted(left) == []


def test_the_ground_stands_on_nothing_above_it() -> None:
    assert _refused(IN_GROUND, lambda module: _below(module) - GROUND) == []


def test_what_another_client_says_is_known_to_its_door_alone() -> None:
    def opencodes(module: str) -> list[str]:
        names = [found.name for found in IMPORTS[module]]
        return [name for name in names if name.startswith("sisyphus.clients.opencode")]

    assert _refused([m for m in MODULES if _part(m) != "clients"], opencodes) == []


def test_only_the_command_line_imports_what_is_for_people() -> None:
    assert _refused(NOT_FOR_PEOPLE, lambda module: _of(module, FOR_PEOPLE)) == []


def test_only_the_dashboard_imports_what_its_extra_brings() -> None:
    others = [module for module in MODULES if _part(module) != "dashboard"]
    assert _refused(others, lambda module: _of(module, OF_THE_DASHBOARD)) == []


def _of(module: str, packages: Iterable[str]) -> list[str]:
    return [f.name for f in IMPORTS[module] if any(f.is_of(name) for name in packages)]


def test_only_its_command_imports_the_dashboard() -> None:
    """A module of it that is loaded with the command line needs none of the extra."""
    users = {module for module in MODULES if "dashboard" in _below(module)}
    assert users == {"sisyphus.cli.dashboard"}
    loaded = {f.name for f in IMPORTS["sisyphus.cli.dashboard"] if f.when == "import"}
    ours = {name for name in loaded if name.startswith("sisyphus.dashboard")}
    assert ours == {"sisyphus.dashboard.needs"}
    names = {f.name.partition(".")[0] for f in IMPORTS["sisyphus.dashboard.needs"]}
    assert not names & OF_THE_DASHBOARD


def test_what_is_heavy_is_imported_in_few_functions() -> None:
    def misplaced(module: str) -> list[str]:
        return [
            found.name
            for found in IMPORTS[module]
            for name, allowed in HEAVY.items()
            if found.is_of(name) and found.when != "types"
            if (found.when, module in allowed) != ("call", True)
        ]

    assert _refused(NOT_FOR_PEOPLE, misplaced) == []


def test_shapes_are_imported_for_type_checking_only() -> None:
    def loaded(module: str) -> list[str]:
        return [f.name for f in IMPORTS[module] if f.is_of("sisyphus._types") and f.when != "types"]

    assert _refused(MODULES, loaded) == []


def test_imports_are_absolute() -> None:
    def relative(module: str) -> list[str | None]:
        froms = [node for node in ast.walk(TREES[module]) if isinstance(node, ast.ImportFrom)]
        return [node.module for node in froms if node.level]

    assert _refused(MODULES, relative) == []


def test_the_clients_words_stand_behind_the_clients_alone() -> None:
    others = [m for m in MODULES if m not in SPEAK_THEM and _part(m) != "clients"]
    assert _refused(others, lambda module: _spoken(TREES[module])) == []


def test_who_may_speak_them_does() -> None:
    silent = [m for m in SPEAK_THEM if not _spoken(TREES[m])]
    assert silent == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        pytest.param('raw.get("isSidechain")', {"isSidechain"}, id="a key"),
        pytest.param("b'\"tool_result\"' in line", {"tool_result"}, id="bytes"),
        pytest.param('f"{home}/settings.json"', {"settings.json"}, id="a name in a path"),
        pytest.param("f'\"claudeMdExcludes\": [{glob}]'", {"claudeMdExcludes"}, id="a sentence"),
        pytest.param('x = "<tool_use_error>"', {"tool_use_error"}, id="a mark"),
        pytest.param('def f():\n    """Of `isMeta`."""', set(), id="not what only explains"),
        pytest.param('x = "tool_used my-settings.json"', set(), id="not a part of another word"),
    ],
)
def test_a_clients_word_is_noticed(code: str, words: set[str]) -> None:
    assert _spoken(ast.parse(code)) == words


def _spoken(tree: ast.AST) -> set[str]:
    """The clients' words in texts and bytes; not in what only explains."""
    explaining = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in explaining:
            value = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            found.update(A_CLIENTS_WORD.findall(value) if isinstance(value, str) else ())
    return found
