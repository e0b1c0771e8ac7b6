"""``--resume``: the sessions of a folder are shown, and the conversation goes on in the one that is chosen."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from pi_cli.resume import choose_among
from pi_hookspecs import SessionInfo

pytestmark = pytest.mark.slow  # each starts programs that take seconds

DUMB = 'TERM=dumb exec "$@"'


@pytest.fixture
def stored(fake):
    """Two sessions of this folder and one of another."""
    for name in ("zebras", "yaks"):
        assert fake.run("-p", "--model", "fake/echo", "-n", f"about {name}", f"I like {name}").returncode == 0
    here, fake.cwd = fake.cwd, fake.cwd.parent / "elsewhere"
    fake.cwd.mkdir()
    assert fake.run("-p", "--model", "fake/echo", "of another folder").returncode == 0
    fake.cwd = here
    return fake


def user_texts(pi, name):
    """Return what the user said in the session of a name."""
    for file in (pi.agent_dir / "sessions").rglob("*.jsonl"):
        entries = [json.loads(line) for line in file.read_text().splitlines()]
        if any(entry.get("name") == name for entry in entries):
            messages = [entry["message"] for entry in entries if entry["type"] == "message"]
            return [each["content"][0]["text"] for each in messages if each["role"] == "user"]
    return None


@pytest.mark.parametrize("option", ["-r", "--resume"])
def test_the_conversation_goes_on_in_the_chosen_session(stored, at_terminal, option):
    terminal = at_terminal(stored, option, script=DUMB)
    output = terminal.until("Number or name: ")
    terminal.type("about z\n")
    terminal.until("\nI like zebras\r\n> ")  # the tail of the conversation, and the line that waits
    terminal.type("and giraffes\n")
    terminal.until("\nand giraffes\r\n> ")
    terminal.type("/quit\n")
    terminal.end()

    assert "about yaks (2 messages, " in output
    assert "another folder" not in output
    assert user_texts(stored, "about zebras") == ["I like zebras", "and giraffes"]
    assert user_texts(stored, "about yaks") == ["I like yaks"]


def test_a_prompt_is_answered_in_the_chosen_session(stored, at_terminal):
    terminal = at_terminal(stored, "-r", "-p", "and giraffes", script='TERM=dumb exec "$@" >out.txt')
    terminal.until("Number or name: ")
    terminal.type("1\n")
    _, code = terminal.end()

    assert (code, (stored.cwd / "out.txt").read_text()) == (0, "and giraffes\n")
    assert user_texts(stored, "about yaks") == ["I like yaks", "and giraffes"]


class Chooser:
    """Answers one dialog after another, and keeps what was shown."""

    def __init__(self, *answers):
        self.answers = [*answers]
        self.pages = []

    async def select(self, title, options):
        self.pages.append(options)
        return self.answers.pop(0)


async def test_sessions_of_agents_are_shown_under_the_one_that_they_worked_for():
    now = datetime.now(UTC)

    def stored(name, parent=None):
        return SessionInfo(
            path=f"/s/{name}", id=name, cwd="/", name=name, modified=now, created=now, message_count=2,
            first_message=name, parent_session_path=parent,
        )  # fmt: skip

    chooser = Chooser(None)
    await choose_among(
        chooser, [stored("scout", "/s/lead"), stored("other"), stored("lead"), stored("deep", "/s/scout")]
    )

    assert [label.partition(" (")[0] for label in chooser.pages[0]] == ["other", "lead", "└─ scout", "   └─ deep"]


async def test_many_sessions_are_shown_a_page_at_a_time():
    now = datetime.now(UTC)
    sessions = [
        SessionInfo(
            path=f"{n}.jsonl", id=str(n), cwd="/", created=now, modified=now, message_count=1, first_message=f"said {n}"
        )
        for n in range(40)
    ]
    older = "older ones"

    seen = Chooser(older, older, None)

    assert await choose_among(seen, sessions) is None
    assert [len(page) for page in seen.pages] == [16, 16, 10]
    assert [page[-1] == older for page in seen.pages] == [True, True, False]
    label = seen.pages[1][0]
    assert await choose_among(Chooser(older, label), sessions) is sessions[15]


def test_nothing_happens_when_no_session_is_chosen(stored, at_terminal):
    terminal = at_terminal(stored, "--resume", "-p", "and giraffes", script=DUMB)
    terminal.until("Number or name: ")
    terminal.type("\n")
    output, code = terminal.end()

    assert code == 0
    assert "\nand giraffes" not in output


def test_there_must_be_something_to_choose_from(fake, at_terminal):
    output, code = at_terminal(fake, "--resume", script=DUMB).end()

    assert code == 1
    assert "Error: No session is stored for" in output


def test_without_a_terminal_the_message_says_what_to_use_instead(stored):
    done = stored.run("--resume", "-p", "hi")

    assert (done.returncode, done.stdout) == (1, "")
    assert "--resume needs a terminal to ask which session to continue. Use --continue for the last one" in done.stderr
