"""``/share`` in a session with a program gh that records what it was given, and with a user who answers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pi_testing import text, tool_call

pytestmark = pytest.mark.pi(entry_points=["export-html", "redact", "tools"], stored=True)

TOKEN = "ghp_" + "k3J9" * 9
LINK = "https://gist.github.com/ann/0123abcd"

GH = f"""#!{sys.executable}
import json, os, pathlib, sys
here = pathlib.Path(__file__).parent
files = {{each: open(each).read() for each in sys.argv[1:] if os.path.isfile(each)}}
(here / "called.json").write_text(json.dumps({{"arguments": sys.argv[1:], "files": files}}))
failure = here / "failure"
if failure.exists():
    sys.exit(failure.read_text())
sys.stderr.write("- Creating gist...\\n")
print({LINK!r})
"""


@pytest.fixture
def programs(tmp_path_factory, monkeypatch) -> Path:
    """The only folder of programs; it is empty."""
    folder = tmp_path_factory.mktemp("programs")
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def gh(programs) -> Path:
    """A folder in which gh is, and where it writes what it was given."""
    file = programs / "gh"
    file.write_text(GH)
    file.chmod(0o755)
    return programs


def called(gh: Path) -> dict | None:
    import json

    file = gh / "called.json"
    return json.loads(file.read_text()) if file.exists() else None


async def talk(pi_session, script) -> None:
    """Have a conversation with a token in it."""
    Path(pi_session.cwd, "key").write_text(f"token: {TOKEN}\n")
    script.turn(tool_call("read", path="key")).turn(text("It is a token."))
    await pi_session.prompt("What is in key?")


async def test_a_gist_is_made_of_the_redacted_page_after_the_user_agreed(pi_session, script, fake_ui, gh) -> None:
    await talk(pi_session, script)
    await pi_session.set_session_name(f"About {TOKEN}")
    fake_ui.answers(True)

    await pi_session.prompt("/share")

    (dialog,) = fake_ui.asked
    assert dialog.title == "Upload this session to GitHub, as a secret gist?"
    for words in (
        "your messages (1), the answers (2)",
        "tool calls (1)",
        repr(str(pi_session.cwd)),
        "they are replaced",
        "kB",
    ):
        assert words in dialog.text
    assert "branches" not in dialog.text
    given = called(gh)
    *options, description, page = given["arguments"]
    assert options == ["gist", "create", "--public=false", "--desc"]
    assert description.startswith("pi: About ")
    assert "It is a token." in given["files"][page]
    assert TOKEN not in description + given["files"][page]
    assert not Path(page).exists()
    assert LINK in fake_ui.notices[-1].message
    assert "gh gist delete 0123abcd" in fake_ui.notices[-1].message


async def test_nothing_is_sent_when_the_user_does_not_agree(pi_session, script, fake_ui, gh) -> None:
    await talk(pi_session, script)
    fake_ui.answers(False)

    await pi_session.prompt("/share gist")

    assert called(gh) is None
    assert fake_ui.notices[-1] == ("Nothing was shared", "info")


async def test_a_viewer_of_the_environment_gets_the_gist(pi_session, script, fake_ui, gh, monkeypatch) -> None:
    monkeypatch.setenv("PI_SHARE_VIEWER_URL", "https://pages.example/session/")
    await talk(pi_session, script)
    fake_ui.answers(True)

    await pi_session.prompt("/share")

    assert "https://pages.example/session/#0123abcd" in fake_ui.notices[-1].message


async def test_a_failing_upload_is_reported_with_the_words_of_the_program(pi_session, script, fake_ui, gh) -> None:
    (gh / "failure").write_text("To get started with GitHub CLI, please run:  gh auth login")
    await talk(pi_session, script)
    fake_ui.answers(True)

    await pi_session.prompt("/share")

    message, level = fake_ui.notices[-1]
    assert level == "error"
    assert "please run:  gh auth login" in message
    assert "/share file" in message


async def test_without_the_program_the_page_becomes_a_file(pi_session, script, fake_ui, programs) -> None:
    await talk(pi_session, script)
    fake_ui.answers(True)

    await pi_session.prompt("/share")

    (page,) = Path(pi_session.cwd).glob("pi-session-*.html")
    assert "It is a token." in page.read_text()
    assert TOKEN not in page.read_text()
    assert page.name in fake_ui.notices[-1].message


@pytest.mark.pi(settings={"shareDestination": "file"})
async def test_the_setting_chooses_the_destination(pi_session, script, fake_ui, gh) -> None:
    await talk(pi_session, script)
    fake_ui.answers(False)

    await pi_session.prompt("/share")

    assert fake_ui.asked[0].title == "Write this session to a page that you can share?"
    assert not [*Path(pi_session.cwd).glob("*.html")]


@pytest.mark.pi(settings={"redact": {"enabled": False}})
async def test_the_question_says_when_nothing_is_redacted(pi_session, script, fake_ui, programs) -> None:
    await talk(pi_session, script)
    fake_ui.answers(False)

    await pi_session.prompt("/share")

    assert "nothing is replaced" in fake_ui.asked[0].text


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("/share nowhere", "no destination 'nowhere'"),
        ("/share gist", "'gh', which is not installed"),
        ("/share file", "Nothing to export"),
    ],
)
async def test_what_cannot_be_shared_is_an_error_with_the_way_out(pi_session, fake_ui, programs, command, why) -> None:
    if command == "/share file":
        fake_ui.answers(True)

    await pi_session.prompt(command)

    assert why in fake_ui.notices[-1].message
    assert fake_ui.notices[-1].level == "error"


async def test_without_a_user_nothing_is_shared(pi_session, script, fake_ui, gh) -> None:
    await talk(pi_session, script)
    pi_session.has_ui = False

    await pi_session.prompt("/share")

    assert called(gh) is None
    assert "no user to ask" in fake_ui.notices[-1].message
