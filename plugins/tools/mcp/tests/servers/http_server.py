"""An MCP server over HTTP in a thread, older protocol, with faults and a sign-in, without the SDK."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}


class HttpServer(ThreadingHTTPServer):
    """Counts what it gets; ``faults`` are those of the handler."""

    daemon_threads = True

    def __init__(self, faults: set[str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults = faults
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.methods: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.refusals = 2 if "busy" in faults else 0
        self.token = "token-1"
        self.grants: list[dict[str, str]] = []
        self.may_grant = threading.Event()
        if "slow" not in faults:
            self.may_grant.set()
        self.asked: list[dict[str, list[str]]] = []


class Handler(BaseHTTPRequestHandler):
    server: HttpServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def reply(self, status: int, body: Any = None, **headers: str) -> None:
        raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        headers = {"Content-Type": "application/json", **headers}
        self.send_header("Content-Length", str(len(raw)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(raw)

    def do_GET(self) -> None:
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        url = self.server.url
        if path.startswith("/.well-known/oauth-protected-resource"):
            elsewhere = ["http://127.0.0.1:1/"] if "misled" in self.server.faults else [f"{url}/"]
            self.reply(200, {"resource": f"{url}/mcp", "authorization_servers": elsewhere})
        elif path in ("/.well-known/oauth-authorization-server", "/here"):
            about = {
                "issuer": f"{url}/",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
            }
            if "no-pkce" in self.server.faults:
                del about["code_challenge_methods_supported"]
            if "plain" in self.server.faults:
                about["code_challenge_methods_supported"] = ["plain"]
            places = {
                "authorization_endpoint": "authorize",
                "token_endpoint": "grant",
                "registration_endpoint": "register",
            }
            self.reply(200, {**about, **{key: f"{url}/{place}" for key, place in places.items()}})
        elif path == "/authorize":
            self.server.asked.append(query)
            self.reply(302, None, Location=f"{query['redirect_uri'][0]}?code=code-1&state={query['state'][0]}")
        else:
            self.reply(405)

    def do_DELETE(self) -> None:
        self.reply(200)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/register":
            self.reply(201, {**json.loads(body), "client_id": "client-1"})
        elif self.path == "/grant":
            given = {key: value[0] for key, value in parse_qs(body.decode()).items()}
            self.server.grants.append({**given, "authorization": self.headers["Authorization"] or ""})
            if given["grant_type"] == "refresh_token":
                self.server.token = "token-2"
                self.server.may_grant.wait(120)
            token = {"access_token": self.server.token, "token_type": "Bearer", "expires_in": 3600}
            self.reply(200, {**token, "refresh_token": self.server.token.replace("token", "refresh")})
        elif "auth" in self.server.faults and self.headers["Authorization"] != f"Bearer {self.server.token}":
            where = f'Bearer resource_metadata="{self.server.url}/.well-known/oauth-protected-resource"'
            self.reply(401, {}, WWW_Authenticate=where)
        else:
            self.answer(json.loads(body))

    def answer(self, message: dict[str, Any]) -> None:
        server, method = self.server, message["method"]
        server.methods.append(method)
        server.headers.append(dict(self.headers))
        if server.refusals:
            server.refusals -= 1
            self.reply(503)
        elif "forgets" in server.faults and method == "tools/call" and self.headers["Mcp-Session-Id"] == "session-1":
            lost = {"code": -32001, "message": "Session not found"}
            self.reply(404, {"jsonrpc": "2.0", "id": None, "error": lost})
        elif method == "initialize":
            about = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
            self.result(message, {**about, "serverInfo": {"name": "http", "version": "1"}})
        elif method == "tools/list":
            self.result(
                message, {"tools": [{"name": "echo", "inputSchema": SCHEMA}, {"name": "fails", "inputSchema": SCHEMA}]}
            )
        elif method == "tools/call" and "rights" in server.faults and len(server.asked) < 2:
            self.reply(403, {}, WWW_Authenticate='Bearer error="insufficient_scope", scope="write"')
        elif method == "tools/call" and message["params"]["name"] == "fails":
            self.reply(503, b"x" * 100_000)
        elif method == "tools/call":
            self.call(message)
        elif "id" in message:
            self.reply(
                200, {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}}
            )
        else:
            self.reply(202)

    def call(self, message: dict[str, Any]) -> None:
        if "events" in self.server.faults:
            wrong = json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": "E7", "detail": "low water"}})
            first, _, rest = wrong.partition(",")  # a JSON text may be on several lines of an event
            body = f": a comment\r\nevent: message\r\ndata: {first},\r\ndata:{rest}\r\nid: 7\r\n\r\n"
            self.reply(200, body.encode(), **{"Content-Type": "text/event-stream"})
            return
        text = "x" * (20 << 20) if "huge" in self.server.faults else message["params"]["arguments"]["text"]
        self.result(message, {"content": [{"type": "text", "text": text}]})

    def result(self, message: dict[str, Any], result: dict[str, Any]) -> None:
        if "cr" in self.server.faults:
            answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}, ensure_ascii=False)
            self.reply(200, f"event: message\rdata: {answer}\r\r".encode(), **{"Content-Type": "text/event-stream"})
            return
        headers = {"Mcp-Session-Id": f"session-{self.server.methods.count('initialize')}"}
        self.reply(200, {"jsonrpc": "2.0", "id": message["id"], "result": result}, **headers)


@contextmanager
def http_server(*faults: str) -> Iterator[HttpServer]:
    """Run a server with these faults.

    ``busy`` answers twice with 503, ``huge`` sends 20 MB, ``auth`` wants a sign-in, ``misled`` names another server for
    it, ``rights`` wants more of them for calls, ``slow`` answers a refresh only after ``may_grant`` is set, and
    ``events`` answers calls with an event whose error has no message,
    ``cr`` sends event streams whose lines end with a carriage return,
    ``forgets`` does not know the first session any more when a tool is called.
    """
    server = HttpServer({*faults})
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
