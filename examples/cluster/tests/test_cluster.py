"""The files for clusters start `pi batch` with options that it has, and name the version that is released."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

HERE = Path(__file__).parents[1]
FILES = sorted(file for file in HERE.iterdir() if file.is_file())
VERSION = tomllib.loads((HERE.parents[1] / "pyproject.toml").read_text())["project"]["version"]


def batches(text):
    """The command lines of `pi batch` in a file."""
    return [shlex.split(found) for found in re.findall(r"\bpi (batch .*)", text)]


def test_each_manifest_starts_a_batch_with_options_that_there_are(pi_host):
    from pi_batch.command import _command

    found = [words for file in FILES for words in batches(file.read_text())]

    assert len(found) == 2
    for words in found:
        context = _command(pi_host).make_context("batch", words[1:])
        assert context.params["engine"] == "ray"
        assert context.params["resume"]


def test_versions_are_those_of_this_release():
    named = [
        version
        for file in FILES
        for version in re.findall(r"pluggypi\[ray\]==([\w.]+)|/pi-ray:([\w.]+)", file.read_text())
    ]

    assert len(named) == 3
    assert {"".join(each) for each in named} == {VERSION}


def test_the_volumes_and_secrets_of_the_job_are_those_that_its_pods_mount():
    job = yaml.safe_load((HERE / "rayjob.yaml").read_text())["spec"]
    cluster = job["rayClusterSpec"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]

    assert yaml.safe_load(job["runtimeEnvYAML"])["env_vars"]["PI_CODING_AGENT_DIR"].startswith("/shared/")
    for group in groups:
        pod = group["template"]["spec"]
        mounts = {each["name"]: each["mountPath"] for each in pod["containers"][0]["volumeMounts"]}
        assert mounts == {"shared": "/shared"}
        assert {each["name"] for each in pod["volumes"]} == {*mounts}


@pytest.mark.parametrize("file", ["batch.slurm"])
def test_the_script_is_one_of_bash(file):
    subprocess.run(["bash", "-n", HERE / file], check=True)


def test_no_file_has_a_key():
    assert not [file.name for file in FILES if re.search(r"API_KEY\s*[:=]", file.read_text())]
