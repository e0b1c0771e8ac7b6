"""Options of ``activate`` and of local extensions: ``pi --help`` has them from the last run, and runs no plugin."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

ACTIVATE = """
from pathlib import Path

from pi_hookspecs import Flag, hookimpl

(Path(__file__).parent / "imported").touch()

@hookimpl
def activate(pi):
    pi.register_flag("plan", description="Plan first")
    pi.register_flag("todo-file", type=str, default="TODO", description="Where to-dos are kept")
"""

LOCAL = """
from pi_hookspecs import Flag, hookimpl

@hookimpl
def register_flags():
    return [Flag(name="shade", description="Pull the blinds")]

def activate(pi):
    pi.register_flag("loud", description="Shout")
"""


def section(output: str, plugin: str) -> list[list[str]]:
    return [line.split() for line in output.partition(f"Plugin {plugin}:\n")[2].partition("\n\n")[0].splitlines()]


@pytest.fixture
def local(fake):
    file = fake.agent_dir / "extensions" / "local.py"
    file.parent.mkdir(parents=True)
    file.write_text(LOCAL)
    return file


def test_options_of_activate_are_shown_after_a_run_and_no_plugin_is_imported_for_it(fake):
    fake.install("acme", ACTIVATE)
    fake.run("--model", "fake/echo", "-p", "hi")
    (fake.site / "imported").unlink()

    output = fake.run("--help").stdout

    assert section(output, "acme") == [
        ["--plan", "Plan", "first"],
        ["--todo-file", "TEXT", "Where", "to-dos", "are", "kept", "(default:", "TODO)"],
    ]
    assert not (fake.site / "imported").exists()
    assert "Plugin acme:" not in fake.run("--disable", "acme", "--help").stdout


def test_options_of_a_local_extension_are_shown_after_a_run_and_announced_before(fake, local):
    before = fake.run("--help").stdout
    fake.run("--model", "fake/echo", "-p", "hi")
    after = fake.run("--help").stdout

    assert "Options of local are listed here once pi has run with it." in before
    assert "once pi has run" not in after
    assert section(after, "local") == [["--shade", "Pull", "the", "blinds"], ["--loud", "Shout"]]
    for without in (["--no-extensions"], ["--disable", "local"]):
        assert "--loud" not in fake.run(*without, "--help").stdout


def test_an_extension_that_hangs_does_not_hang_the_help(fake, local):
    local.write_text("while True: pass")

    assert fake.run("--help").returncode == 0


def test_options_that_are_gone_are_forgotten_with_the_next_run(fake, local):
    fake.run("--model", "fake/echo", "-p", "hi")
    local.write_text("def activate(pi): pass")
    fake.run("--model", "fake/echo", "-p", "hi")

    assert "Plugin local" not in fake.run("--help").stdout


def test_completion_knows_them_too(fake, local):
    fake.run("--model", "fake/echo", "-p", "hi")

    done = fake.run(_PI_COMPLETE="bash_complete", COMP_WORDS="pi --lo", COMP_CWORD="1")

    assert "--loud" in done.stdout


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', '{"a": [1, {"name": 2}]}', "\0"])
def test_help_is_printed_whatever_is_written_there(fake, local, text):
    cache = fake.agent_dir / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "flags.json").write_text(text)

    assert "Usage:" in fake.run("--help").stdout

    fake.run("--model", "fake/echo", "-p", "hi")

    assert str(local) in json.loads((cache / "flags.json").read_text())


def test_help_is_help_also_where_an_extension_is_named_that_is_not_there(fake):
    done = fake.run("-e", "nope.py", "--help")

    assert (done.returncode, done.stderr) == (0, "")
