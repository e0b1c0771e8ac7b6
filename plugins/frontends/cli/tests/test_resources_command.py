"""``pi resources``: what was found, whose it is, and what it hides."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow

THEME = '{"name": "sea", "colors": {"accent": "#00f"}}'

THEMED = """
from pi_hookspecs import ResourcesDiscoverResult, Theme, hookimpl

@hookimpl
def register_themes():
    return [Theme(name="night", colors={})]

@hookimpl
def resources_discover(event, ctx):
    return ResourcesDiscoverResult(theme_paths=[event.cwd + "/brought"])
"""


@pytest.fixture
def pi(pi):
    """pi without its screen, which brings themes of its own."""
    (pi.agent_dir / "settings.json").write_text('{"plugins": {"disabled": ["tui"]}}')
    return pi


def theme(folder, name="sea.json"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(THEME)
    return folder / name


def test_each_resource_shows_its_owner_and_what_it_hides(pi):
    used, hidden = theme(pi.cwd / ".pi" / "themes"), theme(pi.agent_dir / "themes")
    (pi.cwd / "AGENTS.md").write_text("x")

    done = pi.run("resources", "--approve")

    assert f"Context files (1)\n  project  {pi.cwd}/AGENTS.md\n" in done.stdout
    assert f"Themes (1)\n  sea  project  {used}\n      hides user {hidden}\n" in done.stdout
    assert f"theme 'sea' is already defined in {used}, which is used" in done.stderr


def test_nothing_of_an_untrusted_project_is_listed(pi):
    theme(pi.cwd / ".pi" / "themes")

    done = pi.run("resources", "theme")

    assert done.stdout == "There are no resources here.\n"
    assert ".pi" in done.stderr


def test_plugins_bring_themes_and_name_paths(pi):
    pi.install("night", THEMED)
    brought = theme(pi.cwd / "brought")

    lines = pi.run("resources", "theme").stdout.splitlines()

    assert lines == ["Themes (2)", f"  sea    user, plugin night  {brought}", "  night  user, plugin night"]


def test_options_and_kinds_narrow_the_list(pi):
    given = theme(pi.cwd, "given.json")
    theme(pi.agent_dir / "themes")
    (pi.cwd / "AGENTS.md").write_text("x")

    done = pi.run("resources", "theme", "--no-themes", "--theme", "given.json")

    assert done.stdout == f"Themes (1)\n  sea  this run, command line  {given}\n"


def test_json_has_everything(pi):
    used, hidden = theme(pi.cwd), theme(pi.agent_dir / "themes")

    [row] = json.loads(pi.run("resources", "theme", "--theme", str(used), "--json").stdout)

    [shadowed] = row.pop("shadows")
    assert shadowed["path"] == str(hidden)
    assert row == {
        "kind": "theme",
        "name": "sea",
        "description": "",
        "path": str(used),
        "scope": "temporary",
        "source": "cli",
        "origin": "top-level",
        "baseDir": str(pi.cwd),
    }


def test_an_unknown_kind_is_reported_with_the_nearest(pi):
    done = pi.run("resources", "themes")

    assert done.returncode == 1
    assert "Error: Unknown kind of resource: themes. Did you mean theme?" in done.stderr
