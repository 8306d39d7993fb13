"""The words by which a shell command is known that checks something.

`DIRECT` are programs that check whatever they are given. `WITH` are programs that do so with one
of these words behind them. `SCRIPTS` run what a project has named: the beginning of the name tells
(`SCRIPT`). What runs another command (`RUNNERS`) is passed over: `cd x && uv run pytest -q` is
pytest.
"""

from __future__ import annotations

DIRECT = frozenset(
    (
        "ava", "bandit", "bats", "ctest", "detekt", "eslint", "flake8", "golangci-lint", "hadolint",
        "jasmine", "jest", "karma", "ktlint", "mocha", "mypy", "ninja", "nox", "phpcs", "phpstan",
        "phpunit", "pest", "psalm", "py.test", "pylint", "pyright", "pytest", "rspec", "rubocop",
        "shellcheck", "staticcheck", "stylelint", "swiftlint", "tox", "ts-jest", "tsc", "tsd",
        "unittest", "vitest", "vue-tsc", "yamllint", "xo",
    )
)  # fmt: skip

WITH = {
    "bazel": ("test", "build"),
    "biome": ("check", "lint", "ci"),
    "black": ("--check",),
    "cargo": ("test", "check", "clippy", "build", "nextest", "bench"),
    "cmake": ("--build",),
    "cypress": ("run",),
    "deno": ("test", "check", "lint"),
    "docker": ("build",),
    "dotnet": ("test", "build"),
    "go": ("test", "build", "vet"),
    "isort": ("--check", "--check-only", "-c"),
    "manage.py": ("test", "check"),
    "meson": ("test", "compile"),
    "mix": ("test", "compile", "credo", "dialyzer"),
    "mvn": ("test", "verify", "package", "compile", "install"),
    "mvnw": ("test", "verify", "package", "compile", "install"),
    "next": ("build", "lint"),
    "node": ("--test", "--check"),
    "playwright": ("test",),
    "pre-commit": ("run",),
    "prettier": ("--check", "-c"),
    "ruff": ("check", "--check"),
    "sbt": ("test", "compile"),
    "swift": ("test", "build"),
    "terraform": ("validate",),
    "vite": ("build",),
    "xcodebuild": ("test", "build"),
    "zig": ("build", "test"),
}

SCRIPTS = frozenset(
    ("bun", "composer", "gradle", "gradlew", "just", "make", "npm", "pnpm", "rake", "task", "yarn")
)

RUNNERS = {
    "bundle": "exec", "bunx": "", "command": "", "doas": "", "env": "", "hatch": "run", "nice": "",
    "npx": "", "pdm": "run", "pipenv": "run", "poetry": "run", "rye": "run", "sudo": "", "time": "",
    "timeout": "", "uv": "run", "uvx": "", "xvfb-run": "",
}  # fmt: skip
"""Programs that run another command, with the word that makes them do so."""

LOOKS = frozenset(
    (
        "[", "awk", "cat", "cd", "command", "diff", "du", "echo", "file", "find", "grep", "head",
        "hexdump", "jq", "less", "ls", "pgrep", "ps", "pwd", "readlink", "rg", "sed", "stat",
        "tail", "test", "tree", "type", "wc", "which",
    )
)  # fmt: skip
"""Programs that only look: that they find nothing is no failure of the work."""

SCRIPT = r"(?:test|check|lint|build|type|verify|ci\b|compile|assemble|all\b|tsc|unit|e2e|spec)"
"""How the names of scripts begin that check."""
