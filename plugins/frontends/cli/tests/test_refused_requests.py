"""A plugin refuses a request and chooses the exit code of the process."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow

GUARD = """
from pi_hookspecs import BeforeModelRequestResult, ContextResult, hookimpl

@hookimpl
def before_model_request(event):
    if event.model.id == "echo":
        return BeforeModelRequestResult(block=True, reason="The budget of $1 is used up.", exit_code=4)

@hookimpl
def context(event):
    if event.messages[-1].text == "stop":
        return ContextResult(block=True, reason="It ends here.", exit_code=5)
"""


@pytest.fixture
def guarded(fake):
    (fake.cwd / "guard.py").write_text(GUARD)
    return lambda *arguments: fake.run("-e", "guard.py", *arguments)


@pytest.mark.parametrize("mode", ["text", "json"])
def test_the_exit_code_is_the_plugins(guarded, mode):
    done = guarded("--mode", mode, "--model", "fake/echo", "hello")

    assert (done.returncode, done.stderr) == (4, "Error: The budget of $1 is used up.\n")


def test_a_context_hook_chooses_it_too(guarded):
    assert guarded("--model", "fake/tools", "-p", "stop").returncode == 5


def test_a_failure_that_no_plugin_caused_ends_with_1(guarded):
    assert guarded("--model", "fake/fail", "-p", "hello").returncode == 1
