"""One loader in one session: unchanged sets, name collisions, overrides, failing kinds, reloading."""

from __future__ import annotations

import os

import pytest
from attrs import evolve

from pi_core import DefaultResourceLoader
from pi_hookspecs import ResourceContent, ResourceFile, ResourceKind, ResourceLoader, ResourceProblem, hookimpl


def kind(**how):
    class Plugin:
        @hookimpl
        def register_resource_kinds(self):
            return [ResourceKind("note", **how)]

    return Plugin()


def test_it_is_a_resource_loader(world):
    assert isinstance(world.loader(), ResourceLoader)


async def test_nothing_anywhere_is_an_empty_set(world):
    found = await world.loader().load("note")

    assert (found.resources, found.shadowed, found.problems) == ((), (), ())


async def test_an_unknown_kind_is_empty(world):
    assert (await world.loader().load("no such kind")).resources == ()


async def test_kinds_are_those_of_plugins_and_the_themes(world):
    assert world.loader().kinds() == ["note", "theme"]


async def test_the_first_resource_of_a_name_wins_and_the_other_is_reported(world):
    first = world.write(world.project / ".pi" / "notes" / "a.md", "same")
    second = world.write(world.agent / "notes" / "a.md", "same")

    found = await world.loader(trusted=True).load("note")

    assert found.get("same").path == str(first)
    assert [(each.resource.path, each.by.path) for each in found.shadowed] == [(str(second), str(first))]
    assert [str(each) for each in found.problems] == [
        f"{second}: note 'same' is already defined in {first}, which is used"
    ]


async def test_kinds_with_overrides_report_no_shadowed_resources(world):
    world.notes.how["overrides"] = True
    world.write(world.project / ".pi" / "notes" / "a.md", "same")
    world.write(world.agent / "notes" / "a.md", "same")

    found = await world.loader(trusted=True).load("note")

    assert (len(found.shadowed), found.problems) == (1, ())


async def test_kinds_may_have_several_of_one_name(world):
    world.notes.how["unique"] = False
    world.write(world.agent / "notes" / "a.md", "same")
    world.write(world.agent / "notes" / "b.md", "same")

    assert await world.names() == ["same", "same"]


async def test_the_set_is_the_same_while_nothing_changes(world):
    world.write(world.agent / "notes" / "a.md", "a")
    world.write(world.agent / "notes" / "broken.md", "!")
    loader = world.loader()

    first = await loader.load("note")
    second = await loader.load("note")

    assert first is second
    assert len(world.notes.read) == 2


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda folder: (folder / "b.md").write_text("b"), id="a new file"),
        pytest.param(lambda folder: (folder / "a.md").unlink(), id="one less"),
        pytest.param(lambda folder: (folder / "a.md").write_text("another name"), id="another size"),
        pytest.param(lambda folder: os.utime(folder / "a.md", ns=(1, 1)), id="another time"),
    ],
)
async def test_only_a_changed_file_is_read_again(world, change):
    folder = world.write(world.agent / "notes" / "a.md", "a").parent
    world.write(folder / "same.md", "same")
    loader = world.loader()
    first = await loader.load("note")
    world.notes.read.clear()
    change(folder)

    second = await loader.load("note")

    assert second is not first
    assert str(folder / "same.md") not in world.notes.read


async def test_deleted_resources_are_removed(world):
    file = world.write(world.agent / "notes" / "a.md", "a")
    loader = world.loader()
    await loader.load("note")
    file.unlink()
    file.parent.rmdir()

    assert (await loader.load("note")).resources == ()


async def test_a_problem_is_reported_once(world):
    world.write(world.agent / "notes" / "bad.md", "!")
    reported = []
    loader = world.loader()
    loader.on_problem = reported.append

    await loader.load("note")
    world.write(world.agent / "notes" / "more.md", "more")
    found = await loader.load("note")

    assert [str(each) for each in reported] == [
        f"{world.agent}/notes/bad.md: kind 'note' could not read it: ValueError: no note"
    ]
    assert found.get("more") is not None


async def test_reload_reads_again_and_forgets_paths_of_plugins(world):
    world.write(world.agent / "notes" / "a.md", "a")
    world.write(world.home / "brought" / "b.md", "b")
    loader = world.loader()
    loader.extend("note", [str(world.home / "brought")], "bringer")
    before = [each.name for each in (await loader.load("note")).resources]

    await loader.reload()

    assert before == ["a", "b"]
    assert [each.name for each in (await loader.load("note")).resources] == ["a"]


async def test_an_override_decides_and_is_asked_when_something_changed(world):
    asked = []

    def override(found):
        asked.append(found)
        return evolve(found, resources=found.resources[:1])

    loader = world.loader(skills_override=override)
    loader._overrides["note"] = override
    for name in "ab":
        world.write(world.agent / "notes" / f"{name}.md", name)

    first, second = await loader.load("note"), await loader.load("note")

    assert [each.name for each in first.resources] == ["a"]
    assert first is second
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("option", "name", "kept"),
    [
        ("no_skills", "skill", ["given"]),
        ("no_prompt_templates", "prompt", ["given"]),
        ("no_themes", "theme", ["given"]),
        ("no_context_files", "context", []),
    ],
)
async def test_a_switch_leaves_only_explicit_paths(world, option, name, kept):
    class Kinds:
        @hookimpl
        def register_resource_kinds(self):
            def read(file, text):
                return ResourceContent(name=text)

            def find(request):
                return [ResourceFile(path=str(request.agent_dir / "AGENTS.md"), scope="user", source="a", base_dir="")]

            return [
                ResourceKind("skill", read=read, folder="skills"),
                ResourceKind("prompt", read=read, folder="prompts"),
                ResourceKind("theme", read=read, folder="themes"),
                ResourceKind("context", read=read, find=find),
            ]

    world.notes = Kinds()
    world.write(world.agent / f"{name}s" / "found.md", "found")
    world.write(world.agent / "AGENTS.md", "found")
    given = str(world.write(world.home / "given.md", "given"))
    paths = {
        f"additional_{each}_paths": [given] for each in ("skill", "prompt_template", "theme") if each.startswith(name)
    }

    with_all = await world.loader(**paths).load(name)
    without = await world.loader(**paths, **{option: True}).load(name)

    assert [each.name for each in with_all.resources] == [*kept, "found"]
    assert [each.name for each in without.resources] == kept


@pytest.mark.parametrize(
    ("how", "message"),
    [
        pytest.param(
            {"read": lambda file, text: text, "folder": "notes"},
            "kind 'note' read it as 'a', which is not of type ResourceContent",
            id="no content",
        ),
        pytest.param(
            {"read": lambda file, text: 1 / 0, "folder": "notes"},
            "kind 'note' could not read it: ZeroDivisionError: division by zero",
            id="reading fails",
        ),
        pytest.param(
            {"read": str, "find": lambda request: 1 / 0},
            "kind 'note' could not look for its files: ZeroDivisionError: division by zero",
            id="looking fails",
        ),
        pytest.param(
            {"read": str, "find": lambda request: ["x"]},
            "kind 'note' found 'x', which is not of type ResourceFile",
            id="no file",
        ),
    ],
)
async def test_a_failing_kind_is_reported_by_name(world, how, message):
    world.notes = kind(**how)
    world.write(world.agent / "notes" / "a.md", "a")

    problems = (await world.loader().load("note")).problems

    assert [(each.message, each.level) for each in problems] == [(message, "error")]


async def test_a_problem_of_a_kind_keeps_its_line(world):
    def read(file, text):
        return ResourceContent(name=None, problems=[ResourceProblem(path=file.path, message="wrong", line=3)])

    world.notes = kind(read=read, folder="notes")
    file = world.write(world.agent / "notes" / "a.md", "a")

    assert [str(each) for each in (await world.loader().load("note")).problems] == [f"{file}:3: wrong"]


async def test_themes_are_read_without_any_plugin(world):
    world.write(world.agent / "themes" / "sea.json", '{"name": "ocean", "colors": {"accent": "#00f"}}')
    world.write(world.agent / "themes" / "plain.json", '{"colors": {}}')
    world.write(world.agent / "themes" / "broken.json", '{\n"colors": }')
    world.write(world.agent / "themes" / "list.json", "[]")

    found = await world.loader().load("theme")

    assert [each.name for each in found.resources] == ["plain", "ocean"]
    assert found.get("ocean").data["colors"] == {"accent": "#00f"}
    assert [str(each) for each in found.problems] == [
        f"{world.agent}/themes/broken.json:2: not valid JSON: Expecting value; the theme is left out",
        f'{world.agent}/themes/list.json: a theme must be an object with "colors"; it is left out',
    ]


async def test_a_loader_of_a_program_needs_nothing(world, monkeypatch):
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(world.agent))
    world.write(world.agent / "themes" / "sea.json", '{"colors": {}}')

    found = await DefaultResourceLoader(cwd=world.project).load("theme")

    assert [each.name for each in found.resources] == ["sea"]
