"""Answers one hook event: reads it from stdin, prints at most one JSON object, exits 0. `hook idle`
alone may exit 2, which wakes a session.

Fails open, feature by feature: a feature that raises is rolled back, logged and noted, and the
others still run. Only the reply blocks, never the exit code, so a crash is never taken for a
decision.

A broken store never frees a session in silence. If an event fails, or would free a session that
should go on, because the file or a row cannot be read, we repair the store, answer the event once
more, and say what was lost. If the store cannot be used at all, the user of a session that is free
by that is told so (`door.losses`).
"""

from __future__ import annotations

import os
import sys
import time

from sisyphus import clients
from sisyphus.door.routes import ROUTES
from sisyphus.ground import log, paths, quick_json, settings
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.partial import partial
from sisyphus.ground.store import STOP_LOCK_SECONDS, Store, open_store
from sisyphus.hook import standing
from sisyphus.hook.event import ANSWERS_NO_DIALOG, BOTH, EVENTS
from sisyphus.hook.hook import Hook
from sisyphus.hook.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, BinaryIO, TextIO

    from sisyphus.clients.base import Payload
    from sisyphus.ground.traces import Traces
    from sisyphus.hook.event import Event
    from sisyphus.hook.outcome import Act, Export, Outcome

    Acts = list[tuple[str, Act]]  # each with the name of its feature
    Leave = Callable[[Store], None]

STDIN_BYTES = 64_000_000
"""The largest payload that we read. A Write of 5 MB arrives as about 15 MB."""

FAILED, USAGE = 1, 2
"""Exit codes. FAILED: `--strict` (for CI) was given and something failed. USAGE: a person ran
`sisyphus hook` in a terminal. A client gets 0, except where another code wakes its session."""


TELLING = ("session-start", "user-prompt-submit", "post-tool-use", "stop")
"""The events whose reply can tell the user something, in every client."""

LIVE = ("active", "paused", "blocked", "stuck")
"""What `Standing.loop` and `Standing.hold` say of one that has not ended."""


class PayloadError(SisyphusError):
    """The event is unknown, or its payload cannot be read."""


class StoreError(Exception):
    """A session would be let go without a word, because a row cannot be used."""


class Voice:
    """Prints the reply to the client, at most one."""

    __slots__ = ("_stdout", "has_spoken")

    def __init__(self, stdout: TextIO) -> None:
        self._stdout = stdout
        self.has_spoken = False

    def say(self, reply: dict[str, Any] | None) -> None:
        """Raises `OSError` or `ValueError` if the client does not listen."""
        if reply:
            self.has_spoken = True
            self._stdout.write(quick_json.dumps(reply) + "\n")
            self._stdout.flush()


class Attempt:
    """How an event is answered. is_last: the store was repaired already, and is not doubted again.
    news: what a repair has lost, for the user."""

    __slots__ = ("is_last", "news")

    def __init__(self, news: Iterable[str] = (), *, is_last: bool = False) -> None:
        self.news = news
        self.is_last = is_last


def run(
    words: list[str], stdin: BinaryIO, stdout: TextIO, stderr: TextIO, leave: Leave = Store.close
) -> int:
    """Runs `sisyphus hook EVENT [--client NAME] [--strict]`; returns the exit code.

    words: those after `hook`, at least one. leave: gets the store at the end, to close it or to
    keep it open.
    """
    name = words[0]
    if stdin.isatty():
        stderr.write("error: hooks read their payload, a JSON object, from stdin\n")
        return USAGE
    if settings.is_disabled(os.environ):
        if name == "stop":
            _tell_that_disabled(words, stdin, stdout)
        return 0
    try:
        if name not in EVENTS:
            raise PayloadError(f"unknown event {name!r}")
        client = clients.payload(clients.option(words))
        event = client.read(name, _parse(stdin))
        failures, wake = _answer(event, client, Voice(stdout), leave)
        if wake:
            return client.wake(event, wake, stderr)
    except SisyphusError as error:
        failures = [f"{name}: {error}"]
        if "--strict" not in words:  # whoever passes it reads stderr
            log.write(failures[0])
    except (Exception, KeyboardInterrupt) as error:  # a failing hook must not stop the user
        failures = [log.failure(name, error)]
    if failures and "--strict" in words:
        stderr.write("".join(f"error: {failure}\n" for failure in failures))
        return FAILED
    return 0


def _tell_that_disabled(words: list[str], stdin: BinaryIO, stdout: TextIO) -> None:
    """Tells the user once of a session that should go on and is free because we are switched off:
    an agent may have written that into the client's settings of the project."""
    try:
        client = clients.payload(clients.option(words))
        event = client.read("stop", _parse(stdin))
        project = paths.project_of(event.folder)
        our_home = paths.our_home(project)
        from sisyphus.ground import traces

        found = traces.find(our_home, project, event.session)
        if event.agent or not event.session or not any(found):
            return
        from sisyphus.door import losses

        if outcome := losses.of_switch(event, project, our_home, found):
            Voice(stdout).say(client.render(event, outcome, ""))
    except Exception as error:
        log.failure("stop", error)


def _parse(stdin: BinaryIO) -> dict[str, Any]:
    data = stdin.read(STDIN_BYTES + 1)
    if len(data) > STDIN_BYTES:
        raise PayloadError(f"the payload has more than {STDIN_BYTES:,} bytes")
    try:
        payload = quick_json.loads(data.decode("utf-8", "replace").lstrip("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise PayloadError(f"the payload is not JSON: {error}") from error
    if not isinstance(payload, dict):
        raise PayloadError("the payload is not a JSON object")
    return payload


def _answer(event: Event, client: Payload, voice: Voice, leave: Leave) -> tuple[list[str], str]:
    """Answers one event; returns what failed on the way, and the text that wakes the session."""
    if not event.session:
        raise PayloadError("the payload has no usable session id")
    project = paths.project_of(event.folder)
    stores = [open_store(paths.our_home(project))]
    try:
        try:
            return _try(event, project, stores[0], client, voice, Attempt())
        except Exception as error:
            if voice.has_spoken or (attempt := _repair(event, stores, error)) is None:
                raise
        return _try(event, project, stores[-1], client, voice, attempt)
    except Exception as error:
        tell = _TELLS_OF_FAILURE.get(event.name)
        if tell is None or event.agent or voice.has_spoken:
            raise
        return tell(event, project, client, voice, error), ""
    finally:
        for store in stores:
            leave(store)


def _repair(event: Event, stores: list[Store], error: Exception) -> Attempt | None:
    """Repairs the store if the error comes from it; adds the new one if the file was replaced."""
    from sisyphus.doctor import repair

    if not (isinstance(error, StoreError) or repair.is_cause(stores[-1], error)):
        return None
    log.failure(event.name, error)
    result = repair.repair(stores[-1])
    if result.store is not stores[-1]:
        stores.append(result.store)
    return Attempt(result.news, is_last=True)


def _tell_of_failure(
    event: Event, project: str, client: Payload, voice: Voice, error: Exception
) -> list[str]:
    """Tells the user of a session that should be held why this Stop frees it; returns the failure.
    Nothing is written to the store: it may be locked."""
    from sisyphus.door import losses
    from sisyphus.ground import traces

    failure = log.failure(event.name, error)
    our_home = paths.our_home(project)
    found = traces.find(our_home, project, event.session)
    if outcome := losses.of_failure(event, project, our_home, found, error):
        voice.say(client.render(event, outcome, ""))
    return [failure]


def _tell_of_command(
    event: Event, project: str, client: Payload, voice: Voice, error: Exception
) -> list[str]:
    """Tells the user that a command which they typed was not carried out; returns the failure. The
    next Stop finds the command of a loop by itself."""
    failure = log.failure(event.name, error)
    if outcome := _unheard(event, project, error):
        voice.say(client.render(event, outcome, ""))
    return [failure]


def _unheard(event: Event, project: str, error: Exception | str) -> Outcome | None:
    """Returns what the user hears of a command of ours in a prompt that failed; None if the prompt
    is no such command."""
    from sisyphus.door import losses
    from sisyphus.loops import lifecycle
    from sisyphus.sessions import command_names

    typed = event.prompt.name
    plugin, _, name = typed.rpartition(":")
    is_ours = plugin in lifecycle.PLUGINS and name in (lifecycle.START, lifecycle.CANCEL)
    if is_ours or (
        typed and command_names.own_name_in(event.client, paths.client_home(), project, typed)
    ):
        return losses.of_command(typed, name, error)
    return None


_TELLS_OF_FAILURE = {"stop": _tell_of_failure, "user-prompt-submit": _tell_of_command}
"""Events at which the user hears that sisyphus could not answer."""


def _try(
    event: Event, project: str, store: Store, client: Payload, voice: Voice, attempt: Attempt
) -> tuple[list[str], str]:
    """Answers the event once, with this store."""
    hook = _prepare(event, project, store)
    if event.is_from_plugin and hook.session.wiring == BOTH and event.name != "session-start":
        return [], ""  # the hooks of the settings answer
    is_held = event.name == "stop" and hook.standing.is_unattended and not event.agent
    if is_held and store.is_durable:
        store.wait_longer(STOP_LOCK_SECONDS)
    acts, failures = _look(hook, attempt)
    acts += _look_for_freed(hook, attempt, failures)
    has_waiting = hook.standing.has_waiting and event.name in client.TEXT_EVENTS
    if acts or failures or has_waiting or attempt.news or _closes_dialog(hook):
        return failures, _act(hook, acts, failures, client, voice, attempt)
    if is_held:
        _raise_if_broken(hook, attempt, hook.session.n)
    return failures, ""


def _look_for_freed(hook: Hook, attempt: Attempt, failures: list[str]) -> Acts:
    """Asks whether the store has lost what should hold this session. Adds what failed to
    `failures`."""
    if hook.event.agent or hook.event.name not in ("stop", "session-start"):
        return []
    try:
        return [("freed", act) for act in _look_beside_store(hook, attempt) if act]
    except StoreError:
        raise
    except Exception as error:  # the other features still run
        if _is_of_store(hook, error, attempt):
            raise
        failures.append(log.failure("freed", error))
        return []


def _look_beside_store(hook: Hook, attempt: Attempt) -> list[Act | None]:
    """Looks at the files beside the store. What the user should know of the session's last Stop,
    they hear at its next start."""
    event, our_home = hook.event, paths.our_home(hook.project)
    acts: list[Act | None] = []
    if event.name == "session-start":
        if hook.store.is_durable and os.path.lexists(os.path.join(our_home, "freed")):
            from sisyphus.door import losses

            acts = [losses.look_at_start(hook, our_home)]
    elif not hook.store.is_durable:
        from sisyphus.door import losses
        from sisyphus.ground import traces

        found = traces.find(our_home, hook.project, event.session)
        acts = [losses.look_without_store(hook, our_home, found)]
    elif hook.standing.loop not in LIVE and not hook.standing.is_run:
        from sisyphus.ground import traces

        acts = _look_for_lost(hook, attempt, traces.find(our_home, hook.project, event.session))
    return acts


def _look_for_lost(hook: Hook, attempt: Attempt, found: Traces) -> list[Act | None]:
    """Asks what became of that which left traces, and which the store does not know as alive."""
    loop, hold, enforcement = found
    acts: list[Act | None] = []
    doubt = partial(_raise_if_broken, hook, attempt)
    if loop:
        from sisyphus.door import losses

        if not losses.has_ended(hook, loop):
            doubt()
        acts.append(losses.look_for_lost_loop(hook, loop, attempt.news))
    if hold and hook.standing.hold not in LIVE and hook.settings["boulder.enabled"]:
        from sisyphus.door import losses

        acts.append(losses.look_for_lost_hold(hook, hold, attempt.news, doubt))
    if hook.is_enforced:
        from sisyphus.door import losses

        if losses.is_odd(hook):
            _raise_if_broken(hook, attempt, hook.session.n)
    elif enforcement and hook.standing.hold not in LIVE and not hook.standing.is_enforced:
        from sisyphus.door import losses

        acts.append(losses.look_for_lost_enforcement(hook, enforcement, attempt.news, doubt))
    return acts


def _raise_if_broken(hook: Hook, attempt: Attempt, session: int = 0) -> None:
    """Raises `StoreError` if a row cannot be used. session: the number of one, if only what holds
    it matters."""
    if not attempt.is_last:
        from sisyphus.doctor import repair

        if repair.is_broken(hook.store, session):
            raise StoreError("a row cannot be used")


def _is_of_store(hook: Hook, error: Exception, attempt: Attempt) -> bool:
    """Tells whether a feature failed because of the store, so that the event is answered anew."""
    if attempt.is_last or isinstance(error, SisyphusError):
        return False
    from sisyphus.doctor import repair

    return repair.is_cause(hook.store, error)


def _closes_dialog(hook: Hook) -> bool:
    """Tells whether this event shows that an open permission dialog was answered."""
    return bool(hook.session.dialog) and hook.event.name not in ANSWERS_NO_DIALOG


def _prepare(event: Event, project: str, store: Store) -> Hook:
    now = time.time()
    values, problems = settings.load(store, paths.our_home(project), project, os.environ)
    for problem in problems if event.name == "session-start" else ():
        log.write(f"settings: {problem}")
    session = Session.of_event(store, event)
    state = standing.load(store, session, project)
    return Hook(event, paths.client_home(), project, store, values, session, state, now)


def _look(hook: Hook, attempt: Attempt) -> tuple[Acts, list[str]]:
    """Asks every feature that the event concerns; returns what they want to do, and what failed."""
    acts: Acts = []
    failures: list[str] = []
    for module, function, condition in ROUTES.get(hook.event.name, ()):
        feature = module.split(".")[1]
        try:
            if condition(hook):
                if feature == "stop":
                    _load_what_follows()
                __import__(module)  # `importlib` would load more than most features
                if act := getattr(sys.modules[module], function)(hook):
                    acts.append((feature, act))
        except Exception as error:  # the other features still run
            if _is_of_store(hook, error, attempt):
                raise
            failures.append(log.failure(feature, error))
    return acts, failures


def _load_what_follows() -> None:
    """Loads what carries out an act and what tells of its failure. A check or an idle session may
    take minutes, and an upgrade of sisyphus meanwhile may have put other modules in their place."""
    from sisyphus.door import delivery, losses
    from sisyphus.ground import exports
    from sisyphus.sessions import journal, ledger, sessions

    assert all((delivery, losses, exports, journal, ledger, sessions))


def _act(
    hook: Hook, acts: Acts, failures: list[str], client: Payload, voice: Voice, attempt: Attempt
) -> str:
    """Makes all changes of an event and prints its reply, in one transaction. Returns the text that
    wakes the session, which has no other reply; "" = none.

    The reply is printed just before the commit. A hook that is killed before it prints has said and
    recorded nothing; so has one whose client does not listen. If it is killed between the two, the
    next hook says the same again.
    """
    from sisyphus.door.delivery import choose
    from sisyphus.ground import exports
    from sisyphus.sessions import journal, ledger, sessions

    came_at = hook.now
    was_held = hook.event.name == "stop" and "active" in (hook.standing.loop, hook.standing.hold)
    has_hold = hook.event.name == "stop" and hook.standing.hold in LIVE and not hook.event.agent
    with hook.store.write():
        hook.now = time.time()  # a check may have taken minutes
        before = hook.session
        closes, dialog = _closes_dialog(hook), (before.dialog, before.dialog_at)
        hook.session = sessions.ensure(hook)
        if closes and dialog == (hook.session.dialog, hook.session.dialog_at):  # no later one
            hook.session.dialog = ""
            hook.session.save(hook.store)
        outcome = _decide(hook, acts, failures, attempt)
        if outcome.reason is None and hook.event.name == "stop" and not hook.event.agent:
            outcome.messages += _why_free(hook, outcome, attempt, failures, was_held=was_held)
        is_answered = outcome.messages or outcome.reason is not None
        if failures and hook.event.name == "user-prompt-submit" and not is_answered:
            unheard = _unheard(hook.event, hook.project, failures[0])
            outcome.messages += unheard.messages if unheard else []
        room = client.room(hook.event, outcome)
        text, sent = choose(hook, outcome, room, client.REPLY_UNITS)
        if sent or not outcome.is_empty:
            journal.write(hook, outcome, sent, (time.time() - came_at) * 1000)
        wake = client.wakes(hook.event, outcome)
        if not wake:
            voice.say(client.render(hook.event, outcome, text))
    if hook.store.is_durable:
        own = [partial(ledger.export, hook, sent)] if sent else []
        exports.run([*own, *outcome.exports, *_exports_of_stop(hook, outcome, has_hold=has_hold)])
    return wake


def _why_free(
    hook: Hook, outcome: Outcome, attempt: Attempt, failures: list[str], *, was_held: bool
) -> list[str]:
    """Returns what the user hears of a session that may stop though it should go on: nothing if
    they have heard why. failures: of features at this Stop, of which one decides it. was_held: by a
    loop or a hold, before this Stop was decided."""
    if not was_held and not hook.is_enforced:
        return []
    from sisyphus.door import losses

    if was_held and not outcome.messages:
        _raise_if_broken(hook, attempt, hook.session.n)
    if own := [each for each in failures if each.startswith("stop: ")]:
        return losses.of_failures(hook.event, paths.our_home(hook.project), own)
    if hook.standing.hold != "active" and not hook.is_enforced:
        return []
    return losses.of_rest(hook, is_said=bool(outcome.messages))


def _exports_of_stop(hook: Hook, outcome: Outcome, *, has_hold: bool) -> list[Export]:
    """Returns what keeps the files beside the store true. has_hold: before this Stop was decided,
    which may have ended the hold."""
    event, our_home = hook.event, paths.our_home(hook.project)
    is_blocked = event.name == "stop" and outcome.reason is not None and not event.agent
    found: list[Export] = []
    if is_blocked and os.path.lexists(os.path.join(our_home, "freed")):
        from sisyphus.door import losses

        found += losses.after_block(our_home, event)
    if has_hold and not (is_blocked and _has_hold_file(hook, our_home)):
        from sisyphus.boulder import holds

        found.append(partial(holds.export, hook.store, hook.project))
    return found


def _has_hold_file(hook: Hook, our_home: str) -> bool:
    from sisyphus.ground import traces

    return os.path.lexists(traces.hold_file(our_home, hook.project))


def _decide(hook: Hook, acts: Acts, failures: list[str], attempt: Attempt) -> Outcome:
    """Runs the acts; returns their merged outcome. Adds what failed to `failures`."""
    from sisyphus.hook.outcome import Outcome, merge

    outcomes = [Outcome(messages=_take_news(hook, attempt), notes=[*attempt.news])]
    for feature, act in acts:
        try:
            with hook.store.savepoint():
                outcomes.append(act())
                hook.session.save(hook.store)
        except Exception as error:
            if _is_of_store(hook, error, attempt):
                raise
            hook.session = Session.load(hook.store, hook.session.n)  # without what the act changed
            failures.append(log.failure(feature, error))
    return merge([*outcomes, Outcome(notes=[f"failed: {failure}" for failure in failures])])


def _take_news(hook: Hook, attempt: Attempt) -> list[str]:
    """Returns what the user hears of a repair in this reply. At a start it is one of the notices,
    and after an event that can tell nothing it stays one."""
    if hook.event.name not in TELLING or hook.event.name == "session-start":
        return []
    for text in attempt.news:
        hook.store.run("DELETE FROM notice WHERE text = ?", text)
    return [*attempt.news]
