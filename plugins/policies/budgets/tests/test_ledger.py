"""The ledger: appended to by several processes, read as far as it is whole."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from attrs import asdict, evolve
from hypothesis import given
from hypothesis import strategies as st

import pi_budgets
from pi_budgets.ledger import Ledger, Line
from pi_budgets.line import append_line, ledger_file
from pi_budgets.subcommand import _Sum, _table, run_subcommand
from pi_core import PluginHost, Settings
from pi_testing import text, usage

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_testing import FakeUI, ScriptedProvider

LINE = Line(
    id="a", at="2026-05-01T10:00:00.000Z", day="2026-05-01", session="s", project="/p", purpose="conversation",
    model="acme/one", input=100, output=10, dollars=0.25, seconds=2.5,
)  # fmt: skip

pytestmark = pytest.mark.pi(plugins={"budgets": pi_budgets})


@pytest.fixture
def file(tmp_path: Path) -> str:
    return ledger_file(tmp_path / "agent")


def ids(ledger: Ledger) -> list[str]:
    return [line.id for line in ledger.new_lines()]


def add(file: str, line: Line) -> None:
    append_line(file, asdict(line))


def write(file: str, text: str) -> None:
    with Path(file).open("a") as opened:
        opened.write(text)


def test_lines_come_back_as_they_were_written(file: str) -> None:
    line = evolve(LINE, plugin="péter \ud800", agent="x\ny", toolCalls=3)

    add(file, line)

    (read,) = Ledger(file).new_lines()
    assert evolve(read, plugin=line.plugin) == line


def test_a_request_counts_once(file: str) -> None:
    for line in (LINE, LINE, evolve(LINE, id="b")):
        add(file, line)

    ledger = Ledger(file)
    ledger.refresh()

    assert ledger.used(None, "total", "", "")["requests"] == 2


@pytest.mark.parametrize(
    "damaged", ["garbage", "{}", "[]", '{"id": 5}', json.dumps({**asdict(LINE), "dollars": -1}), "null", "[" * 10_000,
                json.dumps({**asdict(LINE), "day": "someday"}), json.dumps({**asdict(LINE), "dollars": True})],
)  # fmt: skip
def test_a_damaged_line_is_named_and_does_not_count(file: str, damaged: str) -> None:
    add(file, LINE)
    write(file, f"{damaged}\n")
    add(file, evolve(LINE, id="b"))

    ledger = Ledger(file)

    assert ids(ledger) == ["a", "b"]
    assert list(map(str, ledger.damages)) == [f"{file}:2: this line of the ledger is damaged and is ignored"]


def test_a_line_that_a_killed_process_left_unfinished_spoils_no_other(file: str) -> None:
    add(file, LINE)
    write(file, '{"id": "b", "at')
    ledger = Ledger(file)
    before = ids(ledger)

    add(file, evolve(LINE, id="c"))

    assert (before, ids(ledger)) == (["a"], ["c"])
    assert len(ledger.damages) == 1


def test_a_ledger_that_was_moved_away_begins_anew(file: str, tmp_path: Path) -> None:
    add(file, LINE)
    ledger = Ledger(file)
    ledger.refresh()
    (tmp_path / "agent" / "usage" / "ledger.jsonl").rename(tmp_path / "old")
    add(file, evolve(LINE, id="b", dollars=1))

    ledger.refresh()

    assert ledger.used(None, "total", "", "")["dollars"] == 1


def test_lines_of_many_writers_do_not_mix(file: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: add(file, evolve(LINE, id=str(number))), range(200)))

    ledger = Ledger(file)
    assert sorted(ids(ledger), key=int) == [str(number) for number in range(200)]
    assert ledger.damages == []


@given(st.lists(st.tuples(st.sampled_from("pq"), st.sampled_from(["d", "e"]), st.integers(1, 9)), max_size=12))
def test_the_sums_are_those_of_the_lines(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    file = ledger_file(tmp_path_factory.mktemp("ledger"))
    ledger = Ledger(file)
    days = {"d": "2026-05-01", "e": "2026-05-02"}
    for number, (project, day, cents) in enumerate(rows):
        add(file, evolve(LINE, id=str(number), project=project, day=days[day], dollars=cents / 100))
        ledger.refresh()  # what is read bit by bit is what is read at once

    for project in "pq":
        expected = sum(cents for name, _, cents in rows if name == project)
        assert ledger.used(None, "project", project, "").get("dollars", 0) == pytest.approx(expected / 100)
    latest = max((days[day] for _, day, _ in rows), default="")
    expected = sum(cents for _, day, cents in rows if days[day] == latest)
    assert ledger.used(None, "day", "", "2026-04-30").get("dollars", 0) == pytest.approx(expected / 100)


# Sessions


@pytest.mark.pi(settings={"budgets": {"day": {"requests": 2}}})
async def test_with_the_clock_set_back_the_latest_day_goes_on(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI, pi_agent_dir: Path
) -> None:
    fake_ui.answers("Stop")
    file = ledger_file(pi_agent_dir)
    add(file, evolve(LINE, day="2999-12-31"))
    script.turn(text("ok"))
    await pi_session.prompt("go")

    answer = await pi_session.prompt("go")

    assert answer is not None
    assert "all sessions of today have used 2 of 2 requests" in (answer.error_message or "")
    assert [line.day for line in Ledger(file).new_lines()] == ["2999-12-31"] * 2
    assert [notice.message.partition(":")[0] for notice in fake_ui.notices] == ["The clock was set back, or was wrong"]


@pytest.mark.pi(settings={"budgets": {"project": {"requests": 1}}}, session={"ui": None})
async def test_another_project_is_another_budget(
    pi_session: AgentSession, script: ScriptedProvider, pi_agent_dir: Path
) -> None:
    add(ledger_file(pi_agent_dir), LINE)
    script.turn(text("ok"))

    answers = [await pi_session.prompt("go") for _ in range(2)]

    assert [answer.stop_reason for answer in answers if answer is not None] == ["stop", "error"]


@pytest.mark.pi(settings={"budgets": {"day": {"requests": 9}}})
async def test_a_damaged_line_is_named_once_in_a_session(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI, pi_agent_dir: Path
) -> None:
    add(ledger_file(pi_agent_dir), LINE)
    (pi_agent_dir / "usage" / "ledger.jsonl").write_text("garbage\n")
    for _ in range(2):
        script.turn(text("ok"))
        await pi_session.prompt("go")

    (notice,) = fake_ui.notices
    assert "ledger.jsonl:1: this line of the ledger is damaged" in notice.message


@pytest.mark.parametrize(("scope", "made"), [("day", 0), ("session", 2)])
async def test_a_ledger_that_cannot_be_written_refuses_what_depends_on_it(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI, pi_agent_dir: Path, scope: str, made: int
) -> None:
    pi_session.settings.set(f"budgets.{scope}.requests", 9)
    await pi_session.reload()
    (pi_agent_dir / "usage").mkdir()
    (pi_agent_dir / "usage" / "ledger.jsonl").mkdir()  # no file can be there
    script.turn(text("ok")).turn(text("ok"))

    answers = [await pi_session.prompt("go") for _ in range(2)]

    assert len(script.requests) == made
    assert all("The budget cannot be enforced" in (each.error_message or "") for each in answers[made:] if each)


@pytest.mark.pi(stored=True, settings={"budgets": {"total": {"dollars": 99}}})
async def test_the_ledger_equals_the_session_files_to_the_cent_and_forks_count_once(
    pi_session: AgentSession, script: ScriptedProvider, pi_agent_dir: Path
) -> None:
    for cost in (0.11, 0.23, 0.07):
        script.turn(text("ok"), usage(input=10, cost=cost))
        await pi_session.prompt("go")
    await pi_session.fork(pi_session.session_manager.leaf_id, position="at")
    script.turn(text("ok"), usage(input=10, cost=0.5))
    await pi_session.prompt("on")

    stored: dict[str, float] = {}
    for file in pi_agent_dir.rglob("sessions/**/*.jsonl"):
        for line in file.read_text().splitlines():
            entry = json.loads(line)
            if entry.get("message", {}).get("role") == "assistant":
                stored[entry["id"]] = entry["message"]["usage"]["cost"]["total"]
    ledger = Ledger(ledger_file(pi_agent_dir))
    ledger.refresh()
    spent = ledger.used(None, "total", "", "")["dollars"]
    assert round(spent, 2) == round(sum(stored.values()), 2) == 0.91


# pi usage


def usage_of(pi_agent_dir: Path, *arguments: str) -> int:
    host = PluginHost(Settings.in_memory(agent_dir=pi_agent_dir), installed=False)
    return run_subcommand([*arguments], host)


@pytest.fixture
def filled(pi_agent_dir: Path) -> Path:
    lines = [
        LINE,
        evolve(LINE, id="b", day="2026-05-02", model="acme/two", dollars=1, cacheRead=5),
        evolve(LINE, id="c", plugin="compaction", purpose="compaction", dollars=0.5),
        evolve(LINE, id="d", agent="scout", project="/q", dollars=0),
    ]
    for line in lines:
        add(ledger_file(pi_agent_dir), line)
    return pi_agent_dir


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ("day", ["2026-05-01", "2026-05-02"]),
        ("model", ["acme/two", "acme/one"]),
        ("plugin", ["conversation", "compaction", "agent:scout"]),
        ("project", ["/p", "/q"]),
    ],
)
def test_usage_as_json(filled: Path, capsys: pytest.CaptureFixture[str], by: str, keys: list[str]) -> None:
    code = usage_of(filled, "--by", by, "--json")

    found = json.loads(capsys.readouterr().out)
    assert code == 0
    assert list(found) == ["total", "rows"]
    assert found["total"] == {
        "dollars": 1.75,
        "requests": 4,
        "tokens": {"input": 400, "output": 40, "cacheRead": 5, "cacheWrite": 0, "total": 445},
    }
    assert [row["key"] for row in found["rows"]] == keys
    assert sum(row["dollars"] for row in found["rows"]) == 1.75


def test_usage_as_a_table(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usage_of(filled, "--by", "model")

    assert capsys.readouterr().out.splitlines() == [
        "model     dollars  requests  tokens",
        "acme/two   1.0000         1     115",
        "acme/one   0.7500         3     330",
        "total      1.7500         4     445",
    ]


@pytest.mark.parametrize(("arguments", "code"), [(["--by", "week"], 2), (["--help"], 0), ([], 0)])
def test_usage_of_an_empty_ledger_and_wrong_arguments(
    pi_agent_dir: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int
) -> None:
    assert usage_of(pi_agent_dir, *arguments) == code


def test_the_name_of_a_folder_reaches_no_terminal_raw() -> None:
    rows = _table("project", [("/n\x1b]0;OWNED\x07\n\u202e", _Sum()), ("/häfen", _Sum())])

    assert [row.split()[0] for row in rows] == ["project", r"/n\x1b]0;OWNED\x07\n\u202e", "/häfen"]


def test_requests_that_were_read_before_count_again_after_the_ledger_was_replaced(file: str, tmp_path: Path) -> None:
    add(file, LINE)
    add(file, evolve(LINE, id="b"))
    ledger = Ledger(file)
    ledger.refresh()
    before = ledger.used(None, "total", "/p", LINE.day)

    copy = Path(file).with_name("copy")
    copy.write_bytes(Path(file).read_bytes())
    copy.replace(file)
    ledger.refresh()

    assert ledger.used(None, "total", "/p", LINE.day) == before
    assert before["requests"] == 2
