"""The original's examples, where they are installed (tools/typescript_examples.py --install): loaded, and compared."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[4] / "tools" / "typescript_examples.py"
FOLDER = TOOL.parent.parent / ".typescript-examples"
NOT_HERE = {"project-trust": {"project_trust"}}
"""Hooks that a process cannot have, by example."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (FOLDER / "examples").is_dir(), reason="the examples are not installed"),
]


@pytest.fixture(scope="module")
def tool():
    sys.modules.pop("typescript_examples", None)
    return runpy.run_path(str(TOOL), run_name="typescript_examples")


def test_each_example_registers_here_what_it_registers_in_the_original(tool):
    files = tool["examples"]()
    known = tool["registered"](list(files.values()))
    ours = tool["registered_here"](list(files.values()))
    wrong = {}
    for (name, file), here in zip(files.items(), ours, strict=True):
        there = known[file]
        if there.error or "error" in here:
            if bool(there.error) != ("error" in here):
                wrong[name] = here.get("error") or there.error
            continue
        listed = here["registers"]
        found = (
            {each["name"] for each in listed.get("tools", ())},
            {each["name"] for each in listed.get("commands", ())},
            set(here["hooks"]) | NOT_HERE.get(name, set()),
        )
        wanted = ({each["name"] for each in there.tools}, set(there.commands), set(there.hooks))
        if found != wanted:
            wrong[name] = (wanted, found)

    assert wrong == {}
    assert len(files) == 77
