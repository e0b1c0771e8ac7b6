"""A `Retrier` that immediately retries once if the provider is overloaded.

`pi plugin new NAME --kind service` creates a `Launcher`, with tests, as a starting point.
"""

from pi_hookspecs import RetryDecision, hookimpl


class OnceMore:
    def decide(self, message, attempt, ctx):
        if attempt == 1 and "overloaded" in (message.error_message or ""):
            return RetryDecision(attempt=1, max_attempts=1, delay_ms=0)
        return None


@hookimpl
def register_services():
    return [OnceMore()]


# Test

from pi_testing import error, text


async def test_example(pi_session, script):
    script.turn(error("529 overloaded")).turn(text("Here I am."))

    answer = await pi_session.prompt("Hi")

    assert answer.text == "Here I am."
