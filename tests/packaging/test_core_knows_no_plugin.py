"""The engine and the contract know no plugin: none of its settings, and no distribution."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import pi_hookspecs
from pi_core import PluginHost, Settings, install_command
from pi_core.host.advice import adds, plugin_for, provider_of

ROOT = Path(__file__).parents[2]
SOURCES = [file for folder in ("pi_core/src", "hookspecs/src") for file in sorted((ROOT / folder).rglob("*.py"))]


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


def test_no_plugin_is_named_but_in_the_originals_names_of_extensions(host: PluginHost) -> None:
    names = {name for name in host.records if "-" in name}  # the others are words of the language
    named = {
        (file.name, name)
        for file in SOURCES
        for name in re.findall(r"""["'`]([a-z]+(?:-[a-z]+)+)["'`]""", file.read_text(encoding="utf-8"))
        if name in names
    }

    assert len(names) > 15
    assert named == {("builtin_extensions.py", "provider-llamacpp")}  # what `builtin:llama.cpp` of its settings means


def test_no_distribution_of_a_plugin_is_named(host: PluginHost) -> None:
    distributions = {record.distribution for record in host.records.values()}
    named = {
        (file.relative_to(ROOT).as_posix(), name)
        for file in SOURCES
        for name in re.findall(r"\bpluggypi-[a-z0-9-]+", file.read_text(encoding="utf-8"))
        if name in distributions
    }

    assert len(distributions) > 40
    assert sorted(named) == []


def test_advice_to_install_a_plugin_names_one_that_provides_what_is_missing(host: PluginHost) -> None:
    asked = {
        kind
        for file in SOURCES
        for kind in re.findall(
            r"""(?:plugin_for|provider_of|adds)\(['"](\w+)['"]\)""", file.read_text(encoding="utf-8")
        )
    }
    points = {each.name.partition(".")[0]: each for each in entry_points(group="pi.provides")}
    distributions = {record.distribution for record in host.records.values()}

    assert asked == points.keys()
    for kind, point in points.items():
        assert point.load() is getattr(pi_hookspecs, kind)
        assert provider_of(kind) in distributions


def test_advice_names_the_extra_of_a_plugin_that_is_no_default() -> None:
    assert plugin_for("Compactor") == (
        "The plugin 'compaction' can (pip install pluggypi-compaction); if you select plugins by name, add it."
    )
    assert plugin_for("McpServer").startswith(f"The plugin 'mcp' can ({install_command('mcp')});")


def test_without_such_metadata_no_name_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib_metadata.entry_points", lambda **_: ())

    assert plugin_for("Compactor") == "Install a plugin that can."
    assert adds("McpServer") == "install one"
