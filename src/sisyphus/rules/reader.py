"""Reads the rule files of a folder, and takes over from the last index what has not changed since:
of a thousand rules, one is edited."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence, Set

from sisyphus.clients.base import Native
from sisyphus.ground import files
from sisyphus.ground.text import fingerprint
from sisyphus.rules.includes import MAX_FILES
from sisyphus.rules.parse import ParsedRule, Room, parse
from sisyphus.rules.pattern import Pattern
from sisyphus.rules.rule import Rule
from sisyphus.rules.sources import RuleFile

Cost = tuple[int, int, int, int]
"""How many includes a rule could have at most, and what it took of the room: characters, characters
of YAML, includes."""


class Reader:
    """Reads rules with the same settings of a client and in the same room, one after the other."""

    def __init__(
        self,
        client: Native,
        excludes: Sequence[Pattern],
        loaded: Set[str],
        room: Room,
        places: Sequence[str],
    ) -> None:
        """excludes, loaded, room: see `parse`. places: the folders that give the files of rules
        their labels and bounds."""
        self._client = client
        self._excludes = excludes
        self._loaded = loaded
        self._room = room
        surroundings = [*places, os.path.expanduser("~"), excludes, sorted(loaded)]
        self._surroundings = fingerprint(json.dumps(surroundings))
        self._last: dict[str, tuple[ParsedRule, Cost]] = {}
        self._last_stamps: Mapping[str, str] = {}
        self._costs: dict[str, tuple[Cost, Sequence[str]]] = {}

    def remember(
        self, rules: Iterable[Rule], texts: Mapping[str, str], stamps: Mapping[str, str], notes: str
    ) -> None:
        """Takes the rules of the last index: those that are as they were are not read again.

        texts: hash → text. stamps: path → stamp of each file that was read. notes: what `notes`
        returned then; "" = unknown.
        """
        try:
            surroundings, costs = json.loads(notes)
        except (ValueError, TypeError):  # of another version, or damaged
            return
        if surroundings == self._surroundings:
            self._last_stamps = stamps
            for rule in rules:
                text = texts.get(rule.hash) if rule.hash else ""
                if text is not None and rule.path in costs:
                    cost, others = costs[rule.path]
                    self._last[rule.path] = ParsedRule(rule, text, others), tuple(cost)

    def read(self, file: RuleFile) -> ParsedRule:
        """Returns a rule; reads it if it has changed. Raises `SisyphusError` if the rule must be
        skipped."""
        room = self._room
        most = min(room.includes, MAX_FILES)
        last, cost = self._last.get(file.path, (None, (0, 0, 0, 0)))
        if last and cost[0] == most and self._is_as_it_was(last):
            room.check()
            room.rules -= 1
            _, characters, yaml, includes = cost
            room.characters -= characters
            room.yaml -= yaml
            room.includes -= includes
            parsed = last
        else:
            before = room.characters, room.yaml, room.includes
            parsed = parse(file, self._client, self._excludes, self._loaded, room)
            characters, yaml, includes = before
            cost = (
                most, characters - room.characters, yaml - room.yaml, includes - room.includes
            )  # fmt: skip
        self._costs[file.path] = cost, parsed.dependencies
        return parsed

    def _is_as_it_was(self, last: ParsedRule) -> bool:
        paths = last.rule.path, *last.dependencies
        return all(self._last_stamps.get(path) == files.stamp(path) for path in paths)

    def notes(self) -> str:
        """Returns what the next reader must know of the rules that were read."""
        return json.dumps([self._surroundings, self._costs])
