"""``check_wheels`` finds what a wheel needs and does not declare, though its environments are used again."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from check_wheels import CheckFailed, Environment, check  # noqa: E402 - a script's folder, not a package

pytestmark = pytest.mark.slow  # each installs


def wheel(folder, name, source, requires=()):
    needs = "".join(f"Requires-Dist: {each}\n" for each in requires)
    path = folder / f"{name}-1.0-py3-none-any.whl"
    texts = {
        f"{name}/__init__.py": source,
        f"{name}/py.typed": "",
        f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needs}",
        f"{name}-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{name}-1.0.dist-info/RECORD"
    with zipfile.ZipFile(path, "w") as archive:
        for each, text in texts.items():
            archive.writestr(each, text)
        archive.writestr(record, "".join(f"{each},,\n" for each in (*texts, record)))
    return path


@pytest.mark.parametrize("late", [False, True], ids=["at import", "in a function"])
def test_a_need_of_the_wheel_before_is_gone_for_the_next(tmp_path, monkeypatch, late):
    monkeypatch.setenv("UV_NO_INDEX", "1")
    tide = wheel(tmp_path, "tide", "high = 1\n")
    honest = wheel(tmp_path, "honest", "import tide\n", ["tide"])
    silent = wheel(tmp_path, "silent", "def turn():\n    import tide\n" if late else "import tide\n")
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("".join(f"{each.name.partition('-')[0]} @ {each.as_uri()}\n" for each in (tide, honest)))
    environment = Environment(tmp_path / "environment", constraints)

    assert check(honest, environment) == "honest: 1 modules, 0 entry points"
    with pytest.raises(CheckFailed, match="imports 'tide', which no declared" if late else "No module named 'tide'"):
        check(silent, environment)
