"""The commands and settings on the page docs/packages.md work as they are written."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from pi_core import PluginHost, Settings
from pi_core.host.grants import parse_grants
from pi_core.settings.values import steps_of
from pi_packages.entries import read_entries, user_scope
from pi_packages.listing import _text

PAGE = (Path(__file__).parents[4] / "docs" / "packages.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line.partition(" #")[0])[1:]
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]
SETTINGS, GRANTS = re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_commands_run_in_the_order_of_the_page(bench):
    bench.plugin("word-count", "1.2")
    for name, *arguments in COMMANDS:
        if name != "trust":  # a command of the command line
            bench.ok(name, *arguments, trust=True)

    assert bench.installed() == {"pluggypi-word-count": "1.2"}


def test_values_of_a_package_are_words():
    assert [_text(each) for each in (True, False, ["a", "b"], {"a": False}, 3)] == ["yes", "no", "a, b", "a: no", "3"]


def test_the_settings_are_read(bench):
    (bench.agent_dir / "settings.json").write_text(SETTINGS)

    entries, problems = read_entries(user_scope(bench.agent_dir, bench.home))

    assert problems == []
    assert [each.source.kind for each in entries] == ["index", "git"]
    assert Settings.load(bench.cwd, bench.agent_dir).problems == []


def test_the_settings_that_are_named_exist():
    known = PluginHost(Settings.in_memory()).known_settings
    named = set(re.findall(r"`((?:packages|plugins)\.\w+)`", PAGE))

    assert {each for each in named if known.find(steps_of(each)) is None} == set()


def test_the_grants_are_valid():
    assert parse_grants(GRANTS) == json.loads(GRANTS)["grants"]
