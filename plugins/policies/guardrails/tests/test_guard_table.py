"""The table of commands.tsv: what may hurt is stopped, everyday work runs unasked, and wrapping changes neither."""

from __future__ import annotations

import shlex
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st

from pi_core import PluginHost, Settings
from pi_guardrails.findings import SEVERITY, Verdict, worst
from pi_guardrails.judge import judge_command
from pi_guardrails.paths import GUARDED, Places
from pi_testing import for_each

TABLE = Path(__file__).with_name("commands.tsv")
FOLLOWED = tuple(
    name for name in PluginHost(Settings.in_memory({}), installed=False).project_files() if name not in GUARDED
)
PLACES = Places(
    cwd="/home/ann/project",
    home="/home/ann",
    agent_dir="/home/ann/.pi/agent",
    patterns=(*FOLLOWED, *GUARDED),
    followed=FOLLOWED,
)
MOST_WRONG = 0.03

WRAPPERS = [
    "bash -c {quoted}",
    "sh -c {quoted}",
    "env bash -c {quoted}",
    "sudo bash -c {quoted}",
    "timeout 5 bash -c {quoted}",
    "nohup bash -c {quoted}",
    "xargs bash -c {quoted}",
    "eval {quoted}",
    "bash <<< {quoted}",
    "( {command}\n)",
    "{{ {command}\n}}",
    "if true; then {command}\nfi",
    "while false; do {command}\ndone",
    "f() {{ {command}\n}}; f",
    'echo "$( {command}\n)"',
    "cat <( {command}\n)",
    "true && {command}",
    "true; {command}",
]
PREFIXES = ["env", "sudo", "timeout 5", "nohup", "xargs", "nice -n 5", "time", "command", "stdbuf -oL", "X=1"]
SYNTAX = frozenset("( { : . [ cd for while if case trap alias set export exec eval source time function coproc".split())


@frozen
class Row:
    verdict: Verdict
    family: str
    command: str
    reason: str

    @property
    def held_out(self) -> bool:
        return int(sha256(self.command.encode()).hexdigest(), 16) % 2 == 1

    @property
    def is_wrong(self) -> bool:
        found = verdict_of(self.command)
        return found != "allow" if self.verdict == "allow" else SEVERITY[found] < SEVERITY[self.verdict]


def rows() -> list[Row]:
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            verdict, family, command, reason = line.split("\t")
            found.append(Row(verdict, family, command.replace("↵", "\n"), reason))
    return found


ROWS = rows()
DANGEROUS = [row.command for row in ROWS if row.verdict != "allow"]
SIMPLE = [
    command
    for command in DANGEROUS
    if not set(command) & set(";&|<>()`\n$=") and command.split()[0] not in SYNTAX and "'" not in command.split()[0]
]


def verdict_of(command: str, places: Places = PLACES) -> Verdict:
    gravest = worst(judge_command(command, places))
    return "allow" if gravest is None else gravest.verdict


def _parts(command: str) -> st.SearchStrategy[str]:
    ends = st.integers(0, len(command))
    return st.tuples(ends, ends).map(lambda both: command[min(both) : max(both)])


@for_each("row", ROWS)
def test_a_command_of_the_table_is_judged_as_it_should_be(row: Row) -> None:
    assert not row.is_wrong, f"wanted {row.verdict}: {row.reason}"


@pytest.mark.parametrize(("name", "is_allowed"), [("dangerous.txt", False), ("everyday.txt", True)])
def test_more_commands_are_judged_as_they_should_be(name: str, is_allowed: bool) -> None:
    text = TABLE.with_name(name).read_text(encoding="utf-8")
    commands = [line.replace("↵", "\n") for line in text.splitlines() if not line.startswith("# ")]

    wrong = [each for each in commands if (verdict_of(each) == "allow") != is_allowed]

    assert wrong == []
    assert len(commands) >= 150


@pytest.mark.parametrize("name", ["fresh.tsv", "ordinary.tsv"])
def test_a_table_that_no_rule_was_made_for_is_judged_nearly_as_well(name: str, tmp_path: Path) -> None:
    installed = tmp_path / "node_modules" / ".bin"
    installed.mkdir(parents=True)
    for program in ("tsc", "eslint", "playwright"):
        (installed / program).touch()
    places = evolve(PLACES, cwd=str(tmp_path))
    lines = TABLE.with_name(name).read_text(encoding="utf-8").splitlines()
    wanted = [line.replace("↵", "\n").split("\t") for line in lines if not line.startswith("# ")]
    counts = Counter(verdict for verdict, _ in wanted)

    wrong = Counter(
        verdict for verdict, command in wanted if (verdict_of(command, places) == "allow") != (verdict == "allow")
    )

    assert len(wanted) >= 200
    assert wrong["ask"] / counts["ask"] <= 0.05
    assert wrong["allow"] / counts["allow"] <= 0.03


@pytest.mark.parametrize("held_out", [False, True])
def test_each_half_of_the_table_is_large_and_has_both_kinds(held_out: bool) -> None:
    kinds = Counter(row.verdict == "allow" for row in ROWS if row.held_out == held_out)

    assert kinds[False] >= 150
    assert kinds[True] >= 75


@given(st.lists(st.sampled_from([row.command for row in ROWS]).flatmap(_parts), max_size=4).map("".join))
def test_any_parts_of_commands_get_a_verdict(text: str) -> None:
    verdict_of(text)


@given(st.sampled_from(DANGEROUS), st.sampled_from(WRAPPERS))
def test_wrapping_a_dangerous_command_never_makes_it_less_dangerous(command: str, wrapper: str) -> None:
    wrapped = wrapper.format(command=command, quoted=shlex.quote(command))

    assert SEVERITY[verdict_of(wrapped)] >= SEVERITY[verdict_of(command)]


@given(st.sampled_from(SIMPLE), st.sampled_from(PREFIXES))
def test_a_program_before_a_dangerous_command_never_makes_it_less_dangerous(command: str, prefix: str) -> None:
    assert SEVERITY[verdict_of(f"{prefix} {command}")] >= SEVERITY[verdict_of(command)]
