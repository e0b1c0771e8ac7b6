"""What docs/budgets.md shows is what pi does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pi_budgets.line import append_line, ledger_file, today
from pi_budgets.subcommand import run_subcommand
from pi_core import PluginHost, Settings
from pi_core.wire import to_wire
from pi_testing import text

PAGE = (Path(__file__).parents[2] / "docs" / "budgets.md").read_text(encoding="utf-8")
EXAMPLE = json.loads(re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[0])

pytestmark = pytest.mark.pi(entry_points=["budgets"], plugins={}, settings=EXAMPLE)


async def test_the_example_of_settings_sets_these_limits(pi_session, script, fake_ui):
    assert PluginHost(Settings.in_memory()).known_settings.problem_with(("budgets",), EXAMPLE["budgets"]) is None
    script.turn(text("ok"))
    await pi_session.prompt("go")

    await pi_session.prompt("/budget")

    budgets = EXAMPLE["budgets"]
    scopes = [(f"budgets.{scope}", budgets[scope]) for scope in ("run", "session", "day")]
    scopes += [
        (f"budgets.by.{who}.{name}", value) for who, named in budgets["by"].items() for name, value in named.items()
    ]
    shown = fake_ui.notices[-1].message.splitlines()[1:]
    assert [line.rpartition(": ")[0] for line in shown] == [
        f"{scope}.{measure}" for scope, measures in scopes for measure in measures
    ]


@pytest.mark.pi(settings={"budgets": {"day": {"dollars": 10}}}, session={"ui": None})
async def test_the_event_has_the_fields_of_the_example(pi_session, pi_agent_dir, recorder):
    example = json.loads(re.findall(r'\{"type":"budget_exceeded".*?\}', PAGE)[0])
    pi_session.subscribe(recorder)
    append_line(ledger_file(pi_agent_dir), line(1, model="acme/one", dollars=10.02))

    await pi_session.prompt("go")

    (event,) = [to_wire(event) for event in recorder.events if event.type == "budget_exceeded"]
    assert {**event, "message": "..."} == example


def test_the_table_of_usage_is_what_it_prints(pi_agent_dir, capsys):
    for number in range(86):
        append_line(
            ledger_file(pi_agent_dir),
            line(number, model="anthropic/claude-sonnet-4-5", dollars=3.1204 / 86, input=47_911 + (number < 31)),
        )
    for number in (100, 101):
        append_line(ledger_file(pi_agent_dir), line(number, model="offline/rules"))

    run_subcommand(["--by", "model"], PluginHost(Settings.in_memory(agent_dir=pi_agent_dir), installed=False))

    assert f"$ pi usage --by model\n{capsys.readouterr().out}```" in PAGE


def line(number, **more):
    texts = {"at": "2026-05-01T10:00:00.000Z", "session": "s", "project": "/p", "purpose": "conversation"}
    return {"id": str(number), "day": today(), **texts, **more}
