"""The process that has the connections to MCP servers, and the SDK; ``python -m pi_mcp.sidecar`` under pi.

pi itself imports nothing of this package: the SDK costs a second of CPU time and stalls an event loop meanwhile, and
what a server sends is parsed and cut where it delays nothing. The two exchange lines of JSON over the sidecar's
standard input and output:

| from | line | meaning |
| --- | --- | --- |
| pi | ``{"id", "do", ...}`` | a request, for the method ``do_...`` of ``Requests`` |
| sidecar | ``{"id", "ok"}`` or ``{"id", "error": {"message", "lost", "again", "tail"}}`` | its answer |
| pi | ``{"cancel": id}`` | the request is not wanted any more |
| sidecar | ``{"progress": id, "text"}`` | how far a call is |
| sidecar | ``{"ask", "server", "kind", ...}`` | a question of a server to the user |
| pi | ``{"answer": ask, "value"}`` | its answer |
| sidecar | ``{"changed": server}`` | the server's lists may have changed |
| sidecar | ``{"closed": server, "reason"}`` | the connection is gone |

Of an error, ``lost`` says that the server is not connected any more, ``again`` that it has done nothing of the request.
"""
