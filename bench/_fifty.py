"""Fifty small plugins as installed ones look: twenty with a tool, twenty that listen to hooks, ten providers."""

from __future__ import annotations

import compileall
from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TOOLS, LISTENERS, PROVIDERS = 20, 20, 10
PLUGINS = TOOLS + LISTENERS + PROVIDERS

TOOL = '''
"""Adds `count_$number`."""

from __future__ import annotations

from pathlib import Path

from pi_hookspecs import ToolContext, hookimpl, tool


@tool(prompt_snippet="Count what files hold")
async def count_$number(path: str, ctx: ToolContext, what: str = "words", limit: int | None = None) -> str:
    """Count the words or lines of a text file.

    Args:
        path: The file, relative to the working directory.
        what: Either words or lines.
        limit: Read so many characters at most.
    """
    text = (ctx.cwd / Path(path)).read_text(encoding="utf-8")[:limit]
    return f"{len(text.split() if what == 'words' else text.splitlines())} {what}"


@hookimpl
def register_tools():
    return [count_$number]
'''

LISTENER_KINDS = (
    '''
"""Keeps some commands from being run."""

import re

from pi_hookspecs import ToolCallResult, hookimpl

FORBIDDEN = re.compile(r"rm -rf|mkfs|forbidden-$number")


@hookimpl
def tool_call(event):
    if event.tool_name == "bash" and FORBIDDEN.search(event.input["command"]):
        return ToolCallResult(block=True, reason="That is not allowed here.")


@hookimpl
async def session_start(event, ctx):
    ctx.ui.set_status("guard-$number", "on guard")
''',
    '''
"""Leaves out of the context what is stale."""

from pi_hookspecs import ContextResult, hookimpl


@hookimpl
def context(event):
    kept = [each for each in event.messages if each.role != "custom" or each.custom_type != "stale-$number"]
    return ContextResult(messages=kept) if len(kept) < len(event.messages) else None
''',
    '''
"""Counts what answers cost."""

from pi_hookspecs import hookimpl

spent = {}


@hookimpl
async def message_end(event):
    if event.message.role == "assistant":
        spent[event.message.model] = spent.get(event.message.model, 0) + event.message.usage.output


@hookimpl
def agent_end(event, ctx):
    ctx.ui.set_status("spent-$number", str(sum(spent.values())))
''',
    '''
"""Adds a rule to the system prompt and shortens long results."""

from pathlib import Path

from pi_hookspecs import BeforeAgentStartResult, TextContent, ToolResultResult, hookimpl

LONGEST = 100_000


@hookimpl
def before_agent_start(event, ctx):
    rule = Path(ctx.cwd, "RULES-$number.md")
    if rule.is_file():
        return BeforeAgentStartResult(system_prompt=event.system_prompt + rule.read_text(encoding="utf-8"))


@hookimpl
def tool_result(event):
    if any(block.type == "text" and len(block.text) > LONGEST for block in event.content):
        return ToolResultResult(content=[TextContent(text="too long")])
''',
    '''
"""Keeps notes that survive forks and resumes."""

from pi_hookspecs import hookimpl


@hookimpl
def activate(pi):
    notes = []

    @pi.on("session_start")
    @pi.on("session_tree")
    def rebuild(event, ctx):
        notes.clear()

    @pi.register_command("note-$number", description="Add or list notes")
    async def note(args, ctx):
        notes.append(args)
        pi.append_entry("note-$number", list(notes))
''',
)
"""Each represents four of the twenty."""

PROVIDER = '''
"""Answers for a vendor with an API of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import MessageBuilder, Model, ProviderInfo, hookimpl

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pi_hookspecs import AssistantMessageEvent, Context, StreamOptions

ID = "vendor-$number"


class Vendor:
    api = ID

    async def stream(
        self, model: Model, context: Context, options: StreamOptions
    ) -> AsyncIterator[AssistantMessageEvent]:
        builder = MessageBuilder(model)
        yield builder.start()
        yield builder.done()


@hookimpl
def register_providers():
    return [Vendor()]


@hookimpl
def register_models():
    models = tuple(Model(id=f"model-{each}", name=f"Model {each}", api=ID, provider=ID) for each in range(3))
    return [ProviderInfo(id=ID, name="Vendor $number", api=ID, key_variables=("VENDOR_${number}_KEY",), models=models)]
'''


def install_fifty(site: Path) -> None:
    """Write them and their bytecode, as an installer does."""
    site.mkdir()
    for number in range(TOOLS):
        _install(site, f"bench_tool_{number}", TOOL, number)
    for number in range(LISTENERS):
        _install(site, f"bench_listener_{number}", LISTENER_KINDS[number % len(LISTENER_KINDS)], number)
    for number in range(PROVIDERS):
        _install(site, f"bench_provider_{number}", PROVIDER, number)
    compileall.compile_dir(site, quiet=1)


def _install(site: Path, name: str, text: str, number: int) -> None:
    package = site / name
    package.mkdir()
    (package / "__init__.py").write_text(Template(text).substitute(number=number).lstrip(), encoding="utf-8")
    metadata = site / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(f"[pi]\n{name} = {name}\n", encoding="utf-8")
