"""``ctx.prompt_parts``: each part of the system prompt names the plugin that it comes from."""

from __future__ import annotations

import pytest

from pi_hookspecs import PromptSection, SystemPromptResult, hookimpl
from pi_testing import text


class Adds:
    def __init__(self, words):
        self.words = words

    @hookimpl
    def system_prompt(self, event):
        return SystemPromptResult(sections=[PromptSection(name="sea", text=self.words, source="/sea.md")])


@pytest.fixture
async def parts(session_of, script):
    session = session_of(Adds("It is red."), Adds("It is green."))
    script.turn(text("One."))
    await session.prompt("one")
    return session.ctx.prompt_parts


@pytest.mark.parametrize(("words", "plugin"), [("It is red.", "plugin-0"), ("It is green.", "plugin-1")])
async def test_a_part_names_its_plugin_its_hook_and_its_file(parts, words, plugin):
    (part,) = (each for each in parts if words in each.text)

    assert (part.section, part.plugin, part.hook, part.source) == ("sea", plugin, "system_prompt", "/sea.md")
    assert part.tokens > 0


async def test_what_no_plugin_added_names_none(parts):
    assert {each.plugin for each in parts if each.hook == "core"} == {None}


async def test_the_parts_are_the_whole_prompt(parts, script):
    assert "".join(each.text for each in parts) == script.requests[0].system_prompt
