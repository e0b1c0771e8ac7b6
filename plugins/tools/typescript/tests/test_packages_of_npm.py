"""Packages of npm with extensions, where they are installed (tools/typescript_examples.py --install)."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (ROOT / ".typescript-packages" / "agent" / "settings.json").is_file(), reason="they are not installed"
    ),
]


def test_ten_packages_do_here_what_they_are_for(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    tool = importlib.import_module("typescript_packages")

    results = tool.use(tool.PACKAGES)

    assert [(each.package.name, each.seen) for each in results if not each.worked] == []
    assert len(results) == 10
