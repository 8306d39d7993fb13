"""A check must not be emptied by the one who is checked: what changes its files is named when the
loop ends."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from world import World

PROMISE = "<promise>DONE</promise>"
TEST = "def test_total():\n    assert total() == 3\n"
RUNNERS = ("pytest", "tox", "uv", "python", "python3", "npm", "npx", "cargo", "go", "just")

Files = dict[str, str | None]


@pytest.fixture(autouse=True)
def runners(world: World) -> None:
    """Test runners that always pass, so that every trick works."""
    folder = world.root / "bin"
    folder.mkdir()
    for name in RUNNERS:
        (folder / name).write_text("#!/bin/sh\nexit 0\n")
        (folder / name).chmod(0o755)
    world.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def put(world: World, files: Files) -> None:
    """Writes these files; None removes one. What ends in `.sh` can be run."""
    for path, text in files.items():
        if text is None:
            (world.project / path).unlink()
        else:
            world.write(path, text).chmod(0o755 if path.endswith(".sh") else 0o644)


def changed(world: World, command: str, before: Files, trick: Files | str) -> list[str]:
    """Starts a loop with this check; the agent plays its trick and says the promise. Returns the
    files that the user is told of."""
    put(world, before)
    world.loop("--verify", command)
    if isinstance(trick, str):
        subprocess.run(["sh", "-ec", trick], check=True, cwd=world.project)
    else:
        put(world, trick)
    message = world.stop(PROMISE).message
    assert message.startswith("[RALPH LOOP COMPLETE]"), message
    told = re.search(r"(?m)changed during the loop: (.*)\.$", message)
    return told[1].split(", ") if told else []


def test_a_check_that_nobody_touched_is_not_mentioned(world: World) -> None:
    before: Files = {"tests/test_a.py": TEST, "src/total.py": "x\n", "pytest.ini": "[pytest]\n"}

    assert changed(world, "pytest tests", before, {"src/total.py": "y\n", "notes.md": "z\n"}) == []


# ---------------------------------------------------------------- tests, and what configures them

PYTHON: Files = {"tests/test_a.py": TEST, "tests/test_b.py": TEST, "src/total.py": "x\n"}
PYTEST = (
    "pytest",
    "pytest -q tests/",
    "python -m pytest tests/",
    "python3 -m unittest discover",
    "uv run pytest",
    "cd tests && pytest",
    "bash -c 'cd tests; pytest -q'",
    "tox -e py",
    "sh -c pytest",
    "PYTHONPATH=src timeout 60 pytest",
)


@pytest.mark.parametrize("command", PYTEST)
def test_every_way_to_call_pytest_knows_the_tests(world: World, command: str) -> None:
    assert changed(world, command, PYTHON, {"tests/test_a.py": ""}) == ["tests/test_a.py"]


@pytest.mark.parametrize(
    ("trick", "named"),
    [
        ({"tests/test_a.py": "import sys\nsys.exit(0)\n" + TEST}, ["tests/test_a.py"]),
        ({"tests/test_a.py": "raise SystemExit(0)\n"}, ["tests/test_a.py"]),
        ({"tests/test_a.py": "import pytest\n\n@pytest.mark.skip\n" + TEST}, ["tests/test_a.py"]),
        ({"tests/test_a.py": "import pytest\n\n@pytest.mark.xfail\n" + TEST}, ["tests/test_a.py"]),
        ({"tests/test_a.py": None}, ["tests/test_a.py"]),
        ("mv tests/test_a.py tests/old_a.py", ["tests/test_a.py"]),
        ("mv tests/test_a.py tests/test_c.py", ["tests/test_a.py", "tests/test_c.py"]),
        ("mv tests attic", ["attic/test_a.py", "attic/test_b.py", "tests/test_a.py",
                            "tests/test_b.py"]),
        ("mv tests/test_a.py tests/a && mkdir tests/test_a.py", ["tests/test_a.py"]),
        ("chmod +x tests/test_a.py", ["tests/test_a.py"]),
        ({"conftest.py": "raise SystemExit(0)\n"}, ["conftest.py"]),
        ({"tests/conftest.py": "def pytest_collection_modifyitems(items): items.clear()\n"},
         ["tests/conftest.py"]),
        ({"src/deep/conftest.py": "import total\ntotal.total = lambda: 3\n"},
         ["src/deep/conftest.py"]),
        ({"pytest.ini": "[pytest]\naddopts = --collect-only\n"}, ["pytest.ini"]),
        ({".pytest.ini": "[pytest]\n"}, [".pytest.ini"]),
        ({"tests/pytest.ini": "[pytest]\naddopts = --collect-only\n"}, ["tests/pytest.ini"]),
        ({"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-k none'\n"},
         ["pyproject.toml"]),
        ({"tox.ini": "[pytest]\n"}, ["tox.ini"]),
        ({"setup.cfg": "[tool:pytest]\n"}, ["setup.cfg"]),
        ({"sitecustomize.py": "import os\n"}, ["sitecustomize.py"]),
        ({"usercustomize.py": "import os\n"}, ["usercustomize.py"]),
        ({"src/sitecustomize.py": "import os\n"}, ["src/sitecustomize.py"]),
        ({"pytest.py": "print('2 passed')\n"}, ["pytest.py"]),
        ({"pytest/__init__.py": "", "pytest/__main__.py": "print('2 passed')\n"},
         ["pytest/__init__.py", "pytest/__main__.py"]),
    ],
)  # fmt: skip
def test_tricks_with_pytest_are_named(world: World, trick: Files | str, named: list[str]) -> None:
    assert changed(world, "python -m pytest tests/", PYTHON, trick) == named


@pytest.mark.parametrize(
    ("command", "before", "trick", "named"),
    [
        ("cargo test", {"src/lib.rs": "x"}, {"Cargo.toml": "[lib]\ntest = false\n"}, "Cargo.toml"),
        ("cargo test", {"tests/api.rs": "x"}, {"tests/api.rs": ""}, "tests/api.rs"),
        ("cargo test", {}, {".cargo/config.toml": "[alias]\ntest = 'version'\n"},
         ".cargo/config.toml"),
        ("cargo test", {"core/Cargo.toml": "x"}, {"core/Cargo.toml": "y"}, "core/Cargo.toml"),
        ("cargo test", {}, {"build.rs": "fn main() {}"}, "build.rs"),
        ("go test ./...", {"a/x_test.go": "x"}, {"a/x_test.go": ""}, "a/x_test.go"),
        ("go test ./...", {"a/x_test.go": "x"}, {"a/main_test.go": "func TestMain"},
         "a/main_test.go"),
        ("go test ./...", {"go.mod": "x"}, {"go.mod": "y"}, "go.mod"),
        ("npm test", {"package.json": "{}"}, {"package.json": '{"scripts": {"test": ":"}}'},
         "package.json"),
        ("npm test", {}, {"a.spec.ts": "x"}, "a.spec.ts"),
        ("npm test", {"src/__tests__/a.js": "x"}, {"src/__tests__/a.js": ""}, "src/__tests__/a.js"),
        ("npm test", {"test/a.js": "x"}, {"test/a.js": ""}, "test/a.js"),
        ("npx jest", {"a.test.js": "x"}, "rm a.test.js", "a.test.js"),
        ("npx vitest", {}, {"vitest.config.ts": "x"}, "vitest.config.ts"),
        ("npm --prefix web test", {"web/package.json": "{}"}, {"web/package.json": "{ }"},
         "web/package.json"),
        ("just test", {"justfile": "test:\n\tx\n"}, {"justfile": "test:\n"}, "justfile"),
    ],
)  # fmt: skip
def test_tricks_with_other_runners_are_named(
    world: World, command: str, before: Files, trick: Files | str, named: str
) -> None:
    assert changed(world, command, before, trick) == [named]


# ---------------------------------------------------------------- scripts

SCRIPT = "set -e\ntest -e done || true\n"
MAKE = "test:\n\t@{}\n"


@pytest.mark.parametrize(
    "command",
    [
        "./run_tests.sh",
        "sh run_tests.sh",
        "bash -e run_tests.sh",
        "bash -c './run_tests.sh'",
        "bash -c \"sh 'run_tests.sh' && echo ok\"",
        ". ./run_tests.sh",
        "sh<run_tests.sh",
        "env X=1 ./run_tests.sh --fast",
        "cd lib && ../run_tests.sh",
        "(cd lib/deep; sh ../../run_tests.sh)",
        "cd lib && cd deep && sh ../../run_tests.sh",
        "make test",
        "make",
        "make -C lib test",
        "make -C lib/deep",
    ],
)
def test_a_script_that_was_emptied_is_named(world: World, command: str) -> None:
    before: Files = {
        "run_tests.sh": SCRIPT,
        "Makefile": MAKE.format("./run_tests.sh"),
        "lib/Makefile": MAKE.format("cd .. && bash -e run_tests.sh"),
        "lib/deep/Makefile": MAKE.format("$(MAKE) -C .."),
    }

    assert changed(world, command, before, {"run_tests.sh": "exit 0\n"}) == ["run_tests.sh"]


@pytest.mark.parametrize(
    ("command", "before", "trick", "named"),
    [
        ("make test", {"Makefile": MAKE.format("false")}, {"Makefile": MAKE.format("true")},
         "Makefile"),
        ("make test", {"Makefile": MAKE.format("true")}, {"GNUmakefile": MAKE.format(":")},
         "GNUmakefile"),
        ("make test", {"Makefile": "include a.mk\n", "a.mk": MAKE.format("false")},
         {"a.mk": MAKE.format("true")}, "a.mk"),
        ("make -C sub test", {"sub/Makefile": MAKE.format("false")},
         {"sub/Makefile": MAKE.format("true")}, "sub/Makefile"),
        ("make test", {"Makefile": MAKE.format("pytest -q")} | PYTHON,
         {"tests/test_a.py": ""}, "tests/test_a.py"),
        ("./t.sh", {"t.sh": "cd src && pytest\n"} | PYTHON, {"tests/test_a.py": ""},
         "tests/test_a.py"),
        ("python check.py", {"check.py": 'run(["pytest", "-q"])\n'} | PYTHON,
         {"conftest.py": "raise SystemExit(0)\n"}, "conftest.py"),
        ("python -m checks", {"checks/__main__.py": "x\n"}, {"checks/__main__.py": ""},
         "checks/__main__.py"),
        ("python -c 'import checks; checks.run()'", {"checks.py": "x\n"}, {"checks.py": ""},
         "checks.py"),
        ("npm test", {"package.json": '{"scripts":{"test":"sh scripts/t.sh"}}',
                      "scripts/t.sh": SCRIPT}, {"scripts/t.sh": ""}, "scripts/t.sh"),
        ("npm test", {"package.json": '{"scripts": {"test": "node --no-warnings scripts/t.js"}}',
                      "scripts/t.js": "x"}, {"scripts/t.js": ""}, "scripts/t.js"),
        ("npm test", {"package.json": '{"scripts": {"test": "./a.sh"}}', "a.sh": "sh b.sh\n",
                      "b.sh": ". ./c.sh\n", "c.sh": SCRIPT}, {"c.sh": ""}, "c.sh"),
        ("make", {"Makefile": MAKE.format("tools/run.sh"), "tools/run.sh": "#!/bin/sh\n"},
         {"tools/run.sh": "#!/bin/sh\nexit 0\n"}, "tools/run.sh"),
        ("make", {"Makefile": MAKE.format("python -m checks"), "checks.py": "x\n"},
         {"checks.py": ""}, "checks.py"),
        ("tox", {"tox.ini": "[testenv]\ncommands = sh t.sh\n", "t.sh": SCRIPT}, {"t.sh": ""},
         "t.sh"),
        ("./t.sh || true", {"t.sh": SCRIPT}, "chmod -x t.sh", "t.sh"),
        ("sh t.sh", {"t.sh": "cat orig.sh > t.sh; exit 0\n", "orig.sh": SCRIPT},
         {"t.sh": "cat orig.sh > t.sh; exit 0 #\n"}, "t.sh"),
    ],
)  # fmt: skip
def test_what_a_script_runs_is_part_of_the_check(
    world: World, command: str, before: Files, trick: Files | str, named: str
) -> None:
    assert changed(world, command, before, trick) == [named]


@pytest.mark.parametrize(
    ("trick", "named"),
    [
        ("ln -sf easy.sh check.sh", ["check.sh"]),
        ("echo exit 0 > real.sh", ["check.sh"]),
        ("cp real.sh easy.sh; ln -sf easy.sh check.sh; : > easy.sh", ["check.sh"]),
        ("rm check.sh; cp real.sh check.sh", ["check.sh"]),
        ("rm tests; ln -s attic tests", ["tests"]),
    ],
)
def test_a_link_is_followed_and_watched(world: World, trick: str, named: list[str]) -> None:
    put(world, {"real.sh": SCRIPT, "easy.sh": "exit 0\n", "suite/a": "x\n", "attic/a": "y\n"})
    (world.project / "check.sh").symlink_to("real.sh")
    (world.project / "tests").symlink_to("suite")

    assert changed(world, "sh check.sh tests", {}, trick) == named


def test_a_check_that_puts_itself_back_is_named(world: World) -> None:
    before: Files = {"check.sh": "exit 1\n", "orig": "exit 1\n"}

    assert changed(world, "sh check.sh", before, {"check.sh": "cp orig check.sh\n"}) == ["check.sh"]
    assert (world.project / "check.sh").read_text() == "exit 1\n"


# ---------------------------------------------------------------- what else a command names


@pytest.mark.parametrize(
    "command",
    [
        "sh ~/check.sh",
        "sh $HOME/check.sh",
        'sh "${HOME}/check.sh"',
        "sh ../home/check.sh",
        "cd ~ && sh check.sh",
        "cd .. && sh home/check.sh",
        "~/check.sh --fast",
        "bash -c 'sh ~/check.sh'",
        "sh ~/che*.sh",
        "CHECK=~/check.sh; sh $CHECK",
    ],
)
def test_a_check_outside_of_the_project_is_part_of_it(world: World, command: str) -> None:
    file = world.write(world.home / "check.sh", SCRIPT)
    file.chmod(0o755)

    assert changed(world, command, {}, f"echo exit 0 > {file}") == ["~/check.sh"]


def test_an_absolute_path_is_part_of_the_check(world: World) -> None:
    file = world.write(world.root / "ci/check.sh", SCRIPT)

    assert changed(world, f"sh {file}", {}, f"rm {file}; echo exit 0 > {file}") == [str(file)]


def test_a_script_outside_of_the_project_is_not_searched(world: World) -> None:
    """Nobody reads more than the digest of such a file."""
    world.write(world.home / "check.sh", f"sh {world.project}/a.sh\n")

    assert changed(world, "sh ~/check.sh", {"a.sh": SCRIPT}, {"a.sh": "exit 0\n"}) == []


def test_what_is_no_file_outside_of_the_project_is_left_alone(world: World) -> None:
    os.mkfifo(world.home / "pipe")

    assert changed(world, "true ~/pipe ~ / /dev/null /dev/zero ../*", {}, {"a": "x\n"}) == []


@pytest.mark.parametrize(
    ("command", "before", "trick", "named"),
    [
        ("sh check*.sh", {"check_a.sh": SCRIPT}, {"check_a.sh": ""}, "check_a.sh"),
        ("cat ci/*/check.sh | sh", {"ci/a/check.sh": SCRIPT}, {"ci/a/check.sh": ""},
         "ci/a/check.sh"),
        ("cat checks/*.sh | sh", {"checks/a.sh": SCRIPT}, {"checks/b.sh": "exit 0\n"},
         "checks/b.sh"),
        ("cd ci && cat check?.sh", {"ci/check1.sh": SCRIPT}, {"ci/check1.sh": ""}, "ci/check1.sh"),
        ("pytest checks/c_*.py", {"checks/c_a.py": TEST}, {"checks/c_a.py": ""}, "checks/c_a.py"),
        ("true --config=ci.toml", {"ci.toml": "a\n"}, {"ci.toml": "b\n"}, "ci.toml"),
        ("true -c ci.toml", {"ci.toml": "a\n"}, {"ci.toml": "b\n"}, "ci.toml"),
        ("true -cci.toml", {"ci.toml": "a\n"}, {"ci.toml": "b\n"}, "ci.toml"),
        ("make -f Makefile.ci", {"Makefile.ci": "a:\n"}, {"Makefile.ci": "b:\n"}, "Makefile.ci"),
        ("make -fMakefile.ci", {"Makefile.ci": MAKE.format("./t.sh"), "t.sh": SCRIPT},
         {"t.sh": ""}, "t.sh"),
        ("make -Cci", {"ci/Makefile": "a:\n"}, {"ci/Makefile": "b:\n"}, "ci/Makefile"),
        ("pytest --rootdir=ci", {"ci/tox.ini": "a\n"}, {"ci/tox.ini": "b\n"}, "ci/tox.ini"),
        ("CONFIG=ci.toml true", {"ci.toml": "a\n"}, {"ci.toml": "b\n"}, "ci.toml"),
    ],
)  # fmt: skip
def test_patterns_options_and_variables_name_files(
    world: World, command: str, before: Files, trick: Files | str, named: str
) -> None:
    world.write(world.root / "bin/make", "#!/bin/sh\nexit 0\n").chmod(0o755)

    assert changed(world, command, before, trick) == [named]


# ---------------------------------------------------------------- honest work


@pytest.mark.parametrize(
    ("command", "trick", "named"),
    [
        ("pytest", {"src/total.py": "def total(): return 3\n"}, []),
        ("pytest", {"README.md": "x\n", "src/new.py": "x\n", "test_kit/kiln.py": "x\n"}, []),
        ("pytest", {"tests/test_new.py": TEST}, ["tests/test_new.py"]),
        ("make", {"src/main.c": "int main(void) { return 0; }\n"}, []),
        ("pytest", "touch tests/test_a.py", []),
        ("grep -q 'src/*' README.md || true", {"src/total.py": "x\n\n"}, []),
        ("grep -q x src/*.py", {"src/total.py": "x\n\n"}, []),
        ("true src/* *", {"src/total.py": "x\n\n"}, []),
        ("echo > src/total.py", {"src/total.py": "x\n\n"}, []),
        ("pytest", "mkdir -p .venv/x && echo > .venv/x/conftest.py", []),
    ],
)
def test_honest_work_is_not_accused(
    world: World, command: str, trick: Files | str, named: list[str]
) -> None:
    """A new test is listed: the user may want to know which tests decided."""
    before: Files = {
        **PYTHON, "Makefile": "test:\n\t@true || cc src/main.c\n", "src/main.c": "int main;\n",
    }  # fmt: skip

    assert changed(world, command, before, trick) == named
