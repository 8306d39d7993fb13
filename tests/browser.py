"""The door of the dashboard: a browser that has opened its address, in this process."""

from __future__ import annotations

import asyncio
import html
import re
from typing import Any

from httpx2 import ASGITransport, AsyncClient, Cookies, Response
from starlette.types import ASGIApp
from world import World

from sisyphus.dashboard import app
from sisyphus.dashboard.access import Access, read_token
from sisyphus.dashboard.page import Desk
from sisyphus.terminal import show

PORT = 3847
_KEY = re.compile(r'name="key" value="([0-9a-f]+)"')
_TAG = re.compile(r"<[^>]*>")


class Client:
    """A browser that nobody knows yet. It asks in this thread, which the store belongs to."""

    def __init__(self, application: ASGIApp, address: str) -> None:
        self._application = application
        self._address = address
        self._cookies = Cookies()

    def get(self, path: str, **options: Any) -> Response:
        return asyncio.run(self._send("GET", path, options))

    def post(self, path: str, **options: Any) -> Response:
        return asyncio.run(self._send("POST", path, options))

    async def _send(self, method: str, path: str, options: dict[str, Any]) -> Response:
        async with AsyncClient(
            transport=ASGITransport(self._application),
            base_url=self._address,
            cookies=self._cookies,
            follow_redirects=True,
        ) as client:
            answer = await client.request(method, path, **options)
            self._cookies = client.cookies
            return answer


class Browser:
    def __init__(self, world: World) -> None:
        place = show.place()
        self.token = read_token(place.our_home)
        self.access = Access(PORT, self.token)
        self.desk = Desk(place.store, place.settings, place.home, place.our_home, self.access)
        self._application = app.make(self.desk)
        self.client = self.new_client()
        self.client.get(self.access.new_link())

    def new_client(self) -> Client:
        return Client(self._application, self.access.address)

    def get(self, path: str, **headers: str) -> Response:
        return self.client.get(path, headers=headers)

    def page(self, path: str) -> str:
        """What a page shows, without its tags."""
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return text_of(answer.text)

    def json(self, path: str) -> Any:
        """The same as JSON. path: of the page."""
        answer = self.get("/api/overview" if path == "/" else f"/api{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def press(self, path: str, page: str, **fields: str) -> Response:
        """Sends a form that is on a page."""
        key = _KEY.search(self.get(page).text)
        assert key, f"no form on {page}"
        return self.client.post(path, data={"key": key[1], "back": page, **fields})


def text_of(page: str) -> str:
    """The text of a page, its white space as one blank."""
    return " ".join(html.unescape(_TAG.sub(" ", page)).split())
