"""The faults that `bench/mutants.py --faults` plants fit the code: one that does not stops the measurement."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pi_testing import for_each

ROOT = Path(__file__).parents[2]
FAULTS = tomllib.loads((ROOT / "bench" / "faults.toml").read_text(encoding="utf-8"))["fault"]


@for_each("fault", FAULTS)
def test_a_fault_replaces_text_that_occurs_once_and_names_tests_that_exist(fault):
    assert (ROOT / fault["file"]).read_text(encoding="utf-8").count(fault["old"]) == 1
    assert [path for path in fault["tests"] if not (ROOT / path).exists()] == []
    only_slow = all("\npytestmark = pytest.mark.slow" in _text(ROOT / path) for path in fault["tests"])
    assert not only_slow or fault.get("slow"), "its tests are not selected without slow = true"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
