"""``pi update --models`` fetches the user's catalogues, which ``pi search`` then reads without a network."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

TIDES = {"name": "tides", "source": "pypi:pluggypi-tides", "description": "Tells when the water is high"}


class Served(BaseHTTPRequestHandler):
    """Answers each path with what the server has for it, and any other with 404."""

    def do_GET(self):
        body = self.server.pages.get(self.path)
        self.send_response(404 if body is None else 200)
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture(autouse=True)
def _no_models(bench):
    bench.set("packages.modelData", [])


@pytest.fixture
def web():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Served)
    server.pages = {}
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_catalogue_is_fetched_and_searched(bench, web):
    web.pages["/ours.json"] = json.dumps({"packages": [TIDES, {"name": "without a source"}, 7]}).encode()
    bench.set("packages.catalogues", [f"{web.url}/ours.json"])

    missing = bench.run("search", "water")
    fetched = bench.ok("update", "--models")
    web.pages.clear()
    found = bench.ok("search", "water")

    assert "tides" not in missing[1]
    assert fetched.strip() == f"{web.url}/ours.json: 1 package"
    assert "pypi:pluggypi-tides" in found


@pytest.mark.parametrize(
    ("page", "reason"),
    [(None, "404"), (b"<html>", "cannot be fetched"), (b'{"packages": 7}', "must be a list of packages")],
)
def test_a_catalogue_that_cannot_be_fetched_leaves_the_last_one(bench, web, page, reason):
    web.pages["/ours.json"] = json.dumps([TIDES]).encode()
    bench.set("packages.catalogues", [f"{web.url}/ours.json"])
    bench.ok("update", "--models")
    web.pages["/ours.json"] = page

    assert reason in bench.fails("update", "--models")
    assert "pypi:pluggypi-tides" in bench.ok("search", "water")


def test_without_an_address_there_is_nothing_to_fetch(bench):
    bench.set("packages.catalogues", ["list.json"])

    assert bench.ok("update", "--models") == ""
