"""Fault: lines on stdout that are no JSON, blank, coloured, or no UTF-8, between all messages."""

from well_behaved import encode, end, handshake, raw, receive, text_message

NOISE = b'Debug: hi\n\n   \n\x1b[31mWARN\x1b[0m not json\n{"half": \n\xff\xfe\x00binary\n\x00\x00\n'

raw(NOISE)
while True:
    message = receive()
    raw(NOISE)
    if message["method"] != "session/prompt":
        handshake(message)
        continue
    for word in ("one ", "two ", "three"):
        raw(NOISE + encode(text_message(word)) + NOISE)
    end(message)
    raw(NOISE)
