"""The well-behaved part of the programs in this folder, so that each of them is its fault alone. Stdlib only.

A program defines a prompt handler (a generator is not needed: it just says things) and calls `serve`.
"""

import itertools
import json
import sys

SESSION = "native-1"
NUMBERS = itertools.count(0)
CHUNKS = {"text": "agent_message_chunk", "thought": "agent_thought_chunk"}


def raw(data):
    """Bytes on stdout, at once."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def encode(message):
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def send(message):
    raw(encode(message))


def text_message(text, kind="text", session=SESSION):
    update = {"sessionUpdate": CHUNKS[kind], "content": {"type": "text", "text": text}}
    return update_message(update, session)


def update_message(update, session=SESSION):
    return {"method": "session/update", "params": {"sessionId": session, "update": update}}


def text(text, kind="text"):
    send(text_message(text, kind))


def update(update):
    send(update_message(update))


def tool(tool_id, **fields):
    update({"sessionUpdate": "tool_call", "toolCallId": tool_id, **fields})


def tool_update(tool_id, **fields):
    update({"sessionUpdate": "tool_call_update", "toolCallId": tool_id, **fields})


def receive():
    """The next message of the client; ends the program at the end of input."""
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def wait_for(wanted):
    """The next message for which `wanted(message)`; others are dropped."""
    while not wanted(message := receive()):
        pass
    return message


def wait_for_cancel():
    return wait_for(lambda message: message.get("method") == "session/cancel")


def answer(message, result=None):
    send({"id": message["id"], "result": result})


def fail(message, code, text):
    send({"id": message["id"], "error": {"code": code, "message": text}})


def call(method, params, call_id=None):
    """Ask the client and wait: its whole answer."""
    call_id = next(NUMBERS) if call_id is None else call_id
    send({"id": call_id, "method": method, "params": {"sessionId": SESSION, **params}})
    return wait_for(lambda message: "method" not in message and message.get("id") == call_id)


def permission_params(tool_id, title="do it", **fields):
    options = [
        {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    ]
    return {
        "sessionId": SESSION,
        "toolCall": {"toolCallId": tool_id, "title": title, **fields},
        "options": options,
    }


def initialize_result():
    return {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": {"name": "hostile", "version": "1"}}


def handshake(message):
    """Answer what is not a prompt, as one should."""
    if message.get("method") == "initialize":
        answer(message, initialize_result())
    elif message.get("method") == "session/new":
        answer(message, {"sessionId": SESSION})
    elif "id" in message and "method" in message:
        fail(message, -32601, "no such method")


def end(message, reason="end_turn"):
    answer(message, {"stopReason": reason})


def serve(prompt, other=handshake):
    """`prompt(message)` for every prompt, `other(message)` for everything else, until the end of input."""
    while True:
        message = receive()
        if message.get("method") == "session/prompt":
            prompt(message)
        else:
            other(message)
