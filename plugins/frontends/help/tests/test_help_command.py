"""``pi help`` lists the topics, and shows the pages of the documentation."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from pi_help.command import run
from pi_help.pages import folder, links, sections, text_of, topics
from pi_hookspecs import UnknownName, UserError

ROOT = Path(__file__).parents[4]
DOCS = ROOT / "docs"


def test_every_entry_of_the_index_is_listed(capsys):
    assert run([]) == 0

    listed = capsys.readouterr().out
    assert [name for name in ("sandbox", "hooks", "first-plugin") if f"\n  {name} " not in listed] == []


def test_no_line_of_the_list_is_too_wide(capsys):
    run([])

    assert max(map(len, capsys.readouterr().out.splitlines())) < 80


def test_a_page_goes_into_a_pipe_as_markdown(capsys):
    assert run(["glossary"]) == 0

    page = (DOCS / "glossary.md").read_text(encoding="utf-8").splitlines()
    shown = capsys.readouterr().out.splitlines()
    assert [line for line in page if "](" not in line and line not in shown] == []


@pytest.mark.parametrize("topic", ["rpc", "loop"])
def test_pages_of_the_reference_are_topics(topic):
    assert topics(folder())[topic].file.parent.name == "reference"


def test_a_word_that_is_no_topic_leads_to_the_pages_that_mention_it(capsys):
    assert run(["bubblewrap"]) == 1

    assert "  sandbox " in capsys.readouterr().out


def test_pages_named_for_a_word_come_first(capsys):
    assert run(["model"]) == 1

    lines = capsys.readouterr().out.splitlines()[2:]
    assert lines[0].split()[0] == "models"
    assert all("model" in line.split()[0] for line in lines[:8])


def test_cut_lines_end_with_an_ellipsis(capsys):
    assert run(["socket"]) == 1

    lines = capsys.readouterr().out.splitlines()[2:]
    cut = [line for line in lines if line.endswith("…")]
    assert cut
    assert all(line.endswith(" …") and len(line) < 80 for line in cut)


def test_a_word_of_no_page_is_refused_with_the_nearest_topic():
    with pytest.raises(UnknownName, match="sandbox"):
        run(["sandboxx"])


@pytest.mark.parametrize("arguments", [["prompt", "CACHE"], ["prompt CACHE"]])
def test_words_lead_to_the_pages_that_have_all_of_them(capsys, arguments):
    assert run(arguments) == 1

    first, *_ = capsys.readouterr().out.splitlines()[2:]
    assert first.split() == ["cache", "The", "prompt", "cache"]


def test_words_that_no_page_has_together_are_refused():
    with pytest.raises(UnknownName, match="sandbox zebrafish"):
        run(["sandbox", "zebrafish"])


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("tool_call", "docs/hooks/tool_call.md"),
        ("ctx", "docs/hooks/ctx.md"),
        ("hooks", "docs/hooks/README.md"),
        ("mcp", "docs/mcp.md"),
        ("pluggypi-mcp", "plugins/tools/mcp/README.md"),
        ("provider-kit", "plugins/kits/provider-kit/README.md"),
        ("testing", "docs/testing.md"),
        ("pluggypi-testing", "plugins/kits/testing/README.md"),
        ("examples", "examples/README.md"),
        ("keep-trees", "examples/keep-trees/README.md"),
        ("example:keep-trees", "examples/keep-trees/README.md"),
        ("commands", "docs/commands.md"),
        ("example:commands", "examples/commands/README.md"),
        ("README", "README.md"),
        ("CHANGELOG", "CHANGELOG.md"),
    ],
)
def test_every_page_is_a_topic_and_a_longer_name_tells_apart_what_is_named_alike(name, page):
    assert topics(ROOT)[name].file == ROOT / page


def test_every_hook_plugin_and_example_has_a_topic():
    files = {topic.file for topic in topics(ROOT).values()}

    pages = {*DOCS.glob("hooks/*.md"), *ROOT.glob("plugins/*/*/README.md"), *ROOT.glob("examples/*/README.md")}
    assert pages - files == set()


def test_every_link_to_a_page_names_a_topic_of_help():
    known = topics(ROOT)
    files = {topic.file for topic in known.values()}

    def is_dead(topic, target: str) -> bool:
        path = (topic.file.parent / target.partition("#")[0]).resolve()
        page = path / "README.md" if path.is_dir() else path
        return page.suffix == ".md" and page.name != "AGENTS.md" and page not in files and page.exists()

    assert {(topic.name, link) for topic in known.values() for link in links(topic) if is_dead(topic, link)} == set()


def test_links_name_topics_and_what_is_not_installed_becomes_its_text(tmp_path):
    for name in ("docs/hooks/tool_call.md", "docs/mcp.md", "docs/README.md", "CHANGELOG.md"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("# A page\n")
    (tmp_path / "docs/mcp.md").write_text(
        "A [guard\nof calls](hooks/tool_call.md#the-event), [itself](#here), [code](../src/a.py) and "
        "[more](https://example.org/).\n\n```md\n[x](hooks/tool_call.md)\n```\n"
    )
    known = topics(tmp_path)

    assert text_of(known["mcp"], known) == (
        "A guard of calls (`pi help tool_call`), [itself](#here), code and [more](https://example.org/).\n\n"
        "```md\n[x](hooks/tool_call.md)\n```\n"
    )


def test_an_example_is_shown_with_its_code(capsys):
    assert run(["example:keep-trees"]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith("# keep-trees\n")
    assert (ROOT / "examples/keep-trees/src/pi_keep_trees/__init__.py").read_text(encoding="utf-8") in shown


def test_help_about_help_names_the_other_sources(capsys):
    assert run(["--help"]) == 0

    assert "pi --help" in capsys.readouterr().out


def test_a_folder_of_pages_is_a_topic_named_after_it():
    assert [topic.name for entries in sections(ROOT).values() for topic in entries].count("hooks") == 1


@pytest.mark.slow
def test_the_wheel_has_every_topic_of_the_repository(tmp_path):
    subprocess.run(["uv", "build", "-q", "--out-dir", tmp_path, ROOT / "plugins/frontends/help"], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    packaged, ours = tmp_path / "pi_help" / "pages", topics(ROOT)
    installed = topics(packaged)

    assert set(installed) == set(ours)
    assert [name for name in ours if text_of(installed[name], installed) != text_of(ours[name], ours)] == []


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
