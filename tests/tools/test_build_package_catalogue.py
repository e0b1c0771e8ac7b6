"""``build_package_catalogue`` makes the catalogue of a reviewed list, and refuses what nobody has reviewed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pi_core.settings import Settings
from pi_packages.catalogue import catalogue, find
from pi_testing import for_each

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from build_package_catalogue import CATALOGUE, LIST, build, main  # noqa: E402 - a script's folder, not a package

REVIEWED = (
    '[[package]]\nsource = "git:host.example/sea/tides@v1"\nreviewed = 2026-11-23\ndescription = "Tells the tides"\n'
)


def test_the_catalogue_in_the_wheel_is_the_one_of_the_list():
    assert build(LIST.read_text(), "list") == CATALOGUE.read_text()


def test_what_pi_search_reads_is_what_the_tool_writes(tmp_path, capsys):
    listed = tmp_path / "ours.toml"
    listed.write_text(REVIEWED + 'name = "tides"\nkeywords = ["sea", "moon"]\n')

    assert main([str(listed)]) == 0

    file = tmp_path / "ours.json"
    file.write_text(capsys.readouterr().out)
    found = find(["moon"], catalogue(Settings.in_memory({"packages.catalogues": [str(file)]}, tmp_path)))
    assert [(each["name"], each["description"]) for each in found] == [("tides", "Tells the tides")]


def test_packages_of_this_repository_are_described_by_their_projects():
    text = build('[[package]]\nsource = "pypi:pluggypi-web"\nreviewed = 2026-11-23\n', "list")

    entry = json.loads(text)["packages"][0]
    assert (entry["name"], "fetch" in entry["keywords"]) == ("web", True)
    assert "web pages" in entry["description"]


@for_each(
    ("text", "reason"),
    [
        ("package = 1 2", "is not TOML"),
        (REVIEWED + REVIEWED, "twice"),
        (REVIEWED.replace("reviewed = 2026-11-23\n", ""), "no date of its review"),
        (REVIEWED.replace("2026-11-23", '"soon"'), "no date of its review"),
        (REVIEWED.replace("Tells the tides", ""), "needs a description of one line"),
        (REVIEWED.replace("Tells the tides", "tide " * 40), "needs a description of one line"),
        (REVIEWED + "stars = 5\n", "unknown keys: stars"),
        (REVIEWED.replace("git:host.example/sea/tides@v1", "git+file:///tides"), "on this machine only"),
        (REVIEWED.replace("git:host.example/sea/tides@v1", "a b c"), "is not a source of a package"),
    ],
)
def test_a_list_that_is_not_complete_is_refused(text, reason):
    with pytest.raises(ValueError, match=reason):
        build(text, "list")


def test_a_list_that_is_not_there_is_named(tmp_path, capsys):
    assert main([str(tmp_path / "nothing.toml")]) == 1
    assert "nothing.toml" in capsys.readouterr().err
