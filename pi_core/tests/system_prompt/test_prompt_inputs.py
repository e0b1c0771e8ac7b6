"""A system prompt is built from plain inputs, without a session."""

from __future__ import annotations

from pathlib import Path

from pi_core.system_prompt import PromptInputs, SystemPromptBuilder
from pi_hookspecs import PromptSection, SystemPromptResult, Tool, ToolResult


async def execute(call_id, params, signal, update, ctx):
    return ToolResult.text("")


READ = Tool(name="read", description="Read", parameters={}, execute=execute, prompt_snippet="Look into files")


def inputs(*tools, owner=None, **fields):
    return PromptInputs(cwd=Path("/work"), tools=tools, owner=lambda tool: owner, **fields)


def test_a_tool_is_attributed_to_its_plugin():
    prompt = SystemPromptBuilder().build_cached(inputs(READ, owner="files"))

    assert [(part.plugin, part.hook) for part in prompt.parts if "- read: Look into files" in part.text] == [
        ("files", "register_tools")
    ]
    assert prompt.text.endswith("Current working directory: /work\n</cwd>")


def test_today_is_left_out_unless_the_inputs_ask_for_it():
    builder = SystemPromptBuilder()

    assert "Current date" not in builder.build_cached(inputs()).text
    assert "Current date" in builder.build_cached(inputs(date=True)).text


async def test_results_of_plugins_are_cached_until_the_next_build():
    asked = []

    async def ask(event):
        asked.append((event.cwd, event.tools, event.append))
        return [("todo", SystemPromptResult(sections=[PromptSection(name="todo", text=f"asked {len(asked)}")]))]

    builder = SystemPromptBuilder(append=["more"])
    first = await builder.build(inputs(READ), ask)
    build_cached = builder.build_cached(inputs(READ))
    unasked = await builder.build(inputs(READ), None)

    assert asked == [(str(Path("/work")), ("read",), ("more",))]
    assert "<todo>\nasked 1\n</todo>" in first.text
    assert build_cached is first
    assert unasked is first
    assert "asked 2" in (await builder.build(inputs(READ), ask)).text
