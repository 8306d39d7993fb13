"""A project that is not known is not known on every page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from ralph.past.log import a_loop, ran

from sisyphus.paths import project_id

if TYPE_CHECKING:
    from starlette.testclient import TestClient

LISTS = ("/loops", "/boulders", "/rules", "/enforcement")
SHOP = project_id("/home/me/shop")


@pytest.mark.parametrize("page", LISTS)
@pytest.mark.parametrize("named", ["another", "..%2F..%2Fetc", "%3Cscript%3Ealert(1)"])
def test_a_project_that_is_not_known_is_not_found(
    browser: TestClient, page: str, named: str
) -> None:
    ran(a_loop())
    reply = browser.get(f"{page}?project={named}")
    assert reply.status_code == 404
    assert "The list of projects names them" in reply.text
    assert "<script>alert" not in reply.text


@pytest.mark.parametrize("page", ["/loops", "/boulders", "/rules"])
@pytest.mark.parametrize("named", ["", SHOP])
def test_one_that_is_known_is_found_where_there_is_nothing_of_it(
    browser: TestClient, page: str, named: str
) -> None:
    ran(a_loop())
    assert browser.get(f"{page}?project={named}").status_code == 200


def test_a_project_of_a_loop_is_known_wherever_it_was(browser: TestClient) -> None:
    loop = a_loop()
    loop.project = "shop"
    ran(loop)
    assert browser.get(f"/loops?state=all&project={project_id('shop')}").status_code == 200


@pytest.mark.parametrize("page", ["/api/sessions", "/api/boulders", "/api/enforcement"])
def test_programs_are_told_the_same(program: TestClient, page: str) -> None:
    reply = program.get(f"{page}?project=another")
    assert (reply.status_code, reply.json()["error"]) == (404, "NOT_FOUND")
