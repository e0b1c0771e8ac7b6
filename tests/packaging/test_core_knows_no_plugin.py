"""The engine and the contract know no plugin: none of its settings, and no distribution but in advice to install it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pi_core import PluginHost, Settings

ROOT = Path(__file__).parents[2]
SOURCES = [file for folder in ("pi_core/src", "hookspecs/src") for file in sorted((ROOT / folder).rglob("*.py"))]

ADVICE = {
    "pi_core/src/pi_core/conversation/compaction.py": "pluggypi-compaction",
    "pi_core/src/pi_core/conversation/tree.py": "pluggypi-compaction",
    "pi_core/src/pi_core/conversation/user_bash.py": "pluggypi-tools",
    "pi_core/src/pi_core/host/extensions/manifests.py": "pluggypi-isolated",
    "pi_core/src/pi_core/host/extensions/scripts.py": "pluggypi-typescript",
    "pi_core/src/pi_core/plugin_api/context.py": "pluggypi-tools",
    "pi_core/src/pi_core/plugin_api/stored_sessions.py": "pluggypi-session-sqlite",
    "pi_core/src/pi_core/session/exporting.py": "pluggypi-export-html",
    "pi_core/src/pi_core/session/stores.py": "pluggypi-session-jsonl",
}
"""Messages that say which package to install where no plugin of a kind is; nothing else depends on these names."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> PluginHost:
    """The installed plugins."""
    return PluginHost(Settings.in_memory(agent_dir=tmp_path_factory.mktemp("agent")))


def test_no_setting_of_a_plugin_is_named_in_the_engine_or_the_contract(host: PluginHost) -> None:
    names = {each.name for each in host.known_settings.declared if "." in each.name or not each.name.islower()}
    named = {
        (word, file.relative_to(ROOT).as_posix())
        for file in SOURCES
        for word in re.findall(r"\w+(?:\.\w+)*", file.read_text(encoding="utf-8"))
    }

    assert len(names) > 120
    assert sorted(each for each in named if each[0] in names) == []


def test_no_distribution_of_a_plugin_is_named_but_in_advice_to_install_it(host: PluginHost) -> None:
    distributions = {record.distribution for record in host.records.values()}
    named = {
        (file.relative_to(ROOT).as_posix(), name)
        for file in SOURCES
        for name in re.findall(r"\bpluggypi-[a-z0-9-]+", file.read_text(encoding="utf-8"))
        if name in distributions
    }

    assert len(distributions) > 40
    assert named == set(ADVICE.items())
