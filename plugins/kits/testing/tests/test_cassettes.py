"""Cassettes: recorded once, replayed without the server, and what is not as recorded is shown."""

from __future__ import annotations

import base64
import json

import httpx
import pytest

from pi_hookspecs import Context, Model, StreamOptions, UserError
from pi_provider_anthropic.provider import AnthropicMessages
from pi_testing import conversation as chat
from pi_testing.cassettes import REMOVED, Cassette
from pi_testing.fake_servers import Answer, FakeServer, closed_url, json_answer, redirect, sse, sse_event
from pi_testing.fake_servers.anthropic import FakeAnthropic, message, text

KEY = "sk-ant-a-key-that-nobody-may-see"
EVENTS = [sse_event({"text": "Gr\u00fc"}, "delta"), sse_event({"text": "\u00dfe"}, "delta"), sse_event("[DONE]")]


class Tape(Cassette):
    """A cassette that is closed with its ``async with``, and checked where nothing else failed."""

    async def __aenter__(self):
        return self

    async def __aexit__(self, kind, error, traceback):
        await self.close()
        if kind is None:
            self.check()


@pytest.fixture
def tape(tmp_path):
    """``tape("once")``: the cassette of this test in a mode."""
    return lambda mode="none", **how: Tape(
        tmp_path / "cassettes" / "tape.json", mode, test="test_it.py", environ={"ACME_API_KEY": KEY}, **how
    )


@pytest.fixture
async def server():
    async with FakeServer() as server:
        yield server


async def post(url, **request):
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.post(url, **request)


async def recorded(tape, server, answer, path="/v1/chat", **request):
    """Record one request; return what is in the file, and what came back."""
    server.answers(answer)
    async with tape("all") as cassette:
        response = await post(await cassette.url(server.url + path), **request)
    (exchange,) = json.loads(cassette.file.read_text())["exchanges"]
    return exchange, response


async def ask(cassette, url, question):
    """Ask through a provider of ours; return the text of the answer, or the error."""
    model = Model(id="m", name="M", api="anthropic-messages", provider="anthropic", base_url=url, max_tokens=100)
    options = StreamOptions(api_key=cassette.key("ACME_API_KEY"))
    context = Context(messages=(chat.user(question),))
    events = [event async for event in AnthropicMessages().stream(await cassette.model(model), context, options)]
    final = chat.final_message(events)
    return final.error_message or final.text


async def test_a_provider_is_recorded_once_and_replayed_without_its_server(tape):
    async with FakeAnthropic() as server:
        server.answers(message(text("Hello.")), message(text("Again.")))
        async with tape("once") as cassette:
            first = [await ask(cassette, server.url, "Hi"), await ask(cassette, server.url, "And now?")]
        asked = server.requests
    async with tape("once") as cassette:
        again = [await ask(cassette, server.url, "Hi"), await ask(cassette, server.url, "And now?")]

    assert first == again == ["Hello.", "Again."]
    assert [request.headers["x-api-key"] for request in asked] == [KEY, KEY]
    assert KEY not in cassette.file.read_text()


async def test_the_first_difference_is_reported_with_its_path(tape):
    async with FakeAnthropic() as server:
        server.answers(message(text("Hello.")))
        async with tape("once") as cassette:
            await ask(cassette, server.url, "Hi")
    with pytest.raises(AssertionError) as caught:
        async with tape() as cassette:
            reply = await ask(cassette, server.url, "Ho")

    assert str(caught.value) == (
        f"Request 1 is not the one in {cassette.file}\n"
        "  at body.messages[0].content[0].text\n"
        '    recorded: "Hi"\n'
        '    actual:   "Ho"\n'
        "If that is meant, record it again, with a key: pytest test_it.py --pi-record=all"
    )
    assert "body.messages[0].content[0].text" in reply


@pytest.mark.parametrize(
    ("now", "path", "values"),
    [
        ({"json": {"a": [1, 2], "b": "x"}, "path": "/v2"}, "url", ("/v1", "/v2")),
        ({"json": {"a": [1, 2], "b": "x"}, "params": {"beta": "1"}}, "query.beta", ("(nothing)", '"1"')),
        ({"json": {"a": [1], "b": "x"}}, "body.a[1]", ("2", "(nothing)")),
        ({"json": {"a": [1, 2, {"c": 3}], "b": "x"}}, "body.a[2]", ("(nothing)", '{"c": 3}')),
        ({"json": {"a": [1, True], "b": "x"}}, "body.a[1]", ("2", "true")),
        ({"json": {"b": "x"}}, "body.a", ("[1, 2]", "(nothing)")),
        ({"content": "text"}, "body", ("{", '"text"')),
        ({}, "body", ("{", "null")),
    ],
    ids=["path", "query", "shorter", "longer", "type", "missing", "text", "empty"],
)
async def test_every_kind_of_difference_is_named(tape, server, now, path, values):
    await recorded(tape, server, json_answer(200, {}), "/v1", json={"a": [1, 2], "b": "x"})
    now = {**now}
    with pytest.raises(AssertionError) as caught:
        async with tape() as cassette:
            await post(await cassette.url(server.url + now.pop("path", "/v1")), **now)

    lines = str(caught.value).splitlines()
    assert lines[1] == f"  at {path}"
    assert values[0] in lines[2]
    assert values[1] in lines[3]


async def test_of_a_long_text_the_matching_part_is_shown(tape, server):
    await recorded(tape, server, json_answer(200, {}), json={"system": "a" * 5000 + " old " + "b" * 5000})
    with pytest.raises(AssertionError) as caught:
        async with tape() as cassette:
            await post(await cassette.url(f"{server.url}/v1/chat"), json={"system": "a" * 5000 + " new " + "b" * 5000})

    recorded_line, actual_line = str(caught.value).splitlines()[2:4]
    assert "aaa old bbb" in recorded_line
    assert "aaa new bbb" in actual_line
    assert len(actual_line) < 250


async def test_what_may_differ_is_no_difference(tape, server):
    body = {"metadata": {"id": 1}, "messages": [{"id": "a", "text": "Hi"}]}
    await recorded(tape, server, json_answer(200, {"ok": 1}), json=body)
    async with tape(ignored=["body.metadata", "body.messages[*].id"]) as cassette:
        url = await cassette.url(f"{server.url}/v1/chat")
        answer = await post(url, json={"metadata": {"id": 2, "x": 3}, "messages": [{"id": "b", "text": "Hi"}]})

    assert answer.json() == {"ok": 1}


async def test_requests_of_one_time_may_come_in_another_order(tape, server):
    server.answers(json_answer(200, "a"), json_answer(200, "b"))
    async with tape("all") as cassette:
        url = await cassette.url(f"{server.url}/x")
        await post(url, json="a")
        await post(url, json="b")
    async with tape() as cassette:
        url = await cassette.url(f"{server.url}/x")
        answers = [(await post(url, json=each)).json() for each in "ba"]

    assert answers == ["b", "a"]


async def test_a_request_too_many_and_one_too_few_fail(tape, server):
    await recorded(tape, server, json_answer(200, {}), json=1)
    cassette = tape()
    for _ in range(2):
        await post(await cassette.url(f"{server.url}/v1/chat"), json=1)
    await cassette.close()

    with pytest.raises(AssertionError, match=r"Request 2, POST .* it has 1 and all were made"):
        cassette.check()
    with pytest.raises(AssertionError, match=r"has 1 requests, and 0 were made now. Missing is POST"):
        tape().check()


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        (sse(EVENTS).in_pieces(3), {"chunks": [each.decode() for each in EVENTS]}),
        (json_answer(200, {"data": [1]}), {"json": {"data": [1]}}),
        (Answer(headers={"content-type": "text/html"}, pieces=(b"<p>",)), {"chunks": ["<p>"]}),
        (Answer(pieces=(b"\xff\x00\x01",)), {"base64": base64.b64encode(b"\xff\x00\x01").decode()}),
        (Answer(status=204), {"chunks": []}),
    ],
    ids=["events", "json", "page", "binary", "empty"],
)
async def test_answers_are_kept_readable_and_come_back_as_they_were(tape, server, answer, kept):
    exchange, first = await recorded(tape, server, answer, json={})
    async with tape() as cassette:
        again = await post(await cassette.url(f"{server.url}/v1/chat"), json={})

    assert {name: exchange["answer"][name] for name in kept} == kept
    assert (again.status_code, again.content, again.headers.get("content-type")) == (
        first.status_code,
        first.content if "json" not in kept else b'{"data": [1]}',
        first.headers.get("content-type"),
    )


async def test_errors_and_redirects_are_answers(tape, server):
    for answer in (json_answer(429, {"error": "slow"}, retry_after="3"), redirect("https://elsewhere.example/")):
        _, first = await recorded(tape, server, answer, json={})
        async with tape() as cassette:
            again = await post(await cassette.url(f"{server.url}/v1/chat"), json={})

        assert again.status_code == first.status_code == answer.status
        assert {**again.headers}.items() >= answer.headers.items()


SECRET = "a-secret-value-0123456789"
CLAIMS = {"exp": 1_700_000_000, "account": {"id": "acc-42"}, "sub": "me@example.org"}


def token(claims=CLAIMS):
    parts = (json.dumps(part).encode() for part in ({"alg": "RS256"}, claims))
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + ".c2lnbmF0dXJl"


@pytest.mark.parametrize(
    "request_",
    [
        {"headers": {"authorization": f"Bearer {SECRET}"}},
        {"headers": {"x-api-key": SECRET}},
        {"headers": {"api-key": SECRET}},
        {"headers": {"x-goog-api-key": SECRET}},
        {"headers": {"x-amz-security-token": SECRET}},
        {"headers": {"cookie": f"session={SECRET}"}},
        {"params": {"key": SECRET}},
        {"params": {"api-key": SECRET, "api-version": "2024-10-21"}},
        {"data": {"grant_type": "refresh_token", "refresh_token": SECRET, "client_id": "pi"}},
        {"data": {"grant_type": "authorization_code", "code": SECRET, "code_verifier": SECRET}},
        {"json": {"grant_type": "authorization_code", "code": SECRET, "state": SECRET}},
        {"json": {"clientSecret": SECRET, "deep": [{"access_token": SECRET}]}},
        {"json": {"messages": [f"my key is {KEY}"]}},
        {"content": f'not JSON, but "access_token": "{SECRET}" is in it'},
        {"headers": {"authorization": f"Bearer {SECRET}"}, "json": {"echo": f"<{SECRET}>"}},
        {"headers": {"authorization": f"Bearer {token()}"}},
    ],
    ids=lambda request: "-".join(sorted(request)),
)
async def test_no_secret_of_a_request_is_written_and_another_one_is_no_difference(tape, server, request_):
    await recorded(tape, server, json_answer(200, {}), **request_)
    async with tape() as cassette:
        other = json.loads(json.dumps(request_).replace(SECRET, "another-secret-9876543210"))
        answer = await post(await cassette.url(f"{server.url}/v1/chat"), **other)

    written = cassette.file.read_text()
    assert not any(each in written for each in (SECRET, KEY, token(), "acc-42", "me@example.org"))
    assert answer.status_code == 200


async def test_a_secret_is_removed_however_it_is_written(tape, server):
    secret = 'a "secret" / with \\ signs'
    body = {"as it is": f"<{secret}>", "in a URL": "https://x.example/?q=a%20%22secret%22%20%2F%20with%20%5C%20signs"}
    await recorded(tape, server, json_answer(200, body), headers={"x-api-key": secret}, json=body)

    assert "secret" not in tape().file.read_text()


async def test_no_secret_of_an_answer_is_written_and_what_a_client_needs_of_it_is(tape, server):
    fields = {
        "access_token": token(),
        "refresh_token": SECRET,
        "expires_in": 3600,
        "expires_at": 1_700_000_000,
        "scope": "models",
    }
    exchange, first = await recorded(tape, server, json_answer(200, fields, set_cookie=f"a={SECRET}"), json={})
    async with tape() as cassette:
        again = (await post(await cassette.url(f"{server.url}/v1/chat"), json={})).json()

    written = cassette.file.read_text()
    assert first.json() == fields
    assert not any(each in written for each in (SECRET, token(), "acc-42", "me@example.org"))
    assert (again["refresh_token"], again["expires_in"], again["scope"]) == (REMOVED, 3600, "models")
    assert again["expires_at"] > 4_000_000_000
    claims = json.loads(base64.urlsafe_b64decode(again["access_token"].split(".")[1] + "=="))
    assert claims == {"exp": 4_102_444_800, "account": {"id": REMOVED}, "sub": REMOVED}
    assert exchange["answer"]["headers"]["set-cookie"] == REMOVED


async def test_ordinary_words_are_no_secrets(tape, server):
    body = {"max_tokens": 4096, "code": "print('token')", "token": "hi", "state": "open", "key": "C major"}
    exchange, _ = await recorded(
        tape, server, json_answer(200, {}, x_ratelimit_limit_tokens="4000000000000"), json=body
    )

    assert exchange["request"]["json"] == body
    assert exchange["answer"]["headers"]["x-ratelimit-limit-tokens"] == "4000000000000"


async def test_the_folder_of_a_test_is_another_one_each_time(tape, server):
    fields = {"path": "/somewhere/run-1/a.txt"}
    await recorded(
        lambda mode: tape(mode, replace={"{tmp_path}": "/somewhere/run-1"}),
        server,
        json_answer(200, fields),
        json=fields,
    )
    async with tape(replace={"{tmp_path}": "/somewhere/run-2"}) as cassette:
        answer = await post(await cassette.url(f"{server.url}/v1/chat"), json={"path": "/somewhere/run-2/a.txt"})

    assert answer.json() == {"path": "/somewhere/run-2/a.txt"}
    assert "/somewhere/run-1" not in cassette.file.read_text()


async def test_a_server_that_does_not_answer_leaves_no_cassette(tape):
    with pytest.raises(AssertionError, match=r"Nothing is recorded: http://127.0.0.1:\d+ does not answer"):
        async with tape("once") as cassette:
            answer = await post(await cassette.url(closed_url()))

    assert answer.status_code == 502
    assert not cassette.file.exists()


async def test_an_empty_recording_is_reported(tape):
    with pytest.raises(AssertionError, match="Nothing was recorded"):
        async with tape("once") as cassette:
            pass

    assert not cassette.file.exists()


def test_a_cassette_that_is_not_there_says_how_to_record_it(tape):
    with pytest.raises(UserError, match=r"no cassette .*tape.json. Record it .*: pytest test_it.py --pi-record=once"):
        tape()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 2, "exchanges": []}', '{"version": 1, "exchanges": [{}]}']
)
def test_a_file_that_is_no_cassette_is_named(tape, text):
    file = tape("all").file
    file.parent.mkdir()
    file.write_text(text)

    with pytest.raises(UserError, match=r"tape.json (is not a cassette|has version 2)"):
        tape()


def test_a_key_is_asked_for_only_to_record(tape):
    assert tape("all").key("ACME_API_KEY") == KEY
    with pytest.raises(UserError, match=r"OTHER_API_KEY is not set; it is needed to record tape.json"):
        tape("all").key("OTHER_API_KEY")


async def test_a_url_is_one_of_a_server(tape):
    with pytest.raises(UserError, match="'acme' is not a URL of a server"):
        await tape("all").url("acme")
