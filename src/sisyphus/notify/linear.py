"""Comments on an issue of Linear (https://linear.app) by its GraphQL API.

`commentCreate` takes an issue's identifier (`ENG-123`) as well as its UUID. A personal API key
stands in the header as it is, without `Bearer`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from sisyphus.errors import SisyphusError
from sisyphus.masking import masked
from sisyphus.notify.words import text
from sisyphus.text import one_line

if TYPE_CHECKING:
    from sisyphus._types import Json

URL = "https://api.linear.app/graphql"

MUTATION = """\
mutation Comment($input: CommentCreateInput!) {
  commentCreate(input: $input) { success comment { id } }
}"""

_SECONDS = 10.0
_MOST_BYTES = 1_000_000
_MOST_CHARACTERS = 200
_READ_CHARACTERS = 10_000
_HOST = "api.linear.app"
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
_UNAUTHORIZED = 401
_NEW_KEY = "Make a personal API key in Linear's settings and export it as LINEAR_API_KEY."


def body(known: Json) -> str:
    """The comment, in Markdown; `known` is what `notify.command` gets."""
    iteration = known.get("iteration")
    head = f"**Iteration {iteration}** " if type(iteration) is int else ""
    told = one_line(masked(text({**known, "iteration": None})[:_READ_CHARACTERS]), 1_000)
    names = {"Project": known.get("project"), "loop": known.get("loop_id")}
    places = [f"{what} `{one_line(str(name), 300)}`" for what, name in names.items() if name]
    return head + told + (f"\n\n{', '.join(places)}" if places else "")


def comment(issue: str, markdown: str, key: str, url: str = "") -> str:
    """Appends a comment to an issue; returns the comment's id. Raises `SisyphusError`."""
    _check(issue, key, url)
    asked = {"query": MUTATION, "variables": {"input": {"issueId": issue, "body": markdown}}}
    answer = _post(url or URL, json.dumps(asked).encode(), key)
    if told := _errors(answer):
        raise _refused(told, issue)
    created = _object(_object(answer.get("data")).get("commentCreate"))
    if created.get("success") is not True:
        raise _refused("it does not say why", issue)
    return one_line(str(_object(created.get("comment")).get("id") or ""), _MOST_CHARACTERS)


def _check(issue: str, key: str, url: str) -> None:
    if not key:
        raise SisyphusError(f"no comment on Linear: LINEAR_API_KEY is not set. {_NEW_KEY}")
    if not (key.isascii() and key.isprintable()):  # the header would be refused with the key in it
        raise SisyphusError(f"no comment on Linear: LINEAR_API_KEY is no key. {_NEW_KEY}")
    if not issue:
        raise SisyphusError(
            "no comment on Linear: no issue is named. Give --issue ENG-123, or set LINEAR_ISSUE "
            "or notify.linear_issue."
        )
    if url and not _may_have_key(url):
        raise SisyphusError(
            f"no comment on Linear: LINEAR_API_URL is neither https://{_HOST}/… nor an http(s) URL "
            "of this machine, so the key is not sent there. Mend it."
        )


def _may_have_key(url: str) -> bool:
    """The environment of a hook may come from a project's own settings."""
    try:
        found = urlsplit(url)
        host = found.hostname
    except ValueError:
        return False
    return (found.scheme == "https" and host == _HOST) or (
        found.scheme in ("https", "http") and host in _THIS_MACHINE
    )


class _NoRedirect(HTTPRedirectHandler):
    """The key would travel along to wherever a redirect leads."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _post(url: str, data: bytes, key: str) -> Json:
    """The answer, an object. Raises `SisyphusError`, never with the key in it."""
    headers = {"Authorization": key, "Content-Type": "application/json"}
    try:
        request = Request(url, data, headers, method="POST")  # noqa: S310  # see `_check`
        with build_opener(_NoRedirect).open(request, timeout=_SECONDS) as response:
            return _parsed(response.read(_MOST_BYTES))
    except HTTPError as error:
        with error:
            raise _http_failure(error, key) from None
    except ValueError as error:
        raise SisyphusError(
            f"no comment on Linear: its answer is no JSON ({_without(key, error)}). Check "
            "LINEAR_API_URL."
        ) from None
    except OSError as error:
        reason = getattr(error, "reason", None) or error
        raise SisyphusError(
            f"no comment on Linear: no answer: {_without(key, reason)}. Check the network "
            "and LINEAR_API_URL."
        ) from None


def _http_failure(error: HTTPError, key: str) -> SisyphusError:
    if error.code == _UNAUTHORIZED:
        return SisyphusError(f"no comment on Linear: the key was not accepted. {_NEW_KEY}")
    try:
        told = _errors(_parsed(error.read(_MOST_BYTES)))
    except (OSError, ValueError):
        told = ""
    why = f": {_without(key, told)}" if told else ""
    return SisyphusError(f"no comment on Linear: HTTP {error.code}{why}. Try again later.")


def _refused(why: str, issue: str) -> SisyphusError:
    name = one_line(issue, 100)
    return SisyphusError(
        f"no comment on Linear: it refused: {why}. Check that the issue {name} exists and that "
        "the key may comment on it."
    )


def _errors(answer: Json) -> str:
    """What an answer says went wrong, "" = nothing. The words for people, where there are some."""
    found = answer.get("errors")
    told = []
    for error in map(_object, found[:3] if isinstance(found, list) else []):
        shown = _object(error.get("extensions")).get("userPresentableMessage")
        told.append(one_line(str(shown or error.get("message") or "unknown"), _MOST_CHARACTERS))
    return "; ".join(told).rstrip(".")


def _parsed(data: bytes) -> Json:
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError("the answer is no JSON object")  # noqa: TRY004  # as if it were no JSON
    return value


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _without(key: str, told: object) -> str:
    return one_line(str(told).replace(key, "KEY"), _MOST_CHARACTERS).rstrip(".")
