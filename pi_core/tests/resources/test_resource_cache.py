"""The cache between starts: the next start reads only what changed, and survives a broken cache file."""

from __future__ import annotations

import pytest

from pi_core.resources.cache import ContentCache
from pi_core.resources.file_reader import FileReader
from pi_hookspecs import ResourceContent, ResourceFile, ResourceKind, ResourceProblem


@pytest.fixture
def files(tmp_path):
    found = []
    for name in ("a", "b"):
        path = tmp_path / f"{name}.md"
        path.write_text(name)
        found.append(ResourceFile(path=str(path), scope="user", source="auto", base_dir=str(tmp_path)))
    return found


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "agent" / "cache" / "resources" / "note.json"


def start(kept, files, mark="1", data=None):
    """Read the files as a new process would; returns the names, the problems, and what had to be read."""
    opened = []

    def read(file, text):
        opened.append(text)
        problem = ResourceProblem(path=file.path, message="odd", line=2)
        return ResourceContent(name=text, description="d", data=data or {"k": [1, None]}, problems=[problem])

    found = FileReader(ResourceKind("note", read=read), ContentCache(kept, mark)).read_all(files)
    return [each.resource for each in found], [each.problems for each in found], opened


def test_a_second_start_uses_the_cache(kept, files):
    first = start(kept, files)
    second = start(kept, files)

    assert first[:2] == second[:2]
    assert (first[2], second[2]) == (["a", "b"], [])
    assert second[0][0].data == {"k": [1, None]}
    assert [str(each) for each in second[1][0]] == [f"{files[0].path}:2: odd"]


def test_only_what_changed_is_read(kept, files, tmp_path):
    start(kept, files)
    (tmp_path / "a.md").write_text("another")

    assert start(kept, files)[2] == ["another"]


def test_another_version_of_the_plugin_reads_everything(kept, files):
    start(kept, files, mark="1")

    assert start(kept, files, mark="2")[2] == ["a", "b"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1, "mark": "1", "files": []}', '{"format": 9}'])
def test_an_invalid_cache_file_is_ignored(kept, files, content):
    kept.parent.mkdir(parents=True)
    kept.write_text(content)

    assert start(kept, files)[2] == ["a", "b"]
    assert start(kept, files)[2] == []


def test_a_file_with_an_invalid_cache_entry_is_read_again(kept, files):
    start(kept, files)
    kept.write_text(kept.read_text().replace('"d"', "7"))

    assert start(kept, files)[2] == ["a", "b"]


def test_without_a_writable_folder_files_are_read_again(kept, files):
    kept.parent.parent.parent.mkdir()
    kept.parent.parent.write_text("in the way")

    assert start(kept, files)[2] == ["a", "b"]
    assert start(kept, files)[2] == ["a", "b"]


def test_data_that_is_not_json_is_not_cached(kept, files):
    assert start(kept, files, data={"k": object()})[0][0].name == "a"
    assert not kept.exists()


def test_other_users_cannot_read_the_cache(kept, files):
    start(kept, files)

    assert kept.parent.parent.parent.stat().st_mode & 0o077 == 0
