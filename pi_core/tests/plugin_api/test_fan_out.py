"""``FanOutUI``: one user interface over several front ends."""

from __future__ import annotations

import asyncio

import pytest

from pi_core import FanOutUI
from pi_hookspecs import AbortController, Approval, FormField, UserInterface, mark_unanswered, unanswered_reason
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


async def test_when_the_last_client_leaves_the_dialog_ends_unanswered(fan):
    client = FakeUI().never_answers()
    leave = fan.add(client)
    asking = asyncio.ensure_future(fan.select("Which?", ["a"]))
    await client.opened()
    leave()

    assert await asking is None


async def test_without_a_client_dialogs_end_and_say_that_nobody_was_there(fan):
    assert await fan.confirm("Sure?") is False
    assert unanswered_reason() == "nobody was there to answer"
    mark_unanswered(None)
    assert await fan.form([FormField("name")]) is None
    assert unanswered_reason() == "nobody was there to answer"


DIALOGS = [
    (lambda ui, **how: ui.select("Which?", ["a", "b"], **how), "b"),
    (lambda ui, **how: ui.confirm("Sure?", **how), True),
    (lambda ui, **how: ui.input("Name?", **how), "Ada"),
    (lambda ui, **how: ui.form([FormField("name")], **how), {"name": "Ada"}),
    (lambda ui, **how: ui.approve(Approval("Run it?"), **how), "once"),
]


@pytest.mark.parametrize(("ask", "answer"), DIALOGS)
async def test_a_dialog_waits_for_the_next_client_after_the_last_has_left(reports, ask, answer):
    fan = FanOutUI(reports.append, wait=3600)
    gone = FakeUI().never_answers()
    leave = fan.add(gone)
    asking = asyncio.ensure_future(ask(fan))
    await gone.opened()
    leave()
    await asyncio.sleep(0)
    assert gone.open_dialogs == 0
    assert not asking.done()

    fan.add(FakeUI().answers(answer))

    assert await asking == answer
    assert reports == []


@pytest.mark.parametrize(("ask", "answer"), DIALOGS)
@pytest.mark.parametrize(
    ("wait", "how", "reason"),
    [
        (0.01, {}, "nobody was there to answer within 0 seconds"),
        (3600, {"timeout": 0.01}, "nobody answered within 0 seconds"),
    ],
)
async def test_a_dialog_that_no_client_answers_in_time_says_so(ask, answer, wait, how, reason):
    del answer
    fan = FanOutUI(wait=wait)

    assert not await ask(fan, **how)

    assert unanswered_reason() == reason


async def test_a_client_without_a_user_leaves_the_dialog_to_the_others():
    class Program(FakeUI):
        async def confirm(self, *_, **__):
            mark_unanswered("the program has no user")
            return False

    fan = FanOutUI(wait=3600)
    leave = fan.add(Program())
    asking = asyncio.ensure_future(fan.confirm("Sure?"))
    await asyncio.sleep(0.01)
    leave()
    assert not asking.done()

    fan.add(FakeUI().answers(True))

    assert await asking is True


async def test_a_refusal_by_a_person_is_an_answer(fan):
    await fan.confirm("Is somebody there?")
    fan.add(FakeUI().answers(False))

    assert await fan.confirm("Sure?") is False

    assert unanswered_reason() is None


async def test_the_end_of_the_session_ends_dialogs_unanswered():
    fan = FanOutUI(wait=3600)
    asking = asyncio.create_task(answered(fan.confirm("Sure?")))
    await asyncio.sleep(0)

    fan.end_dialogs("the session was ended")

    assert await asking == (False, "the session was ended")


async def answered(asking):
    """Return the answer, and why there was none."""
    return await asking, unanswered_reason()


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
