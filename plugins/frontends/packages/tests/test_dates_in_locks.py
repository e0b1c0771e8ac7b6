"""Locks with dates: indexes say when a file was uploaded, and uv writes that into its solution."""

from __future__ import annotations

import tomllib

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds


def test_dates_in_a_lock_survive_an_installation_and_the_way_back(bench):
    lock = bench.agent_dir / "pylock.pi.toml"
    bench.plugin("tides")
    bench.plugin("waves")
    bench.ok("install", "tides")
    lock.write_text(f"{lock.read_text()}\n[tool.other]\nseen = 2026-01-02T03:04:05Z\n")
    before = tomllib.loads(lock.read_text())["tool"]["other"]

    bench.ok("install", "waves")
    assert tomllib.loads(lock.read_text())["tool"]["other"] == before

    bench.ok("remove", "waves")
    bench.ok("update", "--rollback", "-y")

    assert tomllib.loads(lock.read_text())["tool"]["other"] == before
