"""``pi --help``: examples first, options by group, plugins' options under their names; nothing is imported for it."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

from pi_core.host.discovery import default_plugins

pytestmark = pytest.mark.slow  # each starts programs that take seconds

FLAGS = """
from pathlib import Path

from pi_hookspecs import Flag, Subcommand, hookimpl

(Path(__file__).parent / "imported").touch()

@hookimpl
def register_flags():
    return [
        Flag(name="plan", description="Plan first"),
        Flag(name="todo-file", type="string", default="TODO", description="Where to-dos are kept"),
        Flag(name="model", description="Ours"),
    ]

@hookimpl
def register_subcommands():
    return [Subcommand("todo", run=lambda arguments, host: print("todo", arguments) or 3, description="Show to-dos")]

@hookimpl
def register_modes():
    from pi_hookspecs import Mode

    async def show(session, options):
        print({name: options.flags[name] for name in ("plan", "todo-file")})
        return 4

    return [Mode("print", run=show)]
"""


@pytest.mark.parametrize(
    "arguments", [["-h"], ["--help"], ["--model", "x", "--help"], ["--no-such", "-h"], ["hi", "-h"]]
)
def test_help_is_printed_whatever_else_is_there(pi, arguments):
    done = pi.run(*arguments)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.index("Usage:") < done.stdout.index("Examples:") < done.stdout.index("Model:")
    for option in (
        "--print",
        "--model",
        "--provider",
        "--tools",
        "--no-tools",
        "--no-session",
        "--disable",
        "--version",
    ):
        assert option in done.stdout
    assert all(len(line) < 80 for line in done.stdout.splitlines())
    assert len(done.stdout.splitlines()) < 200
    assert "PI_CODING_AGENT_DIR" in done.stdout
    assert "OPENROUTER_API_KEY" in done.stdout


def test_help_imports_no_plugin_and_shows_their_options_once_they_are_known(pi):
    pi.install("acme", FLAGS)
    marker = pi.site / "imported"

    cold = pi.run("--help").stdout
    assert not marker.exists()
    pi.run("plugins")
    marker.unlink()
    warm = pi.run("--help").stdout

    assert not marker.exists()
    assert "--todo-file" not in cold
    section = warm.partition("Plugin acme:\n")[2].partition("\n\n")[0]
    assert [line.split() for line in section.splitlines()] == [
        ["--plan", "Plan", "first"],
        ["--todo-file", "TEXT", "Where", "to-dos", "are", "kept", "(default:", "TODO)"],
    ]
    assert ["todo", "Show", "to-dos"] in [line.split() for line in warm.splitlines()]


def test_options_of_plugins_reach_the_front_end(fake):
    fake.install("acme", FLAGS)

    given = fake.run("--model", "fake/echo", "-p", "hi", "--todo-file", "x", "--plan")
    default = fake.run("--model", "fake/echo", "-p", "hi")

    assert (given.returncode, given.stdout) == (4, "{'plan': True, 'todo-file': 'x'}\n")
    assert default.stdout == "{'plan': False, 'todo-file': 'TODO'}\n"
    assert given.stderr == (
        "Warning: Plugin 'acme' (register_flags): --model is an option of pi itself, which is used\n"
    )


def test_option_of_a_disabled_plugin_is_unknown(fake):
    fake.install("acme", FLAGS)

    done = fake.run("--disable", "acme", "--plan", "-p", "hi")

    assert (done.returncode, done.stderr.split(".")[0]) == (1, "Error: Unknown option: --plan")


def test_subcommand_of_a_plugin_gets_its_arguments_and_gives_the_exit_code(pi):
    pi.install("acme", FLAGS)

    done = pi.run("todo", "--open", "-x")

    assert (done.returncode, done.stdout) == (3, "todo ['--open', '-x']\n")
    assert pi.run("todo", "-h").stdout == "todo ['-h']\n"


def test_the_first_help_lists_all_that_pi_brings(tmp_path, pi):
    others = ",".join({each.name for each in entry_points(group="pi")} - default_plugins())
    first = pi.run("--help", PI_CODING_AGENT_DIR=str(tmp_path / "fresh"), PI_DISABLE_PLUGINS=others)
    second = pi.run("--help", PI_DISABLE_PLUGINS=others)

    assert (first.returncode, first.stderr, first.stdout) == (0, "", second.stdout)
    assert "sessions" in [line.split()[0] for line in first.stdout.splitlines() if line.strip()]


def test_a_plugins_subcommand_prints_its_own_help_on_the_very_first_run(pi):
    pi.install("acme", FLAGS)

    assert pi.run("todo", "--help").stdout == "todo ['--help']\n"
