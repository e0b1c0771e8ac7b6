"""The ASGI application, as servers call it: requests, streams of events, WebSockets, users who must not meet."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from starlette.applications import Starlette
from starlette.routing import Mount

from pi_core import SessionManager, create_agent_session
from pi_core.session.lookup import find_session
from pi_hookspecs import Command, UserError, hookimpl
from pi_serve import asgi
from pi_serve.asgi import SessionsApp
from pi_testing import text, tool_call
from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.pi(entry_points=["tools"])


def user_of(scope) -> str | None:
    """The user is who the header says, which no real program would believe."""
    return next((value.decode() for name, value in scope["headers"] if name == b"x-user"), None)


@pytest_asyncio.fixture
async def app(tmp_path, script, pi_host, monkeypatch):
    monkeypatch.setattr(asgi, "_REFUSED_SECONDS", 0.01)

    pi_host.add(script, "script")

    async def create(user, stored):
        if stored is not None:
            raise UserError(f"No session found matching {stored!r}")
        cwd = tmp_path / user
        cwd.mkdir(exist_ok=True)
        return create_agent_session(
            cwd=cwd,
            host=pi_host,
            settings=pi_host.settings,
            model=script.model,
            session_manager=SessionManager.in_memory(cwd),
            mode="serve",
        )

    made = SessionsApp(user_of, create, max_sessions=2)
    yield made
    await made.close()


@pytest_asyncio.fixture
async def ann(app):
    async with client(app, "ann") as made:
        yield made


def client(app, user: str) -> httpx.AsyncClient:
    headers = {"X-User": user} if user else {}
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://pi.example", headers=headers)


async def opened(made: httpx.AsyncClient) -> str:
    return (await made.post("/sessions")).json()["session"]


class Connection:
    """A connection that stays open, from the side of the server that hosts the application."""

    def __init__(self, app, scope) -> None:
        self.sent: asyncio.Queue[dict] = asyncio.Queue()
        self.incoming: asyncio.Queue[dict] = asyncio.Queue()
        self.task = asyncio.create_task(app(scope, self.incoming.get, self.sent.put))
        self.lines: list[dict] = []
        self.ids: list[str] = []

    async def next(self) -> dict:
        async with asyncio.timeout(PATIENCE):
            return await self.sent.get()

    async def until(self, wanted) -> dict:
        while not wanted(line := await self._line()):
            pass
        return line

    async def _line(self) -> dict:
        while True:
            message = await self.next()
            body = message.get("text") or message.get("body", b"").decode()
            for part in body.splitlines():
                if part.startswith("id: "):
                    self.ids.append(part[4:])
                found = part.removeprefix("data: ")
                if found.startswith("{"):
                    self.lines.append(json.loads(found))
                    return self.lines[-1]
            assert message["type"] != "websocket.close", message

    async def refusal(self) -> dict:
        assert (await self.next())["type"] == "websocket.accept"
        return await self.next()

    async def event(self, kind: str) -> dict:
        return await self.until(lambda line: line.get("type") == kind)

    async def leave(self, kind: str) -> None:
        self.incoming.put_nowait({"type": kind})
        async with asyncio.timeout(PATIENCE):
            await self.task


def scope(kind: str, path: str, user: str, query: str = "", **headers: str) -> dict:
    named = {"host": "pi.example", "x-user": user, **headers}
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in named.items() if value]
    return {"type": kind, "method": "GET", "path": path, "query_string": query.encode(), "headers": pairs}


@asynccontextmanager
async def events(app, session: str, user: str = "ann", query: str = "", **headers: str):
    connection = Connection(app, scope("http", f"/sessions/{session}/events", user, query, **headers))
    yield connection
    await connection.leave("http.disconnect")


@asynccontextmanager
async def socket(app, session: str, user: str = "ann", **headers: str):
    connection = Connection(app, scope("websocket", f"/sessions/{session}/socket", user, **headers))
    connection.incoming.put_nowait({"type": "websocket.connect"})
    yield connection
    await connection.leave("websocket.disconnect")


def said(connection: Connection, **line) -> None:
    connection.incoming.put_nowait({"type": "websocket.receive", "text": json.dumps(line)})


async def test_a_session_is_opened_asked_listed_and_closed_with_plain_requests(app, ann, script) -> None:
    script.turn(text("Four files."))
    session = await opened(ann)

    asked = await ann.post(
        f"/sessions/{session}/commands", json={"type": "prompt", "message": "What is here?", "id": "1"}
    )
    async with events(app, session) as stream:
        await stream.until(lambda line: "Four files." in json.dumps(line))
    last = await ann.post(f"/sessions/{session}/commands", json={"type": "get_last_assistant_text"})
    listed = (await ann.get("/sessions")).json()
    closed = await ann.delete(f"/sessions/{session}")

    assert (asked.json()["success"], asked.json()["id"]) == (True, "1")
    assert last.json()["data"]["text"] == "Four files."
    assert listed == {"sessions": [session]}
    assert closed.status_code == 204
    assert (await ann.get("/sessions")).json() == {"sessions": []}


async def test_server_sent_events_continue_where_they_were_interrupted(app, ann, script) -> None:
    script.turn(text("One.")).turn(text("Two."))
    session = await opened(ann)
    async with events(app, session) as first:
        await first.event("entries")
        await ann.post(f"/sessions/{session}/commands", json={"type": "prompt", "message": "First"})
        await first.event("agent_settled")
        last = first.ids[-1]
    await ann.post(f"/sessions/{session}/commands", json={"type": "prompt", "message": "Second"})
    async with events(app, session, last_event_id=last) as again:
        await again.until(lambda line: "Two." in json.dumps(line))

    missed = [entry for line in again.lines if line.get("type") == "entries" for entry in line["entries"]]
    assert not any(line.get("reset") for line in again.lines)
    assert "One." not in json.dumps(missed)


async def test_a_dialog_is_answered_over_the_stream_that_got_it(app, ann, script) -> None:
    session = await opened(ann)
    ui = app._sessions[session].server.ui
    async with events(app, session) as stream:
        name = (await stream.until(lambda line: "stream" in line))["stream"]
        await stream.event("entries")
        asked = asyncio.create_task(ui.confirm("Delete it?"))
        request = await stream.event("extension_ui_request")

        reply = {"type": "extension_ui_response", "id": request["id"], "confirmed": True}
        elsewhere = await ann.post(f"/sessions/{session}/commands", json=reply)
        nowhere = await ann.post(f"/sessions/{session}/commands?stream=0", json=reply)
        taken = await ann.post(f"/sessions/{session}/commands?stream={name}", json=reply)

        assert await asyncio.wait_for(asked, PATIENCE) is True
    assert (elsewhere.json()["success"], nowhere.status_code, taken.status_code) == (False, 404, 202)


async def test_a_websocket_speaks_the_protocol_of_pi_serve(app, ann, script) -> None:
    script.turn(text("Hello."))
    session = await opened(ann)
    async with socket(app, session) as connection:
        assert (await connection.next())["type"] == "websocket.accept"
        said(connection, type="hello")
        await connection.event("entries")
        said(connection, type="prompt", message="Hi")
        await connection.event("agent_settled")
        said(connection, type="bash", command="id", id="b")
        refused = await connection.until(lambda line: line.get("id") == "b")

    assert "Hello." in json.dumps(connection.lines)
    assert refused["error"] == "Command 'bash' is not offered by this server"


async def test_a_wrong_first_line_ends_the_websocket(app, ann) -> None:
    session = await opened(ann)
    async with socket(app, session) as connection:
        said(connection, type="prompt")
        error = await connection.event("error")
        assert (await connection.next())["type"] == "websocket.close"

    assert "first line must be" in error["error"]


async def test_users_do_not_see_each_other(app, ann) -> None:
    session = await opened(ann)
    async with client(app, "bob") as bob:
        answers = [
            await bob.delete(f"/sessions/{session}"),
            await bob.post(f"/sessions/{session}/commands", json={"type": "get_state"}),
            await bob.get(f"/sessions/{session}/events"),
        ]
        assert (await bob.get("/sessions")).json() == {"sessions": []}
    async with socket(app, session, "bob") as refused:
        closed = await refused.refusal()

    assert {each.status_code for each in answers} == {404}
    assert (closed["type"], closed["code"]) == ("websocket.close", 4404)
    assert (await ann.get("/sessions")).json() == {"sessions": [session]}


async def test_strangers_and_pages_of_others_are_refused(app, ann) -> None:
    session = await opened(ann)
    async with client(app, "") as stranger:
        unknown = await stranger.post("/sessions")
    foreign = await ann.get("/sessions", headers={"Origin": "https://evil.example"})
    own = await ann.get("/sessions", headers={"Origin": "http://pi.example"})
    codes = []
    for user, headers in (("", {}), ("ann", {"origin": "https://evil.example"}), ("ann", {"origin": "null"})):
        async with socket(app, session, user, **headers) as refused:
            codes.append((await refused.refusal())["code"])

    assert (unknown.status_code, foreign.status_code, own.status_code) == (401, 403, 200)
    assert codes == [4401, 4403, 4403]


async def test_a_stranger_waits_for_the_refusal_and_a_user_does_not(app, ann, monkeypatch) -> None:
    monkeypatch.setattr(asgi, "_REFUSED_SECONDS", 3600)
    session = await opened(ann)
    async with client(app, "") as stranger:
        guess = asyncio.ensure_future(stranger.get("/sessions"))
        connection = Connection(app, scope("websocket", f"/sessions/{session}/socket", ""))
        connection.incoming.put_nowait({"type": "websocket.connect"})
        listed = await ann.get("/sessions")
        waiting = [not guess.done(), connection.sent.empty()]
        for each in (guess, connection.task):
            each.cancel()
        await asyncio.wait([guess, connection.task])

    assert listed.status_code == 200
    assert waiting == [True, True]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "why"),
    [
        ("POST", "/sessions", "{", 400, "not JSON"),
        ("POST", "/sessions", "[]", 400, "must be a JSON object"),
        ("POST", "/sessions", '{"session": 3}', 400, "must be the id of a stored session"),
        ("POST", "/sessions", '{"session": "0000"}', 400, "No session found matching '0000'"),
        ("DELETE", "/sessions", "", 405, "DELETE is not possible"),
        ("GET", "/sessions/0000/events", "", 404, "no open session '0000'"),
        ("GET", "/elsewhere", "", 404, "There is no '/elsewhere'"),
    ],
)
async def test_a_mistake_is_answered_with_the_reason(ann, method, path, body, status, why) -> None:
    answer = await ann.request(method, path, content=body)

    assert answer.status_code == status
    assert why in answer.json()["error"]


async def test_a_request_that_is_too_large_is_refused(ann, monkeypatch) -> None:
    monkeypatch.setattr(asgi, "MAX_LINE", 1000)
    session = await opened(ann)

    answer = await ann.post(f"/sessions/{session}/commands", content=b"x" * 1001)

    assert answer.status_code == 413


async def test_what_is_no_command_is_answered_like_every_command(ann) -> None:
    session = await opened(ann)

    for body, why in ((b"{", "Expecting"), (b'{"type": "fly"}', "Unknown command: fly"), (b"", "Expecting")):
        answer = (await ann.post(f"/sessions/{session}/commands", content=body)).json()
        assert (answer["type"], answer["success"]) == ("response", False)
        assert why in answer["error"]


async def test_a_user_has_so_many_sessions_and_no_more(app, ann) -> None:
    answers = [await ann.post("/sessions") for _ in range(3)]
    async with client(app, "bob") as bob:
        other = await bob.post("/sessions")

    assert [each.status_code for each in (*answers, other)] == [201, 201, 429, 201]


async def test_a_session_without_clients_is_closed(app, ann) -> None:
    session = await opened(ann)
    served = app._sessions[session]
    async with events(app, session) as watching:
        await watching.event("entries")
        served.server._idle_seconds = 0.05
        served.server._wait_for_clients()
        await asyncio.sleep(0.15)
        assert session in app._sessions

    async with asyncio.timeout(PATIENCE):
        await asyncio.wait([served.serving])
    assert session not in app._sessions


async def test_work_that_was_begun_continues_when_its_client_is_gone(app, ann, script) -> None:
    script.turn(tool_call("bash", command="true")).turn(text("Done."))
    session = await opened(ann)
    async with events(app, session):
        await ann.post(f"/sessions/{session}/commands", json={"type": "prompt", "message": "Go"})
    async with events(app, session) as again:
        await again.until(lambda line: "Done." in json.dumps(line))


async def test_it_can_be_mounted_and_describes_itself(app, script) -> None:
    outer = Starlette(routes=[Mount("/agents", app=app)])
    async with client(outer, "ann") as made:
        described = (await made.get("/agents/openapi.json")).json()
        session = (await made.post("/agents/sessions")).json()["session"]
        state = await made.post(f"/agents/sessions/{session}/commands", json={"type": "get_state"})

    assert described["openapi"] == "3.1.0"
    assert described["servers"] == [{"url": "/agents"}]
    assert "/sessions/{session}/events" in described["paths"]
    assert state.json()["success"]


async def test_the_end_of_the_server_closes_the_sessions(app, ann) -> None:
    session = await opened(ann)
    connection = Connection(app, {"type": "lifespan"})

    connection.incoming.put_nowait({"type": "lifespan.startup"})
    started = await connection.next()
    await connection.leave("lifespan.shutdown")

    assert started["type"] == "lifespan.startup.complete"
    assert session not in app._sessions


@pytest.mark.slow
async def test_fifty_sessions_answer_at_once(app, script) -> None:
    for _ in range(50):
        script.turn(text("Here.", chunks=5))
    users = [client(app, f"user{number}") for number in range(50)]

    async def ask(made: httpx.AsyncClient) -> str:
        session = await opened(made)
        async with events(app, session, made.headers["X-User"]) as stream:
            await made.post(f"/sessions/{session}/commands", json={"type": "prompt", "message": "Hi"})
            await stream.event("agent_settled")
        last = await made.post(f"/sessions/{session}/commands", json={"type": "get_last_assistant_text"})
        await made.aclose()
        return last.json()["data"]["text"]

    assert await asyncio.gather(*map(ask, users)) == ["Here."] * 50


@pytest.mark.pi(entry_points=["tools", "session-jsonl"])
async def test_a_session_that_took_the_place_of_another_is_not_opened_a_second_time(tmp_path, script, pi_host) -> None:
    cwd, folder = tmp_path / "work", tmp_path / "sessions"
    cwd.mkdir()
    pi_host.add(script, "script")
    script.turn(text("High.")).turn(text("Low."))

    def create(user, stored):
        if stored is None:
            manager = SessionManager.create(cwd, folder, host=pi_host)
        else:
            manager = SessionManager.open(find_session(stored, cwd, folder, host=pi_host).path, host=pi_host)
        options = {"settings": pi_host.settings, "model": script.model, "mode": "serve"}
        return create_agent_session(cwd=cwd, host=pi_host, session_manager=manager, **options)

    app = SessionsApp(user_of, create)
    async with client(app, "ann") as ann:
        first = await opened(ann)

        async def command(**fields):
            return (await ann.post(f"/sessions/{first}/commands", json=fields)).json()["data"]

        async def ask(message):
            await command(type="prompt", message=message)
            while (state := await command(type="get_state"))["isStreaming"]:  # noqa: ASYNC110 - as a client does
                await asyncio.sleep(0.01)
            return state["sessionId"]

        await ask("When is high tide?")
        await command(type="new_session")
        second = await ask("When is low tide?")
        again, former = [await ann.post("/sessions", json={"session": each}) for each in (second, first)]
        listed = (await ann.get("/sessions")).json()
    await app.close()

    assert second != first
    assert again.json() == {"session": first}
    assert former.status_code == 400
    assert f"{second!r} has replaced it" in former.json()["error"]
    assert listed == {"sessions": [first]}


class Writes:
    """A command that writes a file, and one that touches nothing."""

    @hookimpl
    def register_commands(self):
        def write(args, _ctx):
            Path(args).write_text("Instructions")

        return [
            Command("export", handler=write, touches=("files",)),
            Command("dump", handler=write),
            Command("about", handler=lambda args, ctx: ctx.ui.notify(f"about {args}"), touches=()),
        ]


async def test_slash_commands_in_prompts_touch_nothing_by_default(app, ann, pi_host, tmp_path) -> None:
    pi_host.add(Writes(), "writes")
    session, victim = await opened(ann), tmp_path / "bob-AGENTS.md"
    victim.write_text("bob's")

    for command in ("export", "dump"):
        for kind in ("prompt", "steer", "follow_up"):
            sent = {"type": kind, "message": f"/{command} {victim}"}
            assert not (await ann.post(f"/sessions/{session}/commands", json=sent)).json()["success"]
    about = await ann.post(f"/sessions/{session}/commands", json={"type": "prompt", "message": "/about tides"})

    assert about.json()["success"]
    assert victim.read_text() == "bob's"


async def test_a_program_can_permit_what_commands_touch(script, pi_host, tmp_path) -> None:
    pi_host.add(script, "script")
    pi_host.add(Writes(), "writes")

    def create(_user, _stored):
        return create_agent_session(
            cwd=tmp_path,
            host=pi_host,
            settings=pi_host.settings,
            model=script.model,
            mode="serve",
            session_manager=SessionManager.in_memory(tmp_path),
        )

    app = SessionsApp(user_of, create, touches=("files",))
    async with client(app, "ann") as ann:
        session = await opened(ann)
        sent = {"type": "prompt", "message": f"/export {tmp_path / 'a.md'}"}
        answer = await ann.post(f"/sessions/{session}/commands", json=sent)
    await app.close()

    assert answer.json()["success"]
    assert (tmp_path / "a.md").read_text() == "Instructions"
