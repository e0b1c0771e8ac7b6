"""Which session a command line talks in: a new one, the last one, one by path or id, a copy, or none that is kept."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest

from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.slow  # each starts programs that take seconds

MEMORY = """
from pi_hookspecs import MessageBuilder, Model, ProviderInfo, hookimpl


class Memory:
    \"\"\"Answers with everything that the user has said so far.\"\"\"

    api = "memory"

    async def stream(self, model, context, options):
        builder = MessageBuilder(model)
        yield builder.start()
        start = builder.text_start()
        yield start
        said = " + ".join(message.text for message in context.messages if message.role == "user")
        yield builder.text(start.content_index, f"{model.id}: {said}")
        yield builder.text_end(start.content_index)
        yield builder.done()


@hookimpl
def register_providers():
    return [Memory()]


@hookimpl
def register_models():
    models = tuple(Model(id=id, name=id, api="memory", provider="memory") for id in ("one", "two"))
    return [ProviderInfo(id="memory", name="Memory", api="memory", keyless=True, models=models)]
"""


@pytest.fixture
def memory(pi, knows):
    knows("recalls", MEMORY)
    pi.files = lambda: sorted((pi.agent_dir / "sessions").rglob("*.jsonl"))
    pi.entries = lambda file: [json.loads(line) for line in file.read_text().splitlines()]
    return pi


def ask(pi, *arguments, code=0):
    done = pi.run("-p", *arguments)
    assert done.returncode == code, done.stderr
    return done.stdout.strip() if code == 0 else done.stderr.strip()


def test_the_last_session_is_continued(memory):
    ask(memory, "--model", "memory/one", "first")

    assert ask(memory, "--continue", "second") == "one: first + second"
    assert ask(memory, "-c", "third") == "one: first + second + third"
    assert len(memory.files()) == 1


def test_without_a_session_to_continue_a_new_one_begins(memory):
    assert ask(memory, "-c", "--model", "memory/one", "first") == "one: first"


@pytest.mark.parametrize("mode", ["text", "json"])
@pytest.mark.parametrize("earlier", [True, False])
def test_a_last_session_that_cannot_be_read_is_named_and_the_one_before_continued(memory, earlier, mode):
    ask(memory, "--model", "memory/one", "first")
    first = memory.files()[0]
    broken = first.with_name("broken.jsonl")
    broken.write_text("no session\n")
    if not earlier:
        first.unlink()

    done = memory.run("-p", "--mode", mode, "-c", "--model", "memory/one", "second")

    assert ("one: first + second" in done.stdout) is earlier
    which = "the one before" if earlier else "a new one"
    why = f"Session file is not a valid pi session: {broken}"
    assert done.stderr == f"Warning: The last session could not be opened; this is {which}. {why}\n"


def test_a_file_begins_with_its_header_the_model_the_thinking_level_and_the_instructions(memory):
    ask(memory, "--model", "memory/one", "first")

    entries = memory.entries(memory.files()[0])
    assert [entry["type"] for entry in entries] == [
        "session",
        "model_change",
        "thinking_level_change",
        "message",
        "message",
        "message",
    ]
    assert [entry["message"]["role"] for entry in entries[3:]] == ["system", "user", "assistant"]
    tools = {tool["name"] for tool in entries[3]["message"]["toolsAdded"]}
    assert tools - {"fetch"} == {"read", "bash", "edit", "write", "process"}  # fetch is of an extra, which may be there
    assert entries[0]["cwd"] == str(memory.cwd)
    assert (entries[1]["provider"], entries[1]["modelId"]) == ("memory", "one")


def test_a_session_is_named_by_how_its_id_begins(memory):
    ask(memory, "--model", "memory/one", "--session-id", "zebra-1", "first")
    ask(memory, "--model", "memory/one", "--session-id", "yak-1", "other")

    assert ask(memory, "--session", "zeb", "second") == "one: first + second"


def test_a_session_of_exactly_this_id_is_continued(memory):
    first = memory.run("-p", "--model", "memory/one", "--session-id", "zebra", "first")
    second = memory.run("-p", "--session-id", "zebra", "second")

    assert (first.returncode, second.returncode, second.stdout) == (0, 0, "one: first + second\n")
    assert first.stderr == ("Warning: No project session found with id 'zebra'; creating a new session with that id.\n")
    assert (second.stderr, len(memory.files())) == ("", 1)


def test_the_beginning_of_an_id_and_another_folder_are_no_session_of_exactly_this_id(memory, tmp_path):
    ask(memory, "--model", "memory/one", "--session-id", "zebra", "first")

    assert ask(memory, "--model", "memory/one", "--session-id", "zeb", "second") == "one: second"
    memory.cwd = tmp_path / "elsewhere"
    memory.cwd.mkdir()
    assert ask(memory, "--model", "memory/one", "--session-id", "zebra", "third") == "one: third"
    assert len(memory.files()) == 3


def test_a_copy_does_not_take_the_id_of_another_session(memory):
    ask(memory, "--model", "memory/one", "--session-id", "zebra", "first")

    message = ask(memory, "--fork", "zebra", "--session-id", "zebra", "second", code=1)

    assert "Session already exists with id 'zebra'" in message
    assert len(memory.files()) == 1


def test_an_id_that_several_sessions_begin_with_is_refused_with_their_names(memory):
    for number in (1, 2):
        ask(memory, "--model", "memory/one", "--session-id", f"zebra-{number}", "first")

    message = ask(memory, "--session", "zebra", "second", code=1)

    assert "zebra-1" in message
    assert "zebra-2" in message


def test_an_unknown_id_is_an_error(memory):
    assert "nobody" in ask(memory, "--session", "nobody", "hi", code=1)


def test_a_session_is_named_by_its_file(memory):
    ask(memory, "--model", "memory/one", "first")

    assert ask(memory, "--session", str(memory.files()[0]), "second") == "one: first + second"


def test_a_file_that_is_not_there_is_where_the_new_session_goes(memory):
    began = memory.run("-p", "--model", "memory/one", "--session", "./mine.jsonl", "first")

    place = str(memory.cwd / "mine.jsonl")
    assert f"No session is stored at {place!r}; creating a new session there." in began.stderr
    assert memory.entries(memory.cwd / "mine.jsonl")[0]["type"] == "session"
    assert ask(memory, "--session", "mine.jsonl", "second") == "one: first + second"


def test_a_file_that_is_no_session_is_left_alone(memory):
    file = memory.cwd / "notes.jsonl"
    file.write_text("dear diary\n")

    message = ask(memory, "--session", "notes.jsonl", "hi", code=1)

    assert f"Session file is not a valid pi session: {file}" in message
    assert file.read_text() == "dear diary\n"


def test_a_copy_goes_its_own_way(memory):
    ask(memory, "--model", "memory/one", "--session-id", "parent", "first")

    assert ask(memory, "--fork", "parent", "second") == "one: first + second"
    assert ask(memory, "--session", "parent", "third") == "one: first + third"
    assert len(memory.files()) == 2


def test_a_session_of_another_folder_is_offered_as_a_copy(memory, tmp_path):
    ask(memory, "--model", "memory/one", "--session-id", "there", "first")
    memory.cwd = tmp_path / "elsewhere"
    memory.cwd.mkdir()

    assert "--fork there" in ask(memory, "--session", "there", "second", code=1)
    assert ask(memory, "--fork", "there", "second") == "one: first + second"


@pytest.mark.parametrize("by", ["path", "id"])
def test_the_folder_of_a_session_must_be_there(memory, tmp_path, by):
    gone = tmp_path / "gone"
    gone.mkdir()
    here, memory.cwd = memory.cwd, gone
    ask(memory, "--model", "memory/one", "--session-id", "there", "first")
    gone.rmdir()
    memory.cwd = here

    message = ask(memory, "--session", str(memory.files()[0]) if by == "path" else "there", "second", code=1)

    assert "is gone" in message
    assert "--fork" in message


def test_nothing_is_kept_where_it_is_not_wanted(memory):
    ask(memory, "--model", "memory/one", "--no-session", "first")

    assert memory.files() == []


def test_sessions_go_to_the_folder_that_is_named(memory):
    ask(memory, "--model", "memory/one", "--session-dir", "kept", "first")

    assert [file.parent for file in memory.cwd.rglob("*.jsonl")] == [memory.cwd / "kept"]
    assert ask(memory, "--session-dir", "kept", "-c", "second") == "one: first + second"
    assert memory.files() == []


def test_the_sessions_own_model_goes_on_unless_another_is_named(memory):
    ask(memory, "--model", "memory/two", "first")

    assert ask(memory, "-c", "second") == "two: first + second"
    assert ask(memory, "-c", "--model", "memory/one", "third") == "one: first + second + third"


def test_a_removed_model_is_reported_and_another_one_is_used(memory):
    ask(memory, "--model", "memory/one", "first")
    file = memory.files()[0]
    file.write_text(file.read_text().replace('"provider":"memory"', '"provider":"museum"'))
    (memory.agent_dir / "settings.json").write_text('{"defaultProvider": "memory", "defaultModel": "two"}')

    done = memory.run("-p", "-c", "second")

    assert "Could not restore model museum/one. Using memory/two." in done.stderr
    assert done.stdout == "two: first + second\n"


@pytest.mark.parametrize("mode", [(), ("--mode", "json")])
def test_a_model_that_its_provider_has_no_more_is_reported_and_another_one_is_used(memory, mode):
    ask(memory, "--model", "memory/one", "first")
    file = memory.files()[0]
    file.write_text(file.read_text().replace('"one"', '"retired"'))
    (memory.agent_dir / "settings.json").write_text('{"defaultProvider": "memory", "defaultModel": "two"}')

    done = memory.run("-p", *mode, "-c", "second")

    assert done.stderr.startswith("Warning: Could not restore model memory/retired. Using memory/two. Provider memory")
    assert "two: first + second" in done.stdout
    assert "Using custom model id" not in done.stderr


def test_a_session_gets_the_name_that_it_is_given(memory):
    ask(memory, "--model", "memory/one", "-n", "about zebras", "first")

    names = [entry["name"] for entry in memory.entries(memory.files()[0]) if entry["type"] == "session_info"]
    assert names == ["about zebras"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--fork", "x", "-c"], ("--fork", "--continue")),
        (["--fork", "x", "--session", "y"], ("--fork", "--session")),
        (["--session-id", "x", "-c"], ("--session-id", "--continue")),
        (["-c", "--no-session"], ("--continue", "--no-session")),
        (["-r", "-c"], ("--resume", "--continue")),
        (["-r", "--session-id", "x"], ("--resume", "--session-id")),
        (["--session", "x", "--no-session"], ("--session", "--no-session")),
    ],
)
def test_options_that_exclude_each_other_are_named(memory, arguments, named):
    message = ask(memory, *arguments, "hi", code=1)

    assert all(option in message for option in named)


def test_an_id_that_cannot_be_one_is_refused(memory):
    assert "../evil" in ask(memory, "--model", "memory/one", "--session-id", "../evil", "hi", code=1)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder_is_reported_and_the_answer_given(memory):
    sessions = memory.agent_dir / "sessions"
    sessions.mkdir(mode=0o500)

    done = memory.run("-p", "--model", "memory/one", "first")

    assert (done.returncode, done.stdout) == (0, "one: first\n")
    assert "cannot be written" in done.stderr


def test_an_interrupted_tool_call_is_reported_and_not_run_again(memory):
    ask(memory, "--model", "memory/one", "first")
    file = memory.files()[0]
    answer = memory.entries(file)[-1]
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "touch ran"}}
    message = {**answer["message"], "content": [call], "stopReason": "toolUse"}
    with file.open("a") as out:
        out.write(json.dumps({**answer, "id": "0000000b", "parentId": answer["id"], "message": message}) + "\n")

    done = memory.run("-p", "-c", "second")
    again = memory.run("-p", "-c", "third")

    assert "tool calls that have no results: bash" in done.stderr
    assert "not run again" in done.stderr
    assert done.stdout == "one: first + second\n"
    assert not (memory.cwd / "ran").exists()
    assert "tool calls that have no results" not in again.stderr


def test_what_cannot_be_stored_is_reported_once(memory):
    place = memory.cwd.parent / "kept"
    place.mkdir()
    arguments = ("-p", "--model", "memory/one", "--session", "/dev/null/s.jsonl", "first")
    done = memory.run(*arguments, TMPDIR=str(place))

    assert (done.returncode, done.stdout) == (0, "one: first\n")
    assert done.stderr.count("cannot be written") == 1
    assert "(session)" not in done.stderr
    (kept,) = place.glob("pi-session-*.jsonl")
    assert f"entries are in '{kept}'" in done.stderr
    again = memory.run("-p", "--model", "memory/one", "--session", str(kept), "second")
    assert again.stdout == "one: first + second\n"


WAITS = MEMORY.replace(
    "        yield builder.done()\n",
    "        WAIT.touch()\n        await options.signal.wait()\n        yield builder.abort()\n",
)


def test_a_prompt_that_was_interrupted_leaves_a_session_that_can_be_continued(memory, tmp_path):
    asked = tmp_path / "asked"
    memory.site = tmp_path / "site"
    memory.install(
        "waiting", f"from pathlib import Path\nWAIT = Path({str(asked)!r})\n{WAITS.replace('memory', 'slow')}"
    )
    with memory.start("-p", "--model", "slow/one", "first") as process:
        while process.poll() is None and not asked.exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE)

    assert process.returncode == 143
    assert ask(memory, "-c", "--model", "memory/one", "second") == "one: first + second"
