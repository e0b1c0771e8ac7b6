"""What goes where when answers are printed into pipes: stdout has the answer and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.slow

FULL = Path("/dev/full")

PRINTING_PLUGIN = """
from pi_hookspecs import hookimpl

print("imported")

@hookimpl
def agent_start(event):
    print("started")
"""

FAILING_PLUGIN = """
from pi_hookspecs import hookimpl

@hookimpl
def activate(pi):
    raise ValueError("not today")

@hookimpl
def turn_start(event):
    raise ValueError("turned")

@hookimpl
def session_shutdown(event, ctx):
    ctx.ui.notify("closing\\nnow", "warning")
"""


def tools(pi, *calls, **env):
    return pi.run("--model", "fake/tools", "-p", json.dumps(calls), **env)


def test_pipe_gets_the_last_answer_alone_and_stderr_the_tools(fake):
    (fake.cwd / "a.txt").write_text("alpha\n")

    done = tools(fake, ("read", {"path": "a.txt"}), ("ls", {}))

    assert done.returncode == 0
    assert done.stdout.startswith("\n\nSeen: ")
    assert done.stdout.endswith("]\n")
    assert done.stderr.splitlines()[:2] == ["→ read a.txt", "→ ls"]


def test_failed_call_says_why_in_a_line(fake):
    done = tools(fake, ("read", {"path": "nowhere.txt"}), ("brew", {"what": ["tea", 1]}))

    assert done.returncode == 0
    assert "✗ read nowhere.txt: " in done.stderr
    assert '→ brew ["tea", 1]\n' in done.stderr
    assert '✗ brew ["tea", 1]: Tool brew not found' in done.stderr


def test_control_characters_in_arguments_are_shown_not_obeyed(fake):
    done = tools(fake, ("brew", {"command": "a\x1b[2Jb\nc\u202ed", "x": "y" * 300}))

    line = done.stderr.splitlines()[0]
    assert line.startswith("→ brew a\\x1b[2Jb c\\u202ed x=yyy")
    assert line.endswith("…")
    assert len(line) <= 160


def test_no_tools_offers_none(fake):
    done = fake.run("--model", "fake/tools", "--no-tools", "-p", json.dumps([("ls", {})]))

    assert "Tool ls not found" in done.stdout


def test_failed_answer_is_an_error_with_nothing_on_stdout(fake):
    done = fake.run("--model", "fake/fail", "-p", "one", "two")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: 400 the request is wrong\n"


REFUSED = '529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'

REFUSING_PLUGIN = f"""
from pi_hookspecs import MessageBuilder, Model, ProviderInfo, hookimpl


class Refusing:
    api = "refusing"

    async def stream(self, model, context, options):
        yield MessageBuilder(model).fail({REFUSED!r} + "\\nWait a moment.")


@hookimpl
def register_providers():
    return [Refusing()]


@hookimpl
def register_models():
    model = Model(id="busy", name="Busy", api="refusing", provider="refusing")
    return [ProviderInfo(id="refusing", name="Refusing", api="refusing", keyless=True, models=(model,))]
"""


def test_a_refusal_is_explained_and_printed_raw_if_verbose(pi):
    pi.install("refusing", REFUSING_PLUGIN)
    (pi.agent_dir / "settings.json").write_text('{"retry": {"baseDelayMs": 1, "maxRetries": 1}}')
    brief = pi.run("--model", "refusing/busy", "-p", "one")
    verbose = pi.run("--model", "refusing/busy", "--verbose", "-p", "one")

    assert brief.stderr == "Retrying in 0.001 s (1 of 1): Overloaded\nError: Overloaded. Wait a moment.\n"
    assert verbose.stderr.endswith(f"Error: Overloaded. Wait a moment.\n{REFUSED}\n")


def test_what_plugins_print_is_kept_off_stdout(fake):
    fake.install("printing", PRINTING_PLUGIN)

    done = fake.run("--model", "fake/echo", "-p", "hello")

    assert done.stdout == "hello\n"
    assert done.stderr == "imported\nstarted\n"


def test_plugin_failures_and_notices_are_reported_once_on_stderr(fake):
    fake.install("failing", FAILING_PLUGIN)

    done = fake.run("--model", "fake/echo", "-p", "hello", "again")

    assert (done.returncode, done.stdout) == (0, "again\n")
    first, second, *notice = done.stderr.splitlines()
    assert first.startswith("Warning: ")
    assert "'failing'" in first
    assert "activate" in first
    assert "not today" in first
    assert second.startswith("Warning: Plugin 'failing' failed in turn_start after ")
    assert second.endswith(f": ValueError: turned (in {fake.site / 'failing.py'}, line 10)")
    assert notice == ["Warning: closing", "Warning: now"]


def test_verbose_reports_what_is_used_and_where_plugins_fail(fake):
    fake.install("failing", FAILING_PLUGIN)

    done = fake.run("--model", "fake/echo", "--verbose", "-p", "hello")

    assert done.stdout == "hello\n"
    assert "model     fake/echo" in done.stderr
    _, _, traceback = done.stderr.partition("Traceback (most recent call last):\n")
    assert traceback.startswith(f'  File "{fake.site / "failing.py"}"')


def test_trace_prints_each_hook_call(fake):
    fake.install("failing", FAILING_PLUGIN)

    traced = fake.run("--model", "fake/echo", "-p", "hello", PI_TRACE_HOOKS="1")
    silent = fake.run("--model", "fake/echo", "-p", "hello", PI_TRACE_HOOKS="0")

    (line,) = [line for line in traced.stderr.splitlines() if line.startswith("hook turn_start  failing  ")]
    assert line.endswith(" ms")
    assert "hook " not in silent.stderr


def test_disabled_plugin_is_left_out(fake):
    fake.install("printing", PRINTING_PLUGIN)

    for how in ({"PI_DISABLE_PLUGINS": "printing"}, {}):
        done = fake.run("--model", "fake/echo", *([] if how else ["--disable", "printing"]), "-p", "hello", **how)

        assert (done.stdout, done.stderr) == ("hello\n", "")


def test_pi_works_where_its_own_plugin_is_disabled(fake):
    assert fake.run("--disable", "cli", "--model", "fake/echo", "-p", "hello").stdout == "hello\n"
    assert "- cli " in fake.run("plugins", "--disable", "cli").stdout


def test_provider_alone_chooses_its_model(fake):
    assert fake.run("--provider", "fake", "-p", "hello").stdout == "hello\n"


def test_settings_choose_the_model(fake):
    (fake.agent_dir / "settings.json").write_text(json.dumps({"defaultProvider": "fake", "defaultModel": "echo"}))

    assert fake.run("-p", "hello").stdout == "hello\n"


def test_a_pipe_that_takes_half_an_answer_is_noticed_without_a_buffer_too(fake):
    """With PYTHONUNBUFFERED a write that comes through in part would count as done."""
    (fake.cwd / "long").write_text("word " * 200_000)
    command = 'PYTHONUNBUFFERED=1 "$@"; echo $? >code'
    process = subprocess.Popen(
        ["sh", "-c", command, "sh", *fake.command, "--model", "fake/echo", "-p", "@long"],
        cwd=fake.cwd,
        env=fake.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process, process.stdout as pipe:
        pipe.read(10)

    assert (fake.cwd / "code").read_text() == "141\n"


@pytest.mark.parametrize("closed", ["stdin", "stdout", "stderr"])
def test_closed_stream_is_no_error(fake, closed):
    numbers = {"stdin": "0<&-", "stdout": "1>&-", "stderr": "2>&-"}
    command = f'exec "$@" {numbers[closed]}'

    done = subprocess.run(
        ["sh", "-c", command, "sh", *fake.command, "--model", "fake/echo", "-p", "hello"],
        cwd=fake.cwd,
        env=fake.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0
    assert done.stdout == (b"" if closed == "stdout" else b"hello\n")
    assert done.stderr == b""


@pytest.mark.parametrize(
    "words",
    [
        ["--model", "fake/echo", "-p", "hello"],
        ["--help"],
        ["help", "settings"],
        ["plugins"],
        ["sessions", "search", "--help"],  # those of click
        ["eval", "--help"],
        ["replay", "--help"],
    ],
)
def test_reader_that_goes_away_is_no_error_to_talk_about(fake, words):
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = fake.start(*words, stdout=write_end)
    os.close(write_end)

    _, errors = process.communicate(timeout=PATIENCE)

    assert (process.returncode, errors) == (141, b"")


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "arguments",
    [["--model", "fake/echo", "-p", "hello"], ["--model", "fake/echo", "--mode", "json", "hello"], ["plugins"]],
    ids=["print", "json", "plugins"],
)
def test_full_disk_is_one_line(fake, arguments):
    with FULL.open("wb") as full:
        process = fake.start(*arguments, stdout=full)
        _, errors = process.communicate(timeout=PATIENCE)

    assert process.returncode == 1
    assert errors.decode() == (
        "Error: The output cannot be written: No space left on device. Free some space, or redirect it\n"
    )


def test_characters_that_the_encoding_lacks_are_no_error(fake):
    done = fake.run("--model", "fake/echo", "-p", "caf\u00e9", PYTHONIOENCODING="ascii", PYTHONUTF8="0")

    assert (done.returncode, done.stdout) == (0, "caf?\n")


def test_plugin_can_ask_the_front_end_to_end_after_the_run(fake):
    fake.install(
        "ending",
        """
        from pi_hookspecs import hookimpl

        @hookimpl
        def agent_start(event, ctx):
            ctx.shutdown()
        """,
    )

    assert fake.run("--model", "fake/echo", "-p", "one", "two").stdout == "one\n"


def test_the_newcomers_first_command_answers_correctly(pi):
    (pi.cwd / "README.md").write_text("".join(f"line {number}\n" for number in range(1, 9)))
    (pi.cwd / "other.txt").touch()
    prompt = "List the files here, then show me the first 5 lines of README.md and count the words in it"

    done = pi.run("--model", "offline/rules", "-p", prompt)

    assert done.returncode == 0
    for expected in ("README.md", "other.txt", "line 1\nline 2\nline 3\nline 4\nline 5\n", "16 words"):
        assert expected in done.stdout
    assert "line 6" not in done.stdout
    assert all(line.startswith("→ ") for line in done.stderr.splitlines())


@pytest.mark.parametrize("mode", [(), ("--mode", "json")])
def test_a_command_that_fails_makes_the_exit_code_1(pi, mode):
    (pi.agent_dir / "settings.json").write_text('{"agents": {"enabled": true}}')

    done = pi.run(*mode, "--model", "offline/rules", "-p", "/agents apply 01234567")

    assert done.returncode == 1
    assert "A worktree needs a git repository" in done.stderr


CUT = "Error: Response was truncated: the model reached its output token limit"


@pytest.mark.parametrize("mode", [(), ("--mode", "json")])
def test_an_answer_that_was_cut_makes_the_exit_code_1(fake, mode):
    done = fake.run(*mode, "--model", "fake/cut", "-p", "hi")

    assert "half an answer" in done.stdout
    assert done.stderr == (
        f"{CUT}. Ask it to continue (pi -c -p Continue) or for less at once, "
        "or raise the model's maxTokens in models.json.\n"
    )
    assert done.returncode == 1


@pytest.mark.parametrize("mode", [(), ("--mode", "json")])
def test_an_answer_of_thinking_alone_is_reported_as_that(fake, mode):
    cut = fake.run(*mode, "--model", "fake/cut", "-p", "think")
    ended = fake.run(*mode, "--model", "fake/thinks", "-p", "think")

    assert (cut.returncode, ended.returncode) == (1, 0)
    assert cut.stderr.startswith(f"{CUT} while it was thinking. Choose a lower thinking level")
    assert ended.stderr.startswith("Warning: The model thought, but gave no answer.")


def test_an_answer_that_was_cut_before_the_last_one_is_reported_too(fake):
    done = fake.run("--model", "fake/cut", "-p", "hi", "think")

    assert done.returncode == 1
    assert done.stderr.count("Error: Response was truncated") == 2


def test_an_empty_answer_is_reported(fake):
    done = fake.run("--model", "fake/silent", "-p", "hi")

    assert done.returncode == 0
    assert done.stdout.strip() == ""
    assert "Warning: The model returned an empty answer. Try again" in done.stderr


def test_a_retry_is_reported_on_stderr(pi):
    pi.install("flaky", FLAKY)
    (pi.agent_dir / "settings.json").write_text('{"retry": {"baseDelayMs": 1}}')

    done = pi.run("--model", "flaky/model", "-p", "hi")

    assert (done.returncode, done.stdout) == (0, "there you are\n")
    assert done.stderr == "Retrying in 0.001 s (1 of 3): 503 busy\n"


FLAKY = """
from pi_hookspecs import MessageBuilder, Model, ProviderInfo, hookimpl


class Flaky:
    api = "flaky"
    asked = 0

    async def stream(self, model, context, options):
        builder = MessageBuilder(model)
        yield builder.start()
        self.asked += 1
        if self.asked == 1:
            yield builder.fail("503 busy")
            return
        start = builder.text_start()
        yield start
        yield builder.text(start.content_index, "there you are")
        yield builder.text_end(start.content_index)
        yield builder.done()


@hookimpl
def register_providers():
    return [Flaky()]


@hookimpl
def register_models():
    models = (Model(id="model", name="Model", api="flaky", provider="flaky"),)
    return [ProviderInfo(id="flaky", name="Flaky", api="flaky", keyless=True, models=models)]
"""


def test_a_full_window_with_nothing_to_summarize_is_reported(pi):
    pi.install(
        "full",
        """
        from pi_hookspecs import MessageBuilder, Model, ProviderInfo, hookimpl

        class Full:
            api = "full"

            async def stream(self, model, context, options):
                builder = MessageBuilder(model)
                yield builder.start()
                yield builder.fail("prompt is too long: 9000 tokens > 8000 maximum")

        @hookimpl
        def register_providers():
            return [Full()]

        @hookimpl
        def register_models():
            model = Model(id="one", name="one", api="full", provider="full", context_window=8000)
            return [ProviderInfo(id="full", name="Full", api="full", keyless=True, models=(model,))]
        """,
    )

    done = pi.run("-p", "--model", "full/one", "hello")

    assert done.returncode == 1
    assert done.stdout == ""
    assert [line for line in done.stderr.splitlines() if "Warning" not in line] == [
        "Compacting the conversation: the context window is full",
        "There is nothing to summarize",
        "Error: prompt is too long: 9000 tokens > 8000 maximum",
    ]
