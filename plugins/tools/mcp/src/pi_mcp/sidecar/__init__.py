"""The process with the MCP SDK and the connections to servers; ``python -m pi_mcp.sidecar`` under pi.

pi itself imports nothing of this package: the SDK costs a second of CPU time and stalls an event loop meanwhile, and
what a server sends is parsed and cut where it delays nothing. The two exchange lines of JSON over the sidecar's
standard input and output:

| from | line | meaning |
| --- | --- | --- |
| pi | ``{"id", "do", ...}`` | a request, for the method ``do_...`` of ``Requests`` |
| sidecar | ``{"id", "ok"}`` or ``{"id", "error": {"message", "lost", "again", "tail"}}`` | its answer |
| pi | ``{"cancel": id}`` | the request is cancelled |
| sidecar | ``{"progress": id, "text"}`` | progress of a call |
| sidecar | ``{"ask", "server", "kind", ...}`` | a question of a server to the user |
| pi | ``{"answer": ask, "value"}`` | its answer |
| sidecar | ``{"changed": server}`` | the server's lists may have changed |
| sidecar | ``{"closed": server, "reason"}`` | the connection is gone |

In an error, ``lost`` means that the server is no longer connected, ``again`` that it has not processed the request.
"""
