"""What services and stores of plugins return is checked where it enters, and their plugin is named."""

from __future__ import annotations

import pytest

from pi_core.session.checked_store import CheckedStore, StoreFailed
from pi_hookspecs import Compaction, PiError, RetryDecision, hookimpl
from pi_testing import error, text


class Services:
    """A plugin with one service."""

    def __init__(self, service):
        self.service = service

    @hookimpl
    def register_services(self):
        return [self.service]


class Retrier:
    def __init__(self, answer):
        self.answer = answer

    def decide(self, message, attempt, ctx):
        return self.answer


class AsyncRetrier:
    async def decide(self, message, attempt, ctx):
        return None


class Compactor:
    def __init__(self, answer):
        self.answer = answer

    async def compact(self, request, ctx):
        return self.answer


WRONG_DECISIONS = {
    "it returned 'later', which is not of type RetryDecision or None": Retrier("later"),
    "it is async, and must be a plain function that returns RetryDecision or None": AsyncRetrier(),
    "it returned delay_ms=-5, which is not a whole number": Retrier(
        RetryDecision(attempt=1, max_attempts=2, delay_ms=-5)
    ),
    "it returned attempt=0, although this is attempt 1": Retrier(RetryDecision(attempt=0, max_attempts=1, delay_ms=0)),
    "it returned model=7, which is not the name of a model": Retrier(
        RetryDecision(attempt=1, max_attempts=1, delay_ms=0, model=7)
    ),
}


@pytest.mark.parametrize("expected", WRONG_DECISIONS)
async def test_a_wrong_decision_on_a_retry_is_no_retry_and_names_its_plugin(session_of, script, recorder, expected):
    session = session_of(Services(WRONG_DECISIONS[expected]))
    script.turn(error("overloaded"))
    answer = await session.prompt("go")
    script.turn(text("fine"))
    following = await session.prompt("again")

    (failure,) = recorder.of("extension_error")
    assert failure.extension_path == "plugin-0"
    assert failure.event == "Retrier.decide"
    assert expected in failure.error
    assert answer.stop_reason == "error"
    assert following.text == "fine"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("a summary", "it returned 'a summary', which is not of type Compaction or None"),
        ({"summary": "a"}, "it returned {'summary': 'a'}, which is not of type Compaction or None"),
        (Compaction(summary=None, first_kept_entry_id="x", tokens_before=1), "with summary=None, which is not a text"),
    ],
)
async def test_a_wrong_compaction_names_its_plugin_and_changes_nothing(session_of, script, answer, expected):
    session = session_of(Services(Compactor(answer)))
    script.turn(text("one"))
    await session.prompt("go")
    before = [each.id for each in session.session_manager.get_branch()]

    with pytest.raises(PiError, match=r"Plugin 'plugin-0' failed to compact: ") as raised:
        await session.compact()

    assert expected in str(raised.value)
    assert [each.id for each in session.session_manager.get_branch()] == before


class Store:
    name = "folders"

    def __init__(self, answer):
        self.answer = answer

    def create(self, header, reference=None):
        return self.answer

    def open(self, reference):
        return self.answer

    def list(self, cwd=None):
        return self.answer

    def latest(self, cwd):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("method", "answer", "expected"),
    [
        ("create", None, "in create: TypeError: it returned None, which is not a StoredSession: it has no 'header'"),
        ("open", 7, "in open: TypeError: it returned 7, which is not a StoredSession"),
        ("list", None, "in list: TypeError: it returned None, which is not of type list or tuple"),
        ("list", ["a"], "in list: TypeError: it returned 'a', which is not of type SessionInfo"),
        ("latest", 7, "in latest: TypeError: it returned 7, which is not of type str or None"),
        ("latest", ValueError("no folder"), f"in latest: ValueError: no folder (in {__file__}, line "),
    ],
)
def test_a_store_that_returns_something_else_is_named_with_its_plugin(method, answer, expected):
    store = CheckedStore(Store(answer), "mine")

    with pytest.raises(StoreFailed, match=r"The session store 'folders' of plugin 'mine' failed ") as raised:
        getattr(store, method)("x")

    assert expected in str(raised.value)


def test_what_a_store_says_to_the_user_is_not_changed():
    store = CheckedStore(Store(PiError("no such session")), "mine")

    with pytest.raises(PiError, match=r"^no such session$"):
        store.latest("x")
