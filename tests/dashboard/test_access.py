from __future__ import annotations

import hmac
import string
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import HANG_SECONDS

from sisyphus.dashboard.access import Access, Asked, comes_by_link, host_name, is_loopback

if TYPE_CHECKING:
    import ipaddress

TOKEN = "a-token-of-the-tests"  # noqa: S105
HERE = Access("127.0.0.1", 3847, TOKEN)
EVERYWHERE = Access("0.0.0.0", 3847, TOKEN, ("MyBox", "mybox.local"))  # noqa: S104


def asked(**said: str) -> Asked:
    nothing = Asked("GET", "127.0.0.1:3847", *[""] * 8)
    return nothing._replace(**said)


@pytest.mark.parametrize(
    ("host", "name"),
    [
        pytest.param("localhost", "localhost", id="a name"),
        pytest.param("localhost:3847", "localhost", id="with a port"),
        pytest.param("LocalHost:3847", "localhost", id="in other letters"),
        pytest.param("localhost.", "localhost", id="with the dot of the root"),
        pytest.param("localhost.:3847", "localhost", id="with that and a port"),
        pytest.param("[::1]:3847", "::1", id="an address in brackets"),
        pytest.param("", "", id="nothing"),
        pytest.param("localhost..", "localhost.", id="two dots are another name"),
        pytest.param("ann@localhost", "", id="a user"),
        pytest.param("localhost:3847@evil.example", "", id="a user that looks like us"),
        pytest.param("localhost/evil.example", "", id="a path"),
        pytest.param("localhost?evil", "", id="a query"),
        pytest.param("localhost#evil", "", id="a fragment"),
        pytest.param("localhost:port", "", id="a port that is none"),
        pytest.param("local\thost", "", id="a tab"),
        pytest.param("localhost\n", "", id="a line's end"),
        pytest.param("localhost evil.example", "", id="two names"),
        pytest.param("::1", "", id="an address without brackets"),
        pytest.param("[::1]evil", "", id="an address with a tail"),
        pytest.param("\u217cocalhost", "", id="a letter that looks like one of ours"),
        pytest.param("localhost:\u0663", "", id="a digit that is none of ours"),
    ],
)
def test_a_host_header_is_a_name_and_maybe_a_port(host: str, name: str) -> None:
    assert host_name(host) == name


@pytest.mark.parametrize("host", ["127.0.0.1:3847", "localhost", "LOCALHOST:3847", "[::1]:3847"])
def test_the_names_of_the_loopback_are_ours(host: str) -> None:
    assert HERE.is_ours(host)


def test_the_port_may_be_another_one_where_it_is_forwarded() -> None:
    assert HERE.is_ours("localhost:9000")


@pytest.mark.parametrize(
    "host",
    [
        pytest.param("", id="none"),
        pytest.param("127.0.0.1.evil.example", id="a name that begins like us"),
        pytest.param("localhost.evil.example:3847", id="another one"),
        pytest.param("evil.example:3847", id="a name that leads here"),
        pytest.param("0.0.0.0:3847", id="everywhere"),
        pytest.param("127.1", id="a short address"),
        pytest.param("2130706433", id="an address as a number"),
        pytest.param("[::ffff:127.0.0.1]", id="a mapped address"),
        pytest.param("192.168.1.20:3847", id="an address of the network"),
        pytest.param("mybox:3847", id="the name of the machine"),
    ],
)
def test_other_names_are_not(host: str) -> None:
    assert not HERE.is_ours(host)


@pytest.mark.parametrize(
    "host", ["[::ffff:127.0.0.1]:3847", "[::ffff:7f00:1]:3847", "[::FFFF:7F00:1]"]
)
def test_an_address_is_the_same_however_it_is_spelled(host: str) -> None:
    assert Access("::ffff:127.0.0.1", 3847, TOKEN).is_ours(host)


@given(st.text(string.ascii_letters + string.digits + ".-:@/[]%\\", max_size=30))
def test_no_other_name_is_ever_ours(host: str) -> None:
    known = {"localhost", "127.0.0.1", "[::1]"}
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    assert not HERE.is_ours(host) or name.removesuffix(".").casefold() in known


@given(st.ip_addresses())
def test_where_others_may_ask_every_address_is_ours(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    named = f"[{address}]" if address.version == 6 else str(address)
    assert EVERYWHERE.is_ours(named) == ("%" not in named)


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [
        pytest.param("mybox:3847", True, id="the machine"),
        pytest.param("MYBOX.local:3847", True, id="the machine in its network"),
        pytest.param("localhost:3847", True, id="the loopback"),
        pytest.param("evil.example:3847", False, id="a name that leads here"),
        pytest.param("mybox.evil.example", False, id="a name that begins like the machine's"),
    ],
)
def test_where_others_may_ask_names_are_still_looked_at(host: str, is_ours: bool) -> None:
    assert EVERYWHERE.is_ours(host) is is_ours


@pytest.mark.parametrize(
    ("host", "address"),
    [
        pytest.param("127.0.0.1", "http://127.0.0.1:3847/", id="an address"),
        pytest.param("::1", "http://[::1]:3847/", id="an address in brackets"),
        pytest.param("0.0.0.0", "http://127.0.0.1:3847/", id="everywhere"),  # noqa: S104
        pytest.param("::", "http://[::1]:3847/", id="everywhere of the other kind"),
        pytest.param("mybox.local", "http://mybox.local:3847/", id="a name"),
    ],
)
def test_what_is_opened_leads_here(host: str, address: str) -> None:
    access = Access(host, 3847, TOKEN)
    assert (access.address, access.url) == (address, f"{address}?token={TOKEN}")
    assert access.is_ours(address.removeprefix("http://").removesuffix("/"))


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        pytest.param("127.0.0.1", True, id="this machine"),
        pytest.param("127.8.8.8", True, id="this machine by another number"),
        pytest.param("::1", True, id="this machine by the other kind"),
        pytest.param("::ffff:127.0.0.1", True, id="this machine by both"),
        pytest.param("::ffff:10.0.0.7", False, id="a network's address by both"),
        pytest.param("LocalHost", True, id="by its name"),
        pytest.param("0.0.0.0", False, id="everywhere"),  # noqa: S104
        pytest.param("", False, id="nothing"),
        pytest.param("mybox", False, id="a name"),
        pytest.param("10.0.0.7", False, id="a network's address"),
    ],
)
def test_what_nobody_else_can_reach_is_loopback(host: str, is_local: bool) -> None:
    assert is_loopback(host) is is_local


@pytest.mark.parametrize(
    ("said", "is_known"),
    [
        pytest.param({"bearer": TOKEN}, True, id="the token"),
        pytest.param({"cookie": HERE.cookie}, True, id="the cookie"),
        pytest.param({}, False, id="nothing"),
        pytest.param({"bearer": HERE.cookie}, False, id="the cookie as a token"),
        pytest.param({"cookie": TOKEN}, False, id="the token as a cookie"),
        pytest.param({"token": TOKEN}, False, id="the token in the address"),
        pytest.param({"bearer": TOKEN[:-1]}, False, id="a part of it"),
        pytest.param({"bearer": "\xe4\xf6", "cookie": "\u2603"}, False, id="other letters"),
    ],
)
def test_who_knows_the_token_is_known(said: dict[str, str], is_known: bool) -> None:
    assert HERE.is_known(asked(**said)) is is_known


def test_the_cookie_tells_no_token_and_stays_as_long_as_the_dashboard() -> None:
    assert TOKEN not in HERE.cookie
    assert len({HERE.cookie for _ in range(3)}) == 1


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(Access("127.0.0.1", 3847, TOKEN + "x"), id="another token"),
        pytest.param(Access("127.0.0.1", 3848, TOKEN), id="another port"),
        pytest.param(Access("127.0.0.1", 3847, TOKEN), id="another start"),
    ],
)
def test_a_cookie_is_worth_nothing_elsewhere(other: Access) -> None:
    assert not other.is_known(asked(cookie=HERE.cookie))


def test_nothing_but_the_start_makes_another_cookie_there() -> None:
    """Where the nonce of a start is the same, token and port still tell cookies apart."""
    one, other, third = (Access("127.0.0.1", port, TOKEN) for port in (3847, 3848, 3847))
    other._start = third._start = one._start  # noqa: SLF001
    assert one.cookie == third.cookie != other.cookie


@pytest.mark.parametrize("letter", [chr(code) for code in range(0x20, 0x7F)])
def test_the_address_holds_the_token_whatever_it_is_made_of(letter: str) -> None:
    token = f"a{letter}{letter}41-token-of-the-tests"
    address = urlsplit(Access("127.0.0.1", 3847, token).url)
    assert parse_qs(address.query) == {"token": [token]}
    assert (address.path, address.fragment) == ("/", "")


def _opened() -> tuple[Access, str]:
    """A dashboard that opens a browser, and the code of its address."""
    access = Access("127.0.0.1", 3847, TOKEN)
    [code] = parse_qs(urlsplit(access.url_for_once()).query)["open"]
    return access, code


def test_the_address_of_our_own_browser_tells_no_token_and_is_as_hard_to_guess() -> None:
    access, code = _opened()
    assert access.url_for_once().startswith("http://127.0.0.1:3847/?open=")
    assert TOKEN not in access.url_for_once()
    assert len({_opened()[1] for _ in range(20)}) == 20
    assert len(code) >= 32


def test_it_opens_once() -> None:
    access, code = _opened()
    assert [access.opens(asked(code=code)) for _ in range(3)] == [True, False, False]


@pytest.mark.parametrize(
    "said",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"code": "another"}, id="another code"),
        pytest.param({"code": TOKEN}, id="the token as a code"),
        pytest.param({"code": "\ufffd\xe4"}, id="other letters"),
    ],
)
def test_whatever_else_is_said_opens_nothing_and_uses_nothing_up(said: dict[str, str]) -> None:
    access, code = _opened()
    assert not access.opens(asked(**said))
    assert access.opens(asked(code=code))


@pytest.mark.parametrize("where", ["token", "bearer", "cookie"])
def test_a_code_is_nothing_but_that(where: str) -> None:
    access, code = _opened()
    said = asked(**{where: code})
    assert not access.opens(said)
    assert not access.is_known(said)


@pytest.mark.parametrize("method", ["HEAD", "POST"])
def test_only_who_gets_the_page_uses_it_up(method: str) -> None:
    access, code = _opened()
    assert not access.opens(asked(code=code, method=method))
    assert access.opens(asked(code=code))


def test_where_no_browser_is_opened_no_code_opens() -> None:
    assert not HERE.opens(asked(code=""))


def test_a_new_code_takes_the_place_of_the_one_before() -> None:
    access, code = _opened()
    access.url_for_once()
    assert not access.opens(asked(code=code))


def test_of_two_that_come_at_once_one_gets_in() -> None:
    access, code = _opened()
    both_are_there = Barrier(2)

    class Slow(str):
        __slots__ = ()

        """Comes to be compared when the other one is there as well, if that can be."""

        def encode(self, *_: str) -> bytes:
            with suppress(BrokenBarrierError):
                both_are_there.wait(0.3)
            return str(self).encode()

    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(access.opens, asked(code=Slow(code))) for _ in range(2)]
        assert sorted(one.result(HANG_SECONDS) for one in found) == [False, True]


def test_every_proof_is_compared_in_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bytes] = []

    def noting(said: bytes, known: bytes) -> bool:
        compared.append(said)
        return said == known

    access, _ = _opened()
    monkeypatch.setattr(hmac, "compare_digest", noting)
    said = asked(token="t", code="c", bearer="b", cookie="k")  # noqa: S106
    assert [access.opens(said), access.is_known(said)] == [False, False]
    assert compared == [b"t", b"c", b"b", b"k"]


@pytest.mark.parametrize(
    ("said", "opens"),
    [
        pytest.param({"token": TOKEN}, True, id="to look"),
        pytest.param({"token": TOKEN, "method": "HEAD"}, True, id="to look at the head"),
        pytest.param({"token": TOKEN, "method": "POST"}, False, id="to do something"),
        pytest.param({"token": "another"}, False, id="another token"),
        pytest.param({"token": "\ufffd\xe4"}, False, id="other letters"),
        pytest.param({}, False, id="none"),
    ],
)
def test_the_printed_address_opens_pages_and_does_nothing(
    said: dict[str, str], opens: bool
) -> None:
    assert HERE.opens(asked(**said)) is opens


OURS = "http://127.0.0.1:3847"
LED = {"mode": "navigate", "dest": "document"}


@pytest.mark.parametrize(
    ("said", "is_from_here"),
    [
        pytest.param({}, True, id="a look without a word"),
        pytest.param({"site": "none"}, True, id="a look that the user typed"),
        pytest.param({"site": "cross-site", **LED}, True, id="a link of another site"),
        pytest.param({"site": "same-site", **LED}, True, id="a link of another port"),
        pytest.param({"site": "same-site"}, False, id="without a word of what for"),
        pytest.param(
            {"site": "same-site", "mode": "no-cors", "dest": "image"}, False, id="an image"
        ),
        pytest.param(
            {"site": "cross-site", "mode": "no-cors", "dest": "script"}, False, id="a script"
        ),
        pytest.param({"site": "same-site", **LED, "dest": "iframe"}, False, id="a frame"),
        pytest.param({"site": "same-site", **LED, "dest": "object"}, False, id="an object"),
        pytest.param({"site": "same-site", "mode": "cors"}, False, id="a fetch without an origin"),
        pytest.param(
            {"site": "same-origin", "mode": "cors", "dest": "empty"}, True, id="our own fetch"
        ),
        pytest.param(
            {"site": "same-site", **LED, "method": "POST"}, False, id="a form of another port"
        ),
        pytest.param({"origin": "http://evil.example"}, False, id="another site's script looks"),
        pytest.param({"method": "POST", "origin": OURS}, True, id="our form"),
        pytest.param({"method": "POST", "origin": OURS.upper()}, True, id="in other letters"),
        pytest.param({"method": "DELETE", "origin": OURS}, True, id="our script"),
        pytest.param({"method": "POST", "site": "same-origin"}, True, id="ours without an origin"),
        pytest.param({"method": "POST", "bearer": TOKEN}, True, id="a program"),
        pytest.param({"method": "POST"}, False, id="a form without a word"),
        pytest.param({"method": "POST", "cookie": HERE.cookie}, False, id="with our cookie alone"),
        pytest.param({"method": "POST", "origin": "null"}, False, id="an origin that hides"),
        pytest.param({"method": "POST", "origin": "http://evil.example"}, False, id="a stranger's"),
        pytest.param({"method": "POST", "origin": "http://127.0.0.1:80"}, False, id="other port"),
        pytest.param({"method": "POST", "origin": "http://localhost:3847"}, False, id="other name"),
        pytest.param({"method": "POST", "origin": "http://a@127.0.0.1:3847"}, False, id="a user"),
        pytest.param({"method": "POST", "origin": "file://127.0.0.1:3847"}, False, id="a file"),
        pytest.param({"method": "POST", "origin": "http://["}, False, id="nonsense"),
        pytest.param({"method": "POST", "site": "cross-site"}, False, id="another site"),
        pytest.param({"method": "POST", "site": "same-site"}, False, id="another port of ours"),
        pytest.param({"method": "POST", "site": "none"}, False, id="of no page"),
        pytest.param(
            {"method": "POST", "site": "cross-site", "bearer": TOKEN}, False,
            id="a stranger's page with a token",
        ),
        pytest.param(
            {"method": "POST", "origin": "http://evil.example", "site": "same-origin"}, False,
            id="two words that do not agree",
        ),
    ],
)  # fmt: skip
def test_what_changes_something_comes_from_our_own_pages(
    said: dict[str, str], is_from_here: bool
) -> None:
    assert HERE.is_from_here(asked(**said)) is is_from_here


@given(st.text(max_size=40))
def test_an_origin_that_is_not_ours_never_changes_anything(origin: str) -> None:
    is_ours = origin.casefold() in {"", OURS, OURS.replace("http", "https")}
    assert is_ours or not HERE.is_from_here(asked(method="POST", origin=origin))


@pytest.mark.parametrize(
    ("said", "by_link"),
    [
        pytest.param({"site": "cross-site"}, True, id="another site"),
        pytest.param({"site": "same-origin"}, False, id="our own page"),
        pytest.param({"site": "none"}, False, id="the user"),
        pytest.param({"site": "cross-site", "method": "POST"}, False, id="another site's form"),
    ],
)
def test_a_link_of_another_site_is_known(said: dict[str, str], by_link: bool) -> None:
    assert comes_by_link(asked(**said)) is by_link
