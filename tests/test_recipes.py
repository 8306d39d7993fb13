"""The recipes for notices in the docs work: what arrives at the service is what happened."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from world import World

from sisyphus.sessions import notify
from sisyphus.sessions.notify import Notice

PAGE = Path(__file__).parents[1] / "docs" / "notify.md"
SAMPLE = "This is a test of `sisyphus notify test`."
TEXTS = (
    "plain",
    "it's \"quoted\" and 'quoted', a \\ and a \\n",
    "two\nlines, one\ttab",
    "$(touch owned) `touch owned` ${HOME} $1; touch owned",
    "@/etc/passwd",
    "-o owned",
    "Grüße, 漢字, 🗿",
    "<!channel> <https://a.b|c> & {title} {0} %s",
    "x" * 1_000,
)

_FILE = re.compile(r"^`~/(?P<path>[^`\n]+)`:\n\n```\w+\n(?P<body>.*?)^```$", re.M | re.S)
_SETTING = re.compile(r"^```toml\n(.*?)^```$", re.M | re.S)


class Service:
    """A server on this machine in place of the real one: notes what it gets."""

    def __init__(self) -> None:
        service, requests = self, list[dict[str, Any]]()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                requests.append({"path": self.path, "headers": self.headers, "body": body})
                self.send_response(service.status)
                self.end_headers()
                self.wfile.write(b"thank you")

            def log_message(self, *_: Any) -> None:
                """Prints nothing."""

        self.requests, self.status = requests, 200
        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def take(self) -> dict[str, Any]:
        """The one request that came."""
        (request,) = self.requests
        self.requests.clear()
        return request


@pytest.fixture
def service() -> Iterator[Service]:
    service = Service()
    yield service
    service.server.shutdown()
    service.server.server_close()


def install(world: World, name: str, service: Service) -> str:
    """Does what the recipe says; returns its command."""
    _, _, rest = PAGE.read_text().partition(f"### {name}\n")
    recipe = re.split(r"^##", rest, maxsplit=1, flags=re.M)[0]
    recipe = re.sub(
        r"https://(api\.linear\.app|hooks\.slack\.com|ntfy\.sh)(?=/\w)", service.url, recipe
    )
    for file in _FILE.finditer(recipe):
        world.write(world.home / file["path"], file["body"])
    (setting,) = _SETTING.findall(recipe)
    world.write(world.ours / "config.toml", setting)
    return str(tomllib.loads(setting)["notify"]["command"])


def send(command: str, text: str, iteration: int = 5) -> None:
    title = "The agent needs you"
    done = notify.run(command, Notice("blocked", title, text, "/p", "s1", "aaaaa", iteration))
    assert done.code == 0, done.output
    assert done.output == "thank you"


def line(text: str) -> str:
    """A text as a notice has it: on one line."""
    return " ".join(text.split())


@pytest.mark.parametrize("text", TEXTS)
def test_linear_gets_a_comment_that_the_iteration_heads(
    world: World, service: Service, text: str
) -> None:
    send(install(world, "Linear", service), text)

    request = service.take()
    body = json.loads(request["body"])
    assert request["path"] == "/graphql"
    assert request["headers"]["Content-Type"] == "application/json"
    assert request["headers"]["Authorization"] == "YOUR-API-KEY"
    assert "commentCreate(input: $input)" in body["query"]
    assert body["variables"]["input"] == {
        "issueId": "ENG-123",
        "body": f"**Iteration 5**\n\nThe agent needs you: {line(text)}",
    }
    assert not list(world.root.rglob("owned"))


def test_a_comment_without_an_iteration_is_headed_by_its_title(
    world: World, service: Service
) -> None:
    send(install(world, "Linear", service), "No key.", iteration=0)

    body = json.loads(service.take()["body"])["variables"]["input"]["body"]
    assert body.startswith("**The agent needs you**\n\n")


@pytest.mark.parametrize("text", TEXTS)
def test_slack_gets_the_text_without_mentions(world: World, service: Service, text: str) -> None:
    send(install(world, "Slack", service), text)

    request = service.take()
    sent = json.loads(request["body"])["text"]
    assert request["path"] == "/services/YOUR/OWN/URL"
    assert request["headers"]["Content-Type"] == "application/json"
    assert "<" not in sent
    plain = sent.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert plain == f"The agent needs you: {line(text)}"
    assert not list(world.root.rglob("owned"))


@pytest.mark.parametrize("text", TEXTS)
def test_ntfy_gets_the_text_as_it_is(world: World, service: Service, text: str) -> None:
    send(install(world, "Your phone, with ntfy", service), text)

    request = service.take()
    assert request["path"] == "/YOUR-TOPIC"
    assert request["headers"]["Title"] == "The agent needs you"
    assert request["body"] == line(text)
    assert not list(world.root.rglob("owned"))


@pytest.mark.parametrize("name", ["Linear", "Slack", "Your phone, with ntfy"])
def test_a_recipe_can_be_tried(world: World, service: Service, name: str) -> None:
    install(world, name, service)

    answer = world.cli("notify", "test")

    assert answer.code == 0, answer
    assert "thank you" in answer.out
    assert "notify test" in service.take()["body"]


@pytest.mark.parametrize("name", ["Linear", "Slack", "Your phone, with ntfy"])
def test_a_service_that_refuses_is_reported(world: World, service: Service, name: str) -> None:
    install(world, name, service)
    service.status = 401

    answer = world.cli("notify", "test")

    assert answer.code == 1
    assert "401" in answer.out


def test_no_secret_is_in_a_command_line(world: World, service: Service) -> None:
    for name, secret in (("Linear", "YOUR-API-KEY"), ("Slack", "/services/")):
        assert secret not in install(world, name, service)
        for script in world.ours.glob("*.sh"):
            assert secret not in script.read_text()
