"""docs/testing.md is followed to the letter: its files are written, its commands run, their output is as it says."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pi_testing.fake_servers import FakeServer, json_answer

pytestmark = pytest.mark.slow  # each starts programs that take seconds

PAGE = Path(__file__).parents[4] / "docs" / "testing.md"
STEP = re.compile(
    r"(?:^\*\*`(?P<file>[^`]+)`\*\*\n\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
OPTIONS = ("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest")


def run(folder, command):
    """Run one line of the page; a variable that is set before it holds for that line."""
    words = command.split()
    given = dict(words.pop(0).split("=") for _ in range("=" in words[0]))
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    assert words.pop(0) == "pytest"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, *words],
        cwd=folder,
        env={**kept, **given},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


async def test_the_page_can_be_followed(tmp_path):
    async with FakeServer() as server:
        server.answers(json_answer(200, {"text": "Part of a tree."}))
        for step in STEP.finditer(PAGE.read_text(encoding="utf-8")):
            text = step["text"].replace("https://api.acme.example", server.url)
            if step["file"]:
                file = tmp_path / step["file"]
                file.parent.mkdir(exist_ok=True)
                file.write_text(text, encoding="utf-8")
            for part in text.split("$ ")[1:] if step["language"] == "console" else ():
                command, *lines = part.splitlines()
                output = await asyncio.to_thread(run, tmp_path, command)

                assert [line for line in lines if line not in output] == [], f"{command}\n{output}"
    assert [request.headers["x-api-key"] for request in server.requests] == ["..."]


async def test_the_difference_reads_as_on_the_page(tmp_path):
    page = PAGE.read_text(encoding="utf-8")
    (output,) = (step["text"] for step in STEP.finditer(page) if step["language"] == "text")
    files = {step["file"]: step["text"] for step in STEP.finditer(page) if step["file"]}
    test = tmp_path / "tests" / "test_acme.py"
    test.parent.mkdir()
    (tmp_path / "pyproject.toml").write_text(files["pyproject.toml"])
    async with FakeServer() as server:
        server.answers(json_answer(200, {"text": "Part of a tree."}))
        text = files["tests/test_acme.py"].replace("https://api.acme.example", server.url)
        for question, option in (("leaf", "--pi-record=once"), ("root", "-q")):
            test.write_text(text.replace("leaf", question))
            done = await asyncio.to_thread(run, tmp_path, f"ACME_API_KEY=... pytest {option}")

    messages = [re.sub(r"^E\s+", "", line).replace(f"{tmp_path}/", "") for line in done.splitlines()]
    assert [line for line in output.splitlines() if not any(line.strip() in each for each in messages)] == [], done


def test_the_contracts_of_the_readme_pass(pytester):
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^# test_contracts.py\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    pytester.makepyfile(test_contracts=example)
    scope = ("-o", "asyncio_default_fixture_loop_scope=function")
    outcomes = pytester.runpytest_subprocess(*OPTIONS, *scope, "-k", "not signal").parseoutcomes()

    assert {*outcomes} == {"passed", "skipped", "deselected"}
    assert outcomes["passed"] >= 30
