"""The places that are searched, their order, and that nothing of a project is used before it is trusted."""

from __future__ import annotations

import json

import pytest


def everywhere(world):
    """Write a note in each place; each says where it lies."""
    world.write(world.agent / "notes" / "a.md", "agent dir")
    world.write(world.home / ".agents" / "notes" / "a.md", "home")
    world.write(world.project / ".pi" / "notes" / "a.md", "project")
    world.write(world.project / ".agents" / "notes" / "a.md", "project, shared")
    world.write(world.project.parent / ".agents" / "notes" / "a.md", "above, shared")


async def test_the_project_comes_before_the_user(world):
    everywhere(world)

    assert await world.names(trusted=True) == ["project", "project, shared", "above, shared", "agent dir", "home"]


async def test_an_untrusted_project_is_not_searched(world):
    everywhere(world)
    (world.project / ".pi" / "settings.json").write_text('{"notes": ["elsewhere"]}')

    found = await world.loader(trusted=False).load("note")

    assert [each.name for each in found.resources] == ["agent dir", "home"]
    assert found.problems == ()


async def test_shared_folders_are_looked_for_up_to_the_repository(world):
    everywhere(world)
    (world.project / ".git").mkdir()

    assert "above, shared" not in await world.names(trusted=True)


async def test_the_users_own_shared_folder_is_never_a_projects(world):
    everywhere(world)

    found = await world.loader(trusted=True).load("note")

    assert {each.name: each.scope for each in found.resources}["home"] == "user"


async def test_explicit_paths_come_first(world):
    everywhere(world)
    one = world.write(world.home / "elsewhere" / "one.txt", "one")
    world.write(world.home / "folder" / "two.md", "two")

    loader = world.loader(additional_skill_paths=())
    loader._explicit_paths["note"] = [(str(one), "cli"), ("../../folder", "sdk")]
    found = await loader.load("note")

    messages = [(each.name, each.scope, each.source) for each in found.resources]
    assert messages == [
        ("one", "temporary", "cli"),
        ("two", "temporary", "sdk"),
        ("agent dir", "user", "auto"),
        ("home", "user", "auto"),
    ]


@pytest.mark.parametrize(
    ("source", "who"), [("cli", "the command line"), ("sdk", "the program"), ("settings", "a settings file")]
)
async def test_a_named_path_that_does_not_exist_is_a_problem(world, source, who):
    loader = world.loader()
    if source == "settings":
        (world.agent / "settings.json").write_text('{"notes": ["gone"]}')
        loader = world.loader()
    else:
        loader._explicit_paths["note"] = [(str(world.agent / "gone"), source)]

    problems = (await loader.load("note")).problems

    assert [str(each) for each in problems] == [f"{world.agent / 'gone'}: does not exist, though {who} names it"]


async def test_paths_of_plugins_come_last_and_carry_their_name(world):
    everywhere(world)
    world.write(world.home / "brought" / "b.md", "brought")
    loader = world.loader()
    loader.extend("note", [str(world.home / "brought")], "bringer")

    found = await loader.load("note")

    last = found.resources[-1]
    assert (last.name, last.source, last.origin, last.scope) == ("brought", "plugin:bringer", "package", "user")


async def test_each_settings_file_applies_to_its_own_scope(world):
    world.write(world.home / "mine" / "m.md", "mine")
    world.write(world.project / ".pi" / "ours" / "o.md", "ours")
    (world.agent / "settings.json").write_text(json.dumps({"notes": ["~/mine"]}))
    (world.project / ".pi" / "settings.json").write_text(json.dumps({"notes": ["ours"]}))

    found = await world.loader(trusted=True).load("note")

    assert [(each.name, each.scope, each.source) for each in found.resources] == [
        ("ours", "project", "settings"),
        ("mine", "user", "settings"),
    ]
