"""What a wheel of each distribution holds besides its code: licences, types, and what an index page shows."""

from __future__ import annotations

import zipfile
from email import message_from_string
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hatchling.builders.wheel import WheelBuilder

if TYPE_CHECKING:
    from email.message import Message

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [
    ROOT,
    *sorted(each.parent for pattern in ("*/", "plugins/*/*/") for each in ROOT.glob(f"{pattern}pyproject.toml")),
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


@pytest.fixture
def metadata(wheel: dict[str, str]) -> Message:
    return message_from_string(wheel["METADATA"])


def test_it_has_its_licences(wheel: dict[str, str]) -> None:
    held = {name.removeprefix("licenses/"): text for name, text in wheel.items() if name.startswith("licenses/")}

    assert set(held) == LICENCES.get(wheel[""], {"LICENSE"})
    assert held["LICENSE"] == (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_it_says_that_it_is_typed_where_it_is(wheel: dict[str, str], metadata: Message) -> None:
    packages = {name.partition("/")[0] for name in wheel if name.endswith(".py")}
    typed = {name.removesuffix("/py.typed") for name in wheel if name.endswith("/py.typed")}

    assert typed == packages
    assert ("Typing :: Typed" in metadata.get_all("Classifier", [])) == bool(packages)


def test_no_version_of_python_to_come_is_shut_out(metadata: Message) -> None:
    assert metadata["Requires-Python"] == ">=3.11"


def test_an_index_can_sort_it(metadata: Message) -> None:
    classifiers = metadata.get_all("Classifier", [])

    assert metadata["Summary"]
    assert metadata["Keywords"]
    assert {each.partition(" :: ")[0] for each in classifiers} >= {
        "Development Status",
        "Programming Language",
        "Topic",
    }
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13, 14)} <= set(classifiers)
