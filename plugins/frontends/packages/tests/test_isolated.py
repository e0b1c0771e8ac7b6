"""Packages with ``"isolated": true``: solved and installed apart, run in processes of their own."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

PLUGIN = """
    import zzshared
    from pi_hookspecs import ToolCallResult, hookimpl

    @hookimpl
    def tool_call(event):
        return ToolCallResult(block=True, reason=f"with zzshared {zzshared.version}")
"""


@pytest.fixture
def two(bench):
    """Two plugins that need different versions of a library."""
    bench.library("zzshared", "1.0")
    bench.library("zzshared", "2.0")
    bench.plugin("old", source=PLUGIN, requires=("pluggypi-hookspecs>=1,<2", "zzshared<2"))
    bench.plugin("new", source=PLUGIN, requires=("pluggypi-hookspecs>=1,<2", "zzshared>=2"))
    return bench


def program_of(bench, plugin):
    """Return the folder of an isolated plugin in the generation in force."""
    found = (bench.agent_dir / "packages").glob(f"*/gen/*/.isolated/*/{plugin}/pi_plugin.json")
    return max(found, key=lambda each: each.parts[-5]).parent


def test_two_plugins_with_needs_that_do_not_fit_are_both_installed(two):
    two.ok("install", "new")
    two.ok("install", "old", "--isolated")

    assert two.settings["packages"] == ["pypi:pluggypi-new", {"source": "pypi:pluggypi-old", "isolated": True}]
    lib = program_of(two, "old").parent / "lib"
    assert (lib / "zzshared.py").read_text() == "version = '1.0'\n"
    assert "pluggypi-old 1.0" in two.ok("list")


def test_a_version_that_pi_has_is_not_replaced_but_in_that_process(two):
    two.library("click", "7.9")
    two.plugin("older", source=PLUGIN, requires=("click<8", "zzshared<2"))

    assert "click" in two.fails("install", "older")
    two.ok("install", "older", "--isolated")

    lib = program_of(two, "older").parent / "lib"
    assert (lib / "click.py").exists()


def test_the_plugin_says_what_it_is_in_a_manifest_like_any_program(two):
    two.ok("install", "old", "--isolated")

    manifest = json.loads((program_of(two, "old") / "pi_plugin.json").read_text())

    assert manifest == {"name": "old", "command": ["{python}", "-P", "run.py"], "contract": "1.1", "version": "1.0"}


def test_what_the_plugin_loses_in_a_process_is_said(bench):
    source = """
    from pi_hookspecs import PluginSetting, hookimpl

    @hookimpl
    def register_settings():
        return [PluginSetting("lost.here")]

    @hookimpl
    def register_themes():
        return []

    @hookimpl
    def turn_start(event):
        pass
    """
    bench.plugin("lost", source=source)
    warning = "the plugin 'lost' loses register_settings, register_themes in a separate process"

    bench.ok("install", "lost", "--isolated")
    assert warning in bench.notices
    listed = bench.ok("list")
    assert (warning in bench.notices, "pluggypi-lost" in listed) == (False, True)


def test_a_plugin_that_cannot_be_run_changes_nothing(bench):
    bench.plugin("broken", source="import no_such_module")

    said = bench.fails("install", "broken", "--isolated")

    assert "'broken' cannot be run in a separate process: ModuleNotFoundError" in said
    assert "packages" not in bench.settings


@pytest.mark.slow
def test_what_is_locked_stays_until_it_is_updated(two):
    two.ok("install", "old", "--isolated")
    two.plugin("old", "1.5", source=PLUGIN, requires=("zzshared<2",))

    two.ok("install", "new")
    assert json.loads((program_of(two, "old") / "pi_plugin.json").read_text())["version"] == "1.0"

    two.ok("update", "--extensions", "-y")
    assert json.loads((program_of(two, "old") / "pi_plugin.json").read_text())["version"] == "1.5"


def test_a_sync_installs_what_the_lock_says_and_follows_the_settings(two):
    two.ok("install", "old", "--isolated")
    two.ok("sync", "--frozen")

    two.set("packages", ["pypi:pluggypi-old"])

    assert "is not to run in a separate process" in two.fails("sync", "--frozen")
    two.ok("sync")
    assert "pluggypi-old" in two.installed()


def test_an_installed_one_stays_isolated_when_it_is_installed_again(two):
    two.ok("install", "old", "--isolated")
    two.ok("install", "old", "-U")

    assert two.settings["packages"] == [{"source": "pypi:pluggypi-old", "isolated": True}]
    assert program_of(two, "old").is_dir()
