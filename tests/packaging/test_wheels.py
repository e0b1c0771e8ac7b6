"""What a wheel of each distribution holds besides its code: licences, types, and what an index page shows."""

from __future__ import annotations

import zipfile
from email import message_from_string
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hatchling.builders.wheel import WheelBuilder

from pi_testing import for_each

if TYPE_CHECKING:
    from email.message import Message

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheels")]  # one worker builds them

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [
    ROOT,
    *sorted(each.parent for pattern in ("*/", "plugins/*/*/") for each in ROOT.glob(f"{pattern}pyproject.toml")),
]
LICENCES = {"models": {"LICENSE", "LICENSE-litellm", "LICENSE-models.dev", "LICENSE-pi-ai"}}


@cache
def wheel_of(folder: Path) -> dict[str, str]:
    """Return the texts in a wheel, by the part of their path behind the version."""
    with TemporaryDirectory() as target:
        (built,) = WheelBuilder(str(folder)).build(directory=target)
        with zipfile.ZipFile(built) as archive:
            texts = {name: archive.read(name).decode("utf-8", "replace") for name in archive.namelist()}
    return {name.partition(".dist-info/")[2] or name: text for name, text in texts.items()}


def metadata_of(folder: Path) -> Message:
    return message_from_string(wheel_of(folder)["METADATA"])


@for_each("folder", FOLDERS)
def test_it_has_its_licences(folder: Path) -> None:
    wheel = wheel_of(folder)
    held = {name.removeprefix("licenses/"): text for name, text in wheel.items() if name.startswith("licenses/")}

    assert set(held) == LICENCES.get(folder.name, {"LICENSE"})
    assert held["LICENSE"] == (ROOT / "LICENSE").read_text(encoding="utf-8")


@for_each("folder", FOLDERS)
def test_it_says_that_it_is_typed_where_it_is(folder: Path) -> None:
    wheel = wheel_of(folder)
    packages = {name.partition("/")[0] for name in wheel if name.endswith(".py")}
    typed = {name.removesuffix("/py.typed") for name in wheel if name.endswith("/py.typed")}

    assert {name for name in typed if "/" not in name} == packages  # deeper ones are data, such as examples
    assert ("Typing :: Typed" in metadata_of(folder).get_all("Classifier", [])) == bool(packages)


@for_each("folder", FOLDERS)
def test_no_version_of_python_to_come_is_shut_out(folder: Path) -> None:
    assert metadata_of(folder)["Requires-Python"] == ">=3.11"


@for_each("folder", FOLDERS)
def test_an_index_can_sort_it(folder: Path) -> None:
    metadata = metadata_of(folder)
    classifiers = metadata.get_all("Classifier", [])

    assert metadata["Summary"]
    assert metadata["Keywords"]
    assert {each.partition(" :: ")[0] for each in classifiers} >= {
        "Development Status",
        "Programming Language",
        "Topic",
    }
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13, 14)} <= set(classifiers)
