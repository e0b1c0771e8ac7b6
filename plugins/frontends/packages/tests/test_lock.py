"""``pi sync`` makes what is installed what the lock says, and nothing else."""

from __future__ import annotations

import json
import re
import shutil
import tomllib

import pytest
from packaging.pylock import Pylock, is_valid_pylock_path

from pi_packages.updating import command_for

pytestmark = [pytest.mark.usefixtures("trusting"), pytest.mark.slow]  # each starts programs that take seconds


@pytest.fixture
def locked(bench):
    """A bench with ``tides`` 1.0 installed and locked, and 1.1 in the folder of wheels."""
    bench.plugin("tides", "1.0")
    bench.ok("install", "tides")
    bench.plugin("tides", "1.1")
    return bench


def lock_file(bench):
    return bench.agent_dir / "pylock.pi.toml"


def forget(bench):
    """Remove all that is installed; settings and lock stay, as on another machine."""
    shutil.rmtree(bench.agent_dir / "packages")


def test_the_lock_is_one_of_pep_751_with_what_pi_knows_beside(locked):
    lock = tomllib.loads(lock_file(locked).read_text())

    Pylock.from_dict(lock)
    assert is_valid_pylock_path(lock_file(locked))
    assert lock["tool"]["pi"]["sources"] == [
        {
            "source": "pypi:pluggypi-tides",
            "identity": "pypi:pluggypi-tides",
            "kind": "index",
            "name": "pluggypi-tides",
            "version": "1.0",
        }
    ]


def test_another_machine_gets_the_locked_versions(locked):
    forget(locked)

    locked.ok("sync", "--frozen")

    assert locked.installed() == {"pluggypi-tides": "1.0"}


def test_sync_with_upgrade_ignores_the_lock(locked):
    locked.ok("sync", "--upgrade")

    assert locked.installed() == {"pluggypi-tides": "1.1"}


def test_a_file_with_another_hash_is_refused(locked):
    lock = lock_file(locked)
    lock.write_text(re.sub(r'sha256 = "[0-9a-f]{8}', 'sha256 = "00000000', lock.read_text()))
    forget(locked)

    error = locked.fails("sync")

    assert "hash" in error.lower()
    assert locked.installed() == {}


def test_a_version_that_has_vanished_is_named(locked, monkeypatch):
    for wheel in locked.wheels.glob("pluggypi_tides-1.0-*"):
        wheel.unlink()
    forget(locked)
    monkeypatch.setenv("UV_CACHE_DIR", str(locked.home / "cache"))

    assert "pluggypi-tides==1.0" in locked.fails("sync")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('lock-version = "1.0"', 'lock-version = "2.0"', "lock-version '2.0', and this pi reads 1.0. Update pi"),
        ('lock-version = "1.0"', "lock-version = ", "is not TOML"),
        ('name = "pluggypi-tides"\nversion', 'nam = "x"\nversion', "is not a valid lock file"),
    ],
)
def test_a_lock_that_cannot_be_read_changes_nothing(locked, old, new, reason):
    lock = lock_file(locked)
    lock.write_text(lock.read_text().replace(old, new, 1))

    assert reason in locked.fails("sync")
    assert reason in locked.fails("update", "--extensions")


def test_keys_of_others_in_the_lock_are_kept(locked):
    lock = lock_file(locked)
    lock.write_text(lock.read_text() + '\n[tool.other]\nkey = "value"\n')

    locked.ok("update", "--extensions")

    assert tomllib.loads(lock.read_text())["tool"]["other"] == {"key": "value"}


def test_frozen_fails_where_settings_and_lock_disagree(locked):
    locked.set("packages", ["pypi:pluggypi-tides", "pypi:pluggypi-waves"])

    error = locked.fails("sync", "--frozen")

    assert "pypi:pluggypi-waves is not locked" in error


def test_what_was_written_into_the_settings_by_hand_is_installed(locked):
    locked.plugin("waves")
    locked.set("packages", ["pypi:pluggypi-waves"])

    locked.ok("sync")

    assert locked.installed() == {"pluggypi-waves": "1.0"}


def test_missing_does_nothing_if_all_is_there(locked):
    assert locked.ok("sync", "--missing") == "Everything is installed.\n"


@pytest.mark.slow
def test_a_lock_file_and_a_list_can_be_installed_elsewhere(locked, tmp_path):
    (tmp_path / "list.json").write_text(locked.ok("list", "--json"))
    shutil.copy(lock_file(locked), tmp_path / "pylock.mine.toml")
    (tmp_path / "requirements.txt").write_text("# mine\npluggypi-tides==1.0\n")
    locked.ok("remove", "tides")

    for file in ("list.json", "pylock.mine.toml", "requirements.txt"):
        locked.ok("install", "-r", tmp_path / file)
        assert "pluggypi-tides" in locked.installed()
        locked.ok("remove", "tides")


def test_a_projects_lock_names_no_folder_of_this_machine(bench):
    bench.plugin("tides")

    bench.ok("install", "-l", "tides", trust=True)

    lock = tomllib.loads((bench.cwd / ".pi" / "pylock.pi.toml").read_text())
    assert [each["name"] for each in lock["packages"]] == ["pluggypi-tides"]
    assert (bench.cwd / ".pi" / "settings.json").exists()
    assert bench.installed() == {}


def test_doctor_finds_what_is_wrong_and_says_how_to_repair_it(locked):
    assert locked.run("doctor")[0] == 0
    locked.set("packages", ["pypi:pluggypi-tides", "pypi:pluggypi-waves"])
    locked.set("plugins.required", ["ebb"])

    code, output = locked.run("doctor", "--json")

    rows = {each["message"]: each for each in json.loads(output)}
    assert code == 1
    assert rows["not everything in the settings is installed"]["remedy"] == "Run pi sync"
    assert rows["it is required, and not installed"]["state"] == "error"
    assert all({*row} == {"check", "state", "message", "remedy"} for row in rows.values())


def test_update_check_says_what_is_newer_and_changes_nothing(locked):
    before = locked.state()

    output = locked.ok("update", "--check")

    assert "update  pluggypi-tides 1.0 -> 1.1" in output
    assert locked.state() == before


@pytest.mark.slow
def test_update_check_names_plugins_that_the_newest_pi_leaves_behind(locked):
    locked.plugin("old", requires=("pluggypi-hookspecs<2",))
    locked.ok("install", "old")
    for name, requires in {"pluggypi": ("pluggypi-hookspecs>=2",), "pluggypi-hookspecs": ()}.items():
        locked.library(name, "2.0", requires)

    assert "After an update of pi, pluggypi-old would not be loaded: it needs pluggypi-hookspecs<2" in locked.ok(
        "update", "--check"
    )


@pytest.mark.parametrize("arguments", [[], ["self"], ["--self"], ["pi"], ["--self", "--force"]], ids=" ".join)
def test_an_update_of_an_editable_pi_prints_the_command(bench, arguments):
    code, output = bench.run("update", *arguments)

    assert code == 1
    assert output.strip() == "git pull"


@pytest.mark.parametrize(
    ("marker", "force", "expected"),
    [
        ("uv-receipt.toml", False, "uv tool upgrade pluggypi"),
        ("uv-receipt.toml", True, "uv tool upgrade --reinstall pluggypi"),
        ("pipx_metadata.json", False, "pipx upgrade pluggypi"),
        ("pipx_metadata.json", True, "pipx upgrade --force pluggypi"),
    ],
)
def test_pi_is_updated_by_what_has_installed_it(tmp_path, marker, force, expected):
    (tmp_path / marker).touch()
    for name in ("uv", "pipx"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)

    command, may_run = command_for(tmp_path, {"PATH": str(tmp_path)}, force=force)

    assert " ".join(command).removeprefix(f"{tmp_path}/") == expected
    assert may_run
