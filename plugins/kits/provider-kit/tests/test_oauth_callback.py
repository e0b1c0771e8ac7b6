"""The browser's callback, and the race between it and a pasted code."""

from __future__ import annotations

import asyncio
from urllib.parse import urlencode

import pytest

from pi_hookspecs import UserError
from pi_provider_kit.oauth import CallbackServer, authorization_code, show_page
from pi_testing.fake_servers.oauth import browse
from pi_testing.fake_ui import FakeUI


class NoBrowser(FakeUI):
    """A front end that cannot open pages."""

    open_url = None


class BrowserUI(FakeUI):
    """A user whose browser opens pages, and comes back to where ``answers`` says."""

    def __init__(self, *visits):
        super().__init__()
        self.visits = list(visits)
        self.seen = []

    def open_url(self, url):
        self.tour = asyncio.ensure_future(self.go())
        return True

    async def go(self):
        for visit in self.visits:
            self.seen.append(await browse(visit))


@pytest.fixture
async def callback():
    strays = []
    async with CallbackServer("acme", 0, "/back", "our-state", strays.append) as server:
        server.strays = strays
        yield server


def back(callback, **values):
    return f"{callback.redirect_uri}?{urlencode(values)}"


async def sign_in(ui, callback, **options):
    url = "https://login.acme.test/authorize"
    return await authorization_code(ui, url, provider="acme", state="our-state", callback=callback, **options)


async def test_the_browser_brings_the_code_and_may_be_closed(callback):
    visit = await browse(back(callback, code="the-code", state="our-state"))

    assert await callback.code() == "the-code"
    assert visit.status == 200
    assert "You can close this window" in visit.text


async def test_a_wrong_state_is_refused_reported_and_waited_through(callback):
    refused = [await browse(back(callback, code="evil", **more)) for more in ({"state": "x"}, {}, {"state": "é"})]
    await browse(back(callback, code="good", state="our-state"))

    assert await callback.code() == "good"
    assert [visit.status for visit in refused] == [400] * 3
    assert "another login" in refused[0].text
    assert len(callback.strays) == 1
    assert "pi auth login acme" in callback.strays[0]


async def test_denied_consent_ends_the_login_with_what_to_do(callback):
    values = {"error": "access_denied", "error_description": "<b>no</b>", "state": "our-state"}
    visit = await browse(back(callback, **values))

    with pytest.raises(UserError, match=r"Consent was denied .* Run pi auth login acme again"):
        await callback.code()
    assert "&lt;b&gt;no&lt;/b&gt;" in visit.text


async def test_other_addresses_and_odd_requests_are_answered_and_change_nothing(callback):
    port = int(callback.redirect_uri.split(":")[2].split("/")[0])
    favicon = await browse(f"http://127.0.0.1:{port}/favicon.ico")
    no_code = await browse(back(callback, state="our-state"))
    for request in (b"POST /back HTTP/1.1\r\n\r\n", b"\r\n\r\n", b"GET\r\n\r\n", b"x" * 70_000, b""):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        writer.write_eof()
        await reader.read()
        writer.close()
    await browse(back(callback, code="good", state="our-state"))

    assert (favicon.status, no_code.status) == (404, 400)
    assert await callback.code() == "good"


async def test_the_server_ends_with_the_login_whatever_browsers_keep_open():
    async with CallbackServer("acme", 0, "/back", "s") as callback:
        port = int(callback.redirect_uri.split(":")[2].split("/")[0])
        idle, writer = await asyncio.open_connection("127.0.0.1", port)

    assert await idle.read() == b""
    with pytest.raises(OSError, match=r"."):
        await asyncio.open_connection("127.0.0.1", port)
    writer.close()


async def test_a_port_in_use_is_reported_and_pasting_still_works(callback):
    port = int(callback.redirect_uri.split(":")[2].split("/")[0])
    ui = NoBrowser().answers("pasted#our-state")
    async with CallbackServer("acme", port, "/back", "our-state") as second:
        code = await sign_in(ui, second)

    assert code == "pasted"
    assert ui.notices[0].level == "warning"
    assert f"Port {port} on this computer cannot be used" in ui.notices[0].message


async def test_the_page_is_always_shown_and_opened_where_a_browser_is():
    with_browser, without = BrowserUI(), NoBrowser()

    assert show_page(with_browser, "Look:", "https://a.test/x?y=1") is True
    assert show_page(without, "Look:", "https://a.test/x?y=1") is False
    assert "https://a.test/x?y=1" in with_browser.notices[0].message == without.notices[0].message


async def test_the_browser_ends_the_question_for_a_code(callback):
    ui = BrowserUI(back(callback, code="from-browser", state="our-state")).never_answers("Paste")

    assert await sign_in(ui, callback) == "from-browser"
    await ui.tour
    assert ui.seen[0].status == 200


async def test_a_user_who_dismisses_the_question_may_still_use_the_browser(callback):
    ui = BrowserUI(back(callback, code="from-browser", state="our-state")).answers(None)

    assert await sign_in(ui, callback) == "from-browser"


async def test_without_paste_and_browser_the_login_ends_at_once(callback):
    with pytest.raises(
        UserError, match=r"The sign-in to acme was not completed: no code was pasted. Run pi auth login acme"
    ):
        await sign_in(NoBrowser().answers(None), callback)


async def test_an_unusable_paste_is_asked_for_again_and_only_so_often():
    ui = NoBrowser().answers("not a code", "c#wrong", "good")
    hopeless = NoBrowser().answers("not a code", "c#wrong", "still not one")

    assert await sign_in(ui, None) == "good"
    assert [notice.level for notice in ui.notices] == ["info", "error", "error"]
    with pytest.raises(UserError, match="no code"):
        await sign_in(hopeless, None)


async def test_no_wait_is_unlimited(callback):
    with pytest.raises(UserError, match=r"The sign-in to acme was not completed within 0.001 minutes"):
        await sign_in(NoBrowser().never_answers(), callback, seconds=0.06)
