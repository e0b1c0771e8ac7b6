"""The fixture ``cassette`` in a stranger's project: recorded by an option, replayed without, and errors reported."""

from __future__ import annotations

import json

import pytest

from pi_testing.fake_servers import FakeServer, json_answer

pytestmark = pytest.mark.slow

TEST = """
import json
import os
import urllib.request

import asyncio
import pytest


def ask(url, key, body):
    headers = {{"x-api-key": key, "content-type": "application/json"}}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


@pytest.mark.pi_cassette(ignore=["body.at"])
async def test_it(cassette, tmp_path, pi_agent_dir):
    url = await cassette.url("{url}/v1")
    assert "ACME_API_KEY" not in os.environ
    body = {{"question": "{question}", "cwd": str(tmp_path), "at": os.getpid()}}
    answer = await asyncio.to_thread(ask, url, cassette.key("ACME_API_KEY"), body)
    assert answer == {{"said": 42}}
"""
KEY = "a-key-of-the-author"


@pytest.fixture
def run(pytester, monkeypatch):
    """Run the test of a project in a process of its own."""
    monkeypatch.setenv("ACME_API_KEY", KEY)

    async def run(url, *arguments, question="Why?"):
        import asyncio

        pytester.makepyfile(test_acme=TEST.format(url=url, question=question))
        options = ("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest", "-W", "error")
        more = ("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function", "--strict-markers")
        return await asyncio.to_thread(pytester.runpytest_subprocess, *options, *more, *arguments)

    return run


async def test_a_test_is_recorded_by_an_option_and_replayed_without_its_server(run, pytester):
    async with FakeServer() as server:
        server.answers(json_answer(200, {"said": 42}))
        missing = await run(server.url)
        (await run(server.url, "--pi-record=once")).assert_outcomes(passed=1)
        (await run(server.url, "--pi-record=once")).assert_outcomes(passed=1)
        url, asked = server.url, server.requests
    (await run(url)).assert_outcomes(passed=1)
    differs = await run(url, question="How?")

    missing.assert_outcomes(errors=1)
    missing.stdout.fnmatch_lines("*no cassette *Record it once*: pytest test_acme.py::test_it --pi-record=once*")
    assert [request.headers["x-api-key"] for request in asked] == [KEY]
    file = pytester.path / "cassettes" / "test_acme" / "test_it.json"
    assert KEY not in file.read_text()
    assert json.loads(file.read_text())["exchanges"][0]["request"]["json"]["cwd"] == "{tmp_path}"
    differs.stdout.fnmatch_lines(
        ["*is not the one in *test_it.json", "*at body.question", '*recorded: "Why?"', '*actual: *"How?"']
    )
    assert differs.parseoutcomes()["errors"] == 1


def test_the_option_and_the_marker_explain_themselves(pytester):
    assert "--pi-record={none,once,all}" in pytester.runpytest_subprocess("--help").stdout.str()
    pytester.runpytest_subprocess("--markers").stdout.fnmatch_lines("@pytest.mark.pi_cassette(ignore=()): *")
