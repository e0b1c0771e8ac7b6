"""Print mode, JSON mode and RPC: prompts and commands in sessions of every kind."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import suppress

import attrs
import pytest
from journey.kinds import KINDS
from journey.matrix import ARGUMENTS, said

from pi_client import CommandFailed, ProtocolError, commands
from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.journeys


REQUESTS = {
    "abort": {},
    "bash": {"command": "echo tide"},
    "export_html": {},
    "fork": None,
    "navigate_tree": None,
    "follow_up": {"message": "ping more"},
    "new_session": None,
    "prompt": {"message": "ping again"},
    "set_auto_compaction": {"enabled": True},
    "set_auto_retry": {"enabled": True},
    "set_follow_up_mode": {"mode": "all"},
    "set_model": {"provider": "harbour", "model_id": "tide-small"},
    "set_session_name": {"name": "Low water"},
    "set_steering_mode": {"mode": "all"},
    "set_thinking_level": {"level": "low"},
    "steer": {"message": "ping less"},
    "switch_session": None,
    "take_queued": {"queue": "followUp", "place": 0},
}
"""The fields of commands that need some; None for those whose fields come from the session."""


_STACK = re.compile(r'"stack":"(?:[^"\\]|\\.)*"')
"""What an event says to the author of a plugin that failed."""


def requests() -> list[type]:
    """Return the classes of all commands of the protocol."""
    found = vars(commands).values()
    return [each for each in found if isinstance(each, type) and isinstance(getattr(each, "type", None), str)]


def test_each_command_that_needs_fields_has_some():
    needing = {each.type for each in requests() if any(field.default is attrs.NOTHING for field in attrs.fields(each))}

    assert needing <= REQUESTS.keys()


@pytest.mark.parametrize("name", KINDS)
def test_rpc(name, state_of):
    state = state_of(KINDS[name])
    with state.client(*state.arguments()[len(state.kind.arguments) :]) as pi:
        for line in state.kind.live:
            with suppress(CommandFailed):
                pi.ask(line)
        for request in requests():
            fields = REQUESTS.get(request.type, {})
            if fields is None:
                continue
            with suppress(CommandFailed, ProtocolError):  # the tree of a long session is too deep for JSON
                pi.call(request(**fields))
            pi.call(commands.Abort())
        for command in pi.call(commands.GetCommands()).commands:
            for argument in ARGUMENTS.get(command.name, ("",)):
                failures = []
                try:
                    pi.ask(f"/{command.name} {argument}".strip())
                except CommandFailed as failed:
                    failures.append(str(failed))
                assert not said(" ".join(failures)), f"/{command.name} {argument}: {failures}"
        pi.call(commands.NewSession())
        assert pi.ask("ping last") == "pong last"
        assert pi.close() == 0


@pytest.mark.parametrize("name", KINDS)
def test_print_and_json(name, state_of):
    state = state_of(KINDS[name])
    for words in (["-p"], ["--mode", "json"]):
        done = subprocess.run(
            [state.pi, *state.arguments(), *words, "ping here"],
            cwd=state.work,
            env=state.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        assert "pong here" in done.stdout
        assert not said(_STACK.sub("", done.stdout) + done.stderr)
        if words != ["-p"]:
            assert [json.loads(line) for line in done.stdout.splitlines()]
