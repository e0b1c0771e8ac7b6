"""Extensions of tests: files that a mark writes, in JavaScript, which every Node.js runs without further packages."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def pi_extensions(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The files of ``@pytest.mark.extension(name, source)``, in the order of the marks."""
    if shutil.which("node") is None:
        pytest.skip("needs Node.js")
    folder = tmp_path_factory.mktemp("extensions")
    files = []
    for mark in reversed(list(request.node.iter_markers("extension"))):
        name, source = mark.args
        files.append(folder / name)
        files[-1].write_text(source)
    return files


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", "extension(name, source): an extension in JavaScript or TypeScript")
