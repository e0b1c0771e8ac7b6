"""``pi batch --engine ray`` on a local cluster of two nodes: the same records, and tasks whose node is lost."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from pi_batch.limits import Ledger
from pi_batch.ray import ray_engine
from pi_batch.run import Setup
from pi_testing.fake_servers import anthropic
from pi_testing.patience import PATIENCE

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        find_spec("ray") is None, reason="needs Ray: uv run python tools/heavy_environments.py ray --test"
    ),
    pytest.mark.filterwarnings("ignore"),  # those of Ray itself
]

MEMORY = 100_000_000
SLOW = """
import os, time
from pathlib import Path
from pi_hookspecs import hookimpl

HERE = Path(__file__).parent

@hookimpl
def before_model_request(event, ctx):
    with (HERE / "starts").open("a") as file:
        file.write("start\\n")
    while not (HERE / "go").exists():
        time.sleep(0.05)
"""


@pytest.fixture
def cluster():
    """A head that runs no tasks."""
    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ |= {
        "RAY_raylet_start_wait_time_s": "120",
    }  # on a busy machine
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": MEMORY}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    yield cluster
    cluster.shutdown()


OTHER_VERSION = """
import importlib.metadata

version = importlib.metadata.version
importlib.metadata.version = lambda name: "0.9.0" if name == "pluggypi-batch" else version(name)
"""
NO_PI = """
import importlib.metadata

def version(name):
    raise importlib.metadata.PackageNotFoundError(name)

importlib.metadata.version = version
"""


def node(cluster, **variables):
    return cluster.add_node(num_cpus=2, object_store_memory=MEMORY, env_vars=variables)


def start(tmp_path, tasks, out, *options, address=None):
    """Start ``pi batch``; with an address on that cluster."""
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(each) + "\n" for each in tasks))
    command = [sys.executable, "-m", "pi_cli", "batch", "tasks.jsonl", "--out", out, "--model", "offline/rules"]
    environ = {**os.environ, "PI_CODING_AGENT_DIR": str(tmp_path / "agent")}
    if address is not None:
        command += ["--engine", "ray", "--task-cpus", "1"]
        environ["RAY_ADDRESS"] = address
    pipe = subprocess.PIPE
    return subprocess.Popen([*command, *options], cwd=tmp_path, env=environ, stdout=pipe, stderr=pipe, text=True)


def results(folder):
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def same(record):
    """Return what does not differ from run to run: neither times nor names of sessions."""
    return {name: value for name, value in record.items() if name not in ("seconds", "session")}


def await_that(is_so):
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def processes_naming(text):
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"--session-dir" in (said := file.read_bytes()) and text.encode() in said:
                found.append(file.parent.name)
        except OSError:  # it has ended
            continue
    return found


def workers_of(processes):
    """The workers of Ray above processes."""
    found, current = set(), {int(each) for each in processes}
    while current := {parent_of(each) for each in current} - {0, 1}:
        found |= {each for each in current if Path(f"/proc/{each}/comm").read_text().startswith("ray::")}
    return found


def parent_of(process):
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def starts(tmp_path):
    file = tmp_path / "starts"
    return len(file.read_text().splitlines()) if file.exists() else 0


def waiting_task(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    return {"id": "t", "prompt": "Create a file named f.txt with the text 'hi'", "plugins": [str(tmp_path / "slow.py")]}


def test_two_nodes_give_the_records_that_one_process_gives(tmp_path, cluster):
    node(cluster)
    node(cluster)
    cluster.wait_for_nodes()
    subprocess.run(["git", "init", "-q", "repo"], cwd=tmp_path, check=True)
    commit = ["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-q", "--allow-empty", "-m", "one"]
    subprocess.run(commit, cwd=tmp_path / "repo", check=True)
    tasks = [
        {"id": f"t{number}", "prompt": f"Create a file named f{number}.txt with the text 'hi'", "repo": "repo",
         "check": f"test -s f{number}.txt"}
        for number in range(int(os.environ.get("PI_TEST_RAY_TASKS", "200")))
    ]  # fmt: skip
    tasks[7] |= {"repo": "nowhere"}

    said = [
        (*(driver := start(tmp_path, tasks, out, address=address)).communicate(), driver.returncode)
        for out, address in (("by-ray", cluster.address), ("local", None))
    ]

    assert said[0] == said[1]
    assert said[0][2] == 1
    by_ray, local = (results(tmp_path / out) for out in ("by-ray", "local"))
    assert [same(each) for each in by_ray] == [same(each) for each in local]
    assert [each["id"] for each in by_ray] == [each["id"] for each in tasks]
    predictions = [(tmp_path / out / "predictions.jsonl").read_bytes() for out in ("by-ray", "local")]
    assert predictions[0] == predictions[1]
    for each in by_ray:
        assert each["session"] is None or (tmp_path / "by-ray" / each["session"]).is_file()


def test_a_task_whose_node_is_lost_runs_once_more(tmp_path, cluster):
    first = node(cluster)
    driver = start(tmp_path, [waiting_task(tmp_path)], "out", address=cluster.address)
    await_that(lambda: starts(tmp_path) == 1)
    node(cluster)

    cluster.remove_node(first, allow_graceful=False)
    await_that(lambda: starts(tmp_path) == 2)
    (tmp_path / "go").touch()
    output, errors = driver.communicate(timeout=PATIENCE)

    assert driver.returncode == 0, errors
    assert "1 of 1 tasks were run, 0 failed" in output
    assert [each["status"] for each in results(tmp_path / "out")] == ["done"]
    await_that(lambda: not processes_naming(str(tmp_path)))


def test_a_task_that_loses_a_second_node_failed(tmp_path, cluster):
    lost = node(cluster)
    driver = start(tmp_path, [waiting_task(tmp_path)], "out", address=cluster.address)
    for number in (1, 2):
        await_that(lambda number=number: starts(tmp_path) == number)
        other = node(cluster) if number == 1 else None
        cluster.remove_node(lost, allow_graceful=False)
        lost = other
    _, errors = driver.communicate(timeout=PATIENCE)

    assert driver.returncode == 1
    assert "t: it was lost with its worker or node" in errors
    assert "Traceback" not in errors
    assert [(each["id"], each["status"]) for each in results(tmp_path / "out")] == [("t", "failed")]
    await_that(lambda: not processes_naming(str(tmp_path)))


def test_a_task_whose_worker_is_killed_for_its_memory_runs_once_more(tmp_path, cluster):
    node(cluster)
    driver = start(tmp_path, [waiting_task(tmp_path)], "out", address=cluster.address)
    await_that(lambda: starts(tmp_path) == 1)

    (worker,) = workers_of(processes_naming(str(tmp_path)))
    os.kill(worker, signal.SIGKILL)
    await_that(lambda: starts(tmp_path) == 2)
    (tmp_path / "go").touch()
    output, errors = driver.communicate(timeout=PATIENCE)

    assert driver.returncode == 0, errors
    assert "1 of 1 tasks were run, 0 failed" in output
    assert len(results(tmp_path / "out")) == 1
    await_that(lambda: not processes_naming(str(tmp_path)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [(OTHER_VERSION, "has pluggypi-batch 0.9.0, this machine"), (NO_PI, "has no pi, or not all of it")],
)
def test_a_node_with_another_pi_or_none_is_refused_by_name_before_the_first_task(tmp_path, cluster, changes, message):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(changes)
    node(cluster)
    node(cluster, PYTHONPATH=str(tmp_path / "site"))

    driver = start(tmp_path, [waiting_task(tmp_path)], "out", address=cluster.address)
    _, errors = driver.communicate(timeout=PATIENCE)

    assert driver.returncode == 2
    assert message in errors
    assert errors.startswith("The node ")
    assert starts(tmp_path) == 0


def test_ctrl_c_ends_the_tasks_on_the_nodes(tmp_path, cluster):
    node(cluster)
    task = waiting_task(tmp_path)
    driver = start(tmp_path, [task], "out", address=cluster.address)
    await_that(lambda: starts(tmp_path) == 1)

    driver.send_signal(signal.SIGINT)
    _, errors = driver.communicate(timeout=PATIENCE)
    await_that(lambda: not processes_naming(str(tmp_path)))
    (tmp_path / "go").touch()
    resumed = start(tmp_path, [task], "out", "--resume", address=cluster.address)
    output, _ = resumed.communicate(timeout=PATIENCE)

    assert driver.returncode == 130
    assert "--resume" in errors
    assert "Traceback" not in errors
    assert "1 of 1 tasks were run, 0 failed" in output


def test_a_killed_driver_leaves_no_process_and_its_tasks_are_run_by_the_next(tmp_path, cluster):
    node(cluster)
    task = waiting_task(tmp_path)
    driver = start(tmp_path, [task], "out", address=cluster.address)
    await_that(lambda: starts(tmp_path) == 1)

    driver.kill()
    driver.communicate()
    await_that(lambda: not processes_naming(str(tmp_path)))
    (tmp_path / "go").touch()
    resumed = start(tmp_path, [task], "out", "--resume", address=cluster.address)
    output, errors = resumed.communicate(timeout=PATIENCE)

    assert resumed.returncode == 0, errors
    assert "1 of 1 tasks were run, 0 failed" in output
    assert [(each["id"], each["attempts"]) for each in results(tmp_path / "out")] == [("t", 1)]
    await_that(lambda: not processes_naming(str(tmp_path)))


def test_every_task_is_run_once_on_a_cluster_although_the_driver_is_killed():
    bench = Path(__file__).parents[4] / "bench" / "scale.py"
    count = os.environ.get("PI_TEST_RAY_TASKS", "20")
    command = [sys.executable, bench, count, "--engine", "ray", "--kills", "2"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"^\d+ results ", done.stdout, re.MULTILINE)) == 2


async def test_the_nodes_share_the_budget(tmp_path, cluster, model_that_costs):
    model_that_costs.answers(*[anthropic.message(anthropic.text("Hello"), output_tokens=1)] * 10)
    for _ in range(2):
        node(cluster)
    tasks = [{"id": f"t{number}", "prompt": "Hello", "model": "fake/m"} for number in range(6)]

    async def run(*options):
        driver = start(tmp_path, tasks, "out", *options, address=cluster.address)
        return *await asyncio.to_thread(driver.communicate, timeout=PATIENCE), driver.returncode

    _, errors, code = await run("--max-cost", "2.5", "--concurrency", "2")
    done = len(results(tmp_path / "out"))
    output, _, resumed = await run("--max-cost", "9", "--resume")

    assert code == 4, errors
    assert "--resume with a larger --max-cost" in errors
    assert 3 <= done <= 4  # the other node may have asked before the third dollar was spent
    assert resumed == 0
    assert "6 of 6 tasks were run, 0 failed; 6.0000 dollars." in output


def test_a_provider_that_asked_one_node_to_wait_is_asked_later_by_all(tmp_path, cluster, monkeypatch):
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = [node(cluster).node_id for _ in range(2)]
    cluster.wait_for_nodes()
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    setup = Setup(out=tmp_path, scratch=tmp_path)

    def tell(limits):
        asyncio.run(limits.delayed("a", 2.0))

    def ask(limits, provider):
        began = time.monotonic()
        asyncio.run(limits.wait(provider))
        return time.monotonic() - began

    with ray_engine(setup, Ledger(), at_once=2, cpus=1) as (_, limits):
        one, another = (NodeAffinitySchedulingStrategy(each, soft=False) for each in nodes)
        asked = ray.remote(ask).options(scheduling_strategy=another)
        other = ray.get(asked.remote(limits, "b"))
        ray.get(ray.remote(tell).options(scheduling_strategy=one).remote(limits))
        same = ray.get(asked.remote(limits, "a"))

    assert other < same


def test_a_cluster_that_is_not_there_is_named(tmp_path):
    driver = start(tmp_path, [{"id": "t", "prompt": "Hi"}], "out", address="127.0.0.1:1")
    _, errors = driver.communicate(timeout=PATIENCE)

    assert driver.returncode == 2
    assert "127.0.0.1:1" in errors
    assert "Traceback" not in errors
