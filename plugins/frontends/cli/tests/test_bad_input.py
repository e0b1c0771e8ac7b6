"""What a user gets wrong costs one line on stderr, which says what and names what is near, and exit code 1."""

from __future__ import annotations

import json
import shutil
import sys

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--modle", "x"], "Unknown option: --modle. Did you mean --mode or --model"),
        (["--x"], "Unknown option: --x"),
        (["-z"], "Unknown option: -z. --help lists them"),
        (["- a list\n- of things"], "a message that starts with a dash goes after --"),
        (["--model"], "Option '--model' requires an argument."),
        (["--model", " ", "-p", "hi"], "Option '--model' requires a value, not ' '"),
        (["--verbose=1"], "Option '--verbose' does not take a value."),
        (["--tools", "read", "--no-tools", "hi"], "--tools and --no-tools cannot be used together"),
        (["--ssh", "box", "-p", "hi"], "--ssh requires --attach: pi -p --attach --ssh HOST PROMPT."),
        (["--disable", "toolz", "-p", "hi"], "Unknown plugin: toolz. Did you mean tools?"),
        (["--disable", "toolz", "plugins"], "Unknown plugin: toolz. Did you mean tools?"),
        (["plugins", "--disable", "toolz"], "Unknown plugin: toolz. Did you mean tools?"),
        (["--provider", "fak", "-p", "hi"], "Unknown provider: fak. Did you mean fake"),
        (["--provider", "fak", "--model", "echo", "-p", "hi"], "Unknown provider: fak. Did you mean fake"),
        (["--model", "zzz", "-p", "hi"], "Unknown model: zzz. No model has this in its id or name"),
        (
            ["--model", "zzz/q", "-p", "hi"],
            "Unknown model: zzz/q. No plugin registers a provider 'zzz', and no model has this",
        ),
        (["--model", "fake/echo", "@nowhere.txt"], "File not found: {cwd}/nowhere.txt"),
        (["--model", "fake/echo", "@."], "Could not read file {cwd}: Is a directory"),
        (["plugins", "more"], "pi plugins takes no argument, not 'more'"),
        (["plugins", "--jsn"], "Unknown option: --jsn. Did you mean --json?"),
        (["hooks", "tol_call"], "Unknown hook: tol_call. Did you mean tool_call"),
        (["hooks", "tool_call", "tool_result"], "pi hooks takes one name, not 2: tool_call tool_result"),
        ([], "Nothing to do: no prompt was given, and there is no terminal to ask for one."),
        (["--mode", "json"], "Nothing to do: no prompt was given, and --mode json asks for none."),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else None,
)
def test_mistake_is_one_line_and_exit_code_one(fake, arguments, message):
    done = fake.run(*arguments)

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert message.replace("{cwd}", str(fake.cwd)) in done.stderr
    assert done.stderr.count("\n") == 1


def test_no_model_says_what_to_set_and_how_to_try_without(pi):
    done = pi.run("-p", "hello")

    assert done.returncode == 1
    assert "--model offline/rules" in done.stderr
    assert "not a language model" in done.stderr
    assert done.stderr.count("\n") == 3


def test_unknown_model_of_a_known_provider_warns_and_goes_on(fake):
    done = fake.run("--model", "fake/other", "-p", "hello")

    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert done.stderr == 'Warning: Model "other" not found for provider "fake". Using custom model id.\n'


def test_unknown_tool_warns_and_goes_on(fake):
    done = fake.run("--model", "fake/echo", "--tools", "read,rad", "-p", "hello")

    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert done.stderr == "Warning: Unknown tool: rad. Did you mean read?\n"


def test_unknown_name_in_pi_disable_plugins_warns_and_goes_on(fake):
    done = fake.run("--model", "fake/echo", "-p", "hello", PI_DISABLE_PLUGINS="toolz")

    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert "Unknown plugin: toolz. Did you mean tools?" in done.stderr


def test_plugin_that_cannot_be_imported_is_named_and_the_rest_works(fake):
    fake.install("broken", "import no_such_module")

    done = fake.run("--model", "fake/echo", "-p", "hello")

    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert done.stderr.startswith("Warning: Plugin 'broken' (import): not loaded: ModuleNotFoundError: ")
    assert done.stderr.count("\n") == 1


def test_an_import_failure_is_reported_with_the_error_that_follows_from_it(pi):
    pi.install("acme", "import no_such_module")

    done = pi.run("--provider", "acme", "-p", "hello")

    assert done.returncode == 1
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["Warning", "Error"]


def test_broken_settings_file_is_named_and_the_run_goes_on(fake):
    (fake.agent_dir / "settings.json").write_text('{"theme": dark}')

    done = fake.run("--model", "fake/echo", "-p", "hello")

    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert f"Warning: {fake.agent_dir}/settings.json:1:11" in done.stderr


def test_a_truncated_settings_file_may_have_enabled_a_guard(fake):
    (fake.agent_dir / "settings.json").write_text('{"theme": "dark",')

    done = fake.run("--model", "fake/echo", "-p", "hello")

    assert (done.returncode, done.stdout) == (1, "")
    assert f"Guardrails refuse every run until the settings are fixed: {fake.agent_dir}/settings.json:1:" in done.stderr


def test_unexpected_error_is_one_line_with_a_hint(fake):
    fake.install(
        "bad-mode",
        """
        from pi_hookspecs import Subcommand, hookimpl

        def run(arguments, host):
            raise LookupError("on\\nfire")

        @hookimpl
        def register_subcommands():
            return [Subcommand("burn", run=run)]
        """,
    )

    short, long = fake.run("burn"), fake.run("burn", "--verbose")

    assert (short.returncode, long.returncode) == (1, 1)
    assert short.stderr == "Error: unexpected LookupError: on fire. Run again with --verbose to see where\n"
    assert "Traceback" in long.stderr


def test_index_that_cannot_be_written_is_no_error(fake):
    shutil.rmtree(fake.agent_dir / "cache")
    (fake.agent_dir / "cache").write_text("in the way")

    assert fake.run("--model", "fake/echo", "-p", "hello").stdout == "hello\n"


def test_garbage_in_the_index_is_no_error(fake):
    for index in (fake.agent_dir / "cache").glob("plugins-*.json"):
        index.write_text(json.dumps({"format": 1, "marks": 3}))

    assert fake.run("--model", "fake/echo", "-p", "hello").stdout == "hello\n"


INTERRUPTED = """
import sys

import pi_cli

class Interrupts:
    def find_spec(self, name, path, target=None):
        if name == "pi_cli.command_line":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupts())
sys.exit(pi_cli.main())
"""


def test_ctrl_c_before_anything_has_begun_is_no_bug(pi):
    pi.command = [sys.executable, "-P", "-c", INTERRUPTED]

    done = pi.run("-p", "hi")

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
