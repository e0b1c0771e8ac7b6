"""``FanOutUI``: one user interface over several front ends."""

from __future__ import annotations

import asyncio

import pytest

from pi_core import FanOutUI
from pi_hookspecs import AbortController, FormField, UserInterface
from pi_testing import FakeUI


@pytest.fixture
def reports():
    return []


@pytest.fixture
def fan(reports):
    return FanOutUI(reports.append)


@pytest.fixture
def clients(fan):
    """Two clients whose dialogs stay open."""
    both = [FakeUI().never_answers(), FakeUI().never_answers()]
    for each in both:
        fan.add(each)
    return both


def test_it_is_a_user_interface(fan):
    assert isinstance(fan, UserInterface)


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda ui: ui.select("Which?", ["a", "b"]), "b"),
        (lambda ui: ui.confirm("Sure?"), True),
        (lambda ui: ui.confirm("Sure?"), False),
        (lambda ui: ui.input("Name?"), "Ada"),
        (lambda ui: ui.editor("Text?"), "long"),
        (lambda ui: ui.form([FormField("name")]), {"name": "Ada"}),
        (lambda ui: ui.input("Name?"), None),
    ],
)
async def test_the_first_answer_counts_and_the_others_are_dismissed(fan, clients, ask, answer):
    first, second = clients
    asking = asyncio.ensure_future(ask(fan))
    await first.opened()
    await second.opened()

    second.release(answer)

    assert await asking == answer
    await asyncio.sleep(0)
    assert first.open_dialogs == second.open_dialogs == 0


async def test_a_client_that_comes_later_gets_the_open_dialog(fan, clients):
    asking = asyncio.ensure_future(fan.confirm("Sure?"))
    await clients[0].opened()

    fan.add(FakeUI().answers(True))

    assert await asking


async def test_a_client_that_leaves_answers_nothing(fan, clients):
    late = FakeUI().never_answers()
    leave = fan.add(late)
    asking = asyncio.ensure_future(fan.confirm("Sure?"))
    await late.opened()
    leave()
    await asyncio.sleep(0)
    assert not asking.done()

    clients[0].release(True)

    assert await asking


async def test_when_the_last_client_leaves_the_dialog_is_dismissed(fan):
    client = FakeUI().never_answers()
    leave = fan.add(client)
    asking = asyncio.ensure_future(fan.select("Which?", ["a"]))
    await client.opened()
    leave()

    assert await asking is None


async def test_without_a_client_dialogs_are_dismissed(fan):
    assert await fan.confirm("Sure?") is False
    assert await fan.form([FormField("name")]) is None


async def test_an_abort_dismisses_the_dialog_everywhere(fan, clients):
    abort = AbortController()
    asking = asyncio.ensure_future(fan.input("Name?", signal=abort.signal))
    await clients[1].opened()
    abort.abort()

    assert await asking is None
    await asyncio.sleep(0)
    assert clients[0].open_dialogs == clients[1].open_dialogs == 0
    assert await fan.input("Name?", signal=abort.signal) is None


async def test_a_client_that_fails_is_reported_and_the_others_are_asked(fan, clients, reports):
    class Broken(FakeUI):
        async def confirm(self, *_, **__):
            raise OSError("gone")

        def notify(self, *_):
            raise OSError("gone")

    fan.add(Broken())
    asking = asyncio.ensure_future(fan.confirm("Sure?"))
    await clients[0].opened()
    fan.notify("hello")
    clients[0].release(True)

    assert await asking
    assert reports == ["A client of the session failed: OSError: gone"] * 2
    assert [each.notices[0].message for each in clients] == ["hello", "hello"]


async def test_cancelling_the_question_closes_the_dialogs(fan, clients):
    asking = asyncio.ensure_future(fan.confirm("Sure?"))
    await clients[0].opened()
    asking.cancel()
    await asyncio.wait([asking])
    await asyncio.sleep(0)

    assert clients[0].open_dialogs == clients[1].open_dialogs == 0


def test_a_client_that_comes_later_shows_what_the_others_show(fan):
    fan.set_status("tests", "3 of 5")
    fan.set_status("gone", "x")
    fan.set_status("gone")
    fan.set_widget("tasks", ["one"], placement="belowEditor")
    fan.set_title("pi: tides")
    fan.notify("earlier")
    client = FakeUI()

    fan.add(client)

    assert (client.statuses, client.widgets, client.title) == ({"tests": "3 of 5"}, {"tasks": ("one",)}, "pi: tides")
    assert client.placements == {"tasks": "belowEditor"}
    assert client.notices == []


def test_a_page_is_opened_once(fan):
    clients = [FakeUI(), FakeUI()]
    for each in clients:
        fan.add(each)

    assert fan.open_url("https://harbours.example")
    assert [each.opened_urls for each in clients] == [["https://harbours.example"], []]


class Plain:
    """A client whose methods are plain functions that fail; it cannot be hashed."""

    __hash__ = None

    def confirm(self, title, message="", **how):
        raise OSError("gone")

    def open_url(self, url):
        raise OSError("gone")


async def test_a_client_that_fails_before_there_is_anything_to_await_affects_no_other(fan, reports):
    fan.add(Plain())
    fan.add(FakeUI().answers(True))

    assert await fan.confirm("Sure?") is True
    assert fan.open_url("https://example.com/") is True
    assert reports == ["A client of the session failed: OSError: gone"] * 2
