"""``pi`` without a key says what to do, one thing a line."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def local_server():
    class Models(BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps({"object": "list", "data": [{"id": "qwen3:8b", "object": "model"}]}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Models)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_to_do_is_said_in_three_lines(pi):
    done = pi.run("-p", "hi", OLLAMA_HOST="http://127.0.0.1:9")

    problem, keys, stand_in = done.stderr.splitlines()
    assert (done.returncode, problem) == (1, "Error: No API key found for any model.")
    assert "pi auth login" in keys
    assert "pi help keys" in keys
    assert "--model offline/rules" in stand_in


def test_a_server_on_this_machine_is_offered_and_not_taken(pi, local_server):
    (pi.agent_dir / "settings.json").write_text('{"localServersTimeoutMs": 20000}')
    done = pi.run("-p", "hi", OLLAMA_HOST=local_server)

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "A server on this machine has models: --model ollama/qwen3:8b"
