from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus.dashboard.api.document import PATH
from sisyphus.dashboard.views.operations import operations

if TYPE_CHECKING:
    from starlette.testclient import TestClient


def test_every_operation_is_on_the_page(browser: TestClient) -> None:
    page = browser.get("/api").text
    for method, path, _ in operations(browser.get(PATH).json()):
        assert f"<code>{method} {path}</code>" in page


def test_the_page_leads_to_the_document_and_every_page_to_it(browser: TestClient) -> None:
    assert f'href="{PATH}"' in browser.get("/api").text
    assert 'href="/api"' in browser.get("/").text


def test_a_stranger_is_refused(stranger: TestClient) -> None:
    assert stranger.get("/api").status_code == 401
