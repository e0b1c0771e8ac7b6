"""Where skills are found, through the loader that every session has."""

from __future__ import annotations

import pytest

import pi_skills
from pi_core import DefaultResourceLoader, Settings

pytestmark = pytest.mark.pi(plugins={"skills": pi_skills})


@pytest.fixture
def loader_of(tmp_path, pi_agent_dir, pi_host):
    def make(*, trust=True, **options):
        known = Settings.in_memory({}, agent_dir=pi_agent_dir, trust=trust)
        return DefaultResourceLoader(cwd=tmp_path, settings=known, host=pi_host, **options)

    return make


def put(folder, name, description="d"):
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"---\ndescription: {description}\n---\nDo it.\n")
    return file


def names(found):
    return [each.name for each in found.resources]


async def test_all_places_are_looked_at_the_projects_before_the_users(loader_of, tmp_path, pi_agent_dir, home):
    put(tmp_path / ".pi" / "skills" / "a", "SKILL.md")
    put(tmp_path / ".agents" / "skills" / "b", "SKILL.md")
    put(pi_agent_dir / "skills" / "c", "SKILL.md")
    put(home / ".agents" / "skills" / "d", "SKILL.md")
    given = put(tmp_path / "elsewhere", "e.md")

    found = await loader_of(additional_skill_paths=[str(given)]).load("skill")

    assert [(each.name, each.scope) for each in found.resources] == [
        ("e", "temporary"),
        ("a", "project"),
        ("b", "project"),
        ("c", "user"),
        ("d", "user"),
    ]


async def test_an_untrusted_project_has_no_skills(loader_of, tmp_path, pi_agent_dir):
    put(tmp_path / ".pi" / "skills" / "a", "SKILL.md")
    put(tmp_path / ".agents" / "skills" / "b", "SKILL.md")
    put(pi_agent_dir / "skills" / "c", "SKILL.md")

    assert names(await loader_of(trust=False).load("skill")) == ["c"]


async def test_without_skills_means_none_but_those_given(loader_of, tmp_path, pi_agent_dir):
    put(pi_agent_dir / "skills" / "c", "SKILL.md")
    given = put(tmp_path / "elsewhere" / "e", "SKILL.md")

    assert names(await loader_of(no_skills=True, additional_skill_paths=[str(given.parent)]).load("skill")) == ["e"]


async def test_the_three_forms_of_a_skill_are_found(loader_of, pi_agent_dir):
    folder = pi_agent_dir / "skills"
    put(folder, "direct.md")
    put(folder / "deep" / "deeper" / "review", "SKILL.md")
    put(folder / "deep", "deploy.skill.md")
    put(folder / "deep", "notes.md")
    put(folder / "node_modules" / "no", "SKILL.md")

    assert sorted(names(await loader_of().load("skill"))) == ["deploy", "direct", "review"]


async def test_ignore_files_are_honoured(loader_of, pi_agent_dir):
    put(pi_agent_dir / "skills" / "drafts" / "a", "SKILL.md")
    put(pi_agent_dir / "skills" / "b", "SKILL.md")
    (pi_agent_dir / "skills" / ".gitignore").write_text("drafts/\n")

    assert names(await loader_of().load("skill")) == ["b"]


async def test_links_are_followed_once(loader_of, pi_agent_dir):
    folder = pi_agent_dir / "skills"
    put(folder / "a", "SKILL.md")
    (folder / "again").symlink_to(folder / "a")
    (folder / "a" / "loop").symlink_to(folder)

    found = await loader_of().load("skill")

    assert names(found) == ["a"]
    assert found.problems == ()


async def test_the_first_of_a_name_wins_and_the_other_is_reported(loader_of, tmp_path, pi_agent_dir):
    first = put(tmp_path / ".pi" / "skills" / "review", "SKILL.md")
    second = put(pi_agent_dir / "skills" / "review", "SKILL.md")

    found = await loader_of().load("skill")

    assert [each.path for each in found.resources] == [str(first)]
    assert [each.path for each in found.problems] == [str(second)]
    assert str(first) in found.problems[0].message


async def test_one_bad_file_does_not_keep_the_others_away(loader_of, pi_agent_dir):
    folder = pi_agent_dir / "skills"
    put(folder / "good", "SKILL.md")
    put(folder / "broken", "SKILL.md").write_text("---\ndescription: Reads.\nname: [unclosed\n---\n")
    put(folder / "huge", "SKILL.md", description="d" * 1_100_000)
    (folder / "binary").mkdir()
    (folder / "binary" / "SKILL.md").write_bytes(b"\x00\xff\xfe")

    found = await loader_of().load("skill")

    assert names(found) == ["good"]
    assert len(found.problems) == 3
