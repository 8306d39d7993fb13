"""Tells whether a test command that succeeded ran any test, by what its runner printed.

Many runners exit 0 when they found no test, or skipped all of them. Their summaries say so. We
only believe a whole line in the words of a known runner, because a program under test may print
anything, and any sign that a test ran beats it: one command often starts several runners, and most
runners have a summary for each package. In doubt, tests ran.
"""

import re

from sisyphus.ground.record import Record
from sisyphus.sessions.checks import is_test

_CHARACTERS = 500
"""The longest line that we read. No summary is longer, and some patterns below try each place of a
line against the rest of it."""

_ESCAPES = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)"
"""Colours, moves of the cursor, links and titles of a terminal (ECMA-48)."""


class _Runner(Record, frozen=True):
    """A test runner. none: what it prints when it ran no test. ran: what it prints when it ran
    one, if `_ANY_RUNNER` does not know that; what matches `none` is taken out before. Both are
    patterns of the lines that `_plain` returns, `^` and `$` are the ends of a line."""

    name: str
    none: str
    ran: str = r"(?!)"


_PYTEST = r"\d+ (?:skipped|deselected|warnings?)"
_GO = r" \S+"
_GRADLE = r"(?:> Task )?:(?:\S+:)?"
_MAVEN = r"(?:\[\w+\] )?"

_RUNNERS = (
    # Run: 7.4 and 9.2, with -q, -qq, -v, --co and xdist. Older ones wrote "seconds". With -qq there
    # is no summary, only the line of letters.
    _Runner(
        "pytest",
        rf"^(?:=+ )?(?:no tests (?:ran|collected(?: \(\d+ deselected\))?)|{_PYTEST}(?:, {_PYTEST})*"
        r"|(?:\d+/)?\d+ tests? collected(?: \(\d+ deselected\))?)"
        r" in [\d.]+ ?s(?:econds)?(?: \([\d:]+\))?(?: =+)?$"
        r"|^collected 0 items(?: / .*)?$|^(?:\S+ )?s+ \[ ?\d+%\]$",
        r"^(?:\S+ )?s*[.FxX][.sFExXR]* \[ ?\d+%\]$|^\S+::.* (?:PASSED|FAILED|XFAIL|XPASS)\b",
    ),
    # Run: 3.6, 3.11, 3.12.1 and 3.13, Django 5. A class that is skipped counts as skipped, not as
    # run, so the two numbers alone prove nothing: the line of letters must have no other letter.
    _Runner(
        "unittest",
        r"^Ran 0 tests in [\d.]+s$|^NO TESTS RAN(?: \(skipped=\d+\))?$"
        r"|^(?:s+|.*\bskipped ['\"].*\n)\n-{70}\nRan (\d+) tests? in [\d.]+s\n\nOK \(skipped=\1\)$",
        r"^s*[.xuFE][.sxuFE]*\n-{70}$"
        r"|^Ran ([1-9]\d*) tests? in [\d.]+s\n\n(?!OK \(skipped=\1\)$)"
        r"|^.*\.\.\. (?:FAIL|ERROR|expected failure|unexpected success)$",
    ),
    # Run: 1.95, with doc tests, -q and a target with a main of its own (`harness = false`), which
    # says nothing that we know.
    _Runner(
        "cargo test",
        r"^test result: ok\. 0 passed; 0 failed; \d+ ignored; 0 measured\b.*$",
        r"^test result: "
        r"|^Running (?:.*\()?\S+-[0-9a-f]{16}(?:\.exe)?\)?$(?!\n\nrunning \d+ tests?$)",
    ),
    # Read: outputs in public repositories. Today it exits 4, but not with `--no-tests=warn`, and
    # older ones exited 0.
    _Runner(
        "cargo nextest",
        r"^Summary \[.*\] 0 tests run: .*$|^(?:error|warning): no tests to run\b.*$",
    ),
    # Run: 1.19, with -v, -cover and without a package's name, where "[no tests to run]" is missing.
    # Without -v a package whose tests are all skipped is as one that passed.
    _Runner(
        "go test",
        rf"^\?{_GO} \[no test files\]$|^ok{_GO} .*\[no tests to run\]$"
        r"|^(?:testing: warning: no tests to run|--- SKIP: .*(?:\n.*:\d+: .*)?)\nPASS\n"
        rf"(?:coverage: .*\n)?ok{_GO} .*$",
        rf"^ok{_GO} (?:[\d.]+s|\(cached\))|^--- (?:PASS|FAIL): |^Benchmark\S* \d+ [\d.]+ ns/op",
    ),
    # Read: the tests of gotestsum and its issue 140.
    _Runner(
        "gotestsum",
        r"^DONE (?:\d+ runs, )?(?:0 tests|(\d+) tests?, \1 skipped)(?: in .*)?$",
        r"^DONE (?:\d+ runs, )?[1-9]\d* tests?\b",
    ),
    # Run: 29. A file whose tests are all skipped is a suite that passed.
    _Runner(
        "jest",
        r"^No tests found, exiting with code 0$"
        r"|^(?:Test Suites: .*\n)?Tests: (?:\d+ (?:skipped|todo|pending), )*\d+ total$",
    ),
    # Run: 4.1. A test that is expected to fail is not among the passed ones.
    _Runner(
        "vitest",
        r"^No test files found, exiting with code 0$|^(?:Test Files .*\n)?"
        r"Tests (?:no tests|\d+ (?:skipped|todo)(?: \| \d+ (?:skipped|todo))?(?: \(\d+\))?)$",
        r"^Tests .*\bexpected fail\b",
    ),
    _Runner("mocha", r"^0 passing(?: \(\d+\w+\))?$"),  # run: 11
    # Run: 20. mocha's reporter for TAP ends with the same lines. A suite counts as passed.
    _Runner(
        "node --test",
        r"^([#\u2139]) tests \d+\n(?:\1 suites \d+\n)?\1 pass 0\n\1 fail 0"
        r"(?:\n\1 cancelled 0\n\1 skipped \d+\n\1 todo 0)?$(?!\n\1 (?:cancelled|skipped|todo))"
        r"|^ok \d+.*\n---\nduration_ms: .*\ntype: 'suite'$",
        r"^[#\u2139] (?:pass|fail|todo) [1-9]",
    ),
    _Runner("ava", r"^─\n\n\d+ tests? (?:skipped|todo)$", r"^\d+ known failures?$"),  # run: 6
    # Run: 1.4. Older ones said "No tests found!".
    _Runner(
        "bun test",
        r"^0 pass\n(?:\d+ (?:skip|todo|filtered out)\n)*0 fail$|^(?:error: )?No tests found!$"
        r"|^The following filters did not match any test files:$",
    ),
    _Runner(  # run: 2.9
        "deno test",
        r"^ok \| 0 passed(?: \(0 steps\))? \| 0 failed\b.*$|^error: No test modules found$",
    ),
    # Run: 3.12.
    _Runner(
        "rspec",
        r"^0 examples, 0 failures$|^(\d+) examples?, 0 failures, \1 pending$",
        r"^[1-9]\d* examples?, \d+ failures?\b",
    ),
    # Run: minitest 5.17, which Rails uses, test-unit 3.5.
    _Runner(
        "minitest",
        r"^0 (?:runs|tests), 0 assertions, 0 failures, 0 errors\b.*$"
        r"|^(\d+) (?:runs|tests), \d+ assertions, 0 failures, 0 errors, \1 skips$"
        r"|^(\d+) tests, 0 assertions, 0 failures, 0 errors, 0 pendings, \2 omissions\b.*$",
        r"^[1-9]\d* (?:runs|tests), \d+ assertions\b",
    ),
    # Run: 3.25.
    _Runner(
        "ctest",
        r"^No tests were found!!!$"
        r"|^\d+/\d+ Test #\d+: .*\*\*\*(?:Skipped|Not Run \(Disabled\)) [\d.]+ sec$",
    ),
    _Runner("meson test", r"^No tests defined\.$", r"^Ok: [1-9]"),  # run: 1.12
    # Read: PHPUnit's own end-to-end tests. A test that is risky or incomplete has run.
    _Runner(
        "phpunit",
        r"^No tests executed!$|^OK \(0 tests, 0 assertions\)$"
        r"|^Tests: (\d+), Assertions: 0, Skipped: \1\.$",
        r"^OK \([1-9]\d* tests?\b|^Tests: \d+, Assertions: \d",
    ),
    # Read: Pest's tests, outputs in public repositories. Laravel's `artisan test` is the same.
    _Runner(
        "pest",
        r"^INFO No tests found\.$"
        r"|^Tests: \d+ (?:skipped|todos?)(?:, \d+ (?:skipped|todos?))?(?: \(0 assertions\))?$",
    ),
    # Read: vstest's issue 479, dotnet/sdk's tests, outputs in public repositories.
    _Runner(
        "dotnet test",
        r"^(?:Warning: )?No test is available in \S.*$"
        r"|^No test matches the given testcase filter .*$"
        r"|^Total tests: (?:0|(\d+)\nSkipped: \1|\d+\. Passed: 0\. Failed: 0\. Skipped: \d+\.?)$"
        r"|^Skipped! - Failed: 0, Passed: 0, Skipped: .*$|^Test run summary: Zero tests ran\b.*$"
        r"|^Test summary: total: \d+, failed: 0, succeeded: 0, skipped: .*$",
    ),
    # Read: outputs in public repositories. Some lines are for a class, some for a module.
    _Runner(
        "maven",
        rf"^{_MAVEN}(?:No|There are no) tests to run\.$|^{_MAVEN}Tests are skipped\.$"
        rf"|^{_MAVEN}Tests run: (\d+), Failures: 0, Errors: 0, Skipped: \1\b.*$",
        rf"^{_MAVEN}Tests run: \d+, Failures: ",
    ),
    # Read: Gradle's issues 7452 and 24786, spotbugs' 488 (Gradle 4). A task that is up to date, or
    # from the cache, ran before on the same files. Other tasks may be named *Test: no sign of none.
    _Runner(
        "gradle",
        rf"^{_GRADLE}(?:test|(?:integration|functional|jvm)Test|test\w*UnitTest)"
        r" (?:NO-SOURCE|SKIPPED)$",
        rf"^{_GRADLE}(?:\w*[tT]ests?|test\w*UnitTest)(?: (?:UP-TO-DATE|FROM-CACHE|FAILED))?$",
    ),
    # Read: outputs in public repositories. XCTest and Swift Testing both have a summary, and often
    # one of the two has no test. The mark before it is a symbol of Apple's font, or ✔.
    _Runner(
        "swift test",
        r"^Executed (?:0 tests, with|(\d+) tests?, with \1 tests? skipped and) 0 failures\b.*$"
        r"|^\W{0,4}Test run with 0 tests\b.*$|^(?:warning: )?No matching test cases were run$",
        r"^Executed [1-9]\d* tests?, |^\W{0,4}Test run with [1-9]",
    ),
    # Run: bats 1.13, perl's prove, deno and mocha with a reporter for TAP.
    _Runner(
        "TAP",
        r"^1\.\.0(?: # .*)?$|^ok \d+\b.*# [Ss](?:kip|KIP)\b.*$|^Result: NOTESTS$"
        r"|^(?:0 tests, 0 failures|(\d+) tests?, 0 failures, \1 skipped)$",
        r"^(?:not )?ok \d+\b(?!.*# T(?:ODO|odo)\b)|^Result: PASS$"
        r"|^[1-9]\d* tests?, \d+ failures?\b",
    ),
    # Run: npm 11, with the script that `npm init` writes. People drop its `exit 1`. In a workspace
    # another package may have tests, so nothing else may stand there.
    _Runner("npm", r"\A\n?(?:> .*\n){0,2}\n?Error: no test specified\n?\Z"),
)  # fmt: skip

_ANY_RUNNER = (
    r"^(?!Test Suites: |Test Files |Snapshots: |Tasks: )(?i:"
    r".*\b[1-9]\d*(?: tests?| specs?| scenarios?)? "
    r"(?:x?pass(?:ed|ing)?|x?fail(?:ed|ing|ures?)?|succe(?:eded|ssful|sses))\b"
    r"|.*\b(?:pass(?:ed|ing)?|fail(?:ed|ing)?|succeeded) ?[:=] ?[1-9]|.*\bpassed: total [1-9]"
    r"|.*\ball (?:\d+ )?tests (?:passed|successful)\b|\[ passed \] [1-9]"
    r"|[1-9]\d* specs?, \d+ failures?\b|executed [1-9]\d* of \d|ran [1-9]\d* tests containing\b"
    r"|.*\.\.\. (?:ok|passed)\b)|^ok$"
)  # fmt: skip
"""What most runners print, known to us or not, when a test ran: "3 passed", "Passed: 3", "... ok".
The four words at the beginning count files, snapshots and packages. tox and make pass on what the
runner inside prints."""

_MAKE = r"\w*make(?:\[\d+\])?"
_OF_MAKE = rf"(?:{_MAKE}|ninja): (?:Entering|Leaving) directory .*|(?:g?make|ninja)(?: .*)?"
_NOTHING_TO_MAKE = (
    rf"(?:{_MAKE}: )?(?:Nothing to be done for [`'\u2018](?P<goal>[^'\u2019]+)['\u2019]\."
    r"|[`'\u2018](?P<file>[^'\u2019]+)['\u2019] is up to date\.)|ninja: no work to do\."
)
"""Run: GNU make 4.3, ninja 1.11. GNU make before 4.0 opens the quote with a backtick, as BSD make
does, which has no name before it."""


def ran_no_test(command: str, output: str) -> bool:
    """Tells whether a test command that exited 0 ran no test at all, by what its runner printed.

    output: its stdout and stderr, or the end of them. False for a command that is no test command.
    """
    if not is_test(command):
        return False
    text = _plain(output)
    if _made_nothing(command, text):
        return True
    has_none = False
    for runner in _RUNNERS:
        text, count = re.subn(runner.none, "", text, flags=re.MULTILINE)
        has_none = has_none or count > 0
    signs = (_ANY_RUNNER, *(runner.ran for runner in _RUNNERS))
    return has_none and not any(re.search(sign, text, re.MULTILINE) for sign in signs)


def _plain(output: str) -> str:
    """Returns the lines without colours and with single spaces between words. What a progress bar
    wrote over becomes a line of its own; a line that is too long becomes empty."""
    text = re.sub(_ESCAPES, "", output).replace("\r\n", "\n").replace("\r", "\n")
    lines = (line if len(line) <= _CHARACTERS else "" for line in text.split("\n"))
    return "\n".join(" ".join(line.split()) for line in lines)


def _made_nothing(command: str, text: str) -> bool:
    """Tells whether make or ninja found its goal up to date, and nothing else printed a line: a
    silent test leaves no other trace. Other goals than tests count for nothing."""
    calls = f"{command}\n{text}"
    is_ninja_goal = re.search(r"\bninja\b[^&;|\n]*\b(?:test|check)\b", calls) is not None
    has_goal = False
    for line in filter(None, text.split("\n")):
        if nothing := re.fullmatch(_NOTHING_TO_MAKE, line):
            goal = nothing["goal"] or nothing["file"]
            is_test_goal = goal is not None and re.match(r"(?:tests?|check)\b", goal) is not None
            has_goal = has_goal or is_test_goal or (goal is None and is_ninja_goal)
        elif not re.fullmatch(_OF_MAKE, line):
            return False
    return has_goal
