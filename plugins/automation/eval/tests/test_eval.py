"""``pi eval``: what its files say, its checks and statistics, and runs of ``offline/rules``."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_core import PluginHost, Settings
from pi_eval.checks import CheckResult, check_run
from pi_eval.command import run as run_command
from pi_eval.outcome import Baseline, Outcome
from pi_eval.plan import InvalidFile, read_plan
from pi_eval.run import Record
from pi_eval.stats import is_regression, wilson
from pi_hookspecs import WrongUse

FILE = """
model: offline/rules
prompts:
  - name: count
    prompt: Count the words in notes.txt
    files: {notes.txt: "one two three\\n"}
    checks:
      - answer: 3 words
      - {tool: read, arguments: {path: notes.txt}, times: 1}
      - {tool: bash, never: true}
      - cost: 0.01
      - command: grep -q three notes.txt
  - name: create
    prompt: Create a file named hello.txt with the text 'hi'
    checks:
      - {file: hello.txt, contains: WANTED}
"""


@pytest.fixture
def evaluation(tmp_path, monkeypatch, capsys):
    """Writes a file and runs ``pi eval`` on it; returns exit code, stdout and stderr."""
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    monkeypatch.chdir(tmp_path)

    def evaluate(text, *options):
        file = tmp_path / "eval.yaml"
        file.write_text(text)
        code = run_command([str(file), *options], PluginHost(Settings.load(tmp_path), installed=False))
        output = capsys.readouterr()
        return code, output.out, output.err

    return evaluate


def test_prompts_are_run_and_checked_and_compared_with_what_was_saved(evaluation, tmp_path):
    code, output, _ = evaluation(FILE.replace("WANTED", "hi"), "--save", "before.json")

    assert code == 0, output
    assert "2 of 2 runs passed" in output

    code, output, _ = evaluation(FILE.replace("WANTED", "ho"), "--baseline", "before.json", "--json")
    outcome = json.loads(output)

    assert (code, outcome["regressions"]) == (3, ["create"])
    assert [each["passed"] for each in outcome["prompts"]] == [1, 0]
    failure = outcome["prompts"][1]["failures"][0]
    assert failure["checks"] == [{"check": "file hello.txt", "why": "'ho' is not in 'hi'"}]
    assert list((tmp_path / "agent" / "evals").rglob(f"*{failure['session']}.jsonl"))


def test_ci_gets_a_test_case_for_each_prompt(evaluation, tmp_path):
    text = FILE.replace("WANTED", "h<\\x01>o").replace("name: count", 'name: "\\x1b[1mcount & co"')

    code, _, _ = evaluation(text, "--junit", "junit.xml")

    assert code == 1
    suite = ET.parse(tmp_path / "junit.xml").getroot()  # noqa: S314 - our own
    count, create = suite
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert (count.get("classname"), count.get("name")) == ("eval", "\N{REPLACEMENT CHARACTER}[1mcount & co")
    assert count[0].text == "1 of 1 runs passed"
    assert create[0].get("message") == "0 of 1 runs passed: the pass rate is too low"
    assert create[0].text.startswith("run 1: file hello.txt: 'h<")
    with pytest.raises(WrongUse, match=r"--junit 'nowhere/junit\.xml'"):
        evaluation(text, "--junit", "nowhere/junit.xml")


def test_a_run_that_takes_too_long_is_ended_and_has_failed(evaluation):
    text = "prompts: [{prompt: hi, setup: sleep 60, timeout: 0.2, checks: [{answer: hi}]}]"

    code, output, _ = evaluation(text)

    assert code == 1
    assert "the setup command exited with" in output


def test_everything_that_is_wrong_with_a_file_is_named_before_the_first_run(evaluation):
    text = """
    promts: []
    repeats: 0
    prompts:
      - {prompt: 3, checks: []}
      - {prompt: a, checks: [{fil: x}, {file: ../x, matches: "("}, {tool: read, times: yes}]}
      - {name: b, prompt: b, folder: nowhere, checks: [{cost: 1}], files: {/etc/x: y}}
      - text
    """

    code, output, stderr = evaluation(text)

    assert (code, output) == (2, "")
    for each in (
        "did you mean 'prompts'",
        "repeats must be at least 1",
        "prompts[0].prompt must be a string, not 3",
        "prompts[0].checks is empty",
        "prompts[1].checks[0] must have one of",
        "'(' is not a regular expression",
        "'../x' is not inside",
        "times must be a whole number, not True",
        "'nowhere' is not a folder",
        "'/etc/x' is not inside",
        "prompts[3] must be a mapping",
    ):
        assert each in stderr


@pytest.mark.parametrize("text", ["[", "", "prompts: []", "prompts: 5", "- a", "\0", "prompts: [{}, null]"])
def test_files_without_prompts_are_refused(text, evaluation):
    code, _, stderr = evaluation(text)

    assert code == 2
    assert "eval.yaml" in stderr


def test_a_baseline_that_cannot_be_read_is_refused_before_the_first_run(evaluation, tmp_path):
    (tmp_path / "broken.json").write_text('{"prompts": 5}')

    for name in ("broken.json", "absent.json"):
        code, _, stderr = evaluation(FILE, "--baseline", name)
        assert code == 2
        assert name in stderr


def test_options_of_all_prompts_hold_unless_a_prompt_has_its_own(tmp_path):
    file = tmp_path / "eval.yaml"
    file.write_text(
        "repeats: 3\noptions: [--thinking, low]\npass: 0.5\nprompts:\n"
        "  - {prompt: a, checks: [{cost: 1}], options: [--no-tools]}\n"
        "  - {prompt: b, checks: [{cost: 1}], repeats: 7, pass: 1}\n"
    )

    first, second = read_plan(file).cases

    assert (first.repeats, first.threshold, first.options) == (3, 0.5, ("--thinking", "low", "--no-tools"))
    assert (second.repeats, second.threshold, second.options) == (7, 1, ("--thinking", "low"))


@pytest.mark.parametrize(
    ("check", "why"),
    [
        ({"file": "a.txt"}, ""),
        ({"file": "b.txt"}, "it does not exist"),
        ({"file": "."}, "it is not a file"),
        ({"file": "a.txt", "absent": True}, "it exists"),
        ({"file": "b.txt", "absent": True}, ""),
        ({"file": "a.txt", "matches": "^tw.$"}, ""),
        ({"file": "a.txt", "contains": "three"}, "'three' is not in 'one\\ntwo\\n'"),
        ({"tool": "read"}, ""),
        ({"tool": "read", "arguments": {"path": "b"}}, "there was no such call; calls: read, read"),
        ({"tool": "read", "times": 1}, "it was called 2 times; calls: read, read"),
        ({"tool": "read", "never": True}, "it was called 2 times"),
        ({"tool": "bash", "never": True}, ""),
        ({"cost": 0.5}, ""),
        ({"cost": 0.1}, "it cost 0.250000"),
        ({"requests": 3}, ""),
        ({"requests": 2}, "there were 3"),
        ({"answer": "done"}, ""),
        ({"matches": "^All"}, ""),
        ({"matches": "none"}, "'none' does not match 'All done.'"),
        ({"command": "true"}, ""),
        ({"command": "false"}, "exit code 1: no"),
    ],
)
async def test_a_check_says_why_it_failed(check, why, tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    calls = [{"name": "read", "arguments": {"path": "a"}}] * 2
    record = Record("a", 1, answer="All done.", calls=calls, requests=3, dollars=0.25)

    async def command(line):
        return (0, "") if line == "true" else (1, "no\n")

    (result,) = await check_run([check], record, tmp_path, command)

    assert (result.passed, result.why) == (not why, why)


def outcome(tmp_path, passed, runs, *, before=None, threshold=None):
    file = tmp_path / "eval.yaml"
    file.write_text(f"prompts: [{{name: a, prompt: a, pass: {threshold or 0}, checks: [{{cost: 1}}]}}]")
    if threshold is None:
        file.write_text("prompts: [{name: a, prompt: a, checks: [{cost: 1}]}]")
    records = [Record("a", number, checks=[CheckResult("c", number < passed)]) for number in range(runs)]
    baseline = Baseline({"a": before}) if before is not None else None
    return Outcome.of(read_plan(file), None, records, baseline)


@pytest.mark.parametrize(
    ("passed", "runs", "options", "code"),
    [
        (5, 5, {}, 0),
        (4, 5, {}, 1),
        (4, 5, {"threshold": 0.8}, 0),
        (3, 5, {"threshold": 0.8}, 1),
        (4, 5, {"before": (5, 5)}, 0),
        (4, 5, {"before": (5, 5), "threshold": 1}, 1),
        (0, 5, {"before": (5, 5)}, 3),
        (0, 1, {"before": (1, 1)}, 3),
        (60, 100, {"before": (90, 100)}, 3),
        (85, 100, {"before": (90, 100)}, 0),
    ],
)
def test_the_exit_code_tells_a_regression_from_a_low_rate(passed, runs, options, code, tmp_path):
    assert outcome(tmp_path, passed, runs, **options).exit_code == code


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InvalidFile, match=r"none\.yaml"):
        read_plan(tmp_path / "none.yaml")


def test_the_interval_is_wilsons():
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 5) == pytest.approx((0, 0.4345), abs=1e-4)
    assert wilson(0, 0) == (0, 1)


@given(st.integers(0, 60), st.integers(1, 60), st.integers(0, 60), st.integers(1, 60))
@settings(max_examples=80, deadline=None)
def test_intervals_contain_the_rate_and_a_better_rate_is_no_regression(passed, runs, later, later_runs):
    passed, later = min(passed, runs), min(later, later_runs)
    low, high = wilson(passed, runs)

    assert 0 <= low <= passed / runs <= high <= 1
    if later / later_runs >= passed / runs:
        assert not is_regression((passed, runs), (later, later_runs))
