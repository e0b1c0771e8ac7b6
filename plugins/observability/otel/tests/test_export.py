"""What a collector receives of ``pi -p``, and what pi does about one that is dead, slow, or refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.slow  # each starts programs that take seconds

TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER = "b7ad6b7169203331"
PROMPT = "Run `printenv TRACEPARENT`"


class Collector(ThreadingHTTPServer):
    """A collector on loopback. With a status other than 200 it refuses, with none it never answers."""

    daemon_threads = True

    def __init__(self, status=200):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = status
        self.closing = Event()
        self.spans, self.metrics, self.resources = [], {}, []

    @property
    def url(self):
        return f"http://user:secret-word@127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.status is None:
            self.server.closing.wait()
            return
        if self.server.status == 200:
            self.read(body)
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def read(self, body):
        if self.path == "/v1/traces":
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.server.resources.append(attributes(resource.resource))
                self.server.spans += [each for scope in resource.scope_spans for each in scope.spans]
        else:
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.server.metrics |= {each.name: each for scope in resource.scope_metrics for each in scope.metrics}

    def log_message(self, *args):
        """Write nothing."""


def attributes(value):
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in value.attributes}


@contextmanager
def collecting(status=200):
    collector = Collector(status)
    thread = Thread(target=collector.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        collector.closing.set()
        collector.shutdown()
        collector.server_close()
        thread.join()


PI = """
import runpy, sys
import pi_otel.telemetry

pi_otel.telemetry.FLUSH_SECONDS = float(sys.argv.pop(1))
runpy.run_module("pi_cli", run_name="__main__", alter_sys=True)
"""


def start(home, *, patience=60, **environ):
    """Start ``pi -p`` with the stand-in model, and so many seconds to send what waits at its end."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "PI_", "TRACE"))}
    command = [sys.executable, "-c", PI, str(patience), "--model", "offline/rules", "-p", PROMPT]
    env = {**kept, "HOME": str(home), "PI_CODING_AGENT_DIR": str(home / "agent"), **environ}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=home, env=env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)


def test_a_collector_gets_the_spans_below_the_callers_and_the_metrics(tmp_path):
    with collecting() as collector:
        caller = f"00-{TRACE}-{CALLER}-01"
        pi = start(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, TRACEPARENT=caller)
        stdout, stderr = pi.communicate(timeout=PATIENCE)

    spans = {each.name: each for each in collector.spans if not each.name.startswith("hook")}
    agent, chat, tool = spans["invoke_agent pi"], spans["chat rules"], spans["execute_tool bash"]
    assert {each.trace_id.hex() for each in collector.spans} == {TRACE}
    assert agent.parent_span_id.hex() == CALLER
    assert chat.parent_span_id == tool.parent_span_id == agent.span_id
    assert (agent.kind, chat.kind) == (Span.SPAN_KIND_INTERNAL, Span.SPAN_KIND_CLIENT)
    kinds = [attributes(each)["gen_ai.operation.name"] for each in (agent, chat, tool)]
    assert kinds == ["invoke_agent", "chat", "execute_tool"]
    assert f"00-{TRACE}-{tool.span_id.hex()}-" in stdout
    assert {each["service.name"] for each in collector.resources} == {"pi"}
    assert {"gen_ai.client.token.usage", "pi.hook.duration"} <= collector.metrics.keys()
    assert "OpenTelemetry" not in stderr


@pytest.fixture(scope="module")
def unsent(tmp_path_factory):
    """Return, by what is wrong with the collector, exit code, stdout and stderr; all run at the same time."""
    with collecting(None) as slow, collecting(503) as busy, collecting(413) as small:
        with collecting() as gone:
            pass
        environments = {
            "dead": {"OTEL_EXPORTER_OTLP_ENDPOINT": gone.url},
            "slow": {"OTEL_EXPORTER_OTLP_ENDPOINT": slow.url},
            "503": {"OTEL_EXPORTER_OTLP_ENDPOINT": busy.url},
            "413": {"OTEL_EXPORTER_OTLP_ENDPOINT": small.url},
            "keyed": {
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{gone.url}/v1/traces?key=secret-word",
                "OTEL_METRICS_EXPORTER": "none",
            },
            "unknown": {"OTEL_TRACES_EXPORTER": "carrier-pigeon"},
            "negative": {"OTEL_TRACES_EXPORTER": "console", "OTEL_BSP_MAX_QUEUE_SIZE": "-3"},
        }
        started = {
            name: start(tmp_path_factory.mktemp(name), patience=4, **environ)  # it asks again only for ten seconds
            for name, environ in environments.items()
        }
        ended = {name: pi.communicate(timeout=PATIENCE) for name, pi in started.items()}
    return {name: (started[name].returncode, *written) for name, written in ended.items()}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("dead", "Connection refused"),
        ("slow", "did not answer in time"),
        ("503", "Service Unavailable"),
        ("413", "413"),
        ("keyed", "/v1/traces: Connection refused"),
        ("unknown", "there is no exporter 'carrier-pigeon' for traces"),
        ("negative", "OpenTelemetry cannot be used: max_queue_size must be a positive integer"),
    ],
)
def test_what_cannot_be_sent_is_one_line_and_the_answer_is_there(unsent, wrong, why):
    code, stdout, stderr = unsent[wrong]

    (line,) = [each for each in stderr.splitlines() if "OpenTelemetry" in each]
    assert why in line
    assert "secret-word" not in stderr
    assert "Traceback" not in stderr
    assert (code, "stand-in for" in stdout or "offline/rules" in stdout) == (0, True)
