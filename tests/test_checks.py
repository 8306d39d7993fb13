"""Which command lines prove something: the table of known test commands."""

from __future__ import annotations

import pytest

from sisyphus.sessions.checks import is_test

PROOFS = """
pytest
pytest -q -n 4 tests/x.py
python -m pytest -x
python3.12 -m unittest discover
.venv/bin/python -m pytest -q
.venv/bin/pytest
uv run pytest -q
uv run --group dev pytest
poetry run pytest
npx jest --ci
npx -y vitest run
npm test
npm t
npm run test:unit
npm run test -- --watch=false
yarn test
pnpm run test
bun test
cargo test --all
cargo nextest run
go test ./...
make test
make -j4 check
make -C sub test
cd x && pytest
cd x; pytest
(cd x && make test)
CI=1 FOO='a b' pytest
timeout 60 pytest -q
ruff check . && mypy . && pytest -q
pytest -q && git commit -m "a; b | c"
pytest -q 2>&1
pytest > out.txt 2>&1
set -o pipefail; pytest
time make test
tox -e py311
nox -s tests
hatch test
coverage run -m pytest
python manage.py test
mvn -q verify
./mvnw test
./gradlew :app:test
dotnet test
bundle exec rspec
vendor/bin/phpunit
php vendor/bin/phpunit
ctest --output-on-failure
"""
OTHERS = """
ls
echo pytest
! pytest -q
echo "make test"
git commit -m "pytest passes"
grep -r pytest .
which pytest
pip install pytest
uv add pytest
uv run python x.py
python test.py
cat tests/test.py
vim test
pytest | tail -5
pytest -q 2>&1 | tail -3
pytest || true
false || pytest
pytest; echo done
pytest &
pytest --collect-only
pytest --version
pytest 'unclosed
make -n test
make build
make latest
npm install test
npm run build
npm run lint
cargo build
cargo test --no-run
go build
"""


@pytest.mark.parametrize("line", PROOFS.strip().splitlines())
def test_it_runs_tests_and_fails_if_they_fail(line: str) -> None:
    assert is_test(line)


@pytest.mark.parametrize("line", OTHERS.strip().splitlines())
def test_it_proves_nothing(line: str) -> None:
    assert not is_test(line)


@pytest.mark.parametrize(
    ("lines", "is_proof"),
    [
        ("cd x\npytest", True),
        ("pytest \\\n  -q", True),
        ("pytest\n", True),
        ("pytest\necho done", False),
        ("cat > t.sh <<EOF\npytest\nEOF", False),
        ("", False),
        ("\n", False),
        ("a\0b", False),
        ("pytest " + "x " * 2_000, False),
    ],
)
def test_the_last_of_several_lines_counts(lines: str, *, is_proof: bool) -> None:
    assert is_test(lines) == is_proof
