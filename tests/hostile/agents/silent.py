"""Fault: reads everything and never says a word, not even the answer to initialize."""

from well_behaved import receive

while True:
    receive()
