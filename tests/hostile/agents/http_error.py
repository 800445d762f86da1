"""Fault: an HTTP status as JSON-RPC error code, the text inside being JSON itself."""

from well_behaved import answer, serve


def prompt(message):
    answer(message, code=429, message='{"type":"error","error":{"message":"rate limit of the model"}}')


serve(prompt)
