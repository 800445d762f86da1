"""Fault: lone surrogates, escaped and as bytes, in texts, titles and ids."""

from well_behaved import end, raw, serve, text, tool

RAW = b'"agent_message_chunk", "content": {"type": "text", "text": "raw \xed\xa0\x80 bytes "}'


def prompt(message):
    text("escaped \ud83d alone ")
    raw(
        b'{"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "native-1", "update": '
        b'{"sessionUpdate": ' + RAW + b"}}}\n"
    )
    tool("t\ud800", title="title \udfff", status="completed", rawInput={"\ud83d": "\ude00"})
    text("end")
    end(message)


serve(prompt)
