"""Which AGENTS.md and CLAUDE.md count, and in which order."""

from __future__ import annotations

import os
import subprocess

import pytest

import pi_context_files
from pi_context_files.discovery import NAMES, context_files
from pi_core import DefaultResourceLoader, PluginHost, Settings
from pi_hookspecs import ResourceRequest


@pytest.fixture
def agent(tmp_path):
    (tmp_path / "agent").mkdir()
    return tmp_path / "agent"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "repo" / "package" / "deep"
    folder.mkdir(parents=True)
    return folder


def found(cwd, agent, root):
    request = ResourceRequest(cwd=cwd, agent_dir=agent, project_trusted=False)
    paths = [file.path for file in context_files(request)]
    return [os.path.relpath(path, root) for path in paths if path.startswith(str(root))]


async def load(cwd, agent, kind="context", *, trusted=False):
    settings = Settings.in_memory({}, agent_dir=agent, trust=trusted)
    host = PluginHost(settings, installed=False)
    host.add(pi_context_files, "context-files")
    return await DefaultResourceLoader(cwd=cwd, settings=settings, host=host).load(kind)


def test_the_agent_directory_comes_first_then_the_folders_from_the_outside_in(tmp_path, agent, project):
    for folder in (project, project.parent, project.parents[1], agent, tmp_path):
        (folder / "AGENTS.md").write_text("x")

    assert found(project, agent, tmp_path) == [
        "agent/AGENTS.md",
        "AGENTS.md",
        "repo/AGENTS.md",
        "repo/package/AGENTS.md",
        "repo/package/deep/AGENTS.md",
    ]


@pytest.mark.parametrize("number", range(len(NAMES)), ids=NAMES)
def test_one_file_of_each_folder_counts_the_first_by_name(tmp_path, agent, number):
    project = tmp_path / "p"
    project.mkdir()
    for name in NAMES[number:]:
        if not (project / name).exists():  # where case does not matter
            (project / name).write_text("x")

    assert [path.casefold() for path in found(project, agent, tmp_path)] == [f"p/{NAMES[number]}".casefold()]


def test_a_folder_of_that_name_is_no_file(tmp_path, agent, project):
    (project / "AGENTS.md").mkdir()
    (project / "CLAUDE.md").write_text("x")

    assert found(project, agent, tmp_path) == ["repo/package/deep/CLAUDE.md"]


def git(folder, *arguments):
    identity = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def worktree(tmp_path):
    """A linked worktree inside its own repository, as agents like to make them."""
    repository = tmp_path / "main"
    repository.mkdir()
    git(repository, "init", "-q")
    (repository / "AGENTS.md").write_text("rules")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "first")
    git(repository, "worktree", "add", "-q", ".trees/feature")
    return repository / ".trees" / "feature"


def test_a_nested_worktree_does_not_load_the_main_copy_twice(tmp_path, agent, worktree):
    (worktree / "sub").mkdir()
    (worktree.parent / "CLAUDE.md").write_text("between")

    assert found(worktree / "sub", agent, tmp_path) == ["main/.trees/CLAUDE.md", "main/.trees/feature/AGENTS.md"]


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_worktree_whose_file_is_a_link_to_the_main_one_uses_that(agent, worktree, trusted):
    (worktree / "AGENTS.md").unlink()
    (worktree / "AGENTS.md").symlink_to("../../AGENTS.md")
    loaded = await load(worktree, agent, trusted=trusted)

    assert [each.path for each in loaded.resources] == [str(worktree.parent.parent / "AGENTS.md")]
    assert loaded.problems == ()


async def test_a_worktree_whose_file_is_refused_uses_the_main_one(tmp_path, agent, worktree):
    (tmp_path / "keys").write_text("secret")
    (worktree / "AGENTS.md").unlink()
    (worktree / "AGENTS.md").symlink_to(tmp_path / "keys")
    loaded = await load(worktree, agent)

    assert [each.path for each in loaded.resources] == [str(worktree.parent.parent / "AGENTS.md")]
    assert [each.path for each in loaded.problems] == [str(worktree / "AGENTS.md")]


async def test_a_link_of_the_main_folder_out_of_it_is_not_used_through_a_worktree(tmp_path, agent, worktree):
    (tmp_path / "keys").write_text("secret")
    main = worktree.parent.parent
    for link, target in ((main, tmp_path / "keys"), (worktree, main / "AGENTS.md")):
        (link / "AGENTS.md").unlink()
        (link / "AGENTS.md").symlink_to(target)
    loaded = await load(worktree, agent)

    assert [each.path for each in loaded.resources] == []
    assert [each.path for each in loaded.problems] == [str(main / "AGENTS.md")]


def test_a_worktree_without_a_copy_of_its_own_uses_the_main_one(tmp_path, agent, worktree):
    (worktree / "AGENTS.md").unlink()

    assert found(worktree, agent, tmp_path) == ["main/AGENTS.md"]


@pytest.mark.parametrize("mark", ["gitdir: ../.git/modules/sub", "nonsense", "", "gitdir:"])
def test_other_git_files_change_nothing(tmp_path, agent, mark):
    (tmp_path / "main" / "sub").mkdir(parents=True)
    (tmp_path / "main" / ".git").mkdir()
    for folder in (tmp_path / "main", tmp_path / "main" / "sub"):
        (folder / "AGENTS.md").write_text("x")
    (tmp_path / "main" / "sub" / ".git").write_text(mark)

    assert found(tmp_path / "main" / "sub", agent, tmp_path) == ["main/AGENTS.md", "main/sub/AGENTS.md"]


async def test_a_link_out_of_a_project_counts_once_it_is_trusted(tmp_path, agent, project):
    (tmp_path / "keys").write_text("secret")
    (project / "AGENTS.md").symlink_to(tmp_path / "keys")

    untrusted, trusted = await load(project, agent), await load(project, agent, trusted=True)

    assert [each.path for each in untrusted.resources] == []
    expected = "is a link out of the project, which is not trusted; it is not used. Run pi trust to use it"
    assert [each.message for each in untrusted.problems] == [expected]
    assert [each.path for each in trusted.resources] == [str(project / "AGENTS.md")]


async def test_a_link_inside_the_repository_needs_no_trust(tmp_path, agent, project):
    (tmp_path / "repo" / ".git").mkdir()
    (tmp_path / "repo" / "AGENTS.md").write_text("rules")
    (project / "CLAUDE.md").symlink_to("../../AGENTS.md")

    assert (await load(project, agent)).problems == ()


async def test_a_file_that_is_no_text_is_refused(agent, project):
    (project / "AGENTS.md").write_bytes(b"\x7fELF\0\0")

    assert [each.message for each in (await load(project, agent)).problems] == [
        "is not used: it is not text, because it contains NUL characters"
    ]


async def test_a_file_that_is_too_large_is_refused_with_its_size(agent, project):
    with (project / "AGENTS.md").open("wb") as file:
        file.truncate(50 * 1_048_576)

    problems = (await load(project, agent)).problems

    expected = f"{project}/AGENTS.md: is not read: its size is 50 MB, the limit is 1 MB"
    assert [str(each) for each in problems] == [expected]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_an_unreadable_file_is_reported(agent, project):
    (project / "AGENTS.md").write_text("x")
    (project / "AGENTS.md").chmod(0)

    problems = (await load(project, agent)).problems

    assert [str(each) for each in problems] == [f"{project}/AGENTS.md: cannot be read: Permission denied"]


async def test_the_projects_system_prompt_hides_the_users_in_silence(agent, project):
    (project / ".pi").mkdir()
    for folder in (agent, project / ".pi"):
        (folder / "SYSTEM.md").write_text("x")

    system = await load(project, agent, "system", trusted=True)

    assert [each.path for each in system.resources] == [str(project / ".pi" / "SYSTEM.md")]
    assert [each.resource.path for each in system.shadowed] == [str(agent / "SYSTEM.md")]
    assert system.problems == ()


@pytest.mark.parametrize("kind", ["system", "append-system"])
async def test_an_untrusted_project_has_no_system_prompt(agent, project, kind):
    (project / ".pi").mkdir()
    for name in ("SYSTEM.md", "APPEND_SYSTEM.md"):
        (project / ".pi" / name).write_text("x")
        (agent / name).write_text("x")

    assert [each.scope for each in (await load(project, agent, kind)).resources] == ["user"]
    assert [each.scope for each in (await load(project, agent, kind, trusted=True)).resources] == ["project"]
