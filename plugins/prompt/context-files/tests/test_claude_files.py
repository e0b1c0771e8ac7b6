"""Imports of CLAUDE.md, CLAUDE.local.md and rules: which files are read, in which order, and in whose project."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_context_files.discovery import context_files
from pi_core.resources.imports import named_imports
from pi_hookspecs import ResourceProblem, ResourceRequest


@pytest.fixture
def project(tmp_path):
    (tmp_path / "agent").mkdir()
    folder = tmp_path / "repo"
    (folder / ".git").mkdir(parents=True)
    return folder


def write(folder, **files):
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def found(project, *, trusted=True, cwd=None):
    """Return the files, relative to the project, and the names of those with a problem."""
    request = ResourceRequest(cwd=cwd or project, agent_dir=project.parent / "agent", project_trusted=trusted)
    files, problems = [], []
    for each in context_files(request):
        path = each.path.removeprefix(f"{project}/").removeprefix(f"{project.parent}/")
        (problems if isinstance(each, ResourceProblem) else files).append(path)
    return [path for path in files if not path.startswith("/")], problems


def test_imports_follow_their_file_each_once_and_from_its_folder(project):
    write(
        project,
        **{
            "CLAUDE.md": "See @docs/style.md and @docs/missing.md, write to a@b.md. @CLAUDE.md",
            "docs/style.md": "@more.md @../CLAUDE.md",
            "docs/more.md": "@style.md",
            "CLAUDE.local.md": "@docs/mine.md @docs/style.md",
            "docs/mine.md": "x",
        },
    )

    files, _ = found(project)

    assert files == ["CLAUDE.md", "docs/style.md", "docs/more.md", "CLAUDE.local.md", "docs/mine.md"]


def test_imports_are_not_read_in_code_in_comments_and_in_agents_md(project):
    write(
        project,
        **{
            "CLAUDE.md": "`@a.md`\n```\n@a.md\n```\n<!-- @a.md -->\n~~~\n@a.md",
            "sub/AGENTS.md": "@../a.md",
            "a.md": "x",
        },
    )

    assert found(project, cwd=project / "sub")[0] == ["CLAUDE.md", "sub/AGENTS.md"]


def test_five_levels_are_followed(project):
    write(project, **{"CLAUDE.md": "@1.md", **{f"{number}.md": f"@{number + 1}.md" for number in range(1, 9)}})

    assert found(project)[0] == ["CLAUDE.md", "1.md", "2.md", "3.md", "4.md", "5.md"]


def test_rules_are_read_but_those_for_certain_paths(project):
    write(
        project,
        **{
            "AGENTS.md": "x",
            ".claude/rules/all.md": "x",
            ".claude/rules/deep/more.md": "---\ntitle: x\n---\npaths: none\n",
            ".claude/rules/ts.md": "---\npaths:\n  - src/**/*.ts\n---\nx",
        },
    )

    assert found(project)[0] == ["AGENTS.md", ".claude/rules/all.md", ".claude/rules/deep/more.md"]


def test_an_untrusted_project_imports_only_its_own_texts(project):
    outside = project.parent / "secret.md"
    outside.write_text("key")
    escaped = str(outside).replace(" ", "\\ ")
    write(
        project,
        **{
            "CLAUDE.md": f"@ok.md @.env @{escaped} @../secret.md",
            "CLAUDE.local.md": "@link.md",
            "ok.md": "x",
            ".env": "KEY=1",
        },
    )
    other = project.parent / "other.md"
    other.write_text("key")
    (project / "link.md").symlink_to(other)

    untrusted, problems = found(project, trusted=False)
    trusted, _ = found(project)

    assert untrusted == ["CLAUDE.md", "ok.md", "CLAUDE.local.md"]
    assert problems == [".env", "secret.md", "link.md"]
    assert trusted == ["CLAUDE.md", "ok.md", ".env", "secret.md", "CLAUDE.local.md", "link.md"]


@pytest.mark.hypothesis
@given(st.text(alphabet="@`~<!->\n a./", max_size=200))
def test_any_text_has_imports_without_blanks(text):
    assert all(name.strip() == name or "\\ " in text for name in named_imports(text))


def test_hostile_texts_are_searched_in_linear_time():
    for part in ("`", "``` ", "<!--", "@" * 50 + " ", "~~~\n```\n", "`" * 9 + "x", "@a\\ "):
        list(named_imports("@ " + part * (200_000 // len(part))))
