"""What OpenTelemetry costs, switched off and on: ``uv run --group dev python bench/otel.py``.

Processes of ``pi -p`` take turns, without and with an endpoint that refuses connections: the time to the first request,
as a fake server has it, and the end of the process; medians. In one process: what the plugin costs while it is off, and
a streamed answer of 20,000 deltas with every span and metric kept in memory; CPU time, the best of the rounds.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from _fake import fake_server, prompt
from _measure import show
from _peer import MODEL, compile_and_say, our_program, run
from stream import Burst

import pi_otel
from pi_core import PluginHost, Settings, create_agent_session
from pi_hookspecs import Model

if TYPE_CHECKING:
    from _fake import Fake
    from _peer import Program

ROUNDS = 11
DELTAS = 20_000
DEAD = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
BURST = Model(id="burst", name="Burst", api="burst", provider="burst")

LOOK = """
import time
import asyncio
from types import SimpleNamespace
import pi_core.conversation.session  # what every session has imported already
started = time.process_time()
import pi_otel
pi_otel.activate(SimpleNamespace(on=lambda *_: None))
print((time.process_time() - started) * 1000)
import sys
assert not any(name.startswith("opentelemetry") for name in sys.modules)
"""


def once(program: Program, fake: Fake, **environ: str) -> tuple[float, float]:
    """Return the milliseconds to the first request and to the end of one run."""
    arguments = ("--no-session", "--no-tools", "--model", MODEL, "-p", prompt(1))
    done = run(program, *arguments, environ=environ)
    (request,) = fake.requests()
    return (request["at"] - done.started) / 1e6, done.wall


def processes() -> None:
    with tempfile.TemporaryDirectory() as name, fake_server(Path(name)) as fake:
        program = our_program(Path(name), fake.url)
        once(program, fake)  # makes the index of plugins
        rounds = [(once(program, fake), once(program, fake, **DEAD)) for _ in range(ROUNDS)]
    first_off, first_on, end_off, end_on = (
        statistics.median(pair[which][what] for pair in rounds) for what in (0, 1) for which in (0, 1)
    )
    ratio = statistics.median(on[0] / off[0] for off, on in rounds)
    more = statistics.median(on[1] - off[1] for off, on in rounds)
    show(
        "A dead endpoint, wall time of pi -p",
        "",
        [
            ("first request, off, ms", first_off, None),
            ("first request, on, ms", first_on, None),
            ("first request, on to off", ratio, 1.3),
            ("the whole run, off, ms", end_off, None),
            ("the whole run, on, ms", end_on, None),
            ("the whole run, on more than off, ms", more, 2000.0),
        ],
    )


def switched_off() -> None:
    settings = Settings.in_memory({}, agent_dir=tempfile.gettempdir())
    host = PluginHost(settings)
    record = host.records["otel"]
    assert not host.is_wanted(record)
    started = time.process_time()
    for _ in range(1000):
        host.is_wanted(record)
    asked = time.process_time() - started
    environ = {**os.environ, "OTEL_TRACES_EXPORTER": "none"}
    looks = [float(subprocess.check_output([sys.executable, "-c", LOOK], env=environ)) for _ in range(ROUNDS)]
    show(
        "Switched off, CPU time",
        "ms",
        [
            ("without a variable: the look whether it is wanted", asked, 1.0),
            ("OTEL_TRACES_EXPORTER=none: import and activate", min(looks), 1.0),
        ],
    )


async def answer(plugins: dict[str, object]) -> float:
    """Return the CPU seconds of one answer."""
    settings = Settings.in_memory({}, agent_dir=tempfile.gettempdir())
    host = PluginHost(settings, installed=False)
    async with create_agent_session(settings=settings, host=host, plugins=plugins, model=BURST) as session:
        await session.prompt("go")  # with OpenTelemetry on, this one imports the SDK
        await asyncio.sleep(1 if len(plugins) > 1 else 0)
        started = time.process_time()
        await session.prompt("go")
        return time.process_time() - started


def deltas() -> None:
    from opentelemetry import metrics, trace
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    os.environ["OTEL_TRACES_EXPORTER"] = "otlp"
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([InMemoryMetricReader()]))
    rounds = [
        (asyncio.run(answer({"burst": Burst(DELTAS)})), asyncio.run(answer({"burst": Burst(DELTAS), "otel": pi_otel})))
        for _ in range(ROUNDS)
    ]
    assert exporter.get_finished_spans()
    off, on = min(each[0] for each in rounds), min(each[1] for each in rounds)
    show(
        f"An answer of {DELTAS:,} deltas, CPU time",
        "",
        [("off, ms", off * 1000, None), ("on, ms", on * 1000, None), ("on to off", on / off, 1.1)],
    )


def main() -> None:
    compile_and_say()
    switched_off()
    processes()
    deltas()


if __name__ == "__main__":
    main()
