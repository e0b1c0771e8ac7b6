"""``pi cache``: its exit codes, and its output for a stored session."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest

import pi_cache_lint
import pi_session_jsonl
from pi_cache_lint.subcommand import run_subcommand
from pi_core import PluginHost, Settings
from pi_hookspecs import Model, ProviderInfo, UserError, hookimpl

USAGE = {"input": 100, "output": 1, "cacheRead": 300, "cacheWrite": 0, "totalTokens": 401}
BREAK = {"request": "00" * 8, "kind": "avoidable", "link": "system[clock]", "plugin": "clock", "hook": "system_prompt"}
LINES = [
    {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/"},
    {
        "type": "message",
        "id": "a",
        "parentId": None,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {
            "role": "assistant",
            "content": [],
            "api": "x",
            "provider": "x",
            "model": "x",
            "stopReason": "stop",
            "timestamp": 1,
            "usage": USAGE,
        },
    },
    {
        "type": "custom",
        "id": "b",
        "parentId": "a",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "customType": "cache-lint",
        "data": {"break": {**BREAK, "dollars": 0.25}},
    },
]


@pytest.fixture
def host(pi_agent_dir):
    host = PluginHost(Settings.in_memory(agent_dir=pi_agent_dir), installed=False)
    host.add(pi_session_jsonl, "session-jsonl")
    host.add(pi_cache_lint, "cache-lint")
    return host


@pytest.fixture
def session(tmp_path):
    file = tmp_path / "session.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in LINES))
    return str(file)


def test_a_stored_session_is_summed_up_as_json(host, session, capsys):
    code = run_subcommand([session, "--json"], host)

    assert code == 0
    assert json.loads(capsys.readouterr().out) == {
        "hitRate": 0.75,
        "dollarsLost": 0.25,
        "breaks": [{**BREAK, "dollars": 0.25}],
    }


def test_a_stored_session_is_summed_up_for_people(host, session, capsys):
    code = run_subcommand([session], host)

    assert code == 0
    assert capsys.readouterr().out.splitlines() == [
        "75% of the input was read from the cache; 1 break, $0.2500 lost",
        "avoidable  $0.2500  system[clock]  clock (system_prompt)  request 0000000000000000",
        "clock lost $0.2500",
    ]


def test_breaks_of_another_version_are_listed_with_what_they_have(host, session, capsys):
    with open(session, "a", encoding="utf-8") as file:  # noqa: PTH123 - a text
        for number, data in enumerate(
            (
                *(None, [], {"break": []}, {"chain": 5}),
                {"break": {}},
                {"break": {"kind": ["avoidable"], "plugin": {}, "dollars": "0.5"}},
                {"break": {**BREAK, "dollars": 10**400}},
            )
        ):
            line = {**LINES[2], "id": f"c{number}", "parentId": "b", "data": data}
            file.write(f"{json.dumps(line)}\n")
    codes = [run_subcommand([session], host), run_subcommand([session, "--json"], host)]

    assert codes == [0, 0]
    assert capsys.readouterr().out.splitlines()[:4] == [
        "75% of the input was read from the cache; 4 breaks, $0.2500 lost",
        "avoidable  $0.2500  system[clock]  clock (system_prompt)  request 0000000000000000",
        "-          $0.0000  -  -  request -",
        "-          $0.0000  -  -  request -",
    ]


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["--what"]])
def test_wrong_use_ends_with_2_and_the_usage(host, capsys, arguments):
    code = run_subcommand(arguments, host)

    assert code == 2
    assert "Usage: pi cache SESSION" in capsys.readouterr().err


def test_an_unknown_session_is_the_users_mistake(host):
    with pytest.raises(UserError, match="nope"):
        run_subcommand(["nope"], host)


def test_refreshes_and_how_long_the_prompt_is_kept_are_printed(host, tmp_path, capsys):
    cached = Model(id="cached", name="Cached", api="x", provider="acme", prompt_cache={"short": 300})

    class Acme:
        @hookimpl
        def register_models(self):
            return [ProviderInfo(id="acme", name="Acme", api="x", keyless=True, models=(cached,))]

    host.add(Acme(), "acme")
    now = time.time()
    refresh = {
        "type": "usage",
        "id": "c",
        "parentId": "b",
        "timestamp": datetime.fromtimestamp(now, UTC).isoformat(),
        "kind": "cache_warming",
        "provider": "acme",
        "model": "cached",
        "usage": {**USAGE, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0.5}},
    }
    file = tmp_path / "warmed.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in [*LINES, refresh]))

    assert run_subcommand([str(file)], host) == 0
    printed = capsys.readouterr().out
    assert "by sending it again 1 time, for $0.5000\n" in printed
    assert f"acme/cached keeps the last prompt until {time.strftime('%H:%M:%S', time.localtime(now + 300))}" in printed
    run_subcommand([str(file), "--json"], host)
    summary = json.loads(capsys.readouterr().out)
    assert summary["refreshes"] == {"count": 1, "dollars": 0.5}
    assert summary["hitRate"] == 0.75
