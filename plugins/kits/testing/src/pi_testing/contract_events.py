"""What a provider that calls ``on_stream_event`` must do: a suite beside ``ProviderContract``, for those that do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_testing.contract_listen import everything_in, listen

if TYPE_CHECKING:
    from pi_testing.contract_case import ProviderCase

__all__ = ["StreamEventsContract"]


class StreamEventsContract:
    """Tests of ``StreamOptions.on_stream_event``, to be inherited before ``ProviderContract``."""

    async def test_each_event_of_the_stream_can_be_observed(self, case: ProviderCase) -> None:
        seen: list[Any] = []

        async def note(event: Any) -> None:
            seen.append(event)

        case.text("Hello \N{SNOWMAN}")
        reply = await listen(case, on_stream_event=note)

        assert reply.done.text == "Hello \N{SNOWMAN}"
        assert all(isinstance(event, dict) for event in seen)
        assert "Hello \N{SNOWMAN}" in "".join(everything_in(event) for event in seen)

    async def test_an_observer_that_fails_is_an_answer(self, case: ProviderCase) -> None:
        async def fail(_event: Any) -> None:
            raise ValueError("the observer's own words")

        case.text("Hello")
        reply = await listen(case, on_stream_event=fail)

        assert "the observer's own words" in reply.error
