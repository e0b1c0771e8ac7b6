"""``pi update --models``: facts about models are fetched as data, checked by hash, and undone with one command."""

from __future__ import annotations

import io
import json
import re
import shutil
import tarfile
import time
import zipfile
from base64 import b64encode
from hashlib import sha512
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from pi_core.host import PluginHost
from pi_core.models.registry import ModelRegistry
from pi_core.settings import Settings
from pi_packages import installers
from pi_packages.daily import is_due
from pi_testing import until

KNOWN = "claude-opus-4-8"
NEW = "claude-opus-9"


def model(model_id, **fields):
    """Return a model as the original's library has it."""
    plain = {
        "id": model_id,
        "name": f"The {model_id}",
        "api": "anthropic-messages",
        "provider": "anthropic",
        "baseUrl": "https://elsewhere.test",
        "headers": {"x-from": "elsewhere"},
        "compat": {"supportsStrictMode": "elsewhere"},
        "reasoning": True,
        "thinkingLevelMap": {"off": None, "max": "max"},
        "input": ["text", "image"],
        "cost": {"input": 7, "output": 77, "cacheRead": 0.7, "cacheWrite": 0},
        "contextWindow": 3_000_000,
        "maxTokens": 300_000,
        "type": "chat",
    }
    return {**plain, **fields}


def library(path, *models, version="9.0.0", **files):
    """Write the tarball of the library."""
    data = {"anthropic": json.dumps({"Claude": {each["id"]: each for each in models}}), **files}
    texts = {"package.json": json.dumps({"name": "pi-ai", "version": version})}
    texts |= {f"dist/providers/data/{name}.json": text for name, text in data.items()}
    with tarfile.open(path, "w:gz") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


@pytest.fixture
def tarball(bench, tmp_path):
    file = tmp_path / "pi-ai.tgz"
    bench.set("packages.modelData", [f"npm:{file}"])
    return library(file, model(NEW), model(KNOWN))


def update(bench, *arguments):
    return bench.ok("update", "--models", *arguments, installed=True)


def refused(bench, *arguments):
    before = seen(bench)
    error = bench.fails("update", "--models", *arguments, installed=True)
    assert seen(bench) == before
    return error


def registry(bench):
    settings = Settings.load(bench.cwd, bench.agent_dir)
    return ModelRegistry(PluginHost(settings), settings)


def seen(bench):
    """Return the provider's models by id."""
    return {each.id: each for each in registry(bench).get_models("anthropic")}


def test_new_models_and_facts_are_used_without_a_new_version_of_pi(bench, tarball):
    before = seen(bench)

    printed = update(bench)

    assert "9.0.0: new models: 1; with other names, limits, levels or prices: 1; with another day of" in printed
    assert f"anthropic/{NEW}" in printed
    found = seen(bench)
    assert {*found} == {*before, NEW}
    for each in (found[NEW], found[KNOWN]):
        assert (each.name, each.context_window, each.max_tokens) == (f"The {each.id}", 3_000_000, 300_000)
        assert (each.cost.input, each.cost.output, each.thinking_level_map["max"]) == (7, 77, "max")
    assert {name: each for name, each in found.items() if name not in (NEW, KNOWN)} == {
        name: each for name, each in before.items() if name != KNOWN
    }


def test_nothing_that_is_fetched_says_where_requests_go_or_what_they_carry(bench, tarball):
    before = seen(bench)[KNOWN]

    update(bench)

    found = seen(bench)
    for each in (found[NEW], found[KNOWN]):
        assert (each.base_url, each.api, each.headers) == (before.base_url, before.api, before.headers)
    assert found[KNOWN].compat == before.compat
    assert "elsewhere" not in "".join(file.read_text() for file in bench.agent_dir.rglob("fetched-models/**/*.json"))


def test_one_command_goes_back_to_what_was_known_before(bench, tarball):
    before = seen(bench)
    update(bench)
    first = seen(bench)
    library(tarball, model(NEW), model("claude-opus-10"), version="10.0.0")
    update(bench)
    assert "claude-opus-10" in seen(bench)

    assert "again" in update(bench, "--rollback")
    assert seen(bench) == first
    assert "those of the installed plugins" in update(bench, "--rollback")
    assert seen(bench) == before
    assert "nothing to restore" in refused(bench, "--rollback")


def test_what_is_known_already_is_not_stored_again(bench, tarball):
    update(bench)
    before = (bench.agent_dir / "fetched-models" / "current.json").read_bytes()

    assert "nothing is newer" in update(bench)
    assert (bench.agent_dir / "fetched-models" / "current.json").read_bytes() == before


@pytest.mark.parametrize("option", ["--check", "--dry-run"])
def test_a_check_changes_nothing(bench, tarball, option):
    before = seen(bench)

    assert json.loads(update(bench, option, "--json"))["new"] == [f"anthropic/{NEW}"]
    assert seen(bench) == before


def test_a_file_that_was_changed_after_it_was_fetched_is_not_used(bench, tarball):
    before = seen(bench)
    update(bench)
    (file,) = bench.agent_dir.glob("fetched-models/*/anthropic.json")
    file.write_text(file.read_text().replace("3000000", "9000000"))

    found = registry(bench)

    assert {each.id: each for each in found.get_models("anthropic")} == before
    assert any("changed after it was fetched" in each and "--rollback" in each for each in found.warnings)


@pytest.mark.parametrize("damage", [lambda file: file.write_bytes(b"{}"), lambda file: file.unlink()])
def test_a_file_that_was_changed_or_removed_is_fetched_again_as_its_warning_says(bench, tarball, damage):
    before = seen(bench)
    update(bench)
    fetched = seen(bench)
    (file,) = bench.agent_dir.glob("fetched-models/*/anthropic.json")
    damage(file)
    assert seen(bench) == before

    update(bench)

    assert seen(bench) == fetched
    assert not registry(bench).warnings
    update(bench, "--rollback")
    assert seen(bench) == before


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"for": 7, "files": {}}', b"\xff"])
def test_a_broken_state_is_named_and_the_plugins_models_are_used(bench, tarball, content):
    before = seen(bench)
    update(bench)
    (bench.agent_dir / "fetched-models" / "current.json").write_bytes(content)

    found = registry(bench)

    assert {each.id: each for each in found.get_models("anthropic")} == before
    assert any("current.json" in each for each in found.warnings)
    assert "new models: 1" in update(bench)
    assert "again" in update(bench, "--rollback")
    assert seen(bench) == before


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"anthropic": "{"}, "cannot read"),
        ({"anthropic": "[]"}, "cannot read"),
        ({"anthropic": '{"Claude": {"x": {"type": "chat"}}}'}, "there is no 'id'"),
        ({"anthropic": json.dumps({"Claude": {"x": model("x", contextWindow="much")}})}, "contextWindow"),
        ({"anthropic": "{}"}, "has no data about models"),
    ],
)
def test_data_that_cannot_be_read_changes_nothing(bench, tarball, files, reason):
    library(tarball, **files)

    assert reason in refused(bench)


def test_what_is_no_tarball_changes_nothing(bench, tarball):
    tarball.write_bytes(b"<html>")

    assert "cannot be unpacked" in refused(bench)


def test_without_a_network_the_last_facts_stay(bench, tarball):
    update(bench)
    bench.set("packages.modelData", ["npm:pi-ai"])

    assert "--offline forbids it" in refused(bench, "--offline")
    assert NEW in seen(bench)


class Registry(BaseHTTPRequestHandler):
    """A registry of npm with one package."""

    def do_GET(self):
        address = f"http://127.0.0.1:{self.server.server_port}"
        dist = {"tarball": f"{address}/library.tgz", "integrity": self.server.integrity}
        document = {
            "name": "pi-ai",
            "dist-tags": {"latest": "9.0.0"},
            "versions": {"9.0.0": {"name": "pi-ai", "version": "9.0.0", "dist": dist}},
        }
        body = self.server.content if self.path.endswith(".tgz") else json.dumps(document).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture
def npm(bench, tmp_path, monkeypatch):
    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        server.content = library(tmp_path / "served.tgz", model(NEW)).read_bytes()
        server.integrity = f"sha512-{b64encode(sha512(server.content).digest()).decode()}"
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
        bench.set("packages.modelData", ["npm:pi-ai"])
        yield server
        server.shutdown()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm")
def test_npm_fetches_the_newest_version_and_refuses_another_hash(bench, npm):
    assert f"anthropic/{NEW}" in update(bench)

    npm.content += b"more"
    shutil.rmtree(bench.home.parent / "cache")
    assert "not the one whose hash it states" in refused(bench)
    assert NEW in seen(bench)


DATA = "litellm/model_prices_and_context_window_backup.json"


@pytest.fixture
def wheel(bench):
    """Return a function that publishes a version of the distribution that knows when models end."""

    def publish(version="1.0", text=None, **ends):
        entries = {
            name: {"litellm_provider": "anthropic", "mode": "chat", "api_base": "https://elsewhere.test", **each}
            for name, each in ends.items()
        }
        text = json.dumps(entries) if text is None else text
        return bench.library("tide-models", version, requires=["pluggypi-absent"], files={DATA: text})

    bench.set("packages.modelData", ["pypi:tide-models"])
    return publish


def end(date, successor=None):
    return {"deprecation_date": date, **({"successor_model": successor} if successor else {})}


def ends(bench):
    """Return when models end, those that are not listed last."""
    models = registry(bench)
    listed = {
        each.id: each.extra["retirement"] for each in models.get_models("anthropic") if "retirement" in each.extra
    }
    return {**listed, **models.provider("anthropic").retirements}


def test_the_days_on_which_models_end_come_from_a_wheel_that_is_data_only(bench, wheel):
    before, facts = ends(bench), seen(bench)
    wheel(**{KNOWN: end("2026-12-24", NEW), "claude-old": end("2020-01-01")})

    printed = update(bench)

    assert "pypi:tide-models 1.0: new models: 0; with other names, limits, levels or prices: 0; with another" in printed
    assert ends(bench) == {
        **before,
        KNOWN: {"date": "2026-12-24", "successor": NEW},
        "claude-old": {"date": "2020-01-01"},
    }
    assert {**seen(bench), KNOWN: None} == {**facts, KNOWN: None}
    assert "elsewhere" not in "".join(file.read_text() for file in bench.agent_dir.rglob("fetched-models/**/*.json"))
    update(bench, "--rollback")
    assert ends(bench) == before


def test_without_uv_the_pip_of_python_unpacks_the_wheel(bench, wheel, monkeypatch):
    monkeypatch.setattr(installers, "find_program", lambda *_: None)
    monkeypatch.setattr(installers.shutil, "which", lambda *_, **__: None)
    wheel(**{"claude-old": end("2020-01-01")})

    update(bench)

    assert ends(bench)["claude-old"] == {"date": "2020-01-01"}


def test_of_two_packages_one_that_fails_leaves_what_was_known_from_it(bench, tarball, wheel):
    published = wheel(**{"claude-old": end("2020-01-01")})
    bench.set("packages.modelData", [f"npm:{tarball}", "pypi:tide-models"])
    update(bench)
    published.unlink()
    library(tarball, model("claude-opus-10"), version="10.0.0")

    code, printed = bench.run("update", "--models", installed=True)

    assert code == 1
    assert "Warning: tide-models cannot be fetched" in bench.notices
    assert "10.0.0: new models: 1" in printed
    assert "claude-opus-10" in seen(bench)
    assert ends(bench)["claude-old"] == {"date": "2020-01-01"}

    tarball.write_bytes(b"")
    reasons = refused(bench)
    assert "cannot be unpacked" in reasons
    assert "cannot be fetched" in reasons


def test_a_wheel_whose_data_is_not_what_its_list_of_hashes_says_changes_nothing(bench, wheel):
    file = wheel(**{"claude-old": end("2020-01-01")})
    with zipfile.ZipFile(file) as archive:
        contents = {each: archive.read(each) for each in archive.namelist()}
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content.replace(b"2020-01-01", b"2021-01-01") if name == DATA else content)

    assert "Nothing was changed" in refused(bench) or "hash" in refused(bench)


@pytest.mark.parametrize(
    ("text", "reason"), [("{", "cannot read"), ("[]", "cannot read"), ("{}", "has no data about models")]
)
def test_data_of_a_wheel_that_cannot_be_read_changes_nothing(bench, wheel, text, reason):
    wheel(text=text)

    assert reason in refused(bench)


def test_a_large_wheel_is_not_fetched_again_in_the_background_within_a_month(bench, wheel):
    wheel(**{"claude-old": end("2020-01-01")})
    update(bench)
    wheel("2.0", **{"claude-old": end("2021-01-01")})

    update(bench, "--in-background")
    assert ends(bench)["claude-old"]["date"] == "2020-01-01"

    file = bench.agent_dir / "fetched-models" / "current.json"
    file.write_text(re.sub(r'"fetched": "\d{4}', '"fetched": "2020', file.read_text()))
    update(bench, "--in-background")
    assert ends(bench)["claude-old"]["date"] == "2021-01-01"


def test_only_packages_have_such_data(bench):
    bench.set("packages.modelData", ["git:elsewhere.test/models"])

    assert "must list packages" in refused(bench)


def test_one_session_a_day_fetches_models(tmp_path):
    folder = tmp_path / "fetched-models"
    now = time.time()

    assert is_due(folder, now)
    assert not is_due(folder, now + 86_000)
    assert is_due(folder, now + 90_000)
    assert not is_due(folder, time.time() + 10)


@pytest.mark.slow
async def test_a_session_of_a_user_who_wants_it_fetches_models_for_the_next(bench, tarball):
    before = seen(bench)
    bench.pi("-p", "--model", "offline/rules", "hi")
    assert not (bench.agent_dir / "fetched-models").exists()

    bench.set("packages.updateModels", True)
    bench.pi("-p", "--model", "offline/rules", "hi")

    await until((bench.agent_dir / "fetched-models" / "current.json").exists)
    assert {*seen(bench)} == {*before, NEW}


def test_what_the_user_has_rolled_back_is_not_fetched_again_in_the_background(bench, tarball):
    before = seen(bench)
    update(bench)
    update(bench, "--rollback")

    update(bench, "--in-background")
    assert seen(bench) == before

    library(tarball, model(NEW), version="10.0.0")
    update(bench, "--in-background")
    assert NEW in seen(bench)
