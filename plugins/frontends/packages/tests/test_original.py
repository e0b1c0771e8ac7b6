"""``pi doctor --original``: what of a user's files of the original has no effect."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import pi_packages
from pi_core.host import PluginHost
from pi_core.settings import Settings
from pi_packages.first_start import say_what_has_no_effect
from pi_packages.original import SETTINGS, VARIABLES

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def rows(bench, monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)

    def found():
        code, printed = bench.run("doctor", "--original", "--json")
        assert code == 0
        return [(row["check"], row["state"], row["message"], row["remedy"]) for row in json.loads(printed)]

    return found


def test_without_files_of_the_original_nothing_is_said_to_be_missing(rows):
    ((check, state, message, _),) = rows()

    assert (check, state) == ("original", "ok")
    assert "has an effect here" in message


def test_each_setting_and_variable_without_an_effect_is_named_with_what_to_do(rows, bench, monkeypatch):
    for name in SETTINGS:
        bench.set(name, "x")
    bench.set("lastChangelogVersion", "1.6.0")
    bench.set("defaultModel", "claude-opus-4-8")
    bench.set("queueMode", "all")
    bench.set("mine", 1)
    for name in VARIABLES:
        monkeypatch.setenv(name, "1")

    found = rows()

    named = {message.split()[0]: remedy for _, _, message, remedy in found}
    assert named.keys() == {*SETTINGS, *VARIABLES, "mine"}
    assert all(named.values())


def test_what_is_said_to_have_no_effect_is_read_nowhere(bench):
    known = PluginHost(Settings.load(bench.cwd, bench.agent_dir)).known_settings
    declared = {each.name for each in known}
    sources = [each for folder in ("pi_core/src", "plugins") for each in (ROOT / folder).rglob("*.py")]
    read = [
        (name, file.name)
        for file in sources
        if "tests" not in file.parts and file.name != "original.py"
        for name in (*VARIABLES, *SETTINGS)
        if f'"{name}"' in file.read_text(encoding="utf-8")
    ]

    assert declared.isdisjoint(SETTINGS)
    assert read == []


def test_settings_keys_packages_and_servers_that_have_no_effect_are_named(bench):
    bench.set("collapseChangelog", True)
    (bench.agent_dir / "auth.json").write_text(
        json.dumps({each: {"type": "api_key", "key": "secret-key"} for each in ("anthropic", "radius")})
    )
    (bench.agent_dir / "mcp.json").write_text('\ufeff{"autoEnableCodemode": true, "mcpServers": {}}')
    bench.set("packages", ["npm:pi-not-installed"])

    command = [sys.executable, "-m", "pi_cli", "doctor", "--original", "--json"]  # with all installed plugins
    environ = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=environ).stdout

    found = json.loads(printed)
    assert [row["check"] for row in found] == ["settings", "mcp servers", "keys", "packages"]
    assert found[0]["message"].startswith("collapseChangelog has no effect")
    assert "'radius'" in found[2]["message"]
    assert "secret-key" not in printed


class Language:
    """Runs no files, and says of each what one in another language would be told."""

    suffixes = (".mjs",)

    def check(self, file, settings):
        return [("note", "events: tool_call"), ("warning", f"it uses drum of {file.stem}, which pi does not have")]


def test_members_that_an_extension_lacks_are_named_and_an_untrusted_project_is_not_loaded(bench, monkeypatch):
    from pi_packages.original import differences

    for folder, name in ((bench.agent_dir / "extensions", "own"), (bench.cwd / ".pi" / "extensions", "theirs")):
        folder.mkdir(parents=True)
        (folder / f"{name}.mjs").write_text("export default () => {}")
    host = PluginHost(Settings.load(bench.cwd, bench.agent_dir))
    monkeypatch.setattr(type(host), "services", lambda *_: [type("Found", (), {"thing": Language()})()])

    named = [row["message"] for row in differences(host) if row["check"] == "extensions"]

    assert [message.rpartition(": ")[2] for message in named] == ["it uses drum of own, which pi does not have"]


def test_the_page_of_variables_lists_the_same_ones_without_an_effect():
    page = (
        (ROOT / "docs" / "environment.md").read_text(encoding="utf-8").partition("## Variables of the original pi")[2]
    )

    assert set(re.findall(r"`(PI_\w+)`", page)) == VARIABLES.keys()


class Started:
    """Starts sessions of the plugin, and collects what each of them shows."""

    def __init__(self, bench):
        self._bench = bench

    def __call__(self, mode="print"):
        shown, handlers = [], []
        session = SimpleNamespace(
            mode=mode,
            cwd=self._bench.cwd,
            settings=SimpleNamespace(agent_dir=self._bench.agent_dir),
            ui=SimpleNamespace(notify=shown.append),
        )
        say_what_has_no_effect(SimpleNamespace(on=lambda _, handler: handlers.append(handler)))
        for each in handlers:
            each(session)
        return shown


@pytest.fixture
def start(bench, monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    bench.set("lastChangelogVersion", "1.6.0")
    return Started(bench)


def test_the_first_start_names_what_has_no_effect_and_later_ones_only_what_is_new(bench, start):
    bench.set("codemode.mode", "only")
    (first,) = start()
    assert start() == []

    bench.set("theme", "dark")
    assert start() == []
    bench.set("enableAnalytics", False)
    (second,) = start()

    assert "codemode.mode has no effect" in first
    assert "pi doctor --original" in first
    assert "enableAnalytics has no effect" in second
    assert "codemode.mode" not in second
    assert start() == []


def test_a_start_with_nothing_to_tell_is_silent_and_a_program_that_drives_pi_is_told_nothing(bench, start):
    assert start() == []

    bench.set("codemode.mode", "only")

    assert start("rpc") == []
    assert len(start("fullscreen")) == 1


def test_many_things_are_counted_and_not_listed(bench, start):
    for name in SETTINGS:
        bench.set(name, "x")

    (said,) = start()

    assert len(said.splitlines()) == 9
    assert f"... and {len(SETTINGS) - 6} more" in said


def test_nothing_is_said_again_and_again_where_it_cannot_be_stored_that_it_was(bench, start):
    bench.set("codemode.mode", "only")
    (bench.agent_dir / "cache").write_text("a file in place of the folder")

    assert start() == []


def test_later_starts_read_no_settings_for_it(bench, start, monkeypatch):
    bench.set("codemode.mode", "only")
    start()

    monkeypatch.setattr(Settings, "load", lambda *_: pytest.fail("the settings were read again"))

    assert start() == []


def test_sessions_load_the_plugin_only_for_who_has_used_the_original(bench):
    from pi_core.host.conditions import condition_of, is_met

    condition = condition_of(pi_packages)

    def is_loaded():
        return is_met(condition, Settings.load(bench.cwd, bench.agent_dir), bench.cwd)

    assert not is_loaded()
    bench.set("lastChangelogVersion", "1.6.0")
    assert is_loaded()
