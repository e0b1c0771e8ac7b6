"""docs/providers.md is followed to the letter: its files are written, and its provider passes the contract."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^\*\*`([^`]+)`\*\*\n\n```\w+\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
OPTIONS = ("-q", "-rs", "-p", "no:cacheprovider", "-p", "no:xdist")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with the files of the page."""
    folder = tmp_path_factory.mktemp("acme")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_its_provider_passes_the_contract_with_tools(project):
    """Takes some seconds, because the contract waits for servers that stall."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PI_", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS], cwd=project, env=kept, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout
    assert re.search(r"^\$ pytest -q\n(.+)$", PAGE, re.MULTILINE)[1] in done.stdout
    assert {*re.findall(r"does not support: (.+)", done.stdout)} == {"cached_usage", "images", "thinking"}


def test_the_table_of_events_is_what_the_case_writes():
    rows = re.findall(r"^\| `\{\"(\w+)\"", PAGE, re.MULTILINE)

    assert rows == ["text", "call", "arguments", "usage", "error", "end"]
    assert [row for row in rows if f'{{"{row}":' not in FILES["tests/test_contract.py"]] == []
    assert [row for row in rows if f'{{"{row}":' not in FILES["acme_reader.py"]] == []
