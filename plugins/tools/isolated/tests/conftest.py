"""Programs as plugins: real processes of Python without ``site``, from a source that a test marks."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PRELUDE = """\
import json, os, sys, time

def send(**message):
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()

def ready(hooks={}, tools=(), commands=(), contract="1.1"):
    described = [{"name": each, "description": each, "parameters": {"type": "object"}} for each in tools]
    named = [{"name": each, "description": each} for each in commands]
    send(type="ready", contract=contract, hooks=hooks, registers={"tools": described, "commands": named})

def messages():
    for line in sys.stdin:
        yield json.loads(line)

def answer(message, value=None):
    send(type="answer", id=message["id"], answer=value)
"""


@pytest.fixture(scope="session")
def write_program() -> Callable[..., Path]:
    """Write a plugin that is a Python script into a folder: ``write_program(folder, source, **manifest)``."""
    return write


def write(folder: Path, source: str, **manifest: object) -> Path:
    """Write a plugin that is a Python script, and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plugin.py").write_text(PRELUDE + source)
    content = {"name": folder.name, "command": [sys.executable, "-S", "plugin.py"], "contract": "1.1", **manifest}
    (folder / "pi_plugin.json").write_text(json.dumps(content))
    return folder


@pytest.fixture
def pi_extensions(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The programs of ``@pytest.mark.program(source, **manifest)``; the closest mark is the first one."""
    parent = tmp_path_factory.mktemp("programs")
    return [
        write(parent / mark.kwargs.get("name", "program"), *mark.args, **mark.kwargs)
        for mark in request.node.iter_markers("program")
    ]


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", "program(source, **manifest): a plugin that is a Python script")
    config.addinivalue_line("markers", "python(source): a plugin in Python that is run by pi_isolated.child")
