"""``ctx.ui.approve``: the same question in front ends that draw it, and in those that know selections only."""

from __future__ import annotations

import pytest

from pi_core import FanOutUI
from pi_core.plugin_api.approvals import (
    answer_of,
    approval_from_wire,
    approval_request,
    approval_to_wire,
    ask_approval,
    label_of,
)
from pi_hookspecs import Approval, ApprovalChoice, approval_choices
from pi_testing import FakeUI, for_each

DEPLOY = Approval(
    "Deploy?",
    what="staging",
    why="It cannot be undone.",
    choices=approval_choices(session="until pi ends", always="staging, in targets.json"),
)
YES_OR_NO = Approval("Deploy?", what="staging")
TRUST = Approval(
    "Use it?",
    choices=[ApprovalChoice("yes", "Use it"), ApprovalChoice("never", "Never", allows=False, lasting=True)],
)


class Selecting:
    """A front end that knows approvals by no name; answers with the option that begins with a text."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    async def select(self, title, options, **how):
        self.asked.append((title, tuple(options)))
        return next((each for each in options if each.startswith(self.answer)), None)

    async def confirm(self, title, message="", **how):
        self.asked.append((title, message))
        return self.answer


@for_each(
    ("approval", "chosen", "answer"),
    [
        (DEPLOY, "Allow once", "once"),
        (DEPLOY, "Always", "always"),
        (DEPLOY, "Refuse", None),
        (DEPLOY, "Something else", None),
        (TRUST, "Never", "never"),
        (YES_OR_NO, True, "once"),
        (YES_OR_NO, False, None),
    ],
)
async def test_a_front_end_without_approvals_asks_with_what_it_has(approval, chosen, answer):
    assert await ask_approval(Selecting(chosen), approval) == answer


async def test_such_a_question_has_the_subject_the_reason_and_what_each_answer_means():
    ui = Selecting("Refuse")
    await ask_approval(ui, DEPLOY)

    [(title, options)] = ui.asked
    assert title == "Deploy?\n\nstaging\n\nIt cannot be undone."
    assert options == (
        "Allow once",
        "Allow in this session: until pi ends",
        "Always allow: staging, in targets.json",
        "Refuse",
    )


async def test_every_client_of_a_session_is_asked_and_one_answer_counts():
    fan = FanOutUI()
    fan.add(FakeUI().never_answers())
    fan.add(FakeUI().answers("session"))

    assert await fan.approve(DEPLOY) == "session"


def test_a_client_in_another_process_draws_the_same_and_answers_with_a_label():
    for approval in (DEPLOY, YES_OR_NO, TRUST):
        received = approval_from_wire(approval_to_wire(approval))
        assert received is not None
        assert (received.title, received.what, received.why) == (approval.title, approval.what, approval.why)
        for choice in approval.choices:
            expected = choice.answer if choice.allows or choice.lasting else None
            assert answer_of(approval, label_of(received, choice.answer)) == expected


@for_each("data", [None, 5, {}, {"title": "x", "choices": [{}]}, {"title": "x", "choices": []}, {"choices": "ab"}])
def test_what_is_no_approval_is_not_drawn_as_one(data):
    assert approval_from_wire(data) is None


def test_yes_or_no_is_a_confirmation_for_clients_that_know_no_more():
    assert approval_request(YES_OR_NO, None, None).kind == "confirm"
    assert approval_request(DEPLOY, None, None).kind == "select"


def test_an_approval_has_a_way_to_allow_and_a_way_to_refuse():
    with pytest.raises(ValueError, match="one that refuses"):
        Approval("Deploy?", choices=[ApprovalChoice("once", "Allow")])
    with pytest.raises(ValueError, match="same answer or label"):
        Approval("Deploy?", choices=[*approval_choices(), ApprovalChoice("once", "Allow it")])


async def test_what_is_no_approval_is_refused_with_its_type(pi_session, fake_ui):
    with pytest.raises(TypeError, match="takes an Approval, not 'Deploy"):
        await pi_session.ctx.ui.approve("Deploy?")
