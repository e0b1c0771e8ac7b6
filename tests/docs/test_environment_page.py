"""docs/environment.md and ``pi --help`` name the variables that the code reads, and no others."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pi_cli.help import ENVIRONMENT

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
NAME = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"

NO_READERS = {
    "pi_testing": "sets variables for tests",
    "pi_guardrails": "looks for them in commands",
    "pi_agents/kept.py": "sets them for git",
    "pi_rewind/git.py": "sets them for git",
    "pi_git_kit": "sets them for git, or keeps them from it",
    "pi_tools/commands/no_terminal.py": "sets them for commands",
    "pi_mcp/link.py": "passes them on to servers",
    "pi_packages/original.py": "names those without an effect",
    "host/installers.py": "keeps them from uv",
}
NO_VARIABLES = {
    *("ACME_PLUGIN", "BASE_URL", "MAX_TOKENS"),  # placeholders, and a word of an API
    "RAISE_VARARGS",  # an instruction of Python
    *(
        "FINISH_REASON_UNSPECIFIED",
        "IDE_UNSPECIFIED",
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
    ),  # of Google's API
    *("PLATFORM_UNSPECIFIED", "SECURITY_POLICY_VIOLATED", "TOO_MANY_TOOL_CALLS", "UNEXPECTED_TOOL_CALL"),
    *("FIRST_OR_LAST", "IN_FOLDER"),  # names in a pattern
    *("FETCH_HEAD", "WHEEL_PKG_DIR"),  # names of git and of Python's configuration
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_DIR", "GIT_INDEX_FILE", "GIT_OPTIONAL_LOCKS"),  # set for git
    *("GIT_TERMINAL_PROMPT", "GIT_WORK_TREE", "LC_ALL"),
    "OMP_WAIT_POLICY",  # set for the process of a model
    *("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "RAY_USAGE_STATS_ENABLED"),  # set for Ray
    *(
        "AF_UNIX",
        "CLOCK_BOOTTIME",
        "O_BINARY",
        "O_CLOEXEC",
        "O_DIRECTORY",
        "O_NOFOLLOW",
        "O_NONBLOCK",
        "PC_VDISABLE",
        "SC_CLK_TCK",
        "SC_OPEN_MAX",
    ),  # the system's
}
READ_BY_LIBRARIES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "UV_OFFLINE"}


def sources() -> Iterator[Path]:
    for folder in (ROOT / "pi_core" / "src", *sorted((ROOT / "plugins").glob("*/*/src"))):
        for file in sorted(folder.rglob("*.py")):
            if not any(each in file.as_posix() for each in NO_READERS):
                yield file


@cache
def read_in(file: Path) -> set[str]:
    """Return the literals of a module that look like variables, without the names of its own constants."""
    source = file.read_text(encoding="utf-8")
    if not re.search(rf"[\"']{NAME}[\"']", source):  # parsing all modules takes seconds
        return set()
    nodes = [*ast.walk(ast.parse(source))]
    constants = {node.id for node in nodes if isinstance(node, ast.Name)}
    constants |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    literals = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    exported = {word for each in literals for word in each.split()} if file.name == "__init__.py" else set()
    return {each for each in literals if re.fullmatch(NAME, each)} - constants - exported - NO_VARIABLES


def on_page(text: str) -> set[str]:
    return set(re.findall(rf"`({NAME})`", text))


def test_the_page_is_what_the_script_writes() -> None:
    script = ROOT / "tools" / "build_environment_page.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)

    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_the_page_names_what_the_code_reads() -> None:
    read = {name: file for file in sources() for name in read_in(file)}
    named = on_page(PAGE)

    missing = {name: str(file.relative_to(ROOT)) for name, file in read.items() if name not in named}
    assert missing == {}, "describe them in tools/build_environment_page.py"


def test_the_page_names_nothing_that_is_not_read() -> None:
    described, without_effect = PAGE.split("## Variables of the original pi")
    before, keys_and_others = described.split("## Keys of providers")
    others = keys_and_others.partition("## What else providers read")[2]
    read = {name for file in sources() for name in read_in(file)} | READ_BY_LIBRARIES

    assert on_page(before + others) - read - {"PI_OAUTH_URL_GITHUB_COPILOT"} == set()
    assert on_page(without_effect) & read == set()


def test_the_help_names_only_what_the_page_describes() -> None:
    names = {name for names, _ in ENVIRONMENT for name in re.findall(NAME, names)}

    assert names <= on_page(PAGE)
    ours = on_page(PAGE.partition("## The system")[0])
    assert {name for name in ours if re.match(r"PI_(?!OAUTH|CLEAR|HARDW|HYPER|IMAGE|SHARE|TRUE)", name)} <= names
