"""``pi help`` lists the topics, and shows the pages of the documentation."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from pi_help.command import run
from pi_help.pages import folder, sections, topics
from pi_hookspecs import UnknownName, UserError

DOCS = Path(__file__).parents[4] / "docs"


def test_every_entry_of_the_index_is_listed(capsys):
    assert run([]) == 0

    listed = capsys.readouterr().out
    assert [name for name in ("sandbox", "hooks", "first-plugin") if f"\n  {name} " not in listed] == []


def test_no_line_of_the_list_is_too_wide(capsys):
    run([])

    assert max(map(len, capsys.readouterr().out.splitlines())) < 80


def test_a_page_goes_into_a_pipe_as_it_is_written(capsys):
    assert run(["sandbox"]) == 0

    assert capsys.readouterr().out == (DOCS / "sandbox.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("topic", ["rpc", "loop"])
def test_pages_of_the_reference_are_topics(topic):
    assert topics(folder())[topic].file.parent.name == "reference"


def test_a_word_that_is_no_topic_leads_to_the_pages_that_mention_it(capsys):
    assert run(["bubblewrap"]) == 1

    assert "  sandbox " in capsys.readouterr().out


def test_pages_named_for_a_word_come_first_and_cut_lines_end_with_an_ellipsis(capsys):
    assert run(["model"]) == 1

    lines = capsys.readouterr().out.splitlines()[2:]
    assert {line.split()[0] for line in lines[:2]} == {"models", "local-models"}
    cut = [line for line in lines if line.endswith("…")]
    assert cut
    assert all(line.endswith(" …") for line in cut)


def test_a_word_of_no_page_is_refused_with_the_nearest_topic():
    with pytest.raises(UnknownName, match="sandbox"):
        run(["sandboxx"])


def test_two_topics_are_refused():
    with pytest.raises(UserError, match="one topic"):
        run(["keys", "sandbox"])


def test_help_about_help_names_the_other_sources(capsys):
    assert run(["--help"]) == 0

    assert "pi --help" in capsys.readouterr().out


def test_a_folder_of_pages_is_a_topic_named_after_it():
    assert [topic.name for entries in sections(DOCS).values() for topic in entries].count("hooks") == 1


@pytest.mark.slow
def test_the_wheel_has_every_page_that_the_index_leads_to(tmp_path):
    subprocess.run(["uv", "build", "-q", "--out-dir", tmp_path, DOCS.parent / "plugins/frontends/help"], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    packaged = {name for name, topic in topics(tmp_path / "pi_help" / "pages").items() if topic.text}

    assert {"sandbox", "skills", "keys"} <= packaged
    assert {topic.name for entries in sections(DOCS).values() for topic in entries} - packaged <= {
        "CHANGELOG", "CODE_OF_CONDUCT", "CONTRIBUTING", "SECURITY", "agent", "examples", "hooks"
    }  # fmt: skip


def test_the_man_page_is_printed(capsys):
    assert run(["--man"]) == 0

    page = capsys.readouterr().out
    assert ".TH PI 1" in page
    assert '.SS "pi install"' in page
    assert "\\-\\-model" in page
    commands = {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert commands <= {'.\\"', ".TH", ".SH", ".SS", ".B", ".BR", ".br", ".nf", ".fi"}


def test_the_man_page_goes_with_no_topic():
    with pytest.raises(UserError, match="takes nothing else"):
        run(["--man", "sandbox"])
