"""Options of ``activate`` and of local extensions: ``pi --help`` has them from the last run, or loads those of -e."""

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


OWN = """
from pi_hookspecs import Flag, Subcommand, hookimpl


@hookimpl
def register_flags():
    return [Flag(name="tide-level", type="string", description="Where the tide is")]


@hookimpl
def register_subcommands():
    import click

    @click.command()
    @click.option("--limit", type=int, help="How many tides.")
    def recent(limit):
        "Show the last tides."
        print("recent", limit)

    def run(arguments, host):
        return recent.main(arguments, "pi recent", standalone_mode=False) or 0

    return [Subcommand("recent", run=run, description="Show tides")]
"""
EXTENSION = ["-e", "own.py"]
HELP = "Usage: pi recent [OPTIONS]\n\n  Show the last tides.\n\nOptions:\n  --limit INTEGER  How many tides.\n"


@pytest.fixture
def own(fake):
    file = fake.cwd / "own.py"
    file.write_text(OWN)
    return file


@pytest.mark.parametrize(
    "arguments",
    [
        [*EXTENSION, "recent", "--help"],
        ["--extension", "own.py", "recent", "--help"],
        [*EXTENSION, "--help", "recent"],
        [*EXTENSION, "--offline", "recent", "--help", "--limit", "3"],
    ],
    ids=" ".join,
)
def test_the_help_of_an_extensions_subcommand_is_its_own(fake, own, arguments):
    done = fake.run(*arguments)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(HELP)


def test_the_help_of_a_users_extensions_subcommand_is_its_own(fake, local):
    local.write_text(OWN)

    assert fake.run("recent", "--help").stdout.startswith(HELP)


@pytest.mark.parametrize("arguments", [[*EXTENSION, "--help"], [*EXTENSION, "other", "--help"]], ids=" ".join)
def test_the_help_of_pi_lists_what_a_named_extension_adds(fake, own, arguments):
    output = fake.run(*arguments).stdout

    assert section(output, "own") == [["--tide-level", "TEXT", "Where", "the", "tide", "is"]]
    assert ["recent", "Show", "tides"] in [line.split() for line in output.splitlines()]
    assert "once pi has run" not in output


@pytest.mark.parametrize("arguments", [[*EXTENSION, "--version"], [*EXTENSION, "--version", "recent"]], ids=" ".join)
def test_the_version_is_printed_without_loading_an_extension(fake, own, arguments):
    own.write_text("raise RuntimeError('loaded')")

    done = fake.run(*arguments)

    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.split()) == 1


def test_the_help_is_printed_although_a_named_extension_fails(fake, own):
    own.write_text("raise RuntimeError('no tide')")

    done = fake.run(*EXTENSION, "recent", "--help")

    assert done.returncode == 0
    assert "no tide" in done.stderr
    assert "Usage: pi [OPTIONS]" in done.stdout
