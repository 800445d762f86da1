"""Koog: the sample agents know nothing of earlier turns; each prompt stands alone."""

from well_behaved import end, serve, text


def prompt(message):
    text(f"You said {len(message['params']['prompt'])} block: {message['params']['prompt'][0]['text']}")
    end(message)


serve(prompt)
