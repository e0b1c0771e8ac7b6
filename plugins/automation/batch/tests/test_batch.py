"""``pi batch``: what its tasks say, runs of ``offline/rules``, and what is left after a kill."""

from __future__ import annotations

import asyncio
import csv
import fcntl
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pi_batch.tasks
import pi_redact
from pi_batch.command import run as run_command
from pi_batch.limits import Ledger, Pace
from pi_batch.ray import RayLimits, node_scratch
from pi_batch.record import Record
from pi_batch.results import Results
from pi_batch.tasks import BadTasks, Task, read_tasks
from pi_core import PluginHost, Settings
from pi_core.plugin_api.secrets import PluginSecrets
from pi_hookspecs import PiError, UserError
from pi_testing.fake_servers import anthropic
from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.slow

ENDS = """
import os, signal
from pathlib import Path
from pi_hookspecs import hookimpl

STARTS = Path(__file__).with_suffix(".starts")

@hookimpl
def before_model_request(event, ctx):
    with STARTS.open("a") as file:
        file.write("start\\n")
    if len(STARTS.read_text().splitlines()) <= KILLED:
        os.kill(os.getpid(), signal.SIGKILL)
"""
BENCH = Path(__file__).parents[4] / "bench" / "scale.py"


@pytest.fixture
def batch(tmp_path, monkeypatch, capsys):
    """Writes tasks and runs ``pi batch`` on them; returns exit code, stdout and stderr."""
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    monkeypatch.chdir(tmp_path)

    def run(tasks, *options):
        (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(each) + "\n" for each in tasks))
        arguments = ["tasks.jsonl", "--out", "out", "--model", "offline/rules", *options]
        code = run_command(arguments, PluginHost(Settings.load(tmp_path), installed=False))
        output = capsys.readouterr()
        return code, output.out, output.err

    return run


def lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def repository(folder):
    folder.mkdir()
    (folder / "notes.txt").write_text("one two\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "begin"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid", *words], cwd=folder, check=True)


def test_tasks_run_in_copies_and_their_changes_and_scores_are_kept(batch, tmp_path):
    repository(tmp_path / "repo")
    create = "Create a file named {name}.txt with the text 'hi'"
    tasks = [
        {"id": "z/1", "prompt": create, "name": "new", "repo": "repo", "check": "grep -q hi new.txt"},
        {"id": "a", "prompt": "Count the words in notes.txt", "files": {"notes.txt": "one"}, "check": "false"},
        {"id": "lost", "prompt": "Count", "repo": "nowhere"},
    ]

    code, output, stderr = batch(tasks)

    assert code == 1
    assert "3 of 3 tasks were run, 1 failed; 1 of 2 checks passed" in output
    assert "nowhere" in stderr
    first, second, lost = lines(tmp_path / "out" / "results.jsonl")
    assert [first["id"], second["id"], lost["id"]] == ["z/1", "a", "lost"]
    assert (first["score"], second["score"], lost["score"]) == (True, False, None)
    assert (lost["status"], lost["attempts"]) == ("failed", 1)
    assert (tmp_path / "out" / first["session"]).is_file()
    prediction = lines(tmp_path / "out" / "predictions.jsonl")[0]
    assert prediction["instance_id"] == "z/1"
    assert "+hi" in prediction["model_patch"]
    assert not (tmp_path / "repo" / "new.txt").exists()

    assert batch(tasks)[0] == 2  # never over results that are there
    assert batch(tasks, "--resume")[0] == 1
    assert len(lines(tmp_path / "out" / "results.jsonl")) == 3


def test_added_lines_of_a_patch_lose_their_secrets_and_the_patch_still_applies(tmp_path):
    repository(tmp_path / "repo")
    file = tmp_path / "repo" / "notes.txt"
    block = "-----BEGIN PRIVATE KEY-----\n" + "\n".join(letter * 64 for letter in "abc") + "\n-----END PRIVATE KEY-----"
    file.write_text(f"one two\nkey {'gh' + 'p_'}{'aB3' * 12}\n{block}\nlast")
    git = ["git", "-C", str(tmp_path / "repo")]
    patch = tmp_path / "a.diff"
    patch.write_bytes(subprocess.run([*git, "diff"], check=True, capture_output=True).stdout)
    settings = Settings.load(tmp_path)
    host = PluginHost(settings, installed=False)
    host.add(pi_redact, "redact")

    with Results(tmp_path, [], resume=False, clean=PluginSecrets.of_host(host).clean) as results:
        results.add(Record(id="a", answer=f"it is {'gh' + 'p_'}{'aB3' * 12}", patch="a.diff"))

    subprocess.run([*git, "checkout", "-q", "."], check=True)
    subprocess.run([*git, "apply", "--whitespace=nowarn", str(patch)], check=True)
    changed = file.read_text()
    assert "aB3aB3" not in changed
    assert "bbbb" not in changed
    assert changed.startswith("one two\nkey [secret:github:")
    assert "KEY-----\nlast\n" in changed
    assert "aB3aB3" not in (tmp_path / "results.jsonl").read_text()


@pytest.mark.parametrize(
    ("name", "text", "problems"),
    [
        ("t.jsonl", '{"id": "a", "prompt": "x"}\nno\n{"id": "a", "prompt": ""}\n', ["line 2", "line 3", "line 3"]),
        (
            "t.jsonl",
            '{"id": "a", "prompt": "x", "files": {"../x": ""}}\n[1]\n{"prompt": "x"}',
            ["line 1", "line 2", "line 3"],
        ),
        ("t.csv", "id,prompt\n1,x,more\n1,\n", ["line 2", "line 3"]),
        ("t.jsonl", '{"id": "a", "prompt": "\\ud83d"}', ["line 1"]),
        ("t.jsonl", "", ["There are no tasks"]),
    ],
)
def test_all_that_is_wrong_with_tasks_is_named_at_once(tmp_path, name, text, problems):
    (tmp_path / name).write_text(text)

    with pytest.raises(BadTasks) as error:
        read_tasks(tmp_path / name)

    assert [problem[: len(begin)] for problem, begin in zip(error.value.problems, problems, strict=True)] == problems


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "t.csv"
    file.write_text("id,prompt\n1,Count\n2,Coun")

    def slow(row, folder):
        with file.open("a") as writer:
            writer.write("t the words")
        return task_of(row, folder)

    task_of = pi_batch.tasks._task
    monkeypatch.setattr(pi_batch.tasks, "_task", slow)

    with pytest.raises(BadTasks, match="changed while they were read"):
        read_tasks(file)


def test_unknown_columns_of_csv_are_put_into_the_prompt(tmp_path):
    (tmp_path / "t.csv").write_text('id,prompt,who,files,plugins\n7,"Hi {who}, {x}",Ann,"{""a"": ""b""}","x, y"\n')

    assert read_tasks(tmp_path / "t.csv") == [
        Task(id="7", prompt="Hi Ann, {x}", files={"a": "b"}, plugins=("x", "y"), extra={"who": "Ann"})
    ]


@given(st.lists(st.text(min_size=1), unique=True, min_size=2, max_size=2))
def test_names_of_files_are_portable_and_differ_as_the_ids_do(ids):
    first, second = (Task(id=each, prompt="x").file_name for each in ids)

    assert first != second
    assert not {"/", "\0"} & {*first}
    assert not first.startswith(".")


def test_lines_are_sorted_and_whole_although_answers_are_not_kept_in_memory(tmp_path):
    tasks = [Task(id=name, prompt="x") for name in "abc"]
    with Results(tmp_path, tasks, resume=False) as results:
        results.add(Record(id="c", answer="späte", usage={"input": 3}))
    with Results(tmp_path, tasks, resume=True) as results:
        results.add(Record(id="a", answer="first", status="done"))
        assert not any(each.answer or each.usage for each in results.records.values())
        assert results.failed == 1
        results.finish()

    found = lines(tmp_path / "results.jsonl")
    assert [(each["id"], each["answer"], each["usage"]) for each in found] == [
        ("a", "first", {}),
        ("c", "späte", {"input": 3}),
    ]


def test_results_are_a_csv_table_too(tmp_path):
    tasks = [Task(id=name, prompt="x") for name in "abc"]
    with Results(tmp_path, tasks, resume=False) as results:
        results.add(Record(id="b", score=False, answer='sp\u00e4t,\n"two"', usage={"input": 3, "totalTokens": 4}))
        results.add(Record(id="a", status="done", score=True, dollars=0.5, model="p/m", attempts=2))
        results.finish("csv")

    with (tmp_path / "results.csv").open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert [first[name] for name in ("id", "status", "score", "dollars", "input", "model", "attempts", "error")] == [
        "a", "done", "true", "0.5", "0", "p/m", "2", "",
    ]  # fmt: skip
    assert [second[name] for name in ("id", "score", "answer", "input", "totalTokens", "output")] == [
        "b", "false", 'sp\u00e4t,\n"two"', "3", "4", "0",
    ]  # fmt: skip


def test_a_result_that_a_kill_cut_off_is_dropped(tmp_path):
    tasks = [Task(id="a", prompt="x"), Task(id="b", prompt="x")]
    with Results(tmp_path, tasks, resume=False) as results:
        results.add(Record(id="a", status="done"))
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"id": "b", "sta')

    with Results(tmp_path, tasks, resume=True) as results:
        assert [*results.records] == ["a"]
        results.add(Record(id="b"))
        with pytest.raises(UserError, match="Another pi batch"):
            Results(tmp_path, tasks, resume=True)

    assert [each["id"] for each in lines(tmp_path / "results.jsonl")] == ["a", "b"]
    with pytest.raises(UserError, match="those of other tasks: 'b'"):
        Results(tmp_path, tasks[:1], resume=True)


def test_a_second_batch_in_a_folder_is_refused(batch, tmp_path):
    with Results(tmp_path / "out", [], resume=False):
        code, output, stderr = batch([{"id": "a", "prompt": "x"}], "--resume")

    assert (code, output) == (2, "")
    assert "Another pi batch writes to" in stderr


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 3 MB, of which 1 MB and room for a few sessions are free."""
    place = tmp_path / "out"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "small", place], check=False).returncode:
        pytest.skip("mounting a small disk needs root")
    free = os.statvfs(place).f_bavail * os.statvfs(place).f_frsize
    (place / "ballast").write_bytes(bytes(free - (1 << 20) - 30_000))
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_full_disk_ends_the_batch_and_no_task_fails_for_good(batch, small_disk):
    tasks = [{"id": f"t{number}", "prompt": "Count the words in no.txt"} for number in range(12)]

    ended = batch(tasks, "--retries", "0", "--concurrency", "1")  # of several at once, none may find room
    done = len((small_disk / "results.jsonl").read_bytes().split(b"\n")) - 1
    (small_disk / "ballast").unlink()
    code, output, _ = batch(tasks, "--resume")

    assert ended[0] == 1
    assert "out' is full.\nFree some space, then continue with --resume" in ended[2]
    assert 0 < done < len(tasks)
    assert code == 0
    assert "12 of 12 tasks were run, 0 failed" in output


def test_a_result_that_finds_no_room_is_named_and_leaves_no_broken_line(small_disk):
    tasks = [Task(id="a", prompt="x"), Task(id="b", prompt="x")]
    with Results(small_disk, tasks, resume=False) as results:
        results.add(Record(id="a", status="done"))
        free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
        (small_disk / "more").write_bytes(bytes(free))
        with pytest.raises(PiError, match=r"/out': No space left on device.*--resume"):
            results.add(Record(id="b", answer="x" * 10_000))
        with pytest.raises(PiError, match="No space left on device"):
            results.finish()
    (small_disk / "more").unlink()

    with Results(small_disk, tasks, resume=True) as results:
        assert [*results.records] == ["a"]
        results.add(Record(id="b"))
        results.finish()
    assert [each["id"] for each in lines(small_disk / "results.jsonl")] == ["a", "b"]


def test_a_folder_of_results_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(PiError, match="Not a directory"):
        Results(tmp_path / "file" / "out", [], resume=False)


def test_the_session_is_that_of_the_last_attempt_although_the_clock_was_set_back(batch, tmp_path):
    (tmp_path / "out" / "sessions" / "a").mkdir(parents=True)
    (tmp_path / "out" / "sessions" / "a" / "2999-01-01T00-00-00-000Z_x.jsonl").write_text("")

    assert batch([{"id": "a", "prompt": "Count the words in no.txt"}])[0] == 0

    (result,) = lines(tmp_path / "out" / "results.jsonl")
    assert "2999-01-01" not in result["session"]
    assert (tmp_path / "out" / result["session"]).is_file()


@pytest.mark.parametrize(("killed", "status", "attempts"), [(1, "done", 2), (9, "failed", 3)])
def test_a_pi_that_is_killed_for_its_memory_gets_its_further_attempts(batch, tmp_path, killed, status, attempts):
    (tmp_path / "ends.py").write_text(ENDS.replace("KILLED", str(killed)))

    batch([{"id": "a", "prompt": "Count the words in no.txt", "plugins": [str(tmp_path / "ends.py")]}])

    (result,) = lines(tmp_path / "out" / "results.jsonl")
    assert (result["status"], result["attempts"]) == (status, attempts)
    assert result["error"] is None or result["error"].startswith("pi was killed, perhaps because memory ran out")


CUTS = """
from attrs import evolve
from pi_hookspecs import MessageEndResult, hookimpl

@hookimpl
def message_end(event):
    if event.message.role == "assistant" and not event.message.tool_calls:
        return MessageEndResult(message=evolve(event.message, stop_reason="length"))
"""


def test_an_answer_that_was_cut_fails_its_task_at_once_and_keeps_the_changes(batch, tmp_path):
    repository(tmp_path / "repo")
    (tmp_path / "cuts.py").write_text(CUTS)
    prompt = "Create a file named hello.txt with the text 'hi'"

    task = {"id": "a", "prompt": prompt, "plugins": [str(tmp_path / "cuts.py")], "repo": "repo"}

    code, _, _ = batch([task])

    (result,) = lines(tmp_path / "out" / "results.jsonl")
    assert (code, result["status"], result["attempts"]) == (1, "failed", 1)
    assert result["error"] == "the answer was cut at the model's output token limit"
    assert "+hi" in (tmp_path / "out" / result["patch"]).read_text()


REFUSES = """
from attrs import evolve
from pi_hookspecs import MessageEndResult, hookimpl

@hookimpl
def message_end(event):
    if event.message.role == "assistant":
        why = '401: {"error": {"message": "invalid x-api-key"}}\\nLog in again.'
        return MessageEndResult(message=evolve(event.message, stop_reason="error", error_message=why))
"""


def test_a_refused_request_is_reported_in_words(batch, tmp_path):
    (tmp_path / "refuses.py").write_text(REFUSES)

    batch([{"id": "a", "prompt": "Hello", "plugins": [str(tmp_path / "refuses.py")]}], "--retries", "0")

    (result,) = lines(tmp_path / "out" / "results.jsonl")
    assert result["error"] == "invalid x-api-key. Log in again."


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is there")
def test_an_engine_that_is_not_there_is_named_and_leaves_no_results(batch):
    tasks = [{"id": "a", "prompt": "Count the words in n.txt", "files": {"n.txt": "one"}}]

    code, _, stderr = batch(tasks, "--engine", "ray")

    assert code == 2
    assert "'pluggypi[ray]'" in stderr
    assert batch(tasks)[0] == 0


def test_folders_of_killed_workers_are_removed_on_a_node_and_those_in_use_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "pi-batch-node-left" / "work").mkdir(parents=True)
    (tmp_path / "pi-batch-other").mkdir()

    with node_scratch() as first, node_scratch() as second:
        assert sorted(tmp_path.iterdir()) == sorted([first, second, tmp_path / "pi-batch-other"])

    assert [*tmp_path.iterdir()] == [tmp_path / "pi-batch-other"]


@pytest.mark.parametrize("is_locked", [True, False])
def test_a_worker_whose_folder_another_one_removes_before_it_is_locked_makes_another(tmp_path, monkeypatch, is_locked):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made, make = [], tempfile.mkdtemp

    def make_and_lose(**options):
        made.append(folder := make(**options))
        if len(made) == 1 and is_locked:
            fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_EX)
        elif len(made) == 1:
            Path(folder).rmdir()
        return folder

    monkeypatch.setattr(tempfile, "mkdtemp", make_and_lose)

    with node_scratch() as scratch:
        assert str(scratch) == made[1]
        assert scratch.is_dir()


def test_nothing_begins_once_the_budget_is_used_up(batch, tmp_path):
    (tmp_path / "out" / "sessions" / "a").mkdir(parents=True)
    answer = {"type": "message", "message": {"role": "assistant", "usage": {"cost": {"total": 0.5}}}}
    (tmp_path / "out" / "sessions" / "a" / "s.jsonl").write_text(json.dumps(answer))

    code, output, stderr = batch([{"id": "a", "prompt": "x"}], "--max-cost", "0.4")

    assert code == 4
    assert "0 of 1 tasks were run" in output
    assert "--resume" in stderr


def test_a_provider_that_asked_to_wait_gets_new_tasks_later_and_slowly():
    async def starts():
        pace, loop = Pace(), asyncio.get_running_loop()
        pace.delayed("a", 0.05)
        began = loop.time()
        await pace.wait("b")
        other = loop.time() - began
        await pace.wait("a")
        await pace.wait("a")
        return other, loop.time() - began

    other, both = asyncio.run(starts())

    assert other < both


class Actor:
    """The handle of an actor without Ray, which keeps the names of the methods that were called."""

    def __init__(self, target):
        self._target = target
        self.called = []

    def __getattr__(self, name):
        async def remote(*arguments):
            self.called.append(name)
            answer = getattr(self._target, name)(*arguments)
            return await answer if inspect.isawaitable(answer) else answer

        return SimpleNamespace(remote=remote)


async def test_a_node_asks_no_actor_before_a_provider_asked_to_wait_or_where_there_is_no_budget():
    ledger, pace = Actor(Ledger()), Actor(Pace())
    limits = RayLimits(ledger, pace, has_budget=False)
    await limits.refresh()
    begin = [await limits.exhausted(), await limits.wait("a"), await limits.succeeded("a")]
    calls = [*ledger.called, *pace.called]

    await limits.delayed("a", 0.0)
    await limits.wait("a")
    await limits.succeeded("a")

    assert begin == [False, None, None]
    assert calls == ["is_delaying"]
    assert pace.called == ["is_delaying", "delayed", "wait", "succeeded"]
    assert await RayLimits(Actor(Ledger(1.0, 2.0)), pace, has_budget=True).exhausted()


async def test_a_run_ends_where_its_tasks_have_cost_enough_and_goes_on_with_more(batch, tmp_path, model_that_costs):
    model_that_costs.answers(*[anthropic.message(anthropic.text("Hello"), output_tokens=1)] * 10)
    tasks = [{"id": f"t{number}", "prompt": "Hello", "model": "fake/m"} for number in range(5)]

    ended = await asyncio.to_thread(batch, tasks, "--max-cost", "2.5", "--concurrency", "1")
    done = len(lines(tmp_path / "out" / "results.jsonl"))
    resumed = await asyncio.to_thread(batch, tasks, "--max-cost", "9", "--resume")

    assert (ended[0], done) == (4, 3)
    assert "--resume with a larger --max-cost" in ended[2]
    assert resumed[0] == 0
    assert "5 of 5 tasks were run, 0 failed; 5.0000 dollars." in resumed[1]


async def test_a_task_that_costs_enough_is_ended_before_its_next_request(batch, tmp_path, model_that_costs):
    call = anthropic.tool_use("c", "ls", path=".")
    model_that_costs.answers(*[anthropic.message(call, output_tokens=1)] * 10)

    code, _, _ = await asyncio.to_thread(
        batch, [{"id": "t", "prompt": "Look for ever", "model": "fake/m"}], "--max-cost", "2.5"
    )

    assert code == 4
    assert not lines(tmp_path / "out" / "results.jsonl")
    assert len(model_that_costs.requests) <= 4


@pytest.mark.parametrize("signals", [("SIGINT",), ("SIGINT", "SIGINT"), ("SIGTERM",)])
def test_a_signal_keeps_what_is_done_and_says_how_to_go_on(tmp_path, signals):
    tasks = [
        {"id": f"t{number}", "prompt": f"Create a file named f{number}.txt with the text 'hi'"} for number in range(8)
    ]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(each) + "\n" for each in tasks))
    mark = f"{tmp_path.name}-{os.getpid()}"
    environ = {**os.environ, "PI_CODING_AGENT_DIR": str(tmp_path / "agent"), "BATCH_MARK": mark}
    command = [sys.executable, "-m", "pi_cli", "batch", "tasks.jsonl", "--out", "out", "--concurrency", "1"]
    command += ["--model", "offline/rules"]
    driver = subprocess.Popen(command, cwd=tmp_path, env=environ, stderr=subprocess.PIPE, text=True)
    while driver.poll() is None and _count(tmp_path / "out" / "results.jsonl") < 2:
        time.sleep(0.05)

    for name in signals:
        driver.send_signal(getattr(signal, name))
        time.sleep(0.02)
    _, errors = driver.communicate(timeout=PATIENCE)
    done = lines(tmp_path / "out" / "results.jsonl")
    resumed = subprocess.run(
        [*command, "--resume"], cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
    )

    number = getattr(signal, signals[0])
    assert driver.returncode in (128 + number, -number)  # a shell reports both as the former
    if len(signals) == 1:  # a second signal ends it at once, maybe before it has said so
        assert "pi batch tasks.jsonl --out out --resume" in errors
    assert "Traceback" not in errors
    assert 2 <= len(done) < 8
    assert "8 of 8 tasks were run, 0 failed" in resumed.stdout
    assert lines(tmp_path / "out" / "results.jsonl")[: len(done)] == done
    _await_no_process_with(mark)


def test_every_task_is_run_once_although_the_driver_is_killed():
    count = os.environ.get("PI_TEST_BATCH_TASKS", "30")

    done = subprocess.run([sys.executable, BENCH, count], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"^\d+ results ", done.stdout, re.MULTILINE)) == 5


def _count(file):
    return file.read_bytes().count(b"\n") if file.exists() else 0


def _await_no_process_with(mark):
    deadline = time.monotonic() + PATIENCE
    while left := _processes_with(mark):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


def _processes_with(mark):
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"BATCH_MARK={mark}".encode() in (folder / "environ").read_bytes():
                found.append(folder.name)
        except OSError:  # it has ended, or is somebody else's
            continue
    return found
