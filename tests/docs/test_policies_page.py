"""The plugins on the page docs/policies.md work as they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from pi_hookspecs import BeforeAgentStartResult, CustomMessage
from pi_testing import text, tool_call
from pi_testing.under_test import plugins_for

PAGE = (Path(__file__).parents[2] / "docs" / "policies.md").read_text(encoding="utf-8")
BLOCKS = {
    section.partition("\n")[0]: re.findall(r"^```python\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    for section in PAGE.split("\n## ")[1:]
}


@pytest.fixture
def section():
    """The section of this test."""
    return


@pytest.fixture
def pi_plugins(section, pi_options, monkeypatch):
    """The installed plugins that the test names, and the one of the section."""
    monkeypatch.setenv("SHOP_LOGIN", "v1-tuna-salad")
    module = ModuleType(f"page_{section.lower().replace(' ', '_')}")
    exec(BLOCKS[section][0], vars(module))  # noqa: S102 - the page's own text
    return {**plugins_for(pi_options, Path(__file__)), "page": module}


@pytest.mark.parametrize("section", ["Secrets"])
@pytest.mark.pi(entry_points=["tools"], plugins={})
async def test_results_are_logged_without_the_tokens(pi_session, script, tmp_path):
    (tmp_path / "notes.txt").write_text("the login is v1-tuna-salad, in short tuna-salad\n")
    script.turn(tool_call("read", path="notes.txt")).turn(text("I see."))

    await pi_session.prompt("read")

    assert "the login is [redacted], in short [redacted]" in (tmp_path / "results.log").read_text()


@pytest.mark.parametrize("section", ["Settings"])
@pytest.mark.pi(plugins={}, trusted=True)
async def test_the_model_is_kept_for_the_project(pi_session, fake_ui, tmp_path):
    await pi_session.prompt("/keep-model")

    assert [notice.message for notice in fake_ui.notices] == ["Kept"]
    assert pi_session.settings.get("defaultModel") == pi_session.model.id


@pytest.mark.parametrize("section", ["Observing plugins"])
@pytest.mark.pi(entry_points=["guardrails", "tools"], plugins={}, settings={"guardrails": {"enabled": True}})
async def test_refusals_are_counted_by_plugin(pi_session, script, fake_ui):
    fake_ui.answers(False)
    script.turn(tool_call("bash", command="rm -rf /")).turn(text("Then not."))

    await pi_session.prompt("clean up")
    await pi_session.prompt("/refusals")

    assert "guardrails refused 1 calls" in [notice.message for notice in fake_ui.notices]


@pytest.mark.parametrize("section", ["Who added what"])
@pytest.mark.pi(entry_points=["tools"], plugins={})
async def test_the_context_is_counted_by_plugin(pi_session, script, fake_ui):
    note = CustomMessage(custom_type="note", content="x" * 40)
    pi_session.hooks.add("notes", "before_agent_start", lambda: BeforeAgentStartResult(messages=[note]))
    script.turn(text("Hello."))

    await pi_session.prompt("hello")
    await pi_session.prompt("/sizes")

    assert "notes: 10 tokens" in fake_ui.notices[0].message
    assert re.search(r"\bpi: \d+ tokens", fake_ui.notices[0].message)


def test_the_marks_of_what_will_be_removed_are_on_the_specifications():
    page = {}
    exec(BLOCKS["Deprecations"][0], page)  # noqa: S102 - the page's own text

    assert page["before_turn_end"].pi_deprecated == page["MARK"] == page["SomeActions"].old_name.pi_deprecated
    assert page["turn_over"].pi_deprecated_fields == {"index": page["MARK"]}
