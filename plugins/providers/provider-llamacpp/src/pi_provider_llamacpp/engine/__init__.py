"""The process in which one model runs; pi starts it and talks to it in lines of JSON.

To it: ``{"load": {"path", "context"}}`` first, then ``{"ask": ID, "payload": {...}}`` and ``{"cancel": ID}``.

From it: ``{"ready": {}}`` or ``{"failed": TEXT}``, then for each request ``{"id", "chunk": {...}}``, where chunks are
those of a chat completion, and at last ``{"id", "end": true}``. A failed request has a chunk with ``error`` before.
It ends when its standard input does.
"""
