"""Filters in settings: paths and globs, ``!`` excludes, ``+`` includes anyway, ``-`` always excludes."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize(
    ("entries", "left"),
    [
        pytest.param(["!old*"], ["new", "skill"], id="a pattern on the file's name"),
        pytest.param(["!notes/old.md"], ["new", "skill"], id="a path below the settings file"),
        pytest.param(["!**/new.md"], ["old", "skill"], id="any folder"),
        pytest.param(["!*", "+notes/new.md"], ["new"], id="forced"),
        pytest.param(["!*", "+notes/new.md", "-notes/new.md"], [], id="banned in any case"),
        pytest.param(["-notes/deep"], ["new", "old"], id="by its folder"),
        pytest.param(["!deep"], ["new", "old"], id="a pattern on the folder's name"),
        pytest.param([" ", "!"], ["new", "old", "skill"], id="nothing said"),
        pytest.param([1, "!old.md"], ["new", "old", "skill"], id="no list of texts"),
    ],
)
async def test_entries_pick_among_what_is_found(world, entries, left):
    world.notes.how["accepts"] = lambda name, depth: name.endswith(".md")
    for name in ("new", "old"):
        world.write(world.agent / "notes" / f"{name}.md", name)
    world.write(world.agent / "notes" / "deep" / "SKILL.md", "skill")
    (world.agent / "settings.json").write_text(json.dumps({"notes": entries}))

    assert sorted(await world.names()) == left


async def test_exclusions_may_begin_at_home_or_at_the_folder_of_the_settings(world):
    for name in ("new", "old", "older"):
        world.write(world.agent / "notes" / f"{name}.md", name)
    at_home = f"!~/{world.agent.relative_to(world.home)}/notes/old.md"
    (world.agent / "settings.json").write_text(json.dumps({"notes": [at_home, "!./notes/older.md"]}))

    assert await world.names() == ["new"]


async def test_globs_add_what_they_match(world):
    for name in ("a", "b"):
        world.write(world.home / "team" / name / "notes" / "x.md", name)
    (world.agent / "settings.json").write_text(json.dumps({"notes": ["~/team/*/notes"]}))

    assert await world.names() == ["a", "b"]


async def test_the_users_patterns_do_not_reach_the_project(world):
    world.write(world.agent / "notes" / "a.md", "mine")
    world.write(world.project / ".pi" / "notes" / "a.md", "theirs")
    (world.agent / "settings.json").write_text(json.dumps({"notes": ["!a.md"]}))

    assert await world.names(trusted=True) == ["theirs"]
