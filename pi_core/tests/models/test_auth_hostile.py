"""Broken, foreign and concurrently changed auth.json files: nothing hangs, nothing is lost, no secret is printed."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
import time

import pytest

from pi_core import AuthStorage, ModelRegistry, PluginHost, Settings
from pi_hookspecs import Model, ProviderInfo, UserError, hookimpl

KEY = '{"acme": {"type": "api_key", "key": "sk-secret"}}'


@pytest.fixture
def file(tmp_path):
    (tmp_path / "agent").mkdir(mode=0o700)
    return tmp_path / "agent" / "auth.json"


def storage(file, **environ):
    return AuthStorage.create(file, environ=environ)


needs_setsid = pytest.mark.skipif(shutil.which("setsid") is None, reason="no command to leave a session with")

NEW = {"type": "api_key", "key": "new"}


class Club:
    """A login that trusts what is stored."""

    name = "acme"

    def api_key(self, credential):
        return str(credential["access"])


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
async def test_a_file_that_others_can_read_gets_mode_0600(file):
    file.write_text(KEY)
    file.chmod(0o644)

    assert await storage(file).get_api_key("acme") == "sk-secret"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
async def test_a_path_that_is_no_regular_file_is_reported_without_blocking(file, make):
    make(file)
    stored = storage(file, K="from environment")

    assert await stored.get_api_key("acme", ["K"]) == "from environment"
    assert stored.problem == f"{file}: cannot be used: it is not a regular file. Stored logins and keys are ignored."
    with pytest.raises(UserError, match="Nothing was changed"):
        await stored.set("acme", NEW)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[" * 100_000, "it is not a JSON object of objects"),
        (b'{"acme": {"type": "api_key", "expires": ' + b"9" * 5000 + b"}}", "it is not a JSON object of objects"),
        (b"\x00sk-secret", "it is not JSON: Expecting value (line 1, column 1)"),
        (b"sk-secret", "it is not JSON: Expecting value (line 1, column 1)"),
        (b'{\n"acme": {"key": "sk-secret",}\n}', "(line 2, column "),
    ],
    ids=["deep", "digits", "NUL", "no JSON", "comma"],
)
async def test_garbage_is_reported_with_its_place_but_not_its_text_and_left_alone(file, content, reason):
    file.write_bytes(content)
    stored = storage(file)

    assert await stored.get_api_key("acme") is None
    assert reason in stored.problem
    assert "secret" not in stored.problem
    with pytest.raises(UserError, match="Nothing was changed"):
        await stored.set("acme", NEW)
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"type": "magic", "key": "sk-secret"},
        {"type": "api_key", "key": 5},
        {"type": "api_key", "key": ""},
        {"type": "oauth"},
        {"type": "oauth", "access": 5, "expires": "soon"},
        {"type": "oauth", "access": None, "expires": None},
    ],
    ids=str,
)
@pytest.mark.parametrize("plugin", [True, False], ids=["with a login", "without"])
async def test_an_entry_without_a_key_is_passed_over(file, entry, plugin):
    file.write_text(json.dumps({"acme": entry}))
    stored = storage(file, K="from environment")
    login = Club() if plugin else None

    assert await stored.get_api_key("acme", ["K"], login=lambda _: login) == "from environment"


async def test_a_cycle_of_links_is_reported(file):
    file.symlink_to(file)
    stored = storage(file)

    assert await stored.get_api_key("acme") is None
    assert "cannot be used" in stored.problem
    with pytest.raises(UserError):
        await stored.set("acme", NEW)


async def test_a_link_to_a_folder_that_is_not_there_makes_it(file, tmp_path):
    file.symlink_to(tmp_path / "disk" / "auth.json")

    await storage(file).set("acme", NEW)

    assert await storage(file).get_api_key("acme") == "new"
    assert stat.S_IMODE((tmp_path / "disk").stat().st_mode) == 0o700


@pytest.mark.parametrize("leave", ["folder", "full folder", "file"])
async def test_a_stale_lock_of_any_kind_is_taken_over(file, leave):
    lock = file.with_name("auth.json.lock")
    if leave == "file":
        lock.touch()
    else:
        lock.mkdir()
    if leave == "full folder":
        (lock / "x").touch()
    os.utime(lock, (time.time() - 60, time.time() - 60))

    await storage(file).set("acme", NEW)

    assert not lock.exists()
    assert await storage(file).get_api_key("acme") == "new"


async def test_a_folder_that_is_a_file_is_reported(tmp_path):
    (tmp_path / "agent").write_text("")

    with pytest.raises(UserError, match="cannot be written: "):
        await storage(tmp_path / "agent" / "auth.json").set("acme", NEW)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("!echo a\0b", "cannot be started: embedded null byte"),
        ("!", "printed nothing"),
        ("!yes sk-secret", "printed more than 65536 bytes, which is too much for a key"),
        ("!head -c 70000 /dev/zero; exit 0", "printed more than 65536 bytes"),
        ("!sleep 60", "did not finish within 0.2 s"),
        pytest.param("!setsid sleep 5 & sleep 60", "did not finish within 0.2 s", marks=needs_setsid),
        pytest.param("!setsid sleep 5 &", "did not finish within 0.2 s", marks=needs_setsid),
    ],
    ids=["NUL", "empty", "without end", "too much", "silent", "a child that gets away", "only such a child"],
)
async def test_a_command_without_a_key_is_reported_and_terminated(file, command, message, monkeypatch):
    monkeypatch.setattr("pi_core.base.configured_values.COMMAND_SECONDS", 0.2 if "sleep" in command else 30)
    file.write_text(json.dumps({"acme": {"type": "api_key", "key": command}}))

    with pytest.raises(UserError) as caught:
        await storage(file).get_api_key("acme")

    assert message in str(caught.value)
    assert str(caught.value).count("sk-secret") == command.count("sk-secret")


# Variables stored with a key


def test_a_command_cancelled_with_its_event_loop_runs_again(file, tmp_path):
    waits = tmp_path / "waits"
    waits.touch()
    command = f"!if [ -e '{waits}' ]; then sleep 600; fi; echo k"
    file.write_text(json.dumps({"acme": {"type": "api_key", "key": command}}))
    stored = AuthStorage.create(file, environ={"PATH": os.environ["PATH"]})

    async def give_up():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(stored.get_api_key("acme"), 0.05)

    asyncio.run(give_up())
    waits.unlink()

    assert asyncio.run(stored.get_api_key("acme")) == "k"


async def test_variables_stored_with_a_key_apply_to_its_provider_only(file):
    entry = {"type": "api_key", "key": "$ACME_SECRET", "env": {"ACME_SECRET": "own", "N": 5}}
    file.write_text(json.dumps({"acme": entry, "shop": {**entry, "env": None}}))
    stored = storage(file, ACME_SECRET="everybody's")

    assert [await stored.get_api_key(each) for each in ("acme", "shop")] == ["own", "everybody's"]
    assert stored.environ_of("acme") == {"ACME_SECRET": "own"}


class Plugin:
    @hookimpl
    def register_models(self):
        url = "https://{ACCOUNT}.test"
        model = Model(id="m", name="m", api="chat", provider="acme", base_url=url)
        return [ProviderInfo(id="acme", name="Acme", api="chat", base_url=url, models=(model,))]

    @hookimpl
    def register_credentials(self):
        return [Broken()]


class Broken:
    name = "acme"

    def available(self, provider):
        raise RuntimeError("out of order")

    async def credential(self, provider):
        return None


@pytest.fixture
def registry(file):
    settings = Settings.in_memory({}, agent_dir=file.parent)
    host = PluginHost(settings, installed=False)
    host.add(Plugin(), "plugin")
    return ModelRegistry(host, settings, {})


async def test_a_base_url_can_use_a_stored_variable(file, registry):
    file.write_text(json.dumps({"acme": {"type": "api_key", "key": "k", "env": {"ACCOUNT": "mine"}}}))

    assert (await registry.get_api_key_and_headers(registry.find("acme/m"))).base_url == "https://mine.test"


def test_a_credential_source_that_fails_is_reported_and_has_no_key(registry):
    assert registry.available() == []
    assert not registry.is_configured("acme")
    (warning,) = registry.warnings
    assert "failed: RuntimeError: out of order" in warning
