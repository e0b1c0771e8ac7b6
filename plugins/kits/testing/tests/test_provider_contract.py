"""The contract suite itself: the example of the README passes, and what breaks a rule fails with its name."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest
from attrs import evolve

import pi_testing
from pi_hookspecs import Done, MessageBuilder, ModelCost, TextDelta
from pi_testing import ScriptedProvider, ServerCase, for_each, no_end, raises, text, unknown_event
from pi_testing import usage as counts
from pi_testing.fake_servers import FakeServer
from pi_testing.provider_contract import EVERYTHING, ProviderCase, ProviderContract, Says, listen, needs

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
EXAMPLE = re.search(r"^# test_my_provider.py\n(.*?)^```", README, re.MULTILINE | re.DOTALL)[1]

ARGUMENTS = (
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "-p",
    "no:hypothesispytest",
    "-W",
    "error",
    "-rs",
    *("-o", "asyncio_default_fixture_loop_scope=function"),
)


def test_failing_assertions_of_every_contract_show_the_values_that_they_compared():
    folder = Path(pi_testing.__file__).parent
    asserting = [file.stem for file in folder.glob("contract_*.py") if "  assert " in file.read_text(encoding="utf-8")]
    for suite in folder.glob("*_contract.py"):
        import_module(f"pi_testing.{suite.stem}")

    plain = [name for name in asserting if "@pytest_ar" not in vars(import_module(f"pi_testing.{name}"))]

    assert len(asserting) > 5
    assert plain == []


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "strict"])
def test_the_example_passes_and_says_what_it_does_not_support(pytester, mode):
    pytester.makepyfile(test_my_provider=EXAMPLE)
    result = pytester.runpytest_subprocess(*ARGUMENTS, "-o", f"asyncio_mode={mode}")

    outcomes = result.parseoutcomes()
    assert set(outcomes) == {"passed", "skipped"}
    assert outcomes["passed"] >= 15
    result.stdout.fnmatch_lines(["*MyCase does not support: *"])


@pytest.mark.slow
def test_a_case_that_claims_an_unknown_feature_fails(pytester):
    pytester.makepyfile(test_my_provider=EXAMPLE.replace("EVERYTHING - ", "EVERYTHING | {'telepathy'} - "))
    result = pytester.runpytest_subprocess(*ARGUMENTS, "-k", "empty_answer_is_one")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*supports has ?'telepathy'?, which no test knows*"])


@pytest.mark.slow
def test_a_subclass_without_a_case_is_reported(pytester):
    pytester.makepyfile("from pi_testing import ProviderContract\n\nclass TestMine(ProviderContract):\n    pass\n")
    result = pytester.runpytest_subprocess(*ARGUMENTS, "-k", "empty_answer_is_one")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*TestMine needs a fixture 'case'*"])


class Case(ProviderCase):
    """A provider that says exactly what a test wants of it."""

    def __init__(self, provider):
        self.model = ScriptedProvider().model
        self.provider = provider

    def answers(self, *blocks, usage=None, length=False):
        raise NotImplementedError

    stalls = waits = answers


class Sayer:
    """A provider that yields what a function makes of a builder."""

    api = "scripted"

    def __init__(self, says):
        self.says = says

    async def stream(self, model, context, options):
        for event in self.says(MessageBuilder(model)):
            yield event


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (no_end(), "ended without done or error"),
        (unknown_event(), "'mystery' is not an event"),
        (raises(ValueError("boom")), "the stream raised ValueError"),
    ],
)
async def test_what_a_provider_must_not_do_fails(step, words):
    script = ScriptedProvider().turn(text("Hello"), step)

    with pytest.raises(AssertionError, match=words):
        await listen(Case(script))


def no_start(builder):
    return [builder.done()]


def two_ends(builder):
    return [builder.start(), builder.done(), builder.done()]


def late_start(builder):
    return [builder.start(), builder.start()]


def block_without_start(builder):
    return [builder.start(), TextDelta(source=builder, content_index=0, delta="x")]


def block_without_end(builder):
    start, begun, delta = builder.start(), builder.text_start(), None
    yield from (start, begun)
    delta = builder.text(0, "x")
    yield delta
    yield builder.done()


def delta_of_an_ended_block(builder):
    yield builder.start()
    yield builder.text_start()
    yield builder.text_end(0)
    yield builder.text(0, "x")


def delta_of_another_kind(builder):
    yield builder.start()
    yield builder.thinking_start()
    yield TextDelta(source=builder, content_index=0, delta="x")


def lost_delta(builder):
    yield builder.start()
    yield builder.text_start()
    builder.text(0, "never shown")
    yield builder.text(0, "x")


def final_message_of_another_text(builder):
    yield builder.start()
    yield builder.text_start()
    yield builder.text(0, "x")
    yield builder.text_end(0)
    other = MessageBuilder(builder.model)
    other.text_start()
    other.text(0, "y")
    yield Done(message=other.done().message)


def error_without_words(builder):
    yield builder.start()
    problem = builder.fail("x")
    object.__setattr__(problem.error, "error_message", "")
    yield problem


@for_each(
    ("says", "words"),
    [
        (no_start, "done came without a start"),
        (two_ends, "done came after done"),
        (late_start, "start came again"),
        (block_without_start, "block 0, which never began"),
        (block_without_end, "blocks never ended"),
        (delta_of_an_ended_block, "block 0, which has ended"),
        (delta_of_another_kind, "block 0, which is thinking"),
        (lost_delta, "a partial is not what its deltas were"),
        (final_message_of_another_text, "the final message is not what was streamed"),
        (error_without_words, "an error has no message"),
    ],
)
async def test_a_broken_rule_is_named(says, words):
    with pytest.raises(AssertionError, match=words):
        await listen(Case(Sayer(says)))


async def test_a_failure_before_generation_needs_no_start():
    reply = await listen(Case(Sayer(lambda builder: [builder.fail("It broke.")])))

    assert (reply.types, reply.error) == (["error"], "It broke.")


async def test_the_error_is_shown_where_another_end_was_expected():
    answer = await listen(Case(Sayer(lambda builder: [builder.fail("401 no such key")])))

    for end in ("aborted", "done"):
        with pytest.raises(AssertionError, match="401 no such key"):
            getattr(answer, end)


@for_each(
    "use",
    [
        lambda case: case.sent(),
        lambda case: case.refuses(500, ""),
        lambda case: case.breaks("", ""),
        lambda case: case.ends_early(""),
        lambda case: case.sends(None),
        lambda case: case.recorded(Says(("",))),
        lambda case: case.unreachable(),
    ],
)
def test_a_claim_without_its_scenario_is_named(use):
    with pytest.raises(NotImplementedError, match=r"Case claims '.*' in supports"):
        use(Case(None))


def test_every_test_is_asynchronous_and_needs_known_features():
    tests = {name: getattr(ProviderContract, name) for name in dir(ProviderContract) if name.startswith("test_")}

    assert len(tests) > 45
    assert {feature for test in tests.values() for feature in getattr(test, "contract_needs", ())} <= EVERYTHING


class Counting(Case):
    """A provider whose API counts tokens, but not those that came from a cache."""

    def __init__(self):
        super().__init__(ScriptedProvider())
        self.model = evolve(self.model, cost=ModelCost(input=1.0, output=2.0))

    def answers(self, *blocks, usage=None, length=False):
        price = (usage.input * 1.0 + usage.output * 2.0) / 1_000_000
        self.provider.turn(text("Hello"), counts(input=usage.input, output=usage.output, cost=price))


async def test_an_api_without_a_count_of_cached_tokens_passes_the_other_row():
    contract = ProviderContract()

    await contract.test_tokens_and_their_price_are_counted_once(Counting())
    with pytest.raises(AssertionError, match="300"):
        await contract.test_tokens_from_a_cache_are_counted_apart(Counting())
    assert contract.test_tokens_from_a_cache_are_counted_apart.contract_needs == ("usage", "cached_usage")


def test_a_mark_is_kept_by_the_function():
    assert needs("tools")(lambda: None).contract_needs == ("tools",)


def test_a_server_case_needs_only_its_wire_format():
    assert ServerCase.__abstractmethods__ == {"written", "written_without_end", "written_error"}
    assert issubclass(ServerCase, ProviderCase)
    assert FakeServer
