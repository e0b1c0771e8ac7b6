"""However the network cuts a stream, and whatever is in it, it is read as the contract wants."""

from __future__ import annotations

from pi_provider_bedrock.frames import FrameDecoder
from pi_provider_bedrock.reading import Reading
from pi_provider_kit import AnswerBuilder
from pi_testing import ReaderContract
from pi_testing.fake_servers.bedrock import message_events, stream, text, thinking, tool_use


class TestReading(ReaderContract):
    events = message_events(
        thinking("Hm", ".", signature="c2ln"),
        text("Gr\u00fc", "\u00dfe \N{GRINNING FACE}"),
        tool_use("t1", "read", path="a"),
        tool_use("t2", "ls"),
    )
    decoder = FrameDecoder

    def make_reader(self, model):
        return Reading(AnswerBuilder(model))

    def received(self, decoded):
        return decoded

    def to_wire(self, events):
        return stream(tuple(each) for each in events).body

    def bodies(self):
        return [self.to_wire(self.events)]  # no lines

    def may_change(self, path):
        return len(path) > 2  # the kind of an event is a header, its data a JSON object
