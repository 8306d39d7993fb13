from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.checkpoint.seen.verification import checks, hides_its_end, only_looks, verdict

CHECKS = [
    "pytest", "pytest -q tests/x.py::test_y", "python -m pytest -q", "python3.12 -X dev -m pytest",
    "cd x && pytest -q", "PYTHONPATH=src A=b pytest", "/p/.venv/bin/pytest", "uv run pytest",
    "poetry run python -m pytest", "npx jest", "npx --yes vitest run", "timeout 60 npm test",
    "npm test", "npm run test:unit", "npm run lint", "pnpm build", "yarn typecheck", "bun test",
    "yarn workspace web test", "make", "make test", "make -j4 check", "make lint", "just build",
    "./gradlew build", "gradle :app:testDebug", "mvn -q verify", "cargo test", "cargo clippy",
    "go test ./...", "go vet ./...", "ruff check .", "ruff format --check", "mypy src", "tsc",
    "npx tsc --noEmit", "eslint src", "prettier --check .", "node --test", "dotnet test",
    "python -m unittest", "python manage.py test", "pre-commit run -a", "cmake --build out",
    "docker build .", "set -o pipefail; pytest | tail", "sudo make check", "terraform validate",
    "C:\\\\x\\\\pytest.exe -q", "echo hi; pytest", "(cd a; make test)", "time make test",
]  # fmt: skip
NO_CHECKS = [
    "ls", "cat pytest.ini", "git commit -m 'make test pass'", "echo pytest", "grep pytest x",
    "pip install pytest", "npm install", "npm run dev", "yarn start", "make clean", "make install",
    "make -C x clean", "cargo run", "go run .", "ruff format", "prettier --write .", "python x.py",
    "python", "env", "A=b env -u", "npx", "docker run x", "pytest --version", "node x.js", "A=b",
    "",     "cat > x <<'E'\nmake test\nE", "find . -name pytest", "which pytest",
]  # fmt: skip


@pytest.mark.parametrize("command", CHECKS)
def test_a_check_is_known(command: str) -> None:
    assert checks(command)


@pytest.mark.parametrize("command", NO_CHECKS)
def test_what_is_no_check_is_not_taken_for_one(command: str) -> None:
    assert not checks(command)


HIDDEN = ["pytest | tail -5", "pytest || true", "pytest; echo done", "cd x && make test 2>&1 | cat"]
TOLD = ["pytest", "cd x && pytest", "pytest && git push", "echo a | pytest", "true; pytest",
    "set -o pipefail; pytest | tail", "ls | wc"]  # fmt: skip


@pytest.mark.parametrize("command", HIDDEN)
def test_the_end_of_a_check_may_be_hidden(command: str) -> None:
    assert hides_its_end(command)


@pytest.mark.parametrize("command", TOLD)
def test_or_told(command: str) -> None:
    assert not hides_its_end(command)


VERDICTS = [
    pytest.param("1 failed, 3 passed in 0.1s", False, id="pytest fails"),
    pytest.param("3 passed in 0.1s", True, id="pytest passes"),
    pytest.param("Found 2 errors in 1 file", False, id="mypy fails"),
    pytest.param("Success: no issues found in 3 source files", True, id="mypy passes"),
    pytest.param("All checks passed!", True, id="ruff passes"),
    pytest.param("a.ts(3,1): error TS2304: Cannot find name", False, id="tsc fails"),
    pytest.param("Tests:       1 failed, 2 passed, 3 total", False, id="jest fails"),
    pytest.param("ok  \tproject/x\t0.01s", True, id="go passes"),
    pytest.param("--- FAIL: TestX\nFAIL\tproject/x", False, id="go fails"),
    pytest.param("test result: ok. 3 passed; 0 failed", True, id="cargo passes"),
    pytest.param("error[E0308]: mismatched types", False, id="cargo fails"),
    pytest.param("make: *** [Makefile:3: test] Error 2", False, id="make fails"),
    pytest.param("0 errors, 0 warnings", True, id="nothing found"),
    pytest.param("bash: pytest: command not found", False, id="no such program"),
    pytest.param("Compiling", None, id="says nothing"),
    pytest.param("", None, id="nothing said"),
]


@pytest.mark.parametrize(("output", "said"), VERDICTS)
def test_output_tells_how_a_check_ended(output: str, said: bool | None) -> None:
    assert verdict(output) is said


LOOKS = ["ls -la", "cat a | grep b", "cd x && rg y", "git_x=1 find .", "sed -n 1,5p a"]
WORKS = ["./run", "ls && ./run", "python migrate.py", "git push"]


@pytest.mark.parametrize("command", LOOKS)
def test_some_commands_only_look(command: str) -> None:
    assert only_looks(command)


@pytest.mark.parametrize("command", WORKS)
def test_others_do_something(command: str) -> None:
    assert not only_looks(command)


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    checks(text)
    hides_its_end(text)
    only_looks(text)
    verdict(text)
