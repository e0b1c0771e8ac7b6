"""On the way to the first request nothing is imported or read that it does not need."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

PROGRAM = """
import asyncio, sys
heavy = {"cattrs", "hyperscan", "jsonschema", "importlib_metadata", "tempfile", "click", "difflib"}
heavy |= {"pi_hookspecs.rare_messages", "pi_hookspecs.rare_entries", "pi_hookspecs.front_ends"}
heavy |= {"pi_core.hooks.reports", "pi_core.agent.tool_calls", "packaging"}
heavy |= {"pi_core.host.requirements", "pi_core.host.trial"}
heavy |= {"pi_hookspecs.api", "pi_hookspecs.context", "pi_hookspecs.actions", "pi_hookspecs.resource_files"}
opened = []
sys.addaudithook(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None)
from pi_core import create_agent_session
from pi_hookspecs import MessageBuilder, hookimpl

seen = []

class Fake:
    api = "anthropic-messages"

    async def stream(self, model, context, options):
        seen.append(options.api_key)
        seen.extend(sorted(heavy & set(sys.modules)))
        builder = MessageBuilder(model)
        yield builder.start()
        yield builder.done()

class Plugin:
    @hookimpl
    def register_providers(self):
        return [Fake()]

async def main():
    async with create_agent_session(model=MODEL, plugins={"fake": Plugin()}) as session:
        answer = await session.prompt("hi")
        assert answer.stop_reason == "stop", answer
    seen.extend(sorted(name for name in sys.modules if name in ("pi_cache_lint.watch", "pi_cache_lint.chain")))

asyncio.run(main())
data = [name for name in opened if name.replace("\\\\", "/").rpartition("/")[0].endswith("pi_models/data")]
print(seen, sorted({name.replace("\\\\", "/").rpartition("/")[2] for name in data}))
"""


def run(model: str, folder: Path, program: str = PROGRAM) -> str:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PI_CODING_AGENT_DIR": str(folder / "agent"),
        "ANTHROPIC_API_KEY": "k",
    }
    command = [sys.executable, "-c", program.replace("MODEL", model)]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_one_request_imports_no_machinery_and_reads_one_providers_table(tmp_path: Path) -> None:
    run("'anthropic/claude-opus-4-8'", tmp_path)  # makes the index

    expected = "['k'] ['anthropic.json', 'providers.json']"
    assert run("'anthropic/claude-opus-4-8'", tmp_path) == expected
    assert run("'claude-opus-4-8'", tmp_path) == expected
    assert run("None", tmp_path) == expected


CALLING = """
import asyncio, json, sys
from pi_core import create_agent_session
from pi_hookspecs import MessageBuilder, hookimpl

CALLS = [
    ("write", {"path": "more.md", "content": "one"}),
    ("read", {"path": "notes.md", "limit": 2}),
    ("edit", {"path": "notes.md", "edits": [{"oldText": "one", "newText": "two"}]}),
]

class Fake:
    api = "anthropic-messages"

    async def stream(self, model, context, options):
        builder = MessageBuilder(model)
        yield builder.start()
        if len(context.messages) == 1:
            for number, (name, arguments) in enumerate(CALLS):
                yield builder.tool_call_start(str(number), name)
                yield builder.tool_call(number, json.dumps(arguments))
                yield builder.tool_call_end(number)
        yield builder.done()

class Plugin:
    @hookimpl
    def register_providers(self):
        return [Fake()]

async def main():
    async with create_agent_session(model=MODEL, plugins={"fake": Plugin()}) as session:
        await session.prompt("hi")
        results = [each for each in session.messages if each.role == "toolResult"]
        print(*(each.is_error for each in results), "jsonschema" in sys.modules)

asyncio.run(main())
"""


def test_calls_of_the_built_in_tools_import_no_schema_library(tmp_path: Path) -> None:
    run("None", tmp_path)  # makes the index, which may
    (tmp_path / "notes.md").write_text("one")

    printed = run("'anthropic/claude-opus-4-8'", tmp_path, CALLING)

    assert printed == "False False False False"


def test_the_version_is_known_before_typing_is_imported() -> None:
    code = "import sys; before = {*sys.modules}; import pi_cli; print({'typing', 're'} & ({*sys.modules} - before))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "set()\n"
