"""The blocks of the documentation: options of commands and imported names exist, data can be read."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
import yaml

from pi_cli.arguments import first_word, parse
from pi_cli.registrations import register_subcommands
from pi_core.host import PluginHost
from pi_core.settings import Settings
from pi_hookspecs import UserError
from pi_testing import for_each

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "examples/README.md")),
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("plugins/*/*/README.md")),
]
OWN = {"pi_core", "pi_hookspecs", "pi_testing", "pi_provider_kit", "pi_client"}
BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<kind>\w*)\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    page: str
    kind: str
    text: str


def blocks(*kinds: str) -> list[Block]:
    found = [
        Block(str(page.relative_to(ROOT)), match["kind"], match["text"])
        for page in PAGES
        for match in BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]
    return [block for block in found if block.kind in kinds]


def pi_commands() -> Iterator[tuple[str, str]]:
    """Yield page and command line, without what is before ``pi`` and behind a pipe or redirection."""
    for block in blocks("", "sh", "console"):
        for line in block.text.replace("\\\n", " ").splitlines():
            written = re.sub(r"^\$ ", "", line) if block.kind == "console" else line
            if block.kind == "console" and not line.startswith("$ "):
                continue
            match = re.match(r"(?:uv run (?:--no-sync )?|(?:[A-Z_]+=\S+ )+)?(pi (?!\()[^#]*)", written.strip())
            if match is not None:
                yield block.page, re.split(r" (?:\||>|<|&&|2>)", match[1])[0].strip()


COMMANDS = sorted({*pi_commands()})


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> PluginHost:
    home = tmp_path_factory.mktemp("home")
    return PluginHost(Settings.load(home, environ={"HOME": str(home)}))


def test_there_are_commands_to_check() -> None:
    assert len(COMMANDS) > 100


@for_each(("page", "command"), COMMANDS)
def test_commands_have_options_and_subcommands_that_exist(page: str, command: str, host: PluginHost) -> None:
    del page
    arguments = shlex.split(command)[1:]
    records = list(host.records.values())
    word = first_word(arguments, records)
    subcommands = {each.name for each in register_subcommands()}
    subcommands |= {name for record in records for name in record.names("register_subcommands")}
    if word is not None and word.text in subcommands:
        assert word.strays == ()
        return
    assert word is None or not re.fullmatch(r"[a-z]+", word.text), f"{word.text!r} is not a subcommand"
    try:
        parse(arguments, records)
    except UserError as error:
        pytest.fail(str(error))


@for_each("block", blocks("python"))
def test_code_imports_what_exists(block: Block) -> None:
    is_decorator = block.text.startswith("@") and "def " not in block.text
    code = f"{block.text}def test(): ..." if is_decorator else block.text
    tree = compile(code, block.page, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] in OWN:
            module = importlib.import_module(node.module)
            missing = [each.name for each in node.names if not hasattr(module, each.name)]
            assert [name for name in missing if importlib.util.find_spec(f"{node.module}.{name}") is None] == []


@for_each("block", blocks("json", "toml", "yaml"))
def test_data_can_be_read(block: Block) -> None:
    if block.kind == "toml":
        tomllib.loads(block.text)
    elif block.kind == "yaml":
        yaml.safe_load(block.text)
    else:
        for text in [block.text] if _is_json(block.text) else block.text.splitlines():
            assert _is_json(text), text


def _is_json(text: str) -> bool:
    try:
        json.loads(re.sub(r"(?m)\s//.*$", "", text))
    except ValueError:
        return False
    return True


@pytest.mark.slow
def test_the_first_hour_without_a_key_prints_what_the_page_says(tmp_path: Path) -> None:
    commands, printed, *_ = (block.text for block in blocks("sh", "text") if block.page == "docs/quickstart.md")
    environ = {"HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-e", "-c", commands], cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
    )

    assert "tide.py" in done.stdout
    assert [line for line in printed.splitlines() if line not in (done.stdout + done.stderr).splitlines()] == []
    assert (tmp_path / "harbour" / "tide.py").read_text() == "def tide(hour):\n    return hour % 12\n"
