"""Collector of traces for a test: takes OTLP over HTTP with OpenTelemetry's own protobuf definitions.

Prints its port, then each span as a line of JSON.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service
from opentelemetry.proto.common.v1 import common_pb2 as common
from opentelemetry.proto.trace.v1 import trace_pb2 as trace


def values(attributes: list[common.KeyValue]) -> dict[str, object]:
    """Attributes by key, each of the kind that it has."""
    return {
        one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes
    }


def line(resource: dict[str, object], span: trace.Span) -> str:
    """One span as JSON, with what unknown fields it has."""
    return json.dumps(
        {
            "resource": resource,
            "trace": span.trace_id.hex(),
            "id": span.span_id.hex(),
            "parent": span.parent_span_id.hex(),
            "name": span.name,
            "kind": trace.Span.SpanKind.Name(span.kind),
            "start_ns": span.start_time_unix_nano,
            "end_ns": span.end_time_unix_nano,
            "attributes": values(span.attributes),
            "status": trace.Status.StatusCode.Name(span.status.code),
            "reason": span.status.message,
        }
    )


class Receiver(BaseHTTPRequestHandler):
    """Takes spans at the path that the protocol names, and nothing else."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Prints the spans of one request."""
        body = self.rfile.read(int(self.headers["content-length"]))
        is_expected = self.path == "/v1/traces"
        is_expected &= self.headers["content-type"] == "application/x-protobuf"
        if is_expected:
            request = service.ExportTraceServiceRequest.FromString(body)
            for of_resource in request.resource_spans:
                resource = values(of_resource.resource.attributes)
                for of_scope in of_resource.scope_spans:
                    for span in of_scope.spans:
                        print(line(resource, span), flush=True)
        answer = service.ExportTraceServiceResponse().SerializeToString()
        self.send_response(200 if is_expected else 404)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Keeps the standard error for what went wrong."""


server = HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    sys.exit(0)
