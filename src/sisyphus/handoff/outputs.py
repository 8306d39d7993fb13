"""The lines of a command's output that tell most: of one that failed, where and why."""

from __future__ import annotations

import re

from sisyphus.ground.masking import mask, masked_line

CHARACTERS, LINE = 8_000, 160
"""The most characters that we read of an output, from its end, and show of a line."""

_MATCHED = 500
"""The most characters of a line in which we look for an error."""

_ORNAMENT = re.compile(
    r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)|[@-Z\\^_])|</?\w+_error>"
)
"""Colours of a terminal, and tags around an error."""

_SAYS_NOTHING = re.compile(
    r"exit (?:code|status) \d+|\(.*no output\)|([=_*~-])\1{4}.*", re.IGNORECASE
)
_ERROR = re.compile(
    r"error|exception|\bfail|panic|fatal|not found|no such|cannot|can't|denied|undefined|refused|"
    r"unexpected|unable|timed? ?out|assert|invalid|mismatch|conflict|"
    r"^\S*?(?:\.\w+|file):\d+:(?:\d+:?)? (?!warning|note|info|hint|help)|"
    r"(?-i:^[A-Z]{1,4}\d{3,4}\b)",
    re.IGNORECASE,
)
"""A line that names an error: by its word, its place (`a.py:3:1: F401 …`) or its code (`E501 …`).
"""

_NO_ERROR = re.compile(
    r"(?<!\S)--?[A-Za-z][\w=-]*|\b(?:0|no) (?:errors?|failed|failures?)\b", re.IGNORECASE
)
"""Words of an error that tell of none: the option of a command that is printed as it runs
(`-Werror`), and a count."""

_OF_RUNNERS = re.compile(
    "|".join(
        (
            # make (in any language: `Fehler 1`), ninja
            r"\S*make(?:\.exe)?(?:\[\d+\])?: (?:\*\*\* (?:\[.*\] \S+ -?\d+|Waiting for unfinished)|"
            r"Target .* not remade|(?:Entering|Leaving) directory)",
            r"ninja: build stopped|FAILED: (?:\[code=\d+\] )?\S+\.(?:o|obj|a|so|d)\b",
            # npm of all versions, yarn, pnpm, bun
            r"npm (?:ERR!|error)(?:\s+(?:code (?:ELIFECYCLE|\d+)|errno|path|workspace|location|"
            r"command|Error: command failed|in workspace|at location|Lifecycle script|Test failed|"
            r"Exit status|Failed at|This is probably|There is likely|A complete log|To see a list|"
            r"npm run\b|\S+@\S+ \S+: `|.*[/\\]_logs[/\\])|\s*$)",
            r"error Command failed with exit code|info Visit https://yarnpkg\.com",
            r"\W*ELIFECYCLE\W|\W*ERR_PNPM_RECURSIVE_RUN|error: script \".*\" exited with code",
            # tox 3 and 4, nox, just, go-task
            r"\S+: (?:exit -?\d+ \(|FAIL (?:code -?\d+ )?\()|evaluation failed|"
            r"ERROR: (?:InvocationError for command|  \S+: commands failed)",
            r"nox > (?:Command .* failed with exit code|Session \S+ failed|\* \S+: failed|"
            r"Ran multiple sessions)",
            r"error: Recipe `.*` (?:failed|was terminated)|task: Failed to run task",
            # cargo
            r"error: (?:could not compile|aborting due to|test failed, to rerun|"
            r"process didn't exit successfully|\d+ targets? failed)|warning: build failed|"
            r"For more information about (?:this error|an error)|Some errors have detailed|"
            r"Caused by:",
            # Gradle, Maven
            r"BUILD FAILED|FAILURE: Build (?:failed|completed with)|\* (?:What went wrong|Try):|"
            r"Execution failed for task|> (?:Run with|Get more help|There were failing tests|"
            r"Compilation failed; see)|> Task \S+ FAILED",
            r"\[INFO\] BUILD FAILURE|\[ERROR\] (?:Failed to execute goal|-> \[Help|To see the full|"
            r"Re-run Maven|For more information|\[Help|After correcting)|\[ERROR\]\s*$",
        )
    )
)
"""The lines in which what runs commands says that one has failed, which has said why before.

`tests/cases/outputs.toml` has outputs of all of them. A line by which they tell an error of their
own, as `No rule to make target`, is none of these.
"""


def telling(output: str, *, has_failed: bool) -> tuple[str, ...]:
    """Returns the lines that tell most, shortened and masked: the first and last two that name an
    error, else the last. What a runner of commands says of a failure counts only where nothing else
    was said."""
    text = mask(_ORNAMENT.sub("", output[-CHARACTERS:]))  # before it is cut: a key has many lines
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not _SAYS_NOTHING.fullmatch(line)]
    if has_failed:
        lines = [line for line in lines if not _OF_RUNNERS.match(line[:_MATCHED])] or lines
    named = [line for line in lines if has_failed and _names_error(line[:_MATCHED])]
    chosen = [*named[:1], *named[-2:]] or lines[-1:]
    return tuple(dict.fromkeys(masked_line(line, LINE) for line in chosen))


def _names_error(line: str) -> bool:
    return bool(_ERROR.search(_NO_ERROR.sub("", line)))
