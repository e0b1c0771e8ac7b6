"""The order in which keys are looked up, and an auth.json that two programs share."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
import time

import pytest

from pi_core.base.directory_lock import directory_lock
from pi_core.models.auth_storage import AuthStorage
from pi_hookspecs import PiError, RequestFailed, UserError, now_ms
from pi_testing.patience import PATIENCE


class CountingLogin:
    name = "acme"

    def __init__(self, error=None):
        self.refreshes = 0
        self.error = error

    async def login(self, ui):
        raise NotImplementedError

    async def refresh(self, credential):
        self.refreshes += 1
        await asyncio.sleep(0.05)
        if self.error:
            raise self.error
        return {"access": f"{credential['refresh']}-fresh", "expires": now_ms() + 60_000}

    def api_key(self, credential):
        return credential["access"]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "agent" / "auth.json"


def write(file, entries):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(entries))


async def test_only_the_user_can_read_the_file_and_its_folder(file):
    await AuthStorage.create(file).set("acme", {"type": "api_key", "key": "sk-1"})

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert json.loads(file.read_text()) == {"acme": {"type": "api_key", "key": "sk-1"}}


async def test_the_first_source_that_has_a_key_is_used(file):
    write(file, {"acme": {"type": "api_key", "key": "stored"}})
    storage = AuthStorage.create(file, environ={"ACME_KEY": "environment"})
    found = []

    storage.set_runtime_api_key("acme", "runtime")
    found.append(await storage.get_api_key("acme", ["ACME_KEY"]))
    storage._runtime.clear()
    found.append(await storage.get_api_key("acme", ["ACME_KEY"]))
    await storage.remove("acme")
    found.append(await storage.get_api_key("acme", ["ACME_KEY"]))

    assert found == ["runtime", "stored", "environment"]


async def test_after_the_environment_models_json_and_plugins_are_asked(file):
    class Vault:
        name = "*"

        async def credential(self, provider):
            return f"vault-{provider}"

    storage = AuthStorage.create(file, environ={})

    async def nothing():
        return None

    async def configured():
        return "from models.json"

    assert await storage.get_api_key("acme", fallback=configured, sources=lambda: [Vault()]) == "from models.json"
    assert await storage.get_api_key("acme", fallback=nothing, sources=lambda: [Vault()]) == "vault-acme"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("literal", "literal"),
        ("$TOKEN", "secret"),
        ("Bearer ${TOKEN}!", "Bearer secret!"),
        ("TOKEN", "secret"),
        ("a$$b", "a$b"),
        ("$!x", "!x"),
        ("$MISSING", None),
        ("!printf ' printed '", "printed"),
    ],
)
async def test_a_stored_key_may_refer_to_where_the_key_is(file, written, expected):
    write(file, {"acme": {"type": "api_key", "key": written}})
    storage = AuthStorage.create(file, environ={"TOKEN": "secret", "PATH": os.environ["PATH"]})

    assert await storage.get_api_key("acme") == expected


async def test_a_key_command_runs_once(file, tmp_path):
    write(file, {"acme": {"type": "api_key", "key": f"!echo x >> '{tmp_path}/runs'; echo key"}})
    storage = AuthStorage.create(file)

    keys = await asyncio.gather(*(storage.get_api_key("acme") for _ in range(5)))

    assert keys == ["key"] * 5
    assert (tmp_path / "runs").read_text() == "x\n"


async def test_a_failed_key_command_is_named_without_its_output(file):
    write(file, {"acme": {"type": "api_key", "key": "!echo hidden; exit 3"}})

    with pytest.raises(UserError, match="exit code 3") as caught:
        await AuthStorage.create(file).get_api_key("acme")

    assert "hidden;" in str(caught.value)  # the command is the user's own text
    assert "hidden\n" not in str(caught.value)


@pytest.mark.parametrize("names", [("access", "refresh"), ("access_token", "refresh_token")])
async def test_a_valid_login_is_used_whatever_its_fields_are_called(file, names):
    write(file, {"acme": {"type": "oauth", names[0]: "token", names[1]: "r", "expires": now_ms() + 60_000}})

    assert await AuthStorage.create(file).get_api_key("acme") == "token"


async def test_an_expired_login_is_refreshed_once_and_stored(file):
    write(file, {"acme": {"type": "oauth", "access": "old", "refresh": "r", "expires": 1, "account": "kept"}})
    login = CountingLogin()
    storages = [AuthStorage.create(file, login=lambda _provider: login) for _ in range(4)]

    keys = await asyncio.gather(*(storage.get_api_key("acme") for storage in storages))

    assert keys == ["r-fresh"] * 4
    assert login.refreshes == 1
    assert json.loads(file.read_text())["acme"]["account"] == "kept"


def write_within_the_second(file, entries):
    """Replace the file as another process does, on a file system that counts in seconds."""
    seen = file.stat()
    write(file, entries)
    assert file.stat().st_size == seen.st_size
    os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))


async def test_a_login_that_another_process_has_just_refreshed_is_not_refreshed_again(file):
    old = {"type": "oauth", "access": "old", "refresh": "r", "expires": 1000000000001}
    write(file, {"acme": old})
    login = CountingLogin()
    storage = AuthStorage.create(file, login=lambda _provider: login)
    assert storage.get("acme") == old
    write_within_the_second(file, {"acme": {**old, "access": "new", "refresh": "s", "expires": 9999999999999}})

    assert await storage.get_api_key("acme") == "new"
    assert login.refreshes == 0


async def test_a_key_that_another_process_has_just_stored_is_kept_when_another_is(file):
    write(file, {"acme": {"type": "api_key", "key": "old"}})
    storage = AuthStorage.create(file)
    assert storage.get("acme") == {"type": "api_key", "key": "old"}
    write_within_the_second(file, {"acme": {"type": "api_key", "key": "new"}})

    await storage.set("other", {"type": "api_key", "key": "more"})

    assert json.loads(file.read_text())["acme"]["key"] == "new"


async def test_a_refresh_leaves_no_old_token_under_an_old_name(file):
    write(file, {"acme": {"type": "oauth", "access_token": "old", "refresh_token": "r", "expires": 1, "more": 1}})

    key = await AuthStorage.create(file, login=lambda _provider: CountingLogin()).get_api_key("acme")
    stored = json.loads(file.read_text())["acme"]

    assert key == "r-fresh"
    assert {**stored, "expires": 0} == {"type": "oauth", "access": "r-fresh", "refresh": "r", "expires": 0, "more": 1}


async def test_a_failed_refresh_keeps_the_login_and_says_what_to_do(file):
    entries = {"acme": {"type": "oauth", "access": "old", "refresh": "r", "expires": 1}}
    write(file, entries)
    login = CountingLogin(RequestFailed("400 invalid_grant"))

    with pytest.raises(UserError, match="run pi auth login acme"):
        await AuthStorage.create(file, login=lambda _provider: login).get_api_key("acme")

    assert json.loads(file.read_text()) == entries


async def test_changes_of_another_process_are_read_and_kept(file):
    storage = AuthStorage.create(file)
    await storage.set("mine", {"type": "api_key", "key": "1"})
    write(file, {"mine": {"type": "api_key", "key": "1"}, "theirs": {"type": "api_key", "key": "2", "new": [1]}})

    await storage.set("mine", {"type": "api_key", "key": "3"})

    assert storage.get("theirs") == {"type": "api_key", "key": "2", "new": [1]}
    assert json.loads(file.read_text())["mine"]["key"] == "3"


@pytest.mark.slow
def test_concurrent_processes_lose_no_entry(file):
    code = (
        "import asyncio, sys\nfrom pi_core.models.auth_storage import AuthStorage\n"
        "asyncio.run(AuthStorage.create(sys.argv[1]).set(sys.argv[2], {'type': 'api_key', 'key': sys.argv[2]}))"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(file), f"p{number}"]) for number in range(6)]

    assert [writer.wait(PATIENCE) for writer in writers] == [0] * 6
    assert sorted(json.loads(file.read_text())) == [f"p{number}" for number in range(6)]


@pytest.mark.parametrize("content", ["{", "[1]", '{"acme": "sk-secret"}', "\udcff"])
async def test_a_broken_file_is_reported_without_its_content_and_not_changed(file, content):
    file.parent.mkdir(parents=True)
    file.write_text(content, errors="surrogateescape")
    storage = AuthStorage.create(file, environ={"K": "from environment"})

    assert await storage.get_api_key("acme", ["K"]) == "from environment"
    assert "cannot be used" in storage.problem
    assert "sk-secret" not in storage.problem
    with pytest.raises(UserError, match="Nothing was changed"):
        await storage.set("acme", {"type": "api_key", "key": "new"})
    assert file.read_text(errors="surrogateescape") == content


async def test_a_symbolic_link_is_written_through(file, tmp_path):
    real = tmp_path / "elsewhere" / "auth.json"
    write(real, {})
    file.parent.mkdir(parents=True)
    file.symlink_to(real)

    await AuthStorage.create(file).set("acme", {"type": "api_key", "key": "1"})

    assert file.is_symlink()
    assert json.loads(real.read_text())["acme"]["key"] == "1"


async def test_a_stale_lock_is_taken_over(tmp_path):
    lock = tmp_path / "auth.json.lock"
    lock.mkdir()
    os.utime(lock, (time.time() - 60, time.time() - 60))

    async with directory_lock(tmp_path / "auth.json", wait_seconds=60):
        assert lock.is_dir()

    assert not lock.exists()


async def test_a_held_lock_is_waited_for_and_then_reported(tmp_path):
    (tmp_path / "auth.json.lock").mkdir()

    with pytest.raises(PiError, match="held by another process"):
        async with directory_lock(tmp_path / "auth.json", wait_seconds=0.1):
            pass


async def test_a_lock_lost_while_it_was_held_is_an_error(tmp_path):
    lock = tmp_path / "auth.json.lock"

    async def lose_it():
        async with directory_lock(tmp_path / "auth.json"):
            lock.rmdir()
            lock.mkdir()
            os.utime(lock, (1, 1))

    with pytest.raises(PiError, match="Another process took the lock"):
        await lose_it()

    assert lock.exists()


def test_no_repr_shows_a_key():
    storage = AuthStorage.in_memory({"acme": {"type": "api_key", "key": "sk-secret"}})
    storage.set_runtime_api_key("acme", "sk-secret")

    assert "sk-secret" not in repr(storage)


async def test_a_storage_in_memory_refreshes_once_and_keeps_the_login_when_it_fails():
    entry = {"type": "oauth", "access": "old", "refresh": "r", "expires": 1}
    login, failing = CountingLogin(), CountingLogin(RequestFailed("400 invalid_grant."))
    storage = AuthStorage.in_memory({"acme": entry}, login=lambda _provider: login)
    failed = AuthStorage.in_memory({"acme": entry}, login=lambda _provider: failing)

    keys = await asyncio.gather(*(storage.get_api_key("acme") for _ in range(3)))

    assert (keys, login.refreshes) == (["r-fresh"] * 3, 1)
    with pytest.raises(UserError, match=r"400 invalid_grant. The stored login is kept; run pi auth login acme"):
        await failed.get_api_key("acme")
    assert failed.get("acme") == entry


def test_the_login_in_use_is_the_one_whose_token_would_be_sent():
    login = {"type": "oauth", "access_token": "a", "refresh_token": "r"}
    storage = AuthStorage.in_memory({"acme": login, "shop": {"type": "api_key", "key": "k"}})
    used = [storage.login_in_use(provider) for provider in ("acme", "shop", "other")]
    storage.set_runtime_api_key("acme", "k")

    assert used == [{"type": "oauth", "access": "a", "refresh": "r"}, None, None]
    assert storage.login_in_use("acme") is None


async def test_a_folder_in_which_no_lock_can_be_created_is_reported(tmp_path):
    with pytest.raises(UserError, match=r"cannot be created \(No such file or directory\)"):
        async with directory_lock(tmp_path / "missing" / "auth.json"):
            pass
