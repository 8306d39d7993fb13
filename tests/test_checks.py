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
env X=1 pytest
env -i X=1 Y='a b' pytest -q
./run_tests.sh
./run_tests.sh --fast
./run-tests
/code/x/runtests.sh
run_tests.sh
scripts/test.sh
script/test
bin/run_unit_tests
./test_all.sh
timeout 60 ./test.sh
sh ./test.sh
sh test.sh
bash -e scripts/run_tests.sh
bash -o pipefail run_tests.sh
python run_tests.py
tests/runtests.py
bash -c 'pytest -q'
bash -lc "cd x && make test"
sh -ec 'ruff check . && pytest -q'
bash -eo pipefail -c "pytest"
env X=1 bash -c 'pytest -q'
uv run bash -c 'pytest -q'
cd x && sh -c "npm test"
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
test -f run_tests.sh
/usr/bin/test -f run_tests.sh
test
cat run_tests.sh
chmod +x ./run_tests.sh
./run_tests.sh | tail -3
./run_tests.sh --help
./latest.sh
./deploy-test.sh
./make_test_data.sh
./test.py
python x/test.py
tests/data
bash -n run_tests.sh
bash deploy.sh test.sh
bash --rcfile test.sh -c 'ls'
bash
bash -c
bash -c 'ls' pytest
bash -c 'echo pytest'
bash -c 'pytest | tail'
bash -c 'pytest || true'
bash -c '! pytest'
bash -c 'pytest; ls'
bash -c 'pytest' || true
sh -c "bash -c 'pytest; echo'"
env X=1 echo pytest
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
