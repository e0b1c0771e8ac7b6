"""What an index says of a version counts: who published it, and that it was yanked."""

from __future__ import annotations

import hashlib
import json
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("trusting")]


@pytest.fixture
def index(bench, monkeypatch):
    """An index on this machine with the bench's wheels; its ``publishers`` say who published each version.

    Versions in ``bench.yanked`` are yanked.
    """
    publishers: dict[str, str] = {}
    bench.yanked = set()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            parts = self.path.strip("/").split("/")
            if parts[0] == "simple" and len(parts) == 2:
                self._send(json.dumps(self._page(parts[1])).encode(), "application/vnd.pypi.simple.v1+json")
            elif parts[0] == "provenance":
                publisher = {"kind": "github", "repository": publishers[parts[1]], "workflow": "release.yml"}
                self._send(json.dumps({"attestation_bundles": [{"publisher": publisher}]}).encode(), "application/json")
            else:
                self._send((bench.wheels / parts[-1]).read_bytes(), "application/octet-stream")

        do_HEAD = do_GET  # noqa: N815 - the name that the library calls

        def _page(self, name):
            wheels = sorted(bench.wheels.glob(f"{name.replace('-', '_')}-*.whl"))
            files = [
                {
                    "filename": wheel.name,
                    "url": f"/files/{wheel.name}",
                    "hashes": {"sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()},
                    "yanked": "low water" if version in bench.yanked else False,
                    "provenance": f"/provenance/{version}" if version in publishers else None,
                }
                for wheel in wheels
                for version in [wheel.name.split("-")[1]]
            ]
            return {"meta": {"api-version": "1.0"}, "name": name, "files": files}

        def _send(self, content, kind):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.delenv("UV_NO_INDEX")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    bench.set("packages.findLinks", [])
    bench.set("packages.index", f"http://127.0.0.1:{server.server_port}/simple")
    yield publishers
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("publisher", "change"),
    [
        ("sea/tides", None),
        ("evil/tides", "was published by github sea/tides release.yml, and now by github evil/tides release.yml"),
        (None, "and now by an unknown publisher"),
    ],
)
def test_another_publisher_needs_a_person(bench, index, publisher, change):
    bench.plugin("tides", "1.0", requires=())
    index["1.0"] = "sea/tides"
    assert "published by github sea/tides release.yml" in bench.ok("install", "tides")
    bench.plugin("tides", "1.1", requires=())
    if publisher is not None:
        index["1.1"] = publisher

    if change is None:
        bench.ok("update", "--extensions")
    else:
        assert change in bench.fails("update", "--extensions")
        bench.ok("update", "--extensions", "-y")

    assert bench.installed() == {"pluggypi-tides": "1.1"}


@pytest.mark.slow
def test_an_unknown_publisher_may_become_known(bench, index):
    bench.plugin("tides", "1.0", requires=())
    bench.ok("install", "tides")
    bench.plugin("tides", "1.1", requires=())
    index["1.1"] = "sea/tides"

    bench.ok("update", "--extensions")

    assert 'publisher = "github sea/tides release.yml"' in (bench.agent_dir / "pylock.pi.toml").read_text()


@pytest.mark.slow
def test_a_yanked_version_is_not_taken_and_one_that_is_locked_stays(bench, index):
    bench.plugin("tides", "1.0", requires=())
    bench.ok("install", "tides")
    bench.plugin("tides", "1.1", requires=())
    bench.yanked |= {"1.0", "1.1"}

    bench.ok("sync")
    assert bench.installed() == {"pluggypi-tides": "1.0"}

    error = bench.fails("update", "--extensions")
    assert "yanked" in error

    bench.plugin("tides", "1.2", requires=())
    bench.ok("update", "--extensions")
    assert bench.installed() == {"pluggypi-tides": "1.2"}


def test_a_folder_behind_any_web_server_is_an_index(bench, monkeypatch, tmp_path):
    bench.plugin("tides", "1.0").rename(bench.wheels.parent / "tides.whl")
    folder = tmp_path / "index" / "pluggypi-tides"
    folder.mkdir(parents=True)
    (bench.wheels.parent / "tides.whl").rename(folder / "pluggypi_tides-1.0-py3-none-any.whl")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder.parent)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.delenv("UV_NO_INDEX")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    bench.set("packages.findLinks", [])
    bench.set("packages.index", f"http://127.0.0.1:{server.server_port}/")

    bench.ok("install", "tides")
    server.shutdown()
    server.server_close()

    assert bench.installed() == {"pluggypi-tides": "1.0"}
