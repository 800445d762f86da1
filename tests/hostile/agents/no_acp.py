"""Fault: prints one line that is not JSON and exits 0 before any answer."""

print("Usage: no-acp [--help]   this program has moved, see the manual")
