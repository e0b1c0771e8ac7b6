"""Folders as they are in the wild: ignore files, links in circles, files that nobody may read."""

from __future__ import annotations

import os

import pytest


@pytest.fixture
def root(world):
    return world.agent / "notes"


async def test_files_come_by_name_those_directly_in_the_folder_first(world, root):
    for path in ("z.md", "a.md", "b/NOTE.md", "a/NOTE.md", "a/deeper/NOTE.md", "a/other.md", "plain.txt"):
        world.write(root / path, path)

    assert await world.names() == ["a.md", "z.md", "a/NOTE.md", "a/deeper/NOTE.md", "b/NOTE.md"]


async def test_a_kind_that_is_not_recursive_stays_at_the_top(world, root):
    world.notes.how["recursive"] = False
    world.write(root / "a.md", "top")
    world.write(root / "a" / "NOTE.md", "inside")

    assert await world.names() == ["top"]


@pytest.mark.parametrize("ignore", [".gitignore", ".ignore", ".fdignore"])
async def test_ignore_files_are_honoured(world, root, ignore):
    for path in ("kept.md", "left.md", "drafts/NOTE.md", "kept/NOTE.md", "kept/not/NOTE.md"):
        world.write(root / path, path)
    world.write(root / ignore, "left.md\ndrafts/\n")
    world.write(root / "kept" / ignore, "/not\n")

    assert await world.names() == ["kept.md", "kept/NOTE.md"]


async def test_hidden_folders_and_node_modules_are_left_out(world, root):
    for path in (".hidden/NOTE.md", "node_modules/x/NOTE.md", ".hidden.md", "seen/NOTE.md"):
        world.write(root / path, path)

    assert await world.names() == ["seen/NOTE.md"]


async def test_links_that_lead_back_end_the_walk(world, root):
    world.write(root / "a" / "NOTE.md", "one")
    (root / "a" / "again").symlink_to(root)
    (root / "self").symlink_to(root / "self")

    assert await world.names() == ["one"]


async def test_a_file_behind_two_links_is_there_once(world, root):
    real = world.write(world.home / "real" / "NOTE.md", "one")
    (root / "x").mkdir(parents=True)
    (root / "y").mkdir()
    (root / "x" / "NOTE.md").symlink_to(real)
    (root / "y" / "NOTE.md").symlink_to(real)

    found = await world.loader().load("note")

    assert [each.path for each in found.resources] == [str(root / "x" / "NOTE.md")]
    assert (found.shadowed, found.problems) == ((), ())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_what_may_not_be_read_is_told_and_the_rest_works(world, root):
    world.write(root / "secret.md", "s").chmod(0)
    world.write(root / "closed" / "NOTE.md", "c").parent.chmod(0)
    world.write(root / "open.md", "open")

    found = await world.loader().load("note")

    (root / "closed").chmod(0o700)
    assert [each.name for each in found.resources] == ["open"]
    assert {each.path for each in found.problems} == {str(root / "secret.md"), str(root / "closed")}


async def test_broken_links_and_pipes_are_told_and_not_waited_for(world, root):
    root.mkdir()
    (root / "gone.md").symlink_to(root / "nowhere")
    os.mkfifo(root / "pipe.md")

    problems = [str(each) for each in (await world.loader().load("note")).problems]

    assert problems == [
        f"{root / 'gone.md'}: cannot be read: No such file or directory",
        f"{root / 'pipe.md'}: is no regular file",
    ]


async def test_a_large_file_is_refused_with_its_size(world, root):
    root.mkdir()
    with (root / "large.md").open("wb") as file:
        file.truncate(50 * 1_048_576)

    found = await world.loader().load("note")

    assert found.resources == ()
    assert [each.message for each in found.problems] == ["is 50 MB large and not read: the limit is 1 MB"]


async def test_an_ignore_file_that_cannot_be_used_ignores_nothing(world, root):
    world.write(root / "a.md", "a")
    world.write(root / ".gitignore", "!\n[z-a]\n")

    assert await world.names() == ["a"]
