"""Rules that are ours and that the client would load whole: what its settings say against that."""

from __future__ import annotations

from sisyphus.install.place import PROJECT, USER
from sisyphus.paths import client_home
from sisyphus.rules import lint
from sisyphus.rules.sources import HOME
from sisyphus.rules.survey import survey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.install.place import Place


def found(place: Place) -> list[str]:
    """The patterns that the client's excludes lack, of the rules that this place is about: the
    user's own, or the project's. In a file that no one else has they name that rule alone."""
    is_user = place.scope == USER
    rules = survey(place.folder if is_user else place.base, client_home()).rules
    loaded = [r for r in rules if (r.source == HOME) == is_user and lint.is_loaded_twice(r)]
    to_all = place.scope == PROJECT
    return list(dict.fromkeys(lint.exclude_pattern(rule, shared=to_all) for rule in loaded))
