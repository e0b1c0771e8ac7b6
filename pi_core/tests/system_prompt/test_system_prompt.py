"""The system prompt: its sections, their order and origin, and custom prompts."""

from __future__ import annotations

from datetime import datetime

import pytest

from pi_core import DefaultResourceLoader, PluginHost, Settings, create_agent_session
from pi_hookspecs import (
    BeforeAgentStartResult,
    PromptSection,
    SystemPromptResult,
    Tool,
    ToolResult,
    UserError,
    hookimpl,
)
from pi_testing import for_each, text


def tool(name, **fields):
    async def execute(call_id, params, signal, update, ctx):
        return ToolResult.text(name)

    return Tool(name=name, description=name, parameters={"type": "object"}, execute=execute, **fields)


class Tools:
    """The usual tools by name."""

    @hookimpl
    def register_tools(self):
        own = {"prompt_snippet": "Change files", "prompt_guidelines": ["Edit little"]}
        others = ("read", "bash", "write", "grep", "find", "ls")
        return [tool("edit", **own), *(tool(each, default_active=each in others[:3]) for each in others)]


class Sections:
    """Adds the given sections, and keeps the events."""

    def __init__(self, *sections, base=None):
        self.answer = SystemPromptResult(sections=sections, base=base)
        self.events = []

    @hookimpl
    async def system_prompt(self, event, ctx):
        self.events.append(event)
        return self.answer


@pytest.fixture
async def create(tmp_path, pi_agent_dir, script):
    made = []

    def make(*plugins, settings=None, **options):
        settings = Settings.in_memory(settings or {}, agent_dir=pi_agent_dir)
        named = {f"plugin-{number}": plugin for number, plugin in enumerate(plugins)}
        session = create_agent_session(
            cwd=tmp_path,
            host=PluginHost(settings, installed=False),
            plugins={"script": script, "tools": Tools(), **named},
            settings=settings,
            model=script.model,
            **options,
        )
        made.append(session)
        return session

    yield make
    for session in made:
        await session.dispose()


async def built(session):
    await session.start()
    return await session.system_prompts.build()


def sections_of(prompt):
    return list(dict.fromkeys(part.section for part in prompt.parts))


# Order and rendering


async def test_sections_are_in_the_order_of_the_contract(create):
    given = ["cwd", "memory", "skills", "own", "project_context", "docs"]
    plugin = Sections(*(PromptSection(name=name, text=f"of {name}") for name in given))

    prompt = await built(create(plugin, append_system_prompt=["more"]))

    assert sections_of(prompt) == [
        *("preamble", "tools", "rules", "docs", "addendum", "project_context", "skills", "memory", "own", "cwd"),
    ]


async def test_parts_of_one_name_share_an_element(create):
    one = Sections(PromptSection(name="memory", text="first", source="/a/MEMORY.md"))
    two = Sections(PromptSection(name="memory", text="\nsecond\n"), PromptSection(name="empty", text=" \n"))

    prompt = await built(create(one, two))

    assert "<memory>\nfirst\n\nsecond\n</memory>" in prompt.text
    assert "empty" not in prompt.text


async def test_a_priority_moves_a_section(create):
    prompt = await built(create(Sections(PromptSection(name="first", text="x", priority=1))))

    assert prompt.text.startswith("<first>\nx\n</first>\n\n<preamble>")


async def test_every_character_belongs_to_a_part(create):
    plugin = Sections(PromptSection(name="own", text="a"), PromptSection(name="own", text="b", source="/f"))

    prompt = await built(create(plugin, append_system_prompt=["one", "two"]))

    assert "".join(part.text for part in prompt.parts) == prompt.text


async def test_the_prompt_is_the_same_object_while_nothing_changes(create):
    plugin = Sections(PromptSection(name="own", text="a"))
    session = create(plugin)
    first = await built(session)
    second = await session.system_prompts.build()
    plugin.answer = SystemPromptResult(sections=[PromptSection(name="own", text="b")])

    third = await session.system_prompts.build()

    assert first is second
    assert "<own>\nb\n</own>" in third.text


@for_each("name", ["", "Own", "own section", "1own", "own>", "ö"])
def test_a_section_is_named_in_plain_letters(name):
    with pytest.raises(ValueError, match="lowercase letters"):
        PromptSection(name=name, text="x")


# Provenance


async def test_each_part_has_its_origin(create):
    plugin = Sections(PromptSection(name="memory", text="m", source="/a/MEMORY.md"))

    prompt = await built(create(plugin, append_system_prompt=["more"]))

    assert [(part.section, part.hook, part.plugin, part.source) for part in prompt.parts] == [
        ("preamble", "core", None, None),
        ("tools", "register_tools", "tools", None),
        ("rules", "core", None, None),
        ("rules", "register_tools", "tools", None),
        ("rules", "core", None, None),
        ("docs", "core", None, None),
        ("addendum", "--append-system-prompt", None, None),
        ("memory", "system_prompt", "plugin-0", "/a/MEMORY.md"),
        ("cwd", "core", None, None),
    ]


async def test_tools_of_the_program_and_of_plugins_have_different_origins(create):
    session = create(custom_tools=[tool("mine", prompt_snippet="Mine")])
    await session.start()
    session.add_tool(tool("late", prompt_snippet="Late"), "adder")

    prompt = await session.system_prompts.build()

    plugins = {part.text.strip(): part.plugin for part in prompt.parts if part.section == "tools"}
    assert list(plugins.values()) == ["tools", "adder", None]


def test_tokens_are_a_quarter_of_the_characters():
    from pi_core import PromptPart

    assert [PromptPart(section="s", text="x" * size, hook="core").tokens for size in (0, 1, 4, 5)] == [0, 1, 1, 2]


# Rules that depend on the tools


@pytest.mark.parametrize(
    ("names", "included", "left_out"),
    [
        (["bash"], ["Use bash for file operations"], ["over bash", "examine"]),
        (["bash", "grep", "ls"], ["Prefer grep/ls tools over bash"], ["Use bash for"]),
        (["read", "edit"], ["Use read to examine files before editing", "Edit little"], ["bash"]),
        (["edit"], ["Edit little"], ["examine"]),
        ([], [], ["bash", "examine", "<tools>", "<docs>"]),
    ],
    ids=["bash alone", "bash and others", "read and edit", "edit alone", "no tools"],
)
async def test_rules_depend_on_the_active_tools(create, names, included, left_out):
    prompt = (await built(create(tools=names))).text

    rules = prompt.partition("<rules>")[2].partition("</rules>")[0]
    assert all(f"- {line}\n" in rules for line in included)
    assert not any(word in rules for word in left_out[:2])
    assert "- Be concise in your responses\n- Show file paths clearly when working with files\n" in rules


async def test_plugins_get_the_tools_and_the_options_of_the_user(create, tmp_path):
    plugin = Sections()
    session = create(plugin, tools=["read", "ls"], system_prompt="Mine", append_system_prompt=["More"])

    await built(session)

    event = plugin.events[-1]
    assert (event.cwd, event.tools) == (str(tmp_path), ("read", "ls"))
    assert (event.custom_prompt, event.append) == ("Mine", ("More",))


# In place of pi's own words


async def test_a_custom_prompt_replaces_the_base_and_nothing_else(create):
    plugin = Sections(PromptSection(name="skills", text="s"), PromptSection(name="rules", text="- mine"))

    prompt = await built(create(plugin, system_prompt="Be a pirate.", append_system_prompt=["Arr."]))

    assert prompt.text.startswith("Be a pirate.\n\n<addendum>\nArr.\n</addendum>\n\n<skills>\ns\n</skills>\n\n<cwd>")
    assert prompt.parts[0].hook == "--system-prompt"


async def test_the_first_base_of_a_plugin_replaces_the_preamble(create):
    one = Sections(base=PromptSection(name="preamble", text="One", source="/SYSTEM.md"))
    two = Sections(base=PromptSection(name="preamble", text="Two"))

    prompt = await built(create(one, two))

    assert prompt.text.startswith("One\n\n<cwd>")
    assert (prompt.parts[0].plugin, prompt.parts[0].source) == ("plugin-0", "/SYSTEM.md")


async def test_a_custom_prompt_precedes_a_plugins_base(create):
    plugin = Sections(base=PromptSection(name="preamble", text="Theirs"))

    assert (await built(create(plugin, system_prompt="Mine"))).text.startswith("Mine\n")


async def test_the_path_of_a_file_is_replaced_by_its_text(create, tmp_path):
    file = tmp_path / "prompt.md"
    file.write_text("\ufeffFrom a file\n", encoding="utf-8")

    prompt = await built(create(system_prompt=str(file), append_system_prompt=[str(file), "and text"]))

    assert prompt.text.startswith("From a file\n\n<addendum>\nFrom a file\n\nand text\n</addendum>")
    assert [part.source for part in prompt.parts[:3]] == [str(file), str(file), None]


@pytest.mark.parametrize("value", ["", "no such file", "a\nb", "x" * 10_000, "nul\0"])
async def test_a_value_that_is_no_file_is_the_text_itself(create, value):
    prompt = await built(create(append_system_prompt=[value, "end"]))

    assert f"<addendum>\n{value}{chr(10) * 2 if value else ''}end\n</addendum>" in prompt.text


async def test_a_file_that_is_too_large_is_refused_with_its_size(create, tmp_path):
    with (tmp_path / "large").open("wb") as file:
        file.truncate(50 * 1_048_576)

    with pytest.raises(UserError, match=r"large: 50 MB is too much for a system prompt"):
        create(system_prompt=str(tmp_path / "large"))


async def test_a_resource_loader_can_supply_the_prompt(create):
    loader = DefaultResourceLoader(system_prompt="Loaded", append_system_prompt=["More"])

    prompt = await built(create(resource_loader=loader))

    assert prompt.text.startswith("Loaded\n\n<addendum>\nMore\n</addendum>")


# Date, runs, failures


async def test_the_date_is_included_only_on_request(create):
    today = datetime.now().astimezone().date().isoformat()

    without = (await built(create())).text
    with_date = (await built(create(settings={"systemPrompt": {"date": True}}))).text

    assert today not in without
    assert f"<date>\nCurrent date: {today}\n</date>\n\n<cwd>" in with_date


async def test_the_built_prompt_is_sent_and_a_run_can_change_it(create, script):
    class Changes:
        @hookimpl
        async def before_agent_start(self, event, ctx):
            return BeforeAgentStartResult(system_prompt=f"{event.system_prompt}\n\nToday only.")

    script.turn(text("a"))
    session = create(Sections(PromptSection(name="own", text="Mine")), Changes())

    await session.prompt("hi")

    sent = script.requests[0].system_prompt
    assert "<own>\nMine\n</own>" in sent
    assert sent.endswith("\n\nToday only.")
    assert "Today only" not in (await session.system_prompts.build()).text


async def test_a_failing_plugin_adds_nothing_and_is_reported(create, script, recorder):
    class Fails:
        @hookimpl
        async def system_prompt(self, event, ctx):
            raise ValueError("no idea")

    class Wrong:
        @hookimpl
        def system_prompt(self):
            return SystemPromptResult(sections=["text"])

    script.turn(text("a"))
    session = create(Fails(), Wrong(), Sections(PromptSection(name="own", text="Mine")))
    session.subscribe(recorder)

    await session.prompt("hi")

    assert "<own>\nMine\n</own>" in script.requests[0].system_prompt
    reported = [event.error for event in recorder.events if event.type == "extension_error"]
    assert ["no idea" in reported[0], "which is not of type PromptSection" in reported[1]] == [True, True]
