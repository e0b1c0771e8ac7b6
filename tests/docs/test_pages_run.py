"""The shell blocks and programs of READMEs, CONTRIBUTING.md and docs/ run, and print what the pages say.

sybil finds the blocks and knows the marks; each page is one test, because its blocks follow each other: they share a
folder, variables and an agent directory of their own. The default model is ``offline/rules``, and those of vendors are
servers of this process. A page says in comments, which no reader sees, what its blocks need:

    <!-- code: sh                      runs before the next block: files that a reader has
    printf 'one two' > notes.txt
    -->
    <!-- skip: next "needs Docker" --> the next block is not run, for that reason
    <!-- skip: start "is run by tests/docs/test_sdk_page.py" --> nor are those that follow: a test of their own does
"""

from __future__ import annotations

import asyncio
import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import SkipTest

import pytest
from sybil import Document, Sybil
from sybil.parsers.markdown import CodeBlockParser, SkipParser

from pi_testing import for_each
from pi_testing.fake_servers import anthropic, google, mistral, openai
from pi_testing.fake_servers.oauth import FakeAuthorization
from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sybil import Example

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).with_name("programs")
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "examples/README.md")),
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("plugins/*/*/README.md")),
]
MARK = re.compile(r'^<!-- skip: (?:next|start) "(?P<reason>[^"]+)" -->$', re.MULTILINE)
FENCE = re.compile(r"^```(?P<kind>\S*)$\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
REASONS = {
    "needs a cluster",
    "needs a package index",
    "needs a GGUF file",
    "needs Docker",
    "needs Harbor",
    "needs Termux",
    "needs credentials of a cloud",
    "needs the group docs: it is a step of .ci/run",
    "needs minutes: it is the last step of .ci/run",
    "measures for six minutes",
    "its server runs until it is stopped",
}
PROGRAMS_OF_PAGES = {
    "docs/automation.md": ["jq"],
    "docs/packages.md": ["uv"],
    "docs/publish.md": ["uv"],
    "docs/sandbox.md": ["bwrap"],
    "plugins/policies/sandbox/README.md": ["bwrap", "make"],
}
"""What a page uses besides pi, bash and git; where it is missing, its test is skipped."""
BY_OTHERS = re.compile(r"is run by (?P<file>\S+)")
FILES = {
    "README.md": "# Tides\n\nWhen the water is high.\n",
    "tide.py": "def tide(hour):\n    return 0\n",
    "notes.txt": "one two three\n",
    "notes.md": "Low at six.\n",
    "plan.md": "Ask the harbour.\n",
    "test.log": "1 failed\n",
    "change.diff": "-    return 0\n+    return hour % 12\n",
}
"""The reader's project: a git repository with a commit, and a change that is not committed."""
PYTEST = (
    "python -m pytest -q -p no:xdist -p no:cacheprovider"
    " -o asyncio_mode=auto -o asyncio_default_fixture_loop_scope=function"
)
BROWSER = """
import asyncio, sys
from pi_testing.fake_servers.oauth import browse
asyncio.run(browse(sys.argv[1]))
"""


class BlockFailed(Exception):
    """A command of a page failed, or printed something else."""


class Reader:
    """Runs the blocks of one page, one after the other, as a reader types them."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self.folder = folder
        self._environ = environ
        self._state = folder.parent / "state"  # folder, variables and functions, as the block before has left them
        self._state.write_text(f"cd '{folder}'\n")

    def shell(self, example: Example) -> None:
        """Run a block of commands, all of which have to succeed."""
        self._run(str(example.parsed))

    def console(self, example: Example) -> None:
        """Run the commands of a block, and compare what they print; ``...`` stands for anything."""
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        for part in re.split(r"^\$ ", str(example.parsed), flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            printed = self._run(command, check=False).replace(self._environ["HOME"], "~")
            timeless = [re.sub(r"\d+(\.\d+)?( m)?s\b", "0 s", text) for text in (expected, printed)]
            if not doctest.OutputChecker().check_output(*timeless, flags):
                raise BlockFailed(f"$ {command}\n{printed}")

    def python(self, example: Example) -> None:
        """Run a program, or tests; a warning fails."""
        code = str(example.parsed)
        if re.search(r"^(async )?def test_|^class Test", code, re.MULTILINE):
            (self.folder / "test_page.py").write_text(code, encoding="utf-8")
            self._run(f"{PYTEST} test_page.py")
            return
        (file := self.folder / "page_program.py").write_text(code, encoding="utf-8")
        self._run(f"python -W error '{file}'")

    def _run(self, commands: str, *, check: bool = True) -> str:
        after = f"{{ echo \"cd '$PWD'\"; export -p; declare -f; }} > '{self._state}'"
        script = f". '{self._state}'\nset -e -o pipefail\n{commands}\n{after}"
        done = subprocess.run(
            ["bash", "-O", "expand_aliases", "-c", script],
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        if check and done.returncode != 0:
            raise BlockFailed(f"exit code {done.returncode}\n{commands}\n{done.stdout}")
        return done.stdout


def parse(page: Path, reader: Reader | None = None) -> Document:
    """Return a page with its blocks, to be run by a reader."""
    kinds = {"sh": "shell", "console": "console", "python": "python"}
    blocks = [CodeBlockParser(kind, getattr(reader, method, None)) for kind, method in kinds.items()]
    return Sybil([SkipParser(), *blocks]).parse(page)


def has_blocks(page: Path) -> bool:
    return any(match["kind"] in ("sh", "console", "python") for match in FENCE.finditer(page.read_text("utf-8")))


def distributions() -> dict[str, list[str]]:
    """Return the distributions of this repository, with their extras."""
    files = [ROOT / "pyproject.toml", *ROOT.glob("*/pyproject.toml"), *ROOT.glob("plugins/*/*/pyproject.toml")]
    projects = [tomllib.loads(file.read_text(encoding="utf-8"))["project"] for file in files]
    return {each["name"]: [*each.get("optional-dependencies", {})] for each in projects}


@pytest.fixture
async def vendors() -> AsyncIterator[dict[str, str]]:
    """Yield the variables that lead providers to servers of this process, whose models say hello."""
    async with AsyncExitStack() as stack:
        claude = await stack.enter_async_context(anthropic.FakeAnthropic())
        claude.answers(*[anthropic.message(anthropic.text("Hello"))] * 99)
        gemini = await stack.enter_async_context(google.FakeGoogle())
        gemini.answers(*[google.answer(google.text("Hello"))] * 99)
        le_chat = await stack.enter_async_context(mistral.FakeMistral())
        le_chat.answers(*[mistral.completion(mistral.text("Hello"))] * 99)
        gpt = await stack.enter_async_context(openai.FakeOpenAI())
        gpt.answers(*[openai.response(openai.text("Hello"))] * 99)
        login = await stack.enter_async_context(FakeAuthorization())
        yield {
            "ANTHROPIC_BASE_URL": claude.url,
            "GOOGLE_GEMINI_BASE_URL": gemini.url,
            "OPENAI_BASE_URL": gpt.base_url,
            "MISTRAL_URL": le_chat.url,
            "PI_OAUTH_URL_ANTHROPIC": login.url,
        }


@pytest.fixture
def reader(tmp_path: Path, vendors: dict[str, str], pi_plugin_index: Path) -> Reader:
    agent = tmp_path / ".pi" / "agent"
    agent.mkdir(parents=True)
    (agent / "cache").symlink_to(pi_plugin_index, target_is_directory=True)
    (agent / "settings.json").write_text(json.dumps({"defaultProvider": "offline", "defaultModel": "rules"}))
    (agent / "models.json").write_text(json.dumps({"providers": {"mistral": {"baseUrl": vendors["MISTRAL_URL"]}}}))
    (tmp_path / "browser.py").write_text(BROWSER)
    kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
    environ = {
        **kept,
        **vendors,
        "HOME": str(tmp_path),
        "PATH": os.pathsep.join([str(programs(tmp_path)), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONUTF8": "1",
        "BROWSER": f"{sys.executable} {shlex.quote(str(tmp_path / 'browser.py'))} %s",
        "REAL_PI": str(Path(sys.executable).with_name("pi")),
        "REAL_UV": shutil.which("uv") or "",
        "UV_OFFLINE": "1",
        "REPOSITORY": str(ROOT),
        "PAGE_DISTRIBUTIONS": json.dumps(distributions()),
        **dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY"), "key-of-a-test"),
        **{f"GIT_{role}_{what}": "ada@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    return Reader(project(tmp_path / "work", environ), environ)


def programs(folder: Path) -> Path:
    """Write the commands that blocks use in place of installed ones, and return their folder."""
    into = folder / "bin"
    into.mkdir()
    for name in ("pi", "pip", "pipx", "python3", "uv"):
        command = (
            [sys.executable, PROGRAMS / "pi.py"] if name == "pi" else [sys.executable, PROGRAMS / "installer.py", name]
        )
        (into / name).write_text(f'#!/bin/sh\nexec {shlex.join(map(str, command))} "$@"\n')
        (into / name).chmod(0o755)
    return into


def project(folder: Path, environ: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    for command in ("init -q -b main", "add .", "commit -q -m Tides"):
        subprocess.run(["git", *command.split()], cwd=folder, env=environ, check=True)
    (folder / "tide.py").write_text(FILES["tide.py"].replace("0", "hour % 12"))
    return folder


MARKS = [(page, match["reason"]) for page in PAGES for match in MARK.finditer(page.read_text(encoding="utf-8"))]


@for_each(("page", "reason"), MARKS)
def test_a_block_that_is_not_run_says_why(page: Path, reason: str) -> None:
    by_another_test = BY_OTHERS.fullmatch(reason)
    if by_another_test is None:
        assert reason in REASONS
        return
    tests = ROOT / by_another_test["file"]
    texts = [file.read_text(encoding="utf-8") for file in ([tests] if tests.is_file() else tests.glob("test_*.py"))]
    assert any(re.search(rf"\b{re.escape(page.name)}\b", text) for text in texts)


def test_few_blocks_are_not_run() -> None:
    run = [example for page in PAGES for example in parse(page).examples() if not isinstance(example.parsed, tuple)]

    assert len(MARKS) < len(run) / 5


def test_every_block_has_a_language() -> None:
    assert [page.name for page in PAGES if any(not match["kind"] for match in FENCE.finditer(page.read_text()))] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if has_blocks(page)], ids=lambda page: str(page.relative_to(ROOT))
)
async def test_the_blocks_of_a_page_run_and_print_what_it_says(page: Path, reader: Reader) -> None:
    missing = [name for name in PROGRAMS_OF_PAGES.get(str(page.relative_to(ROOT)), ()) if not shutil.which(name)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    await asyncio.to_thread(run_page, page, reader)


def run_page(page: Path, reader: Reader) -> None:
    for example in parse(page, reader).examples():
        try:
            example.evaluate()
        except SkipTest:
            continue
        except BlockFailed as error:
            pytest.fail(f"{page.relative_to(ROOT)}, line {example.line}: {error}", pytrace=False)
