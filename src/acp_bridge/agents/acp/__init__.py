"""The Agent Client Protocol as a dialect (v1; v2 fits beside it on the same events)."""
