"""Walking folders with ignore files, cycles of links and unreadable files."""

from __future__ import annotations

import os

import pytest

from pi_core.resources import walking


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


async def test_a_cycle_of_links_ends(world, root):
    world.write(root / "a" / "NOTE.md", "one")
    (root / "a" / "again").symlink_to(root)
    (root / "self").symlink_to(root / "self")

    assert await world.names() == ["one"]


async def test_a_file_behind_two_links_is_loaded_once(world, root):
    real = world.write(world.home / "real" / "NOTE.md", "one")
    (root / "x").mkdir(parents=True)
    (root / "y").mkdir()
    (root / "x" / "NOTE.md").symlink_to(real)
    (root / "y" / "NOTE.md").symlink_to(real)

    found = await world.loader().load("note")

    assert [each.path for each in found.resources] == [str(root / "x" / "NOTE.md")]
    assert (found.shadowed, found.problems) == ((), ())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_an_unreadable_folder_is_reported_and_the_rest_works(world, root):
    world.write(root / "secret.md", "s").chmod(0)
    world.write(root / "closed" / "NOTE.md", "c").parent.chmod(0)
    world.write(root / "open.md", "open")

    found = await world.loader().load("note")

    (root / "closed").chmod(0o700)
    assert [each.name for each in found.resources] == ["open"]
    assert {each.path for each in found.problems} == {str(root / "secret.md"), str(root / "closed")}


async def test_broken_links_and_pipes_are_reported_without_blocking(world, root):
    root.mkdir()
    (root / "gone.md").symlink_to(root / "nowhere")
    os.mkfifo(root / "pipe.md")

    problems = [str(each) for each in (await world.loader().load("note")).problems]

    assert problems == [
        f"{root / 'gone.md'}: cannot be read: No such file or directory",
        f"{root / 'pipe.md'}: is not a regular file",
    ]


async def test_a_large_file_is_refused_with_its_size(world, root):
    root.mkdir()
    with (root / "large.md").open("wb") as file:
        file.truncate(50 * 1_048_576)

    found = await world.loader().load("note")

    assert found.resources == ()
    assert [each.message for each in found.problems] == ["is not read: its size is 50 MB, the limit is 1 MB"]


async def test_an_ignore_file_that_cannot_be_used_ignores_nothing(world, root):
    world.write(root / "a.md", "a")
    world.write(root / ".gitignore", "!\n[z-a]\n")

    assert await world.names() == ["a"]


@pytest.fixture
def narrow(monkeypatch):
    """Room for 20 entries below each folder in the root, for 50 in all."""
    monkeypatch.setattr(walking, "MAX_PER_FOLDER", 20)
    monkeypatch.setattr(walking, "MAX_TOTAL", 50)


def fill(folder, number):
    """Make a folder in which files lie in folders, ten in each."""
    for each in range(number):
        (folder / f"d{each // 10}").mkdir(parents=True, exist_ok=True)
        (folder / f"d{each // 10}" / f"{each}.txt").touch()


async def test_a_folder_that_holds_too_much_is_named_and_the_others_are_read(world, root, narrow):
    fill(world.home / "everything", 40)
    root.mkdir()
    (root / "a-link").symlink_to(world.home / "everything")
    world.write(root / "b" / "NOTE.md", "b")
    world.write(root / "c.md", "c")

    found = await world.loader().load("note")

    assert [each.name for each in found.resources] == ["c", "b"]
    assert [each.path for each in found.problems] == [str(root / "a-link")]
    assert "contains more than 20 files and folders; the rest is ignored" in found.problems[0].message


async def test_the_total_number_of_entries_is_limited(world, root, narrow):
    for name in "abcdef":
        fill(root / name, 12)

    problems = (await world.loader().load("note")).problems

    assert [each.path for each in problems] == [str(root)]
    assert "contains more than 50 files" in problems[0].message


async def test_one_folder_with_endless_entries_is_not_read_to_its_end(world, root, narrow):
    (root / "a").mkdir(parents=True)
    for each in range(100):
        (root / "a" / f"{each}.md").touch()
    world.write(root / "b" / "NOTE.md", "b")

    found = await world.loader().load("note")

    assert [each.name for each in found.resources] == ["b"]
    assert [each.path for each in found.problems] == [str(root / "a")]


async def test_the_depth_of_folders_is_limited(world, root):
    deep = root / "a" / "/".join(["x"] * walking.MAX_DEPTH)
    world.write(deep / "NOTE.md", "too deep")
    world.write(deep.parent / "NOTE.md", "deep")

    found = await world.loader().load("note")

    assert [each.name for each in found.resources] == ["deep"]
    assert [each.path for each in found.problems] == [str(root / "a")]
