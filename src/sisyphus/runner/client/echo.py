"""What a program printed that is its prompt, and not its own word. Pure."""

from __future__ import annotations

LINES = 5
"""So many lines in a row nobody says by chance just as the prompt has them."""


def without(said: str, prompt: str) -> str:
    """`said`, with an empty line for each that repeats the prompt: one of five or more in a row
    (of a shorter prompt: all of it) that stand there just so. Blank lines and indents are no
    difference.

    A line alone is never taken for a repetition: a promise may stand in the prompt too.
    """
    asked = [line.strip() for line in prompt.split("\n") if line.strip()]
    length = min(LINES, len(asked))
    if length <= 1:
        return said
    known = {tuple(asked[at : at + length]) for at in range(len(asked) - length + 1)}
    lines = said.split("\n")
    places = [place for place, line in enumerate(lines) if line.strip()]
    repeated: set[int] = set()
    for start in range(len(places) - length + 1):
        part = places[start : start + length]
        if tuple(lines[place].strip() for place in part) in known:
            repeated.update(part)
    return "\n".join("" if place in repeated else line for place, line in enumerate(lines))
