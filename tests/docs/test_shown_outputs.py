"""Blocks of pages that show what pi prints, without a command of the page that prints it: they are what pi prints."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from attrs import evolve

import pi_cache_lint
from pi_agents.member import Member
from pi_agents.roster import Agent
from pi_hookspecs import (
    AssistantMessage,
    Cost,
    ModelCost,
    PromptSection,
    SystemPromptResult,
    TextContent,
    ToolCall,
    Usage,
    UserMessage,
    hookimpl,
)
from pi_redact.redactor import Redactor
from pi_replay.compare import Divergence, Report, Row
from pi_replay.recording import Turn
from pi_replay.show import show
from pi_testing import text, usage

DOCS = Path(__file__).parents[2] / "docs"
PYTEST = ToolCall(id="2", name="bash", arguments={"command": "pytest -q"})


def shown(page: str, words: str) -> str:
    """Return the block of a page that contains these words."""
    (block,) = [
        block
        for block in re.findall(r"^```text\n(.*?)^```$", (DOCS / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)
        if words in block
    ]
    return block


def is_shown(block: str, printed: str) -> bool:
    """Compare; ``...`` in the block stands for anything, and lines may be wrapped."""
    return doctest.OutputChecker().check_output(block, printed, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)


def answer(*content: TextContent | ToolCall, dollars: float, cached: int) -> AssistantMessage:
    spent = Usage(input=100 - cached, cache_read=cached, cost=Cost(total=dollars))
    return AssistantMessage(content=content, usage=spent, api="a", provider="a", model="m")


def read(path: str) -> ToolCall:
    return ToolCall(id="1", name="read", arguments={"path": path})


def test_replay(capsys: pytest.CaptureFixture[str]) -> None:
    """docs/replay.md: two prompts, of which the second diverges."""
    looks = [read("parser.py"), read("lexer.py"), PYTEST]
    words = " ".join(map(str, range(25)))
    why = Turn("a", (UserMessage(content="Why does the parser drop comments?"),))
    why.answers = [answer(*looks, TextContent(words), dollars=0.0213, cached=71)]
    cheaper = [answer(*looks, TextContent(words.replace("7 ", "seven ", 1)), dollars=0.0041, cached=68)]
    edit = ToolCall(id="2", name="edit", arguments={"path": "parser.py", "old_text": "skip()", "new_text": "keep()"})
    fix = Turn("5d0c9b7e", (UserMessage(content="Fix it, and add a test"),))
    fix.answers = [answer(read("parser.py"), edit, PYTEST, PYTEST, TextContent(words), dollars=0.048, cached=88)]
    other = [answer(read("lexer.py"), PYTEST, TextContent(words.partition("12")[0]), dollars=0.0032, cached=80)]
    report = Report(
        [Row(1, why, cheaper), Row(2, fix, other)], Divergence(2, "5d0c9b7e", PYTEST, edit), file="/r/b.jsonl"
    )

    show(report)

    assert is_shown(shown("replay.md", "diverges"), printed := capsys.readouterr().out), printed


class Clock:
    """Writes a time into the system prompt, another one each time."""

    times = 0

    @hookimpl
    def system_prompt(self):
        self.times += 1
        return SystemPromptResult(sections=[PromptSection(name="clock", text=f"It is {self.times} o'clock.")])


@pytest.fixture
def script(script):
    """The scripted model with the prices of a large one."""
    cost = ModelCost(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
    script.model = evolve(script.model, cost=cost)
    script.info = evolve(script.info, models=(script.model,))
    return script


@pytest.mark.pi(plugins={"cache-lint": pi_cache_lint, "clock": Clock()})
async def test_cache(script, fake_ui, pi_session) -> None:
    """docs/cache.md: a plugin that loses the cache at every request."""
    script.turn(text("one"), usage(input=200, cache_write=60_000))
    script.turn(text("two"), usage(input=300, cache_write=60_100))
    await pi_session.prompt("first")
    await pi_session.prompt("second")

    (notice,) = fake_ui.notices
    assert is_shown(shown("cache.md", "was lost"), printed := notice.message), printed


def test_redaction() -> None:
    """docs/redaction.md: a token in the conversation, and its mark on disk."""
    block = shown("redaction.md", "on disk")
    typed, stored = re.findall(r"(deploy with \S+)", block)

    redacted = Redactor(b"key").redact(typed.replace("...", "16C7e42F292c6912E7710c838347Ae178B4a"))

    assert re.sub("[0-9a-f]{6}]", "", redacted) == re.sub("[0-9a-f]{6}]", "", stored)


def test_agents() -> None:
    """docs/agents.md: the line that ends the result of an agent."""
    member = Member(
        agent=Agent(name="reviewer"),
        prompt="Review it",
        description="review",
        id="1f0c9a2e",
        turns=3,
        usage=Usage(cost=Cost(total=0.0123)),
        file="/home/me/.pi/agent/sessions/--home-me-tide--/2026-02-03_1f.jsonl",
    )

    assert is_shown(shown("agents.md", "[agent "), printed := member.last_line()), printed
