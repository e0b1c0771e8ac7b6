"""Exports sessions as plain text: `/export talk.txt`, or `pi --export SESSION talk.txt`.

`pi plugin new NAME --kind exporter` creates one, with tests, as a starting point.
"""

from pi_hookspecs import hookimpl


class PlainText:
    format = "text"
    suffixes = (".txt",)

    def export(self, session, request):
        messages = [entry.message for entry in session.branch() if entry.type == "message"]
        return "".join(f"{each.role}: {each.text}\n" for each in messages).encode()


@hookimpl
def register_exporters():
    return [PlainText()]


# Test

from pi_hookspecs import ExportRequest
from pi_testing import text


async def test_example(pi_host, pi_session, script):
    script.turn(text("Hello."))
    await pi_session.prompt("Hi")

    exporter = pi_host.find("register_exporters", "text").thing
    written = exporter.export(pi_session.ctx.session, ExportRequest())

    assert written == b"user: Hi\nassistant: Hello.\n"
