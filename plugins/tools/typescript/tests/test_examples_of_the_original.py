"""The original's examples, where they are installed (tools/typescript_examples.py --install): loaded, and compared."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
FOLDER = ROOT / ".typescript-examples"
PAGE = ROOT / "docs" / "reference" / "typescript-examples.md"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (FOLDER / "examples").is_dir(), reason="the examples are not installed"),
]


@pytest.fixture(scope="module")
def tool():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        yield importlib.import_module("typescript_examples")


@pytest.fixture(scope="module")
def without(tool):
    """What both programs do without an example."""
    return {ours: tool.recorded(ours=ours, file=None, known=None)[0] for ours in (False, True)}


def test_each_example_registers_here_what_it_registers_in_the_original(tool):
    files = tool.examples()
    known = tool.registered(list(files.values()))
    ours = tool.registered_here(list(files.values()))
    same = {
        name: bool(known[file].error) == ("error" in here)
        and ("error" in here or not tool.registered_apart(known[file], here))
        for (name, file), here in zip(files.items(), ours, strict=True)
    }
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if "| " in line]
    listed = {row[0]: "differs" not in row[2] for row in rows if row[0] in files}

    assert same == listed
    assert len(same) == 77


@pytest.mark.parametrize(
    "name",
    [
        "custom-footer",
        "dynamic-tools",
        "event-bus",
        "hello",
        "input-transform",
        "message-renderer",
        "permission-gate",
        "question",
        "send-user-message",
        "status-line",
        "structured-output",
        "todo",
    ],
)
def test_an_example_does_here_what_it_does_in_the_original(name, tool, without):
    file = tool.examples()[name]

    outcome = tool.compare(name, file, tool.registered([file])[file], without)

    assert outcome.notes == []
    assert outcome.is_whole
