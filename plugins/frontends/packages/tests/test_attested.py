"""``packages.verify``: real attestations of real files count, everything else is refused before it is installed."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pi_hookspecs import UserError
from pi_packages.attested import check_attested

pytestmark = pytest.mark.slow  # each starts programs that take seconds

RECORDED = Path(__file__).parent / "attested"
SDIST = "pypi_attestations-0.0.19.tar.gz"
SDIST_HASH = "9bb1add04b1b4e182be6b0b80931593f7a291eb49d69b4fd728a5d4cbcdc4bd3"
WHEEL = "circleci_sign_publish_example-0.0.1.dev137-py3-none-any.whl"
WHEEL_HASH = "8cb34da1e27336f11a2c43f3f9c7433bd76f24f470c904724f06ad7f131d9e9f"


@pytest.fixture
def index():
    """Return a function that starts an index with one file, whose provenance it serves."""
    pytest.importorskip("pypi_attestations")
    servers = []

    def start(digest, provenance):
        page = {"files": [{"hashes": {"sha256": digest}, "provenance": "/provenance" if provenance else None}]}

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                content = json.dumps(provenance if self.path == "/provenance" else page).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return lambda: f"http://127.0.0.1:{server.server_port}/simple"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def table(kind, name, digest):
    file = {"url": f"https://files.example/{name}", "hashes": {"sha256": digest}}
    return {"name": "tides", "version": "1.0", kind: [file] if kind == "wheels" else file}


def recorded(name):
    return json.loads((RECORDED / name).read_text())


@pytest.mark.parametrize(
    ("kind", "name", "digest", "file", "publisher"),
    [
        ("sdist", SDIST, SDIST_HASH, "sdist.json", "github trailofbits/pypi-attestations release.yml"),
        ("wheels", WHEEL, WHEEL_HASH, "wheel.json", "circleci github.com/CircleCI-Public/sign-and-publish-examples"),
    ],
)
def test_a_file_that_its_publisher_has_signed_is_attested(index, kind, name, digest, file, publisher):
    found = check_attested(table(kind, name, digest), index(digest, recorded(file)))

    assert found == f"attested: built by {publisher}"


def test_another_file_under_the_same_attestation_is_refused(index):
    digest = "0" * 64

    with pytest.raises(UserError, match=r"is not valid: .*digest"):
        check_attested(table("sdist", SDIST, digest), index(digest, recorded("sdist.json")))


def test_another_publisher_than_the_one_that_has_signed_is_refused(index):
    provenance = recorded("sdist.json")
    provenance["attestation_bundles"][0]["publisher"]["repository"] = "evil/tides"

    with pytest.raises(UserError, match="is not valid"):
        check_attested(table("sdist", SDIST, SDIST_HASH), index(SDIST_HASH, provenance))


@pytest.mark.parametrize(
    ("provenance", "reason"),
    [
        (None, "the index has no attestation of"),
        ({"attestation_bundles": []}, "is not valid|names a publisher"),
        ({"attestation_bundles": [{"publisher": {"kind": "GitHub"}, "attestations": []}]}, "is not valid"),
        ({"anything": 1}, "is not valid"),
        (["tides"], "is not valid"),
    ],
)
def test_what_is_no_attestation_is_refused(index, provenance, reason):
    with pytest.raises(UserError, match=reason):
        check_attested(table("sdist", SDIST, SDIST_HASH), index(SDIST_HASH, provenance))


def test_one_file_without_an_attestation_is_enough_to_refuse(index):
    both = table("sdist", SDIST, SDIST_HASH)
    both["wheels"] = [{"url": "https://files.example/tides-1.0-py3-none-any.whl", "hashes": {"sha256": "1" * 64}}]

    with pytest.raises(UserError, match=r"no attestation of tides-1\.0-py3-none-any\.whl"):
        check_attested(both, index(SDIST_HASH, recorded("sdist.json")))


@pytest.mark.parametrize("value", ["Attested", True, 1])
def test_a_value_that_means_nothing_installs_nothing(bench, value):
    bench.plugin("tides")
    (bench.agent_dir / "settings.json").write_text(
        json.dumps({"packages.verify": value, "packages.findLinks": [str(bench.wheels)]})
    )

    assert "Write 'attested', or remove it" in bench.fails("install", "tides")


def test_wheels_by_path_are_refused_and_own_folders_are_not(bench):
    wheel = bench.plugin("tides")
    folder = bench.cwd / "moon" / "skills" / "moon"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: moon\ndescription: tells the moon\n---\nLook up.\n")
    bench.set("packages.verify", "attested")

    assert "only packages of an index" in bench.fails("install", wheel)
    bench.ok("install", "./moon")


@pytest.mark.slow
def test_a_package_of_an_index_without_attestations_is_not_installed(bench):
    bench.plugin("tides", requires=())
    bench.set("packages.verify", "attested")

    assert "attest" in bench.fails("install", "tides")
