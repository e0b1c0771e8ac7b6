"""The rows around the editor: work, queue and footer."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pi_hookspecs import Activity
from pi_testing import for_each
from pi_tui.lines.around_editor import activity_rows, queue_rows
from pi_tui.lines.footer import footer_rows, window_title
from pi_tui.lines.line import join
from pi_tui.lines.look import Look
from pi_tui.lines.work import level_role, rule, work_text
from pi_tui.view import numbers
from pi_tui.view.state import Footer, Queue, Retry, Work

LOOK = Look(width=60, home="/home/me", now=10.0, spinner="⠼", hints={"cancel": "escape", "dequeue": "alt+up"})

USED = Footer(
    cwd="/home/me/tide",
    branch="main",
    name="demo",
    input=600,
    output=15,
    cache_read=240,
    cache_write=60,
    hit_rate=240 / 900,
    cost=0.0021,
    context=200,
    window=200_000,
    model="m1",
    provider="acme",
    level="medium",
)


def used(**changes) -> Footer:
    footer = Footer(**{name: getattr(USED, name) for name in Footer.__slots__ if not name.startswith("_")})
    for name, value in changes.items():
        setattr(footer, name, value)
    return footer


def test_the_footer_says_where_what_and_which():
    assert join(footer_rows(USED, {}, evolve(LOOK, width=69))) == (
        "~/tide (main) • demo\n↑600 ↓15 R240 W60 CH26.7% $0.002 0.1%/200k (auto)         m1 • medium"
    )


def test_the_right_side_is_kept_where_there_is_little_room():
    row = str(footer_rows(USED, {}, evolve(LOOK, width=30))[1])

    assert row.endswith("  m1 • medium")
    assert row.startswith("↑600 ↓15")
    assert cell_len(row) == 30


def test_statuses_of_plugins_are_in_the_order_of_their_keys():
    row = footer_rows(USED, {"b": "two", "a": "\x1b[31mone\x1b[0m"}, LOOK)[2]

    assert str(row) == "one two"
    assert row.runs[0].role == "ansi:1"


@pytest.mark.parametrize(
    ("context", "role"), [(100_000, "dim"), (150_000, "warning"), (190_000, "error"), (None, "dim")]
)
def test_a_full_context_stands_out(context, role):
    row = footer_rows(used(context=context), {}, LOOK)[1]

    assert [run.role for run in row if "/200k" in run.text] == [role]


@for_each(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1k"),
        (1500, "1.5k"),
        (12_345, "12k"),
        (200_000, "200k"),
        (1_500_000, "1.5M"),
        (12_000_000, "12M"),
    ],
)
def test_tokens_are_short(number, text):
    assert numbers.tokens(number) == text


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"providers": 2}, "(acme) m1 • medium"),
        ({"level": "off"}, "m1 • thinking off"),
        ({"level": None}, "m1"),
        ({"model": None}, "no model"),
    ],
)
def test_the_model_is_named(changes, text):
    assert numbers.model_text(used(**changes)) == text


def test_an_unknown_context_is_a_question_mark():
    assert numbers.context_text(used(context=None, auto_compact=False)) == "?/200k"
    assert numbers.context_text(Footer()) == ""


def test_a_subscription_is_no_bill():
    assert numbers.usage_text(Footer(subscription=True, input=5)) == "↑5 $0.000 (sub)"


@given(st.integers(1, 200), st.text(max_size=30).filter(str.isprintable))
def test_no_row_of_the_frame_is_too_wide(width, text):
    look = evolve(LOOK, width=width)
    footer = used(cwd=text, name=text, model=text)
    queue = Queue((text,) * 4, (text,) * 4)

    rows = [*footer_rows(footer, {"a": text}, look), *queue_rows(queue, look), rule(text, look, "border")]

    assert all(cell_len(str(row)) <= width for row in rows)


@pytest.mark.parametrize(
    ("footer", "title"),
    [
        (USED, "π - demo - tide"),
        (Footer(cwd="/w/a/"), "π - a"),
        (Footer(cwd="/"), "π - /"),
        (Footer(cwd="C:\\x\\y"), "π - y"),
    ],
)
def test_the_window_is_named_after_session_and_folder(footer, title):
    assert window_title(footer) == title


def test_queued_messages_are_listed_with_the_key_that_takes_them_back():
    rows = queue_rows(Queue(("stop\nthat",), ("then this",)), LOOK)

    assert join(rows) == " Steering: stop that\n Follow-up: then this\n ↳ alt+up to edit all queued messages"


def test_of_many_queued_messages_the_first_are_listed():
    assert [str(row) for row in queue_rows(Queue(tuple("abcdefgh")), LOOK)][4:] == [
        " Steering: e",
        " ... 3 more",
        " ↳ alt+up to edit all queued messages",
    ]
    assert queue_rows(Queue(), LOOK) == []


@for_each(
    ("work", "text"),
    [
        (Work(), ""),
        (Work(running=True), "Working"),
        (Work(running=True, message="Thinking hard"), "Thinking hard"),
        (Work(running=True, retry=Retry(2, 3, 4500, "529", started=9.0)), "Retrying (2/3) in 4s... (escape to cancel)"),
        (Work(running=True, retry=Retry(2, 3, 500, "529", started=1.0)), "Retrying (2/3) in 0s... (escape to cancel)"),
        (Work(compacting="manual"), "Compacting... (escape to cancel)"),
        (Work(running=True, compacting="overflow"), "Auto-compacting... (escape to cancel)"),
        (Work(running=True, summarizing=True), "Retrying the summary... (escape to cancel)"),
    ],
)
def test_work_is_named(work, text):
    assert work_text(work, LOOK) == text


def test_work_is_in_the_rule():
    assert str(rule("Working", LOOK, "border")) == "── ⠼ Working " + "─" * 47
    assert str(rule("", LOOK, "border")) == "─" * 60


@for_each(
    ("level", "role"),
    [
        ("medium", "thinkingMedium"),
        ("xhigh", "thinkingXhigh"),
        ("max", "thinkingMax"),
        (None, "thinkingOff"),
        ("odd", "thinkingOff"),
    ],
)
def test_the_frame_has_the_role_of_the_thinking_level(level, role):
    assert level_role(level) == role


def test_the_strip_names_what_runs_first_and_its_key_where_there_is_room():
    activities = {"agents": Activity("3 agents working")}

    def strip(width: int) -> str:
        return join(activity_rows(activities, Look(width=width, hints={"activities": "alt+down"})))

    assert strip(37) == " ▸ 3 agents working   alt+down opens "
    assert strip(20) == " ▸ 3 agents working"
    assert strip(10) == " ▸ 3 agen…"
