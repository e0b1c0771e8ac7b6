"""``pi models pull`` with the library of the Hugging Face Hub, and a hub on this machine."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        importlib.util.find_spec("huggingface_hub") is None,
        reason="needs huggingface-hub: uv run python tools/heavy_environments.py local --test",
    ),
]


@pytest.fixture
def hub(header):
    """A hub whose one file is ``tiny.gguf`` of ``me/repo``; yields its address."""
    content = header()

    class Hub(BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.answer(with_body=False)

        def do_GET(self):
            self.answer(with_body=True)

        def answer(self, *, with_body):
            known = self.path == "/me/repo/resolve/main/tiny.gguf"
            self.send_response(200 if known else 404)
            self.send_header("Content-Length", str(len(content) if known else 0))
            if known:
                self.send_header("ETag", f'"{"e" * 64}"')
                self.send_header("X-Repo-Commit", "a" * 40)
            else:
                self.send_header("X-Error-Code", "EntryNotFound")
            self.end_headers()
            if known and with_body:
                self.wfile.write(content)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def models(hub, *arguments):
    """Run ``pi models`` in a process of its own: the library reads its address when it is imported."""
    environ = {**os.environ, "HF_ENDPOINT": hub}
    command = [sys.executable, "-m", "pi_cli", "models", *arguments]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def test_a_file_is_downloaded_found_and_deleted(hub):
    pulled = models(hub, "pull", "me/repo:tiny.gguf")
    assert (pulled.returncode, "pi --model llamacpp/tiny" in pulled.stderr) == (0, True), pulled.stderr

    assert models(hub, "list").stdout.split()[0] == "tiny"
    assert models(hub, "rm", "-y", "tiny").returncode == 0
    assert models(hub, "list").returncode == 1


def test_a_file_that_the_hub_has_not_is_reported(hub):
    done = models(hub, "pull", "me/repo:other.gguf")

    assert done.returncode == 1
    assert done.stderr.startswith("'me/repo:other.gguf' cannot be downloaded: ")
    assert "Traceback" not in done.stderr
