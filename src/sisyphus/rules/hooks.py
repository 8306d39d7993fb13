"""Sends a rule once a session, when a tool touches a file that it covers."""

from __future__ import annotations

from sisyphus import clients
from sisyphus.ground.partial import partial
from sisyphus.ground.paths import display
from sisyphus.ground.text import one_line
from sisyphus.hook.outcome import Outcome
from sisyphus.rules import messages
from sisyphus.rules.index import Roots
from sisyphus.rules.match import match
from sisyphus.rules.rule import CLIENT, SISYPHUS
from sisyphus.sessions import ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.hook.hook import Hook
    from sisyphus.hook.outcome import Act, Text
    from sisyphus.rules.match import RuleMatch
    from sisyphus.rules.rule import Rule

    Fresh = list[tuple[Rule, Text]]


def look_at_tools(hook: Hook) -> Act | None:
    """Finds the rules for the touched files that this session has not been sent yet.

    The ledger is only a hint here, to save the act: `_send` asks it again, and that decides. It is
    empty while the session is not in the store.
    """
    if not hook.settings["rules.enabled"]:
        return None
    known = set(ledger.hashes(hook.store, hook.session))
    fresh: Fresh = []
    for path in hook.event.files:
        matches = _matches(hook, path)
        known.update(m.rule.hash for m in matches if m.sender == CLIENT)  # it sends these
        for each in matches:
            rule = each.rule
            is_fresh = each.sender == SISYPHUS and rule.hash not in known
            if is_fresh and (body := each.index.body(hook.store, rule)):
                fresh.append((rule, messages.as_text(rule, body, display(path, hook.project))))
                known.add(rule.hash)
    return partial(_send, hook, fresh) if fresh else None


def _matches(hook: Hook, path: str) -> list[RuleMatch]:
    """Returns the rules that apply to a file."""
    roots = Roots(hook.event.client, hook.project, hook.home, hook.event.folder)
    matches = match(hook.store, roots, path, hook.settings["rules.unscoped"])
    return [each for each in matches if each.applies]


def _send(hook: Hook, fresh: Fresh) -> Outcome:
    """Sends the rules that no other hook has sent since we looked."""
    texts = ledger.missing(hook, [text for _, text in fresh])
    twice = [rule for rule, text in fresh if rule.loads_twice and text in texts]
    new = [rule.label for rule in twice if ledger.record_advice(hook, rule.path)]
    if not new:
        return Outcome(texts)
    setting = clients.native(clients.CLAUDE_CODE).RULES_SETTING
    advice = (
        f"sisyphus: Claude Code also loads {', '.join(map(one_line, new))} at every session start. "
        "To prevent this, run `sisyphus install` or, with the plugin, name them in the setting "
        f"{setting}. `sisyphus rules lint` says more."
    )
    return Outcome(texts, [advice])
