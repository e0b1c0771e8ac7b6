"""Build the documentation site: ``uv run --group docs python tools/build_site.py``.

The pages are those of ``docs/``, the README, CONTRIBUTING, the examples, and every page that one of these links to, in
the folders that they have in the repository; so the links of the repository work on the site. A link to something
that is not a page, such as a folder of code, becomes plain text, or a link to ``--repository URL``. The API pages are
made here from the docstrings. ``docs/README.md`` is also the navigation: a section for each heading, with those of
the third level inside of those of the second, and an entry for each page that it links to first in a line. What the
index says of a page becomes its description. Links to edit a page lead to the project's address, where there is one.
The site is in ``build/site``; a link that leads nowhere fails the build, and so does a question of
``site_questions.py`` that the site's search does not answer.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from project_addresses import BRANCH, addresses
from site_questions import check

from pi_help.pages import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
PAGES = BUILD / "pages"
INDEX = ROOT / "docs" / "README.md"
THEME = ROOT / "tools" / "site_theme"
HOME_TITLE = "A coding agent made of plugins"
MARKDOWN = """\
  - llmstxt:
      sections:
        Documentation: ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "plugins/*.md"]
"""
"""Makes llms.txt and each page's Markdown, which the button to copy a page needs; it wants the site's address."""

START = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md", "examples/README.md", "examples/*/README.md")

API = {
    "pi_core": "Run agents in a program: sessions, answers, settings.",
    "pi_hookspecs": "What plugins implement, get and return.",
    "pi_testing": "Test plugins: scripted models, fixtures, contract suites.",
    "pi_provider_kit": "What providers share: requests, streams, errors.",
    "pi_client": "Talk to a running pi over RPC.",
    "pi_process_kit": "Start programs that end with pi.",
}
"""The packages that others import, each with one line."""

HOOKS = {
    "The plugin itself": "activate ctx register_settings register_services",
    "Models and keys": "register_providers register_models register_credentials register_logins",
    "Tools and commands": "register_tools register_commands register_shortcuts register_subcommands register_flags",
    "Front ends": "register_modes register_renderers register_themes ui_prompt_start ui_prompt_end complete_mention",
    "Files": """
        register_session_stores register_exporters register_resource_kinds register_project_files resources_discover
    """,
    "Sessions": {
        "Beginning and end": "project_trust session_start session_shutdown session_switch mcp_servers_change",
        "Before a change": """
            session_before_append session_before_compact session_before_fork session_before_switch session_before_tree
        """,
        "After a change": "session_compact session_compact_failed session_fork session_tree",
        "Child sessions": "child_session_start child_session_update child_session_end",
    },
    "A prompt, its requests and tool calls": {
        "From text to prompt": "input expand_prompt commands_discover system_prompt before_agent_start",
        "The run": """
            agent_start turn_start turn_end agent_end agent_before_settle agent_settled model_select
            thinking_level_select
        """,
        "Messages": "message_start message_update message_end",
        "Requests": """
            context before_model_request before_provider_request after_provider_response
            provider_stream_event model_usage
            cache_warming_decision
        """,
        "Tool calls": """
            tool_call tool_execution_start tool_execution_update tool_result tool_execution_end register_permissions
        """,
        "Programs": "user_bash child_environment",
    },
}
"""The pages of hooks, by what a reader wants; each in one section."""

REFERENCE = {
    "Formats": "messages session-files events",
    "Behaviour": "loop sendable failures misbehaviour tools rpc",
    "Compatibility": """
        compatibility original-pages catalogue typescript-examples typescript-members typescript-packages
        contract-1.1
    """,
}
"""The pages of the reference; each in one section."""

_LINK = re.compile(r"(?P<text>!?\[(?:[^\[\]]|\[[^\[\]]*\])*\])\((?P<target>(?!https?:|mailto:|#)[^)\s]+)\)")
_ENTRY = re.compile(r"- \[(?P<title>[^\]]*)\]\((?P<target>[^)#\s]+)\): (?P<text>.*)")
_CODE = re.compile(r"`[^`]+`")


def main() -> int:
    """Build the site; return the exit code of its builder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", help="address under which the files of the repository can be read")
    parser.add_argument("--pages-only", action="store_true", help=f"write {PAGES.relative_to(ROOT)}, and build nothing")
    options = parser.parse_args()
    write_pages(options.repository)
    if options.pages_only:
        return 0
    command = ["zensical", "build", "--strict", "--clean", "-f", "mkdocs.yml"]
    return subprocess.run(command, cwd=BUILD, check=False).returncode or check(BUILD / "site")


def write_pages(repository: str | None) -> None:
    """Write all pages into the folder that the builder reads.

    Args:
        repository: The address of the repository's files; None for that of the project, if it has one.
    """
    project = addresses(ROOT).get("repository")
    if repository is None and project is not None:
        repository = f"{project}/blob/{BRANCH}"
    shutil.rmtree(PAGES, ignore_errors=True)
    files, texts = reachable(), _descriptions()
    if dead := sorted(_dead_links(files)):
        raise SystemExit("Links that lead nowhere:\n" + "\n".join(dead))
    for file in files:
        copy = PAGES / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            page = _with_links(file, files, repository)
            copy.write_text(_head(file, texts.get(file), page) + page, encoding="utf-8")
        else:
            shutil.copyfile(file, copy)
    folder = PAGES / "api"
    folder.mkdir()
    for package, purpose in API.items():
        head = f"---\ndescription: {json.dumps(purpose)}\n---\n"
        (folder / f"{package}.md").write_text(f"{head}# {package}\n\n{purpose}\n\n::: {package}\n", encoding="utf-8")
    shutil.copytree(THEME, BUILD / "theme", dirs_exist_ok=True)
    shutil.copyfile(THEME / "extra.css", PAGES / "extra.css")
    settings = with_addresses((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), addresses(ROOT))
    (BUILD / "mkdocs.yml").write_text(settings + "nav:\n" + "".join(_navigation()), encoding="utf-8")


def with_addresses(settings: str, found: dict[str, str]) -> str:
    """Return the builder's settings with what needs an address: links to edit a page, and pages as Markdown to copy."""
    if "repository" in found:
        settings += f"repo_url: {found['repository']}\nedit_uri: edit/{BRANCH}/\n"
    if "documentation" in found:
        settings += f"site_url: {found['documentation']}/\n"
        settings = settings.replace("plugins:\n", f"plugins:\n{MARKDOWN}", 1)
    return settings


def _descriptions() -> dict[Path, str]:
    """Return what the index says of its pages."""
    lines = INDEX.read_text(encoding="utf-8").splitlines()
    found = [match for line in lines if (match := _ENTRY.match(line)) is not None]
    return {page: match["text"] for match in found if (page := _file(INDEX, match["target"])) is not None}


def _head(page: Path, description: str | None, text: str) -> str:
    """Return the metadata of a page: its description, and the title of the first one."""
    if description is None:
        description = _first_sentence(text)
    title = f"title: {json.dumps(HOME_TITLE)}\n" if page == ROOT / "README.md" else ""
    return f"---\n{title}description: {json.dumps(_plain(description), ensure_ascii=False)}\n---\n"


def _first_sentence(text: str) -> str:
    """Return the first sentence of a page, without its heading."""
    paragraph: list[str] = []
    for line, is_code in lines_of(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)):
        is_text = not is_code and bool(line.strip()) and not line.startswith(("#", "|", "-", "!", ">", "<"))
        if is_text:
            paragraph.append(line.strip())
        elif paragraph:
            break
    return re.split(r"(?<=\.)\s", " ".join(paragraph), maxsplit=1)[0].rstrip(":")


def _plain(text: str) -> str:
    """Return Markdown of one line as plain text."""
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "").replace("**", "")


def _navigation() -> Iterator[str]:
    """Yield the lines of the navigation."""
    yield "  - Home: README.md\n"
    depth = 0
    for line in INDEX.read_text(encoding="utf-8").splitlines():
        heading = re.match(r"(?P<marks>##+) (?P<title>.+)", line)
        if heading is not None:
            if depth and line == "## The project":  # after the reference
                yield from _api(4)
            depth = 2 * (len(heading["marks"]) - 1)
            yield f"{' ' * depth}- {heading['title']}:\n"
        elif (match := _ENTRY.match(line)) is not None:
            yield from _entry(match["title"], match["target"], depth + 2)


def _api(indent: int) -> Iterator[str]:
    yield f"{' ' * indent}- Python packages:\n"
    yield from (f"{' ' * (indent + 2)}- {package}: api/{package}.md\n" for package in API)


def _entry(title: str, target: str, indent: int) -> Iterator[str]:
    """Yield the lines of one entry of the index; the index of a folder becomes a section with its pages."""
    page, blank = _file(INDEX, target), " " * indent
    if page is None or page.suffix != ".md":
        raise SystemExit(f"docs/README.md: {target!r} is not a page")
    if page.name != "README.md" or not page.is_relative_to(INDEX.parent):
        yield f"{blank}- {title}: {page.relative_to(ROOT)}\n"
        return
    yield f"{blank}- {title}:\n{blank}  - Overview: {page.relative_to(ROOT)}\n"
    groups: dict[str, dict[str, Any]] = {"hooks": HOOKS, "reference": REFERENCE}
    yield from _grouped(groups[page.parent.name], page.parent, indent + 2)


def _grouped(groups: dict[str, Any], folder: Path, indent: int) -> Iterator[str]:
    """Yield sections of the pages of a folder."""
    for title, names in groups.items():
        yield f"{' ' * indent}- {title}:\n"
        if isinstance(names, dict):
            yield from _grouped(names, folder, indent + 2)
        else:
            for name in names.split():
                shown = f"{name}: " if folder.name == "hooks" else ""
                yield f"{' ' * (indent + 2)}- {shown}{(folder / name).relative_to(ROOT)}.md\n"


def reachable() -> set[Path]:
    """Return the pages, with those that they link to, and the images and tables that they show."""
    found: set[Path] = set()
    waiting = [file for pattern in START for file in ROOT.glob(pattern)]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        if file.suffix == ".md":
            waiting += [each for target in _targets(file) if (each := _file(file, target)) is not None]
    return found


def _dead_links(files: set[Path]) -> Iterator[str]:
    """Yield the links to files that do not exist, with their pages; the builder takes them for links to code."""
    for page in files:
        if page.suffix == ".md":
            for target in _targets(page):
                path = target.partition("#")[0]
                if path and not (page.parent / path).exists():
                    yield f"{page.relative_to(ROOT)}: {target}"


def _targets(page: Path) -> Iterator[str]:
    for line, is_code in lines_of(page.read_text(encoding="utf-8")):
        if not is_code:
            yield from (match["target"] for match in _LINK.finditer(_CODE.sub("", line)))


def _file(page: Path, target: str) -> Path | None:
    """Return the file of the site that a link leads to; None where it leads to code, or to no file."""
    file = (page.parent / target.partition("#")[0]).resolve()
    if file.is_dir():
        file /= "README.md"
    return file if file.is_file() and file.suffix in (".md", ".svg", ".png", ".json") else None


def _with_links(page: Path, files: set[Path], repository: str | None) -> str:
    """Return a page whose links lead to pages of the site."""

    def rewritten(match: re.Match[str]) -> str:
        text, target = match["text"], match["target"]
        path, _, anchor = target.partition("#")
        file = _file(page, target)
        if file is None or file not in files:
            if repository is None:
                return text.removeprefix("[").removesuffix("]")
            return f"{text}({repository.rstrip('/')}/{(page.parent / path).resolve().relative_to(ROOT)})"
        return f"{text}({os.path.relpath(file, page.parent)}{'#' * bool(anchor)}{anchor})"

    lines = lines_of(page.read_text(encoding="utf-8"))
    return "".join(line if is_code else _LINK.sub(rewritten, _with_bars(line)) for line, is_code in lines)


def _with_bars(line: str) -> str:
    """Return a row of a table whose code has bars as the site's Markdown takes them: without a backslash."""
    return _CODE.sub(lambda match: match[0].replace(r"\|", "|"), line) if line.startswith("|") else line


if __name__ == "__main__":
    sys.exit(main())
