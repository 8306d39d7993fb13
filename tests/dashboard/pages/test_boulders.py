from __future__ import annotations

import html
import re
import shutil
from typing import TYPE_CHECKING

import pytest
from boulder.scene import PLAN, Scene

from sisyphus.boulder import actions
from sisyphus.paths import project_id
from sisyphus.text import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.testclient import TestClient

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>{{ 7 * 7 }}\"'&"
HOSTILE_PLAN = f"""\
# {HOSTILE}

- [ ] {HOSTILE}

## Wave 1: {HOSTILE}

### S01: {HOSTILE}

- [x] {HOSTILE}
  - [ ] {HOSTILE}
"""


@pytest.fixture
def scene(home: Path, project: Path) -> Scene:
    return Scene(home, project)


def _follow(scene: Scene, text: str = PLAN) -> str:
    """A plan that a session has begun to work on: the address of its page."""
    path = scene.write(text)
    scene.start()
    return f"/boulders/{fingerprint(str(path))}"


def _page(browser: TestClient, path: str) -> str:
    reply = browser.get(path)
    assert reply.status_code == 200, reply.text
    return str(reply.text)


@pytest.mark.parametrize("path", ["/boulders", "/boulders?state=y", "/"])
def test_without_a_plan_the_pages_say_what_to_do(path: str, browser: TestClient) -> None:
    assert "No plan is open" in _page(browser, path) or "like this" in _page(browser, path)


@pytest.mark.parametrize("path", ["/", "/boulders"])
def test_each_plan_has_a_link_to_its_page(path: str, scene: Scene, browser: TestClient) -> None:
    address = _follow(scene)
    page = _page(browser, path)
    assert f'href="{address}"' in page
    assert "Ship it" in page
    assert '<progress max="3" value="1"' in page


def test_the_filter_keeps_what_was_chosen(scene: Scene, browser: TestClient) -> None:
    _follow(scene)
    named = project_id(str(scene.project))
    page = _page(browser, f"/boulders?project={named}&state=active")
    assert f'<option value="{named}" selected>' in page
    assert "Show all" in page


def test_a_plan_s_page_tells_its_tasks(scene: Scene, browser: TestClient) -> None:
    page = _page(browser, _follow(scene))
    assert re.search(r'<li class="done"[^>]*>.*one', page)
    assert re.search(r'<li class="open now" aria-current="step">.*two', page)
    assert "1/3" in page


def test_of_several_waves_the_current_one_is_open(scene: Scene, browser: TestClient) -> None:
    waves = "".join(
        f"## Wave {n}\n" + "".join(f"- [{'x' if n < 3 else ' '}] t{n}.{t}\n" for t in range(400))
        for n in range(1, 6)
    )
    page = _page(browser, _follow(scene, f"# Long\n{waves}"))
    opened = re.findall(r'<details class="wave" id="wave-(\d+)"( open)?>', page)
    assert [bool(is_open) for _, is_open in opened] == [False, False, True, False, False]


def test_checkpoints_todos_and_sessions_are_on_it(scene: Scene, browser: TestClient) -> None:
    address = _follow(scene)
    actions.checkpoint(scene.space(), "half of it is there")
    scene.todo("write the other half")
    page = _page(browser, address)
    assert "half of it is there" in page
    assert "write the other half" in page
    assert 'href="/journal?session=s1"' in page


def test_an_enforced_plan_says_who_may_not_stop(scene: Scene, browser: TestClient) -> None:
    address = _follow(scene)
    assert "may not stop" not in _page(browser, address)
    actions.enforce(scene.space(), on=True)
    assert "may not stop" in _page(browser, address)


def _file_goes(scene: Scene) -> None:
    (scene.project / ".claude/PLAN.md").unlink()


def _folder_goes(scene: Scene) -> None:
    shutil.rmtree(scene.project)


def _becomes_unreadable(scene: Scene) -> None:
    (scene.project / ".claude/PLAN.md").write_bytes(b"\xff")


def _loses_its_tasks(scene: Scene) -> None:
    scene.write("# Ship it\n")


def _is_cleared(scene: Scene) -> None:
    actions.clear(scene.space())


@pytest.mark.parametrize(
    ("happens", "says"),
    [
        pytest.param(_file_goes, "The file is gone", id="the file"),
        pytest.param(_folder_goes, "The file is gone", id="the folder"),
        pytest.param(_becomes_unreadable, "The file cannot be read", id="not UTF-8"),
        pytest.param(_loses_its_tasks, "There is no task in it", id="without tasks"),
        pytest.param(_is_cleared, "Nobody follows this plan any more", id="cleared"),
    ],
)
def test_a_plan_that_cannot_be_shown_says_why(
    happens: object, says: str, scene: Scene, browser: TestClient
) -> None:
    address = _follow(scene)
    assert says not in _page(browser, address)
    assert callable(happens)
    happens(scene)
    assert says in _page(browser, address)
    assert "Ship it" in _page(browser, "/boulders")


@pytest.mark.parametrize("happens", [_file_goes, _becomes_unreadable])
def test_a_plan_whose_file_does_not_serve_is_forgotten_from_anywhere(
    happens: Callable[[Scene], None], scene: Scene, browser: TestClient
) -> None:
    address = _follow(scene)
    happens(scene)
    command = f"cd {scene.project} && sisyphus boulder clear .claude/PLAN.md"
    assert f"<code>{html.escape(command)}</code>" in _page(browser, address)
    _is_cleared(scene)
    assert "boulder clear" not in _page(browser, address)


@pytest.mark.parametrize(
    "named",
    [
        pytest.param("0123456789abcdef", id="of nothing"),
        pytest.param("..%2F..%2Fetc%2Fpasswd", id="a path"),
        pytest.param("%00", id="no name"),
        pytest.param("x" * 4_000, id="long"),
        pytest.param("%3Cscript%3Ealert(1)%3C%2Fscript%3E", id="markup"),
    ],
)
def test_an_unknown_id_is_answered_404(named: str, scene: Scene, browser: TestClient) -> None:
    _follow(scene)
    reply = browser.get(f"/boulders/{named}")
    assert reply.status_code == 404
    assert "<script>alert" not in reply.text


def test_whatever_a_plan_says_is_text(home: Path, tmp_path: Path, browser: TestClient) -> None:
    project = tmp_path / "<img src=x onerror=alert(3)>"
    (project / ".git").mkdir(parents=True)
    scene = Scene(home, project)
    address = _follow(scene, HOSTILE_PLAN)
    actions.checkpoint(scene.space(), HOSTILE)
    scene.todo(HOSTILE)
    for path in ("/", "/boulders", address):
        page = _page(browser, path)
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert "49" not in re.findall(r"alert\(2\)&gt;(\d+)", page)


def test_a_stranger_sees_no_plan(scene: Scene, stranger: TestClient) -> None:
    address = _follow(scene)
    for path in ("/boulders", address):
        reply = stranger.get(path)
        assert (reply.status_code, "Ship it" in reply.text) == (401, False)
