"""``--export IN [OUT]`` writes a stored session and ends."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

MARKDOWN = """
from pi_hookspecs import MessageEntry, hookimpl, text_of


class Markdown:
    format = "markdown"
    suffixes = (".md",)

    def export(self, session, request):
        said = [text_of(entry.message.content) for entry in session.branch() if isinstance(entry, MessageEntry)]
        return "\\n".join(said).encode()


@hookimpl
def register_exporters():
    return [Markdown()]
"""


@pytest.fixture
def talked(fake):
    """``pi`` after a conversation, whose file is ``file``."""
    done = fake.run("-p", "--model", "fake/echo", "--session-id", "zebra-1", "hello <b>you</b>")
    assert done.returncode == 0, done.stderr
    (fake.file,) = (fake.agent_dir / "sessions").rglob("*.jsonl")
    return fake


def test_the_page_is_named_after_the_session_and_its_path_is_printed(talked):
    done = talked.run("--export", str(talked.file))

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"pi-session-{talked.file.stem}.html\n"
    page = (talked.cwd / done.stdout.strip()).read_text()
    assert "hello &lt;b&gt;you&lt;/b&gt;" in page
    assert "zebra-1" in page


def test_a_session_is_meant_by_how_its_id_begins_wherever_it_was(talked):
    other = talked.cwd / "elsewhere"
    other.mkdir()
    talked.cwd = other

    done = talked.run("--export", "zeb", "talk.html")

    assert (done.returncode, done.stdout) == (0, "talk.html\n"), done.stderr
    assert (other / "talk.html").stat().st_size > 1000


def test_a_file_of_json_lines_is_the_branch_as_a_session(talked):
    done = talked.run("--export", str(talked.file), "copy.jsonl")

    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (talked.cwd / "copy.jsonl").read_text().splitlines()]
    assert lines[0]["id"] == "zebra-1"
    roles = [line["message"]["role"] for line in lines if line["type"] == "message"]
    assert roles == ["system", "user", "assistant"]


def test_a_plugin_adds_a_format_by_its_suffix(talked):
    talked.install("export-markdown", MARKDOWN)

    done = talked.run("--export", str(talked.file), "talk.md")

    assert done.returncode == 0, done.stderr
    assert (talked.cwd / "talk.md").read_text() == "hello <b>you</b>\nhello <b>you</b>"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--export", "nobody"], "No session found matching 'nobody'", id="no-such-id"),
        pytest.param(["--export", "./gone.jsonl"], "pi sessions list shows", id="no-such-file"),
        pytest.param(["--export", "zebra", "a.html", "b.html"], "at most one file", id="two-files"),
        pytest.param(["--export", "zebra", "gone/a.html"], "Cannot export to", id="no-such-folder"),
        pytest.param(["--export", "zebra", "--continue"], "cannot be used together", id="with-continue"),
        pytest.param(["--export", " "], "requires a value", id="nothing"),
        pytest.param(
            ["--export", "zebra", "--disable", "export-html"], "pip install pluggypi-export-html", id="no-exporter"
        ),
    ],
)
def test_what_cannot_be_exported_is_an_error_in_one_line(talked, arguments, message):
    done = talked.run(*arguments)

    assert done.returncode == 1
    assert done.stdout == ""
    assert message in done.stderr.splitlines()[-1]
    assert not list(talked.cwd.iterdir())


@pytest.mark.parametrize("name", ["page.html", "copy.jsonl"])
def test_keys_of_sessions_from_before_redaction_are_not_exported(talked, name):
    key = "ghp_" + "a1B2" * 9
    talked.file.write_text(talked.file.read_text().replace("hello", key))

    done = talked.run("--export", str(talked.file), name)

    exported = (talked.cwd / name).read_text()
    assert done.returncode == 0, done.stderr
    assert key not in exported
    assert "[secret:github:" in exported
