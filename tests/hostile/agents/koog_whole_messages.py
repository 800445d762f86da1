"""Koog: no deltas; every message comes whole, in one chunk without an id."""

from well_behaved import end, serve, text, tool


def prompt(message):
    text("Let me look at the whole project first, then I will answer in one go.\n")
    tool("c1", title="listDirectory", status="completed")
    text("Here is the whole answer,\nwith two lines.")
    end(message)


serve(prompt)
