"""What requests in progress may still cost: counted by other sessions and processes until it is known."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

import pi_budgets
from pi_budgets.ledger import Ledger
from pi_budgets.line import ledger_file
from pi_budgets.reservations import Reservation, Reservations
from pi_hookspecs import BeforeModelRequestResult, ModelCost, hookimpl
from pi_testing import text, usage
from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

    from pi_core import AgentSession
    from pi_testing import Request, ScriptedProvider

pytestmark = pytest.mark.pi(plugins={"budgets": pi_budgets})

WORKER = """
import asyncio
import sys
import time
from pathlib import Path

from attrs import evolve

import pi_budgets
import pi_session_jsonl
from pi_core import PluginHost, Settings, create_agent_session
from pi_hookspecs import ModelCost
from pi_testing import ScriptedProvider, delay, text, usage


async def main(cwd, agent_dir, go):
    settings = Settings.load(cwd, agent_dir)
    host = PluginHost(settings, installed=False)
    host.add(pi_budgets, "budgets")
    host.add(pi_session_jsonl, "session-jsonl")
    script = ScriptedProvider()
    for _ in range(30):
        script.turn(delay(0.01), text("ok"), usage(output=700, cost=0.07))
    model = evolve(script.model, max_tokens=1000, cost=ModelCost(input=1, output=100))
    session = create_agent_session(
        cwd=cwd, host=host, settings=settings, model=model, plugins={"script": script}, tools=[]
    )
    while not Path(go).exists():
        time.sleep(0.01)
    async with session:
        while (await session.prompt("go")).stop_reason == "stop":
            pass
        print(session.exit_code)


asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("number", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_processes_on_one_budget_overshoot_by_one_request_each_at_most(tmp_path: Path, number: int) -> None:
    agent_dir, go = tmp_path / "agent", tmp_path / "go"
    agent_dir.mkdir()
    (agent_dir / "settings.json").write_text('{"budgets": {"day": {"dollars": 1}}}')
    workers = [
        subprocess.Popen([sys.executable, "-c", WORKER, tmp_path, agent_dir, go], stdout=subprocess.PIPE, text=True)
        for _ in range(number)
    ]
    go.touch()
    ends = [worker.communicate(timeout=PATIENCE)[0].strip() for worker in workers]

    assert ends == ["4"] * number
    ledger = Ledger(ledger_file(agent_dir))
    ledger.refresh()
    spent = ledger.used(None, "total", "", "")["dollars"]
    assert 1 <= spent < 1 + number * 0.07
    assert ledger.damages == []
    files = [*agent_dir.rglob("sessions/**/*.jsonl")]
    entries = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    answers = [entry["message"] for entry in entries if entry.get("message", {}).get("role") == "assistant"]
    assert round(sum(answer["usage"]["cost"]["total"] for answer in answers), 2) == round(spent, 2)


def priced(script: ScriptedProvider) -> Any:
    """A model whose requests may cost a dollar."""
    return evolve(script.model, max_tokens=1000, cost=ModelCost(input=0.000001, output=1000))


@pytest.mark.parametrize("scope", ["run", "day"])
@pytest.mark.pi(session={"ui": None})
async def test_a_request_waits_for_others_that_may_use_the_budget_up(
    pi_session: AgentSession, script: ScriptedProvider, scope: str
) -> None:
    pi_session.settings.set(f"budgets.{scope}.dollars", 1)
    await pi_session.reload()
    await pi_session.set_model(priced(script))
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def held(_request: Request) -> list[Any]:
        begun.set()
        await may_end.wait()
        return [text("first"), usage(cost=0.1)]

    script.turn(held).turn(text("second"), usage(cost=0.1))
    async with pi_session.ctx.create_session(tools=[]) as one, pi_session.ctx.create_session(tools=[]) as two:
        first = asyncio.create_task(one.prompt("go"))
        await begun.wait()
        second = asyncio.create_task(two.prompt("go"))
        await asyncio.sleep(0.15)
        waiting = len(script.requests)
        may_end.set()
        answers = [await first, await second]

    assert waiting == 1
    assert [answer.text for answer in answers] == ["first", "second"]


@pytest.mark.pi(session={"ui": None}, settings={"budgets": {"day": {"dollars": 1}, "run": {"dollars": 1}}})
async def test_a_request_that_another_plugin_refuses_leaves_nothing_reserved(
    pi_session: AgentSession, script: ScriptedProvider, pi_agent_dir: Path
) -> None:
    class Guard:
        @hookimpl
        def before_model_request(self) -> BeforeModelRequestResult:
            return BeforeModelRequestResult(block=True, reason="no")

    pi_session.host.add(Guard(), "guard")
    await pi_session.reload()
    await pi_session.set_model(priced(script))

    answer = await pi_session.prompt("go")

    assert answer is not None
    assert answer.error_message == "no"
    assert open_in(pi_agent_dir) == []


@pytest.mark.pi(session={"ui": None}, settings={"budgets": {"day": {"dollars": 1}}})
async def test_an_answer_ends_its_reservation(
    pi_session: AgentSession, script: ScriptedProvider, pi_agent_dir: Path
) -> None:
    during = []

    async def answer(_request: Request) -> Any:
        during.extend(open_in(pi_agent_dir))
        return text("ok")

    script.turn(answer)
    await pi_session.prompt("go")

    assert len(during) == 1
    assert open_in(pi_agent_dir) == []


def open_in(agent_dir: Path) -> list[str]:
    """The requests that are reserved."""
    file = agent_dir / "usage" / "reservations.sqlite"
    if not file.exists():
        return []
    with closing(sqlite3.connect(file)) as connection:
        return [row[0] for row in connection.execute("SELECT id FROM reservations")]


# The file


RESERVATION = Reservation(id="a", session="s", project="/p", names=(None, "agent:x"), amounts={"dollars": 0.5})


def reserved(file: Path) -> list[Reservation]:
    reservations = Reservations(str(file))
    with reservations.changing() as connection:
        return reservations.others(connection)


def add(file: Path, **columns: Any) -> None:
    """Reserve a request, as another process would."""
    reservations = Reservations(str(file))
    with reservations.changing() as connection:
        reservations.add(connection, RESERVATION)
        for column, value in columns.items():
            connection.execute(f"UPDATE reservations SET {column} = ?", [value])  # noqa: S608 - names of the test


def test_reservations_come_back_as_they_were_made(tmp_path: Path) -> None:
    add(tmp_path / "r.sqlite")

    assert reserved(tmp_path / "r.sqlite") == [RESERVATION]


def test_a_process_that_is_gone_reserves_nothing(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    add(tmp_path / "r.sqlite", pid=int(ended.stdout))

    assert reserved(tmp_path / "r.sqlite") == []


def test_the_processes_of_another_computer_are_not_looked_for(tmp_path: Path) -> None:
    add(tmp_path / "r.sqlite", pid=2**30, host="elsewhere")

    assert len(reserved(tmp_path / "r.sqlite")) == 1


def test_a_reservation_lapses_after_an_hour_whatever_its_process_does(tmp_path: Path) -> None:
    add(tmp_path / "r.sqlite", begun=5.0)

    assert reserved(tmp_path / "r.sqlite") == []


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "r.sqlite").write_bytes(b"garbage " * 2000)

    with pytest.raises(OSError, match="try again"):
        reserved(tmp_path / "r.sqlite")

    assert reserved(tmp_path / "r.sqlite") == []


def test_releasing_makes_no_file(tmp_path: Path) -> None:
    Reservations(str(tmp_path / "r.sqlite")).release(request="a")

    assert [*tmp_path.iterdir()] == []
