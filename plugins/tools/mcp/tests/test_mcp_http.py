"""Servers over HTTP: headers, limits, what is tried again, and the sign-in."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import importlib.util
import json
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pi_mcp
from pi_hookspecs import ProviderInfo
from pi_mcp.link import link_of
from pi_mcp.sidecar.auth import NotSignedIn, _Callback
from pi_mcp.sidecar.connection import reason_of
from pi_mcp.sidecar.http_transport import _RepairedEvents
from pi_testing import text

_SPEC = importlib.util.spec_from_file_location("mcp_http_server", Path(__file__).parent / "servers" / "http_server.py")
assert _SPEC is not None
assert _SPEC.loader is not None
_MODULE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)
http_server = _MODULE.http_server

pytestmark = [pytest.mark.pi(plugins={"mcp": pi_mcp}), pytest.mark.slow]  # each starts programs that take seconds


async def test_a_busy_server_is_asked_again_until_it_is_connected_and_a_call_never(
    started, script, monkeypatch, result_of
) -> None:
    monkeypatch.setenv("TIDES_TOKEN", "token-of-tides")
    with http_server("busy") as server:
        entry = {"url": f"{server.url}/mcp", "headers": {"Authorization": "Bearer ${TIDES_TOKEN}"}}
        session = await started({"web": entry})

        echoed = await result_of(session, script, "mcp__web__echo", text="over HTTP")
        failed = await result_of(session, script, "mcp__web__fails")

    assert echoed.text == "over HTTP"
    assert failed.is_error
    assert len(failed.text) < 9_000
    assert server.methods.count("tools/call") == 2
    assert server.headers[-1]["Authorization"] == "Bearer token-of-tides"


async def test_a_server_that_has_forgotten_the_session_is_connected_again_and_called(
    started, script, result_of
) -> None:
    with http_server("forgets") as server:
        session = await started({"web": {"url": f"{server.url}/mcp"}})

        result = await result_of(session, script, "mcp__web__echo", text="again")

    assert result.text == "again"
    assert (server.methods.count("initialize"), server.methods.count("tools/call")) == (2, 2)


async def test_an_event_stream_may_end_its_lines_with_a_carriage_return(started, script, result_of) -> None:
    with http_server("cr") as server:
        session = await started({"web": {"url": f"{server.url}/mcp"}})

        assert (await result_of(session, script, "mcp__web__echo", text="\U0001f30a")).text == "\U0001f30a"


async def test_an_error_without_a_message_in_an_event_is_reported_with_what_it_has(started, script, result_of) -> None:
    with http_server("events") as server:
        session = await started({"web": {"url": f"{server.url}/mcp"}})

        result = await result_of(session, script, "mcp__web__echo", text="x")

    assert result.is_error
    assert "an error without a message" in result.text
    assert "low water" in result.text


SENT = (
    b": ping\n\n",
    b'event: message\r\ndata: {"jsonrpc": "2.0", "id": 1,\r\ndata:"error": "low water"}\r\n\r\n',
    b'id: 5\rdata: {"jsonrpc": "2.0", "method": "notifications/x"}\r\r',
    b"retry: 10\ndata: no JSON\n\n",
    b'data: {"jsonrpc": "2.0", "id": 2, "result": "text"}\n\n',
)


@given(st.lists(st.integers(0, sum(map(len, SENT))), max_size=9))
def test_events_are_read_alike_wherever_a_stream_is_cut(cuts: list[int]) -> None:
    whole = b"".join(SENT)
    places = [0, *sorted(cuts), len(whole)]

    async def stream():
        for start, end in pairwise(places):
            yield whole[start:end]

    async def passed() -> str:
        return b"".join([each async for each in _RepairedEvents(stream())]).decode()

    events = [each.splitlines() for each in asyncio.run(passed()).split("\n\n")]

    assert events[0] == [": ping"]
    assert events[1][0] == "event: message"
    assert "low water" in json.loads(events[1][1].removeprefix("data: "))["error"]["message"]
    assert events[2] == ["id: 5", 'data: {"jsonrpc": "2.0", "method": "notifications/x"}']
    assert events[3] == ["retry: 10", "data: no JSON"]
    assert json.loads(events[4][0].removeprefix("data: "))["result"] == {"content": [{"type": "text", "text": "text"}]}


async def test_an_answer_of_20_megabytes_fails_the_call(started, script, result_of) -> None:
    with http_server("huge") as server:
        session = await started({"web": {"url": f"{server.url}/mcp", "timeout": 20}})

        result = await result_of(session, script, "mcp__web__echo", text="x")

    assert result.is_error


async def test_a_server_that_is_not_there_is_named(started, script, fake_ui) -> None:
    with http_server() as server:
        pass
    session = await started({"web": {"url": f"{server.url}/mcp".replace("//", "//me:pass-word@") + "?key=key-word"}})
    script.turn(text("ok"))

    await session.prompt("go")

    assert f"MCP: web cannot be connected: {server.url}/mcp cannot be reached" in fake_ui.notices[0].message


def test_what_a_server_answered_is_reported_without_passwords_of_its_url() -> None:
    request = httpx2.Request("POST", "http://me:pass-word@tides.example/mcp?key=key-word")
    error = httpx2.HTTPStatusError("refused", request=request, response=httpx2.Response(403, request=request))

    assert reason_of(ExceptionGroup("all", [error])) == "http://tides.example/mcp answered 403"


async def sign_in(session: Any, fake_ui: Any, number: int = 0) -> bytes:
    """Sign in with a browser that follows redirects, and return the page that it ends at."""
    fake_ui.answers(None)
    signing = asyncio.create_task(session.prompt("/mcp login web"))
    while len(fake_ui.opened_urls) <= number:  # noqa: ASYNC110 - the fake user has no event for an opened page
        await asyncio.sleep(0.02)
    page: bytes = await asyncio.to_thread(lambda: urlopen(fake_ui.opened_urls[number]).read())  # noqa: S310 - the test's own server
    await signing
    return page


async def test_a_user_signs_in_and_the_next_process_refreshes_the_token(started, script, fake_ui, result_of) -> None:
    with http_server("auth") as server:
        session = await started({"web": {"url": f"{server.url}/mcp"}})
        script.turn(text("ok"))
        await session.prompt("go")
        page = await sign_in(session, fake_ui)
        first = await result_of(session, script, "mcp__web__echo", text="signed in")
        kept = session.settings.agent_dir / "mcp-auth.json"
        stored, mode = kept.read_text(), kept.stat().st_mode & 0o777
        (signed_in,) = json.loads(stored).values()
        signed_in["tokens"]["expires_at"] = 1
        kept.write_text(json.dumps(dict.fromkeys(json.loads(stored), signed_in)))
        await session.dispose()
        await link_of(session.settings.agent_dir).close_unclaimed()
        again = await started()
        second = await result_of(again, script, "mcp__web__echo", text="still")

    assert "requires a sign-in: pi mcp login web" in fake_ui.notices[0].message
    assert page.startswith(b"Signed in")
    assert (first.text, second.text) == ("signed in", "still")
    assert ("token-1" in stored, mode) == (True, 0o600)
    assert [each["grant_type"] for each in server.grants] == ["authorization_code", "refresh_token"]
    assert "token-1" not in json.dumps([each.message for each in fake_ui.notices])


def keep_expired_sign_in(agent_dir: Path, url: str) -> Path:
    """Write the sign-in of an earlier process whose token has expired."""
    tokens = {"access_token": "token-1", "token_type": "Bearer", "expires_at": 1, "refresh_token": "refresh-1"}
    metadata = {"issuer": f"{url}/", "authorization_endpoint": f"{url}/authorize", "token_endpoint": f"{url}/grant"}
    client = {"client_id": "client-1", "redirect_uris": ["http://127.0.0.1/callback"]}
    key = f"web {hashlib.sha256(f'{url}/mcp'.encode()).hexdigest()[:16]}"
    file = agent_dir / "mcp-auth.json"
    file.write_text(json.dumps({key: {"tokens": tokens, "metadata": metadata, "client": client}}))
    return file


@pytest.mark.slow
async def test_a_refresh_at_the_end_of_the_session_is_not_lost(own_sidecar, started, script, pi_host) -> None:
    with http_server("auth", "slow") as server:
        file = keep_expired_sign_in(pi_host.settings.agent_dir, server.url)
        session = await started({"web": {"url": f"{server.url}/mcp"}})
        while not server.grants:  # noqa: ASYNC110 - a server in a thread
            await asyncio.sleep(0.02)
        ending = asyncio.create_task(session.dispose())
        await asyncio.sleep(0.1)
        server.may_grant.set()
        await ending

    (kept,) = json.loads(file.read_text()).values()
    assert (kept["tokens"]["access_token"], kept["tokens"]["refresh_token"]) == ("token-2", "refresh-2")


async def test_a_client_of_the_users_own_signs_in_as_configured(started, script, fake_ui, result_of) -> None:
    with http_server("auth", "misled") as server:
        oauth = {"clientId": "mine", "clientSecret": "my-secret", "scope": "read", "authServerMetadataUrl": server.url}
        oauth["authServerMetadataUrl"] += "/here"
        session = await started({"web": {"url": f"{server.url}/mcp", "oauth": oauth}})

        await sign_in(session, fake_ui)
        result = await result_of(session, script, "mcp__web__echo", text="mine")

    assert result.text == "mine"
    assert (server.asked[0]["client_id"], server.asked[0]["scope"]) == (["mine"], ["read"])
    assert server.grants[0]["authorization"] == f"Basic {base64.b64encode(b'mine:my-secret').decode()}"


@pytest.mark.parametrize("fault", ["no-pkce", "plain"])
async def test_a_server_that_does_not_protect_sign_ins_is_refused(started, fake_ui, fault) -> None:
    with http_server("auth", fault) as server:
        session = await started({"web": {"url": f"{server.url}/mcp"}})
        await session.prompt("/mcp login web")

    assert fake_ui.opened_urls == []
    assert server.grants == []
    assert "PKCE with S256" in "".join(each.message for each in fake_ui.notices)


async def test_a_secret_of_the_user_stays_with_the_server_that_it_was_used_with(started, fake_ui) -> None:
    with http_server("auth") as server:
        oauth = {"clientId": "mine", "clientSecret": "my-secret"}
        session = await started({"web": {"url": f"{server.url}/mcp", "oauth": oauth}})
        await sign_in(session, fake_ui)
        kept = session.settings.agent_dir / "mcp-auth.json"
        stored = json.loads(kept.read_text())
        assert [each["issuer"] for each in stored.values()] == [{"issuer": f"{server.url}/"}]
        for each in stored.values():
            each["issuer"] = {"issuer": "https://first.example/"}
        kept.write_text(json.dumps(stored))
        await session.prompt("/mcp login web")

    assert len(server.grants) == 1
    assert "was used with https://first.example/" in "".join(each.message for each in fake_ui.notices)


async def test_requests_of_others_do_not_end_a_sign_in(started, script, fake_ui, result_of) -> None:
    with http_server("auth") as server:
        session = await started({"web": {"url": f"{server.url}/mcp"}})
        fake_ui.answers(None)
        signing = asyncio.create_task(session.prompt("/mcp login web"))
        while not fake_ui.opened_urls:  # noqa: ASYNC110 - the fake user has no event for an opened page
            await asyncio.sleep(0.02)
        address = parse_qs(urlsplit(fake_ui.opened_urls[0]).query)["redirect_uri"][0]
        answers = [
            await asyncio.to_thread(_status, f"{address}{query}")
            for query in ("", "?error=x", "?code=1", "?code=1&state=guessed", "/other?error=x&state=")
        ]
        await asyncio.to_thread(lambda: urlopen(fake_ui.opened_urls[0]).read())  # noqa: S310 - the test's own server
        await signing
        result = await result_of(session, script, "mcp__web__echo", text="signed in")

    assert answers == [400] * 5
    assert result.text == "signed in"


async def test_a_sign_in_that_does_not_come_names_the_time_that_it_had() -> None:
    callback = _Callback({"name": "web", "login": True, "loginSeconds": 0.5}, ask=None, tokens=None)

    with pytest.raises(NotSignedIn, match=r"there was no sign-in within 0\.5 s"):
        await callback.wait()


def _status(url: str) -> int:
    try:
        return urlopen(url).status  # noqa: S310 - the callback of the sidecar
    except HTTPError as error:
        return error.code


async def test_rights_that_a_call_needs_are_asked_for_by_the_next_sign_in(started, script, fake_ui, result_of) -> None:
    with http_server("auth", "rights") as server:
        session = await started({"web": {"url": f"{server.url}/mcp", "oauth": {"scope": "read"}}})
        await sign_in(session, fake_ui)

        refused = await result_of(session, script, "mcp__web__echo", text="x")
        await sign_in(session, fake_ui, 1)
        result = await result_of(session, script, "mcp__web__echo", text="now")

    assert "it requires a sign-in with more permissions, 'read write': pi mcp login web" in refused.text
    assert server.asked[1]["scope"] == ["read write"]
    assert result.text == "now"


async def test_a_key_of_pi_signs_in_to_a_server(started, script, monkeypatch, result_of) -> None:
    monkeypatch.setenv("TIDES_KEY", "token-1")
    provider = ProviderInfo(id="tides", name="Tides", api="tides", key_variables=("TIDES_KEY",))
    with http_server("auth") as server:
        entry = {"url": f"{server.url}/mcp", "auth": "tides"}
        session = await started(
            {"web": entry}, extension_factories=[lambda pi: pi.register_provider("tides", provider)]
        )

        assert (await result_of(session, script, "mcp__web__echo", text="known")).text == "known"
