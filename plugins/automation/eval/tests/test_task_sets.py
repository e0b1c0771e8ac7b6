"""The sets of tasks that are part of pi: each check fails before its task is solved, and passes afterwards."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

from pi_eval.checks import check_run
from pi_eval.plan import read_plan
from pi_eval.run import Record
from pi_testing import for_each

SETS = ("local-tasks", "local-tasks-held-out")

SOLUTIONS = {
    "fix-average": "sed -i 's/(len(numbers) + 1)/len(numbers)/' stats.py",
    "rename-function": "sed -i 's/\\bcalc\\b/total_price/' shop.py main.py",
    "create-file": "echo 'Hello, world!' > greeting.txt",
    "add-function": "printf '\\n\\ndef subtract(a, b):\\n    return a - b\\n' >> mathlib.py",
    "change-default": "sed -i 's/30/60/' settings.json",
    "fix-typo": "sed -i s/recieve/receive/ README.md",
    "failing-test": "sed -i 's/split(\" \")/split()/' words.py",
    "delete-line": "sed -i /password/d notes.txt",
    "fix-off-by-one": "sed -i 's/ - count + 1 / - count /' items.py",
    "rename-class": "sed -i 's/\\bUsr\\b/User/' models.py app.py",
    "create-module": "printf 'def area(width, height):\\n    return width * height\\n' > shapes.py",
    "add-parameter": 'printf \'def greet(name, greeting="Hello"):\\n    return f"{greeting}, {name}!"\\n\' > hello.py',
    "change-version": 'sed -i \'s/version = "1.4.0"/version = "1.5.0"/\' pyproject.toml',
    "empty-input": "sed -i 's/return max(numbers)/return max(numbers) if numbers else None/' numbers_list.py",
    "fix-import": "sed -i s/summarise/summarize/ report.py",
    "sort-lines": "sort -o names.txt names.txt",
}
"""A command that solves a task; the others have an answer for a solution."""

ANSWERS = {
    "count-lines": "It has 37 lines.",
    "answer-from-file": "Port 8472.",
    "find-file": "In src/lang/parse.py.",
    "run-program": "tulip",
    "count-files": "There are 13.",
    "answer-from-log": "At 09:14:52.",
    "find-caller": "It is jobs/nightly.py.",
    "sum-column": "552",
}


def cases():
    return [case for name in SETS for case in read_plan(Path(name)).cases]


def test_there_are_twelve_tasks_in_each_set_with_names_of_their_own():
    assert [len(read_plan(Path(name)).cases) for name in SETS] == [12, 12]
    assert sorted(case.name for case in cases()) == sorted([*SOLUTIONS, *ANSWERS])


def test_a_file_of_the_user_with_the_name_of_a_set_is_used(tmp_path, monkeypatch):
    (tmp_path / "local-tasks").write_text("prompts: [{name: own, prompt: hi, checks: [{answer: hi}]}]")
    monkeypatch.chdir(tmp_path)

    assert [case.name for case in read_plan(Path("local-tasks")).cases] == ["own"]


@for_each("case", cases())
async def test_the_checks_of_a_task_tell_whether_it_is_solved(case, tmp_path_factory):
    work = tmp_path_factory.mktemp(case.name)
    for path, content in case.files.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(content)

    async def run_command(line):
        done = await asyncio.to_thread(
            subprocess.run, ["sh", "-c", line], cwd=work, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    async def passes(answer):
        return all(each.passed for each in await check_run(case.checks, record(answer), work, run_command))

    assert not await passes("I do not know.")
    if case.name in SOLUTIONS:
        code, output = await run_command(f"rm -rf __pycache__; {SOLUTIONS[case.name]}; rm -rf __pycache__")
        assert code == 0, output
    assert await passes(ANSWERS.get(case.name, "Done."))


def record(answer):
    return Record(case="a", number=1, answer=answer)
