"""What a wheel of each distribution holds beside its code: its licences."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [
    ROOT,
    *sorted(each.parent for pattern in ("*/", "plugins/*/") for each in ROOT.glob(f"{pattern}pyproject.toml")),
]
LICENCES = {"models": {"LICENSE", "LICENSE-models.dev"}}


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda folder: folder.name if folder != ROOT else "pluggypi")
def wheel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The texts in a wheel, by the part of their path behind the version, with the folder's name under ``""``."""
    folder: Path = request.param
    (built,) = WheelBuilder(str(folder)).build(directory=str(tmp_path_factory.mktemp("dist")))
    with zipfile.ZipFile(built) as archive:
        texts = {name: archive.read(name).decode("utf-8", "replace") for name in archive.namelist()}
    return {"": folder.name} | {name.partition(".dist-info/")[2] or name: text for name, text in texts.items()}


def test_it_has_its_licences(wheel: dict[str, str]) -> None:
    held = {name.removeprefix("licenses/"): text for name, text in wheel.items() if name.startswith("licenses/")}

    assert set(held) == LICENCES.get(wheel[""], {"LICENSE"})
    assert held["LICENSE"] == (ROOT / "LICENSE").read_text(encoding="utf-8")
