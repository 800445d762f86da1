"""Fault: an HTTP status as JSON-RPC error code, the text inside being JSON itself."""

from well_behaved import fail, serve


def prompt(message):
    fail(message, 429, '{"type":"error","error":{"message":"rate limit of the model"}}')


serve(prompt)
