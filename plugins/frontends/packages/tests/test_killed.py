"""Whatever ends a change, the state before it or after it is there, complete."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import time
from contextlib import suppress

import pytest

from pi_core import replace_file
from pi_packages.store import Store
from pi_testing.patience import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("trusting")]


def test_what_a_killed_change_left_undone_is_done_by_the_next_command(bench, monkeypatch):
    bench.plugin("tides")

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("pi_packages.change.write_lock", killed)
        with pytest.raises(KeyboardInterrupt):
            bench.ok("install", "tides")
    assert bench.installed() == {"pluggypi-tides": "1.0"}
    assert "packages" not in bench.settings

    bench.ok("sync")

    assert bench.settings["packages"] == ["pypi:pluggypi-tides"]
    assert (bench.agent_dir / "pylock.pi.toml").exists()


@pytest.mark.parametrize("last", ["the description", "the switch"])
def test_a_change_that_ends_before_the_switch_has_changed_nothing(bench, monkeypatch, last):
    bench.plugin("tides")
    bench.ok("install", "tides")
    bench.plugin("waves")
    before = bench.state()

    def killed(file, data):
        if last == "the description" or file.name == "current":
            raise KeyboardInterrupt
        replace_file(file, data)

    with monkeypatch.context() as patched:
        patched.setattr("pi_packages.store.replace_file", killed)
        with pytest.raises(KeyboardInterrupt):
            bench.ok("install", "waves")

    assert bench.state() == before
    bench.ok("install", "waves")
    assert set(bench.installed()) == {"pluggypi-tides", "pluggypi-waves"}


def test_a_folder_that_cannot_be_written_is_named(bench):
    shutil.rmtree(bench.agent_dir / "packages")
    (bench.agent_dir / "packages").write_text("a file")
    bench.plugin("tides")

    assert "packages cannot be stored in" in bench.run("install", "tides")[1]


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_state_and_names_the_folder(bench, monkeypatch):
    bench.plugin("tides")
    bench.ok("install", "tides")
    bench.plugin("waves")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device", str(bench.agent_dir))

    monkeypatch.setattr("pi_packages.store.replace_file", full)

    assert "cannot be written: No space left on device. Free some space" in bench.fails("install", "waves")


@pytest.mark.slow
def test_two_installs_at_once_are_both_there(bench):
    names = ["tides", "waves", "sand"]
    for name in names:
        bench.plugin(name)

    running = [subprocess.Popen(bench.command("install", name), cwd=bench.cwd, env=os.environ) for name in names]

    assert [each.wait(PATIENCE) for each in running] == [0, 0, 0]
    assert set(bench.installed()) == {f"pluggypi-{name}" for name in names}
    assert sorted(bench.settings["packages"]) == sorted(f"pypi:pluggypi-{name}" for name in names)


def test_generations_in_use_are_kept_and_others_are_removed(bench):
    fcntl = pytest.importorskip("fcntl")
    bench.plugin("tides")
    bench.ok("install", "tides")
    root = next(bench.agent_dir.glob("packages/cp*"))
    first = (root / "current").read_text().strip()
    with (root / "gen" / f"{first}.json").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        store = Store(root)
        for _ in range(6):
            with store.locked(print), store.draft() as draft:
                store.publish(draft, {"packages": [], "created": "", "command": ""}, {}, lambda _: None)
        in_use = (root / "gen" / first).is_dir()
    with store.locked(print), store.draft() as draft:
        store.publish(draft, {"packages": []}, {}, lambda _: None)

    assert in_use
    assert not (root / "gen" / first).exists()
    assert len(list((root / "gen").glob("*.json"))) == 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_whenever_a_change_is_killed_it_leaves_a_complete_state(bench, seed):
    """Twenty-five kills at a time, three times."""
    for version in ("1.0", "1.1"):
        bench.plugin("tides", version)
    bench.plugin("waves")
    chance = random.Random(seed)  # noqa: S311 - when a process is killed is no secret
    commands = [
        ("install", "tides==1.0", "waves"),
        ("install", "tides>=1", "-U"),
        ("update", "--extensions"),
        ("remove", "waves"),
        ("sync",),
    ]
    met = 0
    for _ in range(25):
        process = subprocess.Popen(
            bench.command(*chance.choice(commands)),
            cwd=bench.cwd,
            env=os.environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(chance.uniform(0.1, 1.5))
        met += process.poll() is None
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        generation = bench.generation()  # complete: its folder and its description are there
        root = next(bench.agent_dir.glob("packages/cp*"), None)
        for name in generation.get("distributions", {}):
            info = name.replace("-", "_")
            assert list((root / "gen" / generation["id"]).glob(f"{info}-*.dist-info/RECORD"))
    assert met > 5
    bench.ok("sync")
    wanted = {each.partition(":")[2].partition("=")[0].partition(">")[0] for each in bench.settings.get("packages", [])}
    assert wanted == set(bench.installed())
