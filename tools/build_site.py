"""Build the documentation site: ``uv run --group docs python tools/build_site.py``.

The pages are those of ``docs/``, the README, CONTRIBUTING, the examples, and every page that one of these links to, in
the folders that they have in the repository; so the links of the repository work on the site. A link to something
that is not a page, such as a folder of code, becomes plain text, or a link to ``--repository URL``. The API pages are
made here from the docstrings. ``docs/README.md`` is also the navigation: a section for each heading, an entry for
each page that it links to first in a line. The site is in ``build/site``; a link that leads nowhere fails the build.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
PAGES = BUILD / "pages"
INDEX = ROOT / "docs" / "README.md"

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

_LINK = re.compile(r"(?P<text>!?\[(?:[^\[\]]|\[[^\[\]]*\])*\])\((?P<target>(?!https?:|mailto:|#)[^)\s]+)\)")
_ENTRY = re.compile(r"- \[[^\]]*\]\((?P<target>[^)#\s]+)\)")
_CODE = re.compile(r"`[^`]+`")
_FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})")


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
    return subprocess.run(command, cwd=BUILD, check=False).returncode


def write_pages(repository: str | None) -> None:
    """Write all pages into the folder that the builder reads."""
    shutil.rmtree(PAGES, ignore_errors=True)
    files = reachable()
    for file in files:
        copy = PAGES / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            copy.write_text(_with_links(file, files, repository), encoding="utf-8")
        else:
            shutil.copyfile(file, copy)
    folder = PAGES / "api"
    folder.mkdir()
    for package, purpose in API.items():
        (folder / f"{package}.md").write_text(f"# {package}\n\n{purpose}\n\n::: {package}\n", encoding="utf-8")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    (BUILD / "mkdocs.yml").write_text(settings + "nav:\n" + "".join(_navigation()), encoding="utf-8")


def _navigation() -> Iterator[str]:
    """Yield the lines of the navigation."""
    yield "  - README.md\n"
    for line in INDEX.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            yield f"  - {line.removeprefix('## ')}:\n"
        elif (match := _ENTRY.match(line)) is not None:
            yield from _entry(match["target"])
    yield "  - API:\n"
    yield from (f"    - api/{package}.md\n" for package in API)


def _entry(target: str) -> Iterator[str]:
    """Yield the lines of one entry of the index; the index of a folder becomes a section with its pages."""
    page = _file(INDEX, target)
    if page is None or page.suffix != ".md":
        raise SystemExit(f"docs/README.md: {target!r} is not a page")
    if page.name != "README.md" or not page.is_relative_to(INDEX.parent):
        yield f"    - {page.relative_to(ROOT)}\n"
        return
    yield f"    - {page.parent.name.capitalize()}:\n      - {page.relative_to(ROOT)}\n"
    for each in sorted(page.parent.glob("*.md")):
        if each != page:
            yield f"      - {each.stem}: {each.relative_to(ROOT)}\n"


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


def _targets(page: Path) -> Iterator[str]:
    for line, is_code in _lines(page.read_text(encoding="utf-8")):
        if not is_code:
            yield from (match["target"] for match in _LINK.finditer(line))


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

    lines = _lines(page.read_text(encoding="utf-8"))
    return "".join(line if is_code else _LINK.sub(rewritten, _with_bars(line)) for line, is_code in lines)


def _with_bars(line: str) -> str:
    """Return a row of a table whose code has bars as the site's Markdown takes them: without a backslash."""
    return _CODE.sub(lambda match: match[0].replace(r"\|", "|"), line) if line.startswith("|") else line


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it belongs to a block of code."""
    fence = ""
    for line in text.splitlines(keepends=True):
        match = _FENCE.match(line)
        if fence:
            yield line, True
            if match and match[2].startswith(fence) and not line.strip(" `~\n"):
                fence = ""
        else:
            fence = match[2] if match else ""
            yield line, bool(fence)


if __name__ == "__main__":
    sys.exit(main())
