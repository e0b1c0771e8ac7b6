"""``predictions.jsonl`` read by the harness of SWE-bench, as far as it goes without containers."""

from __future__ import annotations

import json
import subprocess
from importlib.util import find_spec

import pytest

from pi_batch.command import run
from pi_core import PluginHost, Settings

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        find_spec("swebench") is None,
        reason="needs SWE-bench: uv run python tools/heavy_environments.py swebench --test",
    ),
]

SPLIT = "test"
TEXT = "h\u2028\u00ef"


@pytest.fixture
def predicted(tmp_path, monkeypatch):
    """Runs tasks that fail, change a repository, and change nothing; returns the predictions as the harness does."""
    from swebench.harness.utils import get_predictions_from_file

    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    monkeypatch.chdir(tmp_path)
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "notes.txt").write_text("one two\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "begin"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid", *words], cwd=repo, check=True)
    tasks = [
        {"id": "lost__lost-1", "prompt": "Count", "repo": "nowhere"},
        {
            "id": "made__made-2",
            "prompt": f"Create a file named n\u00e9w.txt with the text '{TEXT}'",
            "repo": "repo",
        },
        {"id": "read__read-3", "prompt": "Count the words in notes.txt", "repo": "repo"},
    ]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(each) + "\n" for each in tasks))
    (tmp_path / "dataset.jsonl").write_text("".join(json.dumps({"instance_id": each["id"]}) + "\n" for each in tasks))
    host = PluginHost(Settings.load(tmp_path), installed=False)
    assert run(["tasks.jsonl", "--out", "out", "--model", "offline/rules"], host) == 1

    found = get_predictions_from_file("out/predictions.jsonl", "dataset.jsonl", SPLIT)
    return {each["instance_id"]: each for each in found}


def test_the_harness_runs_the_tasks_that_have_a_patch(predicted):
    from swebench.harness.run_evaluation import get_dataset_from_preds

    assert [*predicted] == ["lost__lost-1", "made__made-2", "read__read-3"]
    assert {frozenset(each) for each in predicted.values()} == {
        frozenset({"instance_id", "model_name_or_path", "model_patch"})
    }
    chosen = get_dataset_from_preds("dataset.jsonl", SPLIT, [], predicted, "run", rewrite_reports=False)
    assert [each["instance_id"] for each in chosen] == ["made__made-2"]


def test_its_command_applies_the_patch(predicted, tmp_path):
    from swebench.harness.run_evaluation import GIT_APPLY_CMDS

    patch = tmp_path / "patch.diff"
    patch.write_text(predicted["made__made-2"]["model_patch"])
    subprocess.run([*GIT_APPLY_CMDS[0].split(), str(patch)], cwd=tmp_path / "repo", check=True)

    assert TEXT in (tmp_path / "repo" / "n\u00e9w.txt").read_text(encoding="utf-8")


def test_its_report_counts_the_predictions_by_their_model(predicted, tmp_path, capsys):
    from swebench.harness.reporting import make_run_report

    dataset = [{"instance_id": each} for each in predicted]
    file = make_run_report(predicted, dataset, "run", report_dir=str(tmp_path / "reports"))
    report = json.loads((tmp_path / "reports" / file).read_text())

    assert file.name.removesuffix(".run.json") == "pi"  # of the first one, which no model answered
    assert report["submitted_instances"] == 3
    assert sorted(report["empty_patch_ids"]) == ["lost__lost-1", "read__read-3"]
