"""``ctx.ui.form`` where front ends have no forms: fields one after the other, and values that fit."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core.plugin_api.forms import ask_fields, field_problem, read_text
from pi_hookspecs import AbortController, FormField, FormOption, UserError
from pi_testing import FakeUI, for_each

NAME = FormField("name", title="Name", required=True)
DEPTH = FormField("depth", "number", minimum=0, maximum=50, description="in metres")
ZONE = FormField("zone", "choice", options=[FormOption("Europe/Paris", "Paris"), "UTC"])
TIDAL = FormField("tidal", "boolean", default=True)
SERVICES = FormField("services", "choices", options=["fuel", "water"], maximum=1)


class WithoutForms(FakeUI):
    """A front end of 1.0."""

    form = property()  # an AttributeError, as if there was none
    open_url = property()


@pytest.fixture
def ui():
    ui = WithoutForms()
    yield ui
    ui.check()


@pytest.fixture
async def ctx(activated, ui):
    session = await activated()
    session.ui, session.has_ui = ui, True
    return session.ctx


# One after the other


async def test_fields_are_asked_one_after_the_other(ctx, ui):
    ui.answers("Brest", "11.5", "Paris", "Yes (default)", "[ ] water", "Done")

    answer = await ctx.ui.form([NAME, DEPTH, ZONE, TIDAL, SERVICES], title="New harbour")

    assert answer == {"name": "Brest", "depth": 11.5, "zone": "Europe/Paris", "tidal": True, "services": ["water"]}
    assert [(each.kind, each.title) for each in ui.asked[:4]] == [
        ("input", "New harbour: Name"),
        ("input", "New harbour: depth"),
        ("select", "New harbour: zone"),
        ("select", "New harbour: tidal"),
    ]
    assert ui.asked[1].text == "in metres, may be left empty"
    assert ui.asked[2].options == ("Paris", "UTC", "(leave out)")


async def test_fields_that_are_left_out_are_not_in_the_answer(ctx, ui):
    ui.answers("", "(leave out)", "Done")

    assert await ctx.ui.form([DEPTH, ZONE, SERVICES]) == {}


async def test_an_empty_text_is_the_default(ctx, ui):
    ui.answers("")

    assert await ctx.ui.form([FormField("port", "integer", default=8080)]) == {"port": 8080}


@pytest.mark.parametrize(
    "dialogs", [(None,), ("Brest", None), ("Brest", "UTC", None), ("Brest", "UTC", "[ ] fuel", None)]
)
async def test_dismissing_one_dialog_dismisses_the_form(ctx, ui, dialogs):
    ui.answers(*dialogs)

    assert await ctx.ui.form([NAME, ZONE, SERVICES]) is None


async def test_what_does_not_fit_is_explained_and_asked_again(ctx, ui):
    ui.answers("deep", "-3", "7")

    assert await ctx.ui.form([DEPTH]) == {"depth": 7.0}
    assert [each.message for each in ui.notices] == ["depth must be a number, not 'deep'", "depth must be at least 0"]


async def test_the_third_answer_that_does_not_fit_dismisses_the_form(ctx, ui):
    ui.answers("", "", "")

    assert await ctx.ui.form([NAME]) is None
    assert ui.notices[-1].message == "Name is required"


async def test_marks_are_set_and_taken_back(ctx, ui):
    ui.answers("[ ] fuel", "[ ] water", "[x] fuel", "Done")

    assert await ctx.ui.form([SERVICES]) == {"services": ["water"]}


async def test_options_of_one_title_are_distinguished_by_their_values(ctx, ui):
    ui.answers("Springfield (il)")
    towns = [FormOption("il", "Springfield"), FormOption("ma", "Springfield")]

    assert await ctx.ui.form([FormField("town", "choice", options=towns, required=True)]) == {"town": "il"}


async def test_a_message_is_displayed_before_the_fields(ctx, ui):
    ui.answers("Brest")

    await ctx.ui.form([NAME], title="Harbour", message="The server asks.")

    assert ui.notices[0].message == "Harbour: The server asks."


async def test_an_abort_dismisses_the_dialog_that_is_open(ctx, ui):
    ui.answers("Brest").never_answers()
    abort = AbortController()
    asking = asyncio.ensure_future(ctx.ui.form([NAME, DEPTH], signal=abort.signal))
    await ui.opened()
    abort.abort()

    assert await asking is None


async def test_the_seconds_are_those_of_the_whole_form():
    seconds = []

    class Slow(WithoutForms):
        async def input(self, title, placeholder=None, *, signal=None, timeout=None):  # noqa: ASYNC109
            seconds.append(timeout)
            return "7"

    await ask_fields(Slow(), [DEPTH, DEPTH], timeout=60.0)

    assert 0 < seconds[1] < seconds[0] <= 60


# Front ends with forms, and without a user


async def test_a_front_end_with_forms_gets_the_form(activated):
    ui = FakeUI().answers({"name": "Brest"})
    session = await activated()
    session.ui, session.has_ui = ui, True

    assert await session.ctx.ui.form([NAME, DEPTH], title="New harbour", message="Fill it in.") == {"name": "Brest"}
    assert ui.asked == [("form", "New harbour", "Fill it in.", ("name", "depth"))]


async def test_the_fake_user_leaves_defaults_as_they_are():
    assert await FakeUI().answers({"name": "Brest"}).form([NAME, TIDAL]) == {"name": "Brest", "tidal": True}


@for_each("answer", [{"depth": "deep"}, {"name": 7}, {}, {"name": "Brest", "other": 1}, "Brest"])
async def test_the_fake_user_gives_no_answer_that_does_not_fit(answer):
    with pytest.raises(AssertionError, match="does not fit"):
        await FakeUI().answers(answer).form([NAME, DEPTH])


async def test_without_a_user_a_form_is_dismissed_at_once(activated):
    session = await activated()

    assert await session.ctx.ui.form([TIDAL]) is None


async def test_a_form_that_was_not_awaited_is_no_answer(ctx):
    with pytest.raises(TypeError, match="write await"):
        assert not ctx.ui.form([NAME])


@pytest.mark.parametrize(("fields", "problem"), [([], "at least one field"), ([NAME, NAME], "called 'name'")])
async def test_a_form_that_cannot_be_answered_is_refused(ctx, fields, problem):
    with pytest.raises(ValueError, match=problem):
        await ctx.ui.form(fields)


async def test_what_is_no_field_is_refused(ctx):
    with pytest.raises(TypeError, match=r"a form takes FormField values, .*, not 'name'"):
        await ctx.ui.form(["name"])


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: FormField("x", "colour"), "field 'x': the type must be one of text, number"),
        (lambda: FormField("x", "choice"), "field 'x': a choice needs options"),
        (lambda: FormField("x", pattern="("), "field 'x': the pattern '\\(' is not a regular expression: missing"),
    ],
)
def test_a_field_that_makes_no_sense_is_refused(make, problem):
    with pytest.raises(ValueError, match=problem):
        make()


# Values


@for_each(
    ("field", "value", "problem"),
    [
        (FormField("x"), 7, "x must be text, not 7"),
        (FormField("x", maximum=3), "four", "x must have at most 3 characters"),
        (FormField("x", pattern="^a+$"), "b", r"x does not match ^a+$"),
        (FormField("x", pattern="^a+$", description="Letters a only"), "b", "x: Letters a only"),
        (FormField("x", check=lambda value: f"{value} is taken"), "ada", "ada is taken"),
        (FormField("x", "integer"), 7.5, "x must be a whole number, not 7.5"),
        (FormField("x", "integer"), True, "x must be a whole number, not True"),
        (FormField("x", "number"), float("nan"), "x must be a number, not nan"),
        (FormField("x", "boolean"), 1, "x must be yes or no, not 1"),
        (ZONE, "GMT", "zone: 'GMT' is not one of 'Europe/Paris', 'UTC'"),
        (SERVICES, ["crane"], "services: 'crane' is not one of 'fuel', 'water'"),
        (SERVICES, ["fuel", "water"], "services must have at most 1 of its options"),
        (SERVICES, "fuel", "services must be a list of its options, not 'fuel'"),
    ],
)
def test_what_is_wrong_with_a_value_is_a_sentence(field, value, problem):
    assert field_problem(field, value) == problem


@given(st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_are_read_as_they_are_written(number):
    field = FormField("x", "integer" if isinstance(number, int) else "number")

    assert read_text(field, repr(number)) == number
    assert field_problem(field, number) is None


# Pages


async def test_a_page_is_opened_by_the_front_end(activated):
    ui = FakeUI()
    session = await activated()
    session.ui = ui

    assert session.ctx.ui.open_url("https://harbours.example/brest?x=1#top")
    assert (ui.opened_urls, ui.notices) == (["https://harbours.example/brest?x=1#top"], [])


@pytest.mark.parametrize("url", ["https://harbours.example", "http://localhost:8080/a", "mailto:ada@harbours.example"])
async def test_where_no_page_can_be_opened_its_address_is_displayed(ctx, ui, url):
    assert not ctx.ui.open_url(url)
    assert ui.notices == [(f"Open this page in a browser: {url}", "info")]


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "harbours.example",
        "https://",
        "https://[::1",
        "https://a b",
        "https://a\n",
        "https://münchen.example",
        "mailto:",
        "-flag",
        "",
    ],
)
async def test_what_is_no_address_of_a_page_is_refused(ctx, ui, url):
    with pytest.raises(UserError, match="cannot be opened"):
        ctx.ui.open_url(url)
