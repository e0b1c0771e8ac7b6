"""However the network cuts a stream, and whatever is in it, it is read as the contract wants."""

from __future__ import annotations

from pi_provider_kit import AnswerBuilder, SseDecoder
from pi_provider_mistral.reading import Reading
from pi_testing import ReaderContract
from pi_testing.fake_servers.mistral import DONE, call, completion_events, text, thinking


class TestReading(ReaderContract):
    events = completion_events(
        thinking("Hm, ", "\N{THINKING FACE}.", signature="c2ln"),
        text("Gr\u00fc", "\u00dfe \N{GRINNING FACE}\n", "\u2028 end"),
        call("aB3dE6gH9", "read", path="\u00e4\n\N{CAT FACE}"),
        call("zY8xW7vU6", "write", deltas=['{"path":"b",', '"content":"\\"quoted\\""}']),
    )
    decoder = SseDecoder
    end_mark = DONE

    def make_reader(self, model):
        return Reading(AnswerBuilder(model))
