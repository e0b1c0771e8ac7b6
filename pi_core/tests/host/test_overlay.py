"""Installed plugins join the end of the import path: one generation of each scope, held while it is used."""

from __future__ import annotations

import json
import os
import sys

import pytest

from pi_core import SessionManager, create_agent_session
from pi_core.create import prepare_host
from pi_core.host import PluginHost
from pi_core.host.overlay import (
    join_overlay,
    join_packages,
    joined_generations,
    project_root,
    read_pth,
    stable_path,
    user_root,
)
from pi_core.settings import Settings
from pi_core.settings.trust import ProjectTrust


@pytest.fixture(autouse=True)
def import_path(monkeypatch):
    """An import path of the test's own."""
    monkeypatch.setattr(sys, "path", [*sys.path])


def generation(root, name="a1"):
    """Make a generation and put it in force; return its folder."""
    folder = root / "gen" / name
    folder.mkdir(parents=True)
    folder.with_name(f"{name}.json").write_text("{}")
    (root / "current").write_text(f"{name}\n")
    return folder


def test_the_generation_in_force_is_last_on_the_import_path(tmp_path):
    folder = generation(tmp_path)

    assert join_overlay(tmp_path) == str(folder)
    assert sys.path[-1] == str(folder)


@pytest.mark.parametrize("current", [None, "", "../../elsewhere", "b2", "\xff"])
def test_nothing_joins_where_no_generation_is_in_force(tmp_path, current):
    generation(tmp_path)
    (tmp_path / "current").unlink()
    if current is not None:
        (tmp_path / "current").write_text(current, encoding="latin-1")
    before = [*sys.path]

    assert join_overlay(tmp_path) is None
    assert sys.path == before


def test_a_process_keeps_the_generation_that_it_has_joined(tmp_path):
    folder = generation(tmp_path)
    join_overlay(tmp_path)
    generation(tmp_path, "b2")

    assert join_overlay(tmp_path) == str(folder)


@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_trusted_projects_plugins_come_before_the_users(tmp_path, is_trusted):
    project, agent_dir = tmp_path / "project", tmp_path / "agent"
    project.mkdir()
    mine = generation(user_root(agent_dir))
    theirs = generation(project_root(agent_dir, project))
    settings = Settings.in_memory({}, agent_dir, trust=ProjectTrust.given(project, is_trusted=is_trusted))

    join_packages(settings, project)

    assert joined_generations() == ([str(theirs), str(mine)] if is_trusted else [str(mine)])


@pytest.mark.parametrize("packages", [True, False])
def test_a_program_decides_for_its_process(tmp_path, packages):
    folder = generation(user_root(tmp_path))
    settings = Settings.in_memory({}, tmp_path)
    options = {"plugins": {}, "extensions": (), "no_extensions": True, "extension_factories": (), "environ": {}}

    prepare_host(PluginHost(settings, installed=False), cwd=tmp_path, settings=settings, packages=packages, **options)

    assert (str(folder) in sys.path) == packages


def test_paths_of_pth_files_count_and_code_in_them_is_not_run(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (tmp_path / "a.pth").write_text(f"# a comment\nimport os; os.abort()\n{source}\n/nowhere\n")

    paths, code = read_pth(str(tmp_path))

    assert paths == [str(source)]
    assert code == ["a.pth: import os; os.abort()"]


def test_a_generation_in_use_is_locked_against_removal(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    folder = generation(tmp_path)
    join_overlay(tmp_path)

    with folder.with_name("a1.json").open("rb") as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_all_generations_share_an_index(tmp_path):
    root = user_root(tmp_path)

    assert stable_path(str(root / "gen" / "a1")) == stable_path(str(root / "gen" / "b2")) == str(root / "gen") + os.sep
    assert stable_path("/usr/lib/python3") == "/usr/lib/python3"


def test_a_plugin_whose_needs_the_environment_no_longer_meets_is_skipped_with_the_reason(site, monkeypatch, problems):
    site.metadata("zzlib", {}, "1.0")
    folder = generation(site.agent_dir / "packages" / "cp")
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    base, site.folder = site.folder, folder
    site.install("tides", "@hookimpl\ndef turn_end(event): pass\n")
    site.metadata("tides", {"tides": "nosuch"}, requires=("zzlib>=2",))
    site.metadata("waves", {"waves": "nosuch"}, requires=("zznothing",))
    site.folder = base

    assert problems(site.host()) == [
        ("tides", "import", "not loaded: it needs zzlib>=2, and zzlib 1.0 is installed. Run pi update tides"),
        ("waves", "import", "not loaded: it needs zznothing, which is not installed. Run pi sync"),
    ]


PLUGIN = "from pi_hookspecs import hookimpl\n\n@hookimpl\ndef turn_start(event): pass\n"


def installed(root, name, **distributions):
    """Make a generation with a plugin of each of these names and versions."""
    folder = generation(root, name)
    for plugin, version in distributions.items():
        (folder / f"{plugin}_plugin.py").write_text(PLUGIN)
        info = folder / f"{plugin}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {plugin}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[pi]\n{plugin} = {plugin}_plugin\n")
    described = {"distributions": {plugin: {"version": version} for plugin, version in distributions.items()}}
    folder.with_name(f"{name}.json").write_text(json.dumps(described))
    return folder


@pytest.fixture
def session(tmp_path, script):
    """A function that makes a session that uses packages."""

    def make(**settings):
        return create_agent_session(
            cwd=tmp_path,
            agent_dir=tmp_path / "agent",
            settings=Settings.in_memory(settings, tmp_path / "agent"),
            session_manager=SessionManager.in_memory(tmp_path),
            plugins={"script": script},
            model=script.model,
            packages=True,
        )

    return make


@pytest.mark.slow
async def test_a_reload_adds_the_plugins_that_were_installed_since_the_start(tmp_path, session):
    root = user_root(tmp_path / "agent")
    installed(root, "a1", late_tides="1.0")
    async with session() as running:
        installed(root, "b2", late_tides="1.0", late_moon="2.0")

        await running.reload()

        assert running.host.is_loaded("late_tides")
        assert running.host.is_loaded("late_moon")


async def test_the_first_package_joins_at_a_reload(tmp_path, session):
    async with session() as running:
        installed(user_root(tmp_path / "agent"), "a1", late_ebb="1.0")
        assert not running.host.has("late_ebb")

        await running.reload()

        assert running.host.is_loaded("late_ebb")


async def test_a_changed_version_waits_for_the_next_start(tmp_path, session):
    root = user_root(tmp_path / "agent")
    installed(root, "a1", late_flow="1.0")
    async with session() as running:
        installed(root, "b2", late_flow="2.0", late_surf="1.0")

        await running.reload()

        assert running.host.records["late_flow"].version == "1.0"
        assert not running.host.has("late_surf")


async def test_what_the_settings_deny_does_not_join(tmp_path, session):
    async with session(**{"packages.deny": ["late*"]}) as running:
        installed(user_root(tmp_path / "agent"), "a1", late_reef="1.0")

        await running.reload()

        assert not running.host.is_loaded("late_reef")
