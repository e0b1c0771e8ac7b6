"""The page about evaluation names the versions of other projects' tools that the tests use."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def pinned(monkeypatch):
    """The requirements with a version that the tools install for tests."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    installer = runpy.run_path(str(ROOT / "tools" / "install_evaluation_tools.py"))
    environments = runpy.run_path(str(ROOT / "tools" / "heavy_environments.py"))["ENVIRONMENTS"]
    words = [*installer["HARBOR"], *installer["INSPECT"], *environments["swebench"][1][0]]
    sys.modules.pop("other_pythons", None)
    return dict(each.split("==") for each in words if "==" in each)


def test_the_page_names_the_versions_that_are_tested(pinned):
    page = (ROOT / "docs" / "eval.md").read_text(encoding="utf-8")

    assert dict(re.findall(r"^\| `([\w-]+)` \| (\d[\w.]*) \|", page, re.MULTILINE)) == pinned
