"""``pi config`` switches plugins, and parts of packages, on and off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pi_core.host.package_resources import package_resources
from pi_core.settings import Settings

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("trusting")]

SKILL = "---\nname: x\ndescription: x\n---\n"


@pytest.fixture
def moon(bench, tmp_path):
    """A package with two skills, installed."""
    for name in ("tides", "sand"):
        folder = tmp_path / "moon" / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(SKILL)
    bench.ok("install", tmp_path / "moon")
    return tmp_path / "moon"


def counting(bench):
    """Return the skills of packages that count."""
    settings = Settings.load(bench.cwd, bench.agent_dir)
    places = list(package_resources(settings, "skills", str(bench.cwd), str(bench.home)))
    files = [(file, each) for each in places for file in Path(each.path).rglob("SKILL.md")]
    return sorted(file.parent.name for file, each in files if each.picks is None or each.picks.includes(str(file)))


def test_a_part_of_a_package_is_switched_off_and_on(bench, moon):
    bench.pi("config", "off", "skills/tides")
    without = counting(bench)
    listed = {each["name"]: each["on"] for each in json.loads(bench.pi("config", "--json"))}
    bench.pi("config", "on", "skills/tides")

    assert without == ["sand"]
    assert (listed["skills/tides"], listed["skills/sand"], listed["tools"]) == (False, True, True)
    assert counting(bench) == ["sand", "tides"]
    assert bench.settings["packages"] == [str(moon)]


def test_a_plugin_is_switched_off_and_on(bench):
    bench.pi("config", "off", "memory")
    assert bench.settings["plugins"]["disabled"] == ["memory"]

    bench.pi("config", "on", "memory")
    assert bench.settings["plugins"]["disabled"] == []
    assert "nosuch" in bench.pi("config", "on", "nosuch", code=1)
