"""Which plugins may be loaded, and which must be there: decided before one is imported."""

from __future__ import annotations

import json

import pytest

from pi_core import create_agent_session
from pi_core.host import PluginHost
from pi_core.host.extensions import LocalExtensions
from pi_core.host.overlay import user_root
from pi_core.host.presence import check_presence
from pi_core.settings import Settings
from pi_hookspecs import UserError

LISTENS = "@hookimpl\ndef turn_start(event): pass\n"


@pytest.fixture
def plugins(site):
    """Two installed plugins, neither of which was imported."""
    for name in ("tides", "waves"):
        site.install(name, LISTENS)
    site.forget()
    return site


def loaded(host):
    """Return the plugins that a session gets."""
    host.load_listeners()
    return sorted(name for name in ("tides", "waves") if host.is_loaded(name))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ["tides", "waves"]),
        ({"plugins": {"allow": ["ti*"]}}, ["tides"]),
        ({"plugins": {"allow": []}}, []),
        ({"plugins": {"allow": "tides"}}, []),
        ({"packages.deny": ["waves"]}, ["tides"]),
        ({"packages.deny": ["pypi:w*"]}, ["tides"]),
        ({"plugins": {"allow": ["*"]}, "packages.deny": ["*"]}, []),
    ],
)
def test_only_allowed_and_not_denied_plugins_are_loaded(plugins, settings, expected):
    assert loaded(plugins.host(**settings)) == expected


def test_a_plugin_that_is_left_out_is_not_imported(plugins):
    host = plugins.host(plugins={"allow": ["tides"]})

    loaded(host)

    assert [name.partition("_")[0] for name in plugins.imported()] == ["tides"]
    assert host.left_out["waves"] == "plugins.allow in memory does not name it"


def test_a_project_can_only_narrow_the_choice(plugins, tmp_path):
    folder = tmp_path / "project"
    (folder / ".pi").mkdir(parents=True)
    (folder / ".pi" / "settings.json").write_text('{"plugins": {"allow": ["*"], "disabled": []}}')
    plugins.agent_dir.mkdir()
    (plugins.agent_dir / "settings.json").write_text('{"plugins": {"allow": ["waves"]}}')
    settings = Settings.load(folder, plugins.agent_dir, trust=True)

    assert loaded(PluginHost(settings)) == ["waves"]


@pytest.mark.parametrize(
    ("settings", "disabled", "reason"),
    [
        ({"plugins": {"required": ["ebb"]}}, (), "'ebb', and it is not installed"),
        ({"plugins": {"required": ["tides"], "disabled": ["tides"]}}, (), "it is disabled in the settings"),
        ({"plugins": {"required": ["tides"], "allow": []}}, (), "plugins.allow in memory does not name it"),
        ({"plugins": {"required": ["broken"]}}, (), "ModuleNotFoundError"),
        ({"plugins": {"required": ["tides", "ebb"]}}, ("ebb",), None),
        ({"plugins": {"required": ["broken"]}}, ("broken",), None),
        ({"plugins": {"required": ["tides", "waves"]}}, (), None),
    ],
)
def test_a_required_plugin_must_be_there_unless_it_is_disabled_for_the_run(plugins, settings, disabled, reason):
    plugins.install("broken", "import zznothing")
    host = plugins.host(*disabled, **settings)

    if reason is None:
        check_presence(host)
        assert not [each for each in host.problems if each.plugin == "(settings)"]
    else:
        with pytest.raises(UserError, match=reason) as error:
            check_presence(host)
        assert "--disable" in str(error.value)


async def test_no_session_starts_without_a_required_plugin(plugins, tmp_path):
    host = plugins.host(plugins={"required": ["ebb"]})

    with pytest.raises(UserError, match=r"No session starts, because plugins\.required names 'ebb'"):
        create_agent_session(cwd=tmp_path, host=host, settings=host.settings, model="offline/rules")


def test_a_local_extension_can_be_required(plugins):
    host = plugins.host(plugins={"required": ["mine"]})
    host.add(type("Mine", (), {})(), "mine")

    check_presence(host)


@pytest.fixture
def local(plugins, tmp_path):
    """A function that loads two local extensions, a file and one of an installed package, and returns their names."""
    file = tmp_path / "moon.py"
    file.write_text(f"from pi_hookspecs import hookimpl\n{LISTENS}")
    root = user_root(plugins.agent_dir)
    packaged = root / "gen" / "a1" / "sun.py"
    packaged.parent.mkdir(parents=True)
    packaged.write_text(file.read_text())
    package = {"source": "git:host/u/sun", "identity": "git:host/u/sun", "resources": {"extensions": ["sun.py"]}}
    packaged.parent.with_suffix(".json").write_text(json.dumps({"id": "a1", "packages": [package]}))
    (root / "current").write_text("a1\n")

    def load(settings):
        (plugins.agent_dir / "settings.json").write_text(json.dumps({"packages": ["git:host/u/sun"], **settings}))
        plugins.forget()
        host = PluginHost(Settings.load(tmp_path, plugins.agent_dir))
        LocalExtensions(host, cwd=tmp_path, given=[file]).load()
        return host.added()

    return load


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ["sun", "moon"]),
        ({"plugins": {"allow": ["moon"]}}, ["moon"]),
        ({"plugins": {"allow": []}}, []),
        ({"packages.deny": ["host/u/*"]}, ["moon"]),
        ({"packages.deny": ["git:*"]}, ["moon"]),
    ],
)
def test_local_extensions_and_those_of_packages_are_held_to_it_at_every_start(local, settings, expected):
    assert local(settings) == expected
