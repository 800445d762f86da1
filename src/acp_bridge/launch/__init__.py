"""Floor 1: where an agent runs, as one pipe: its environment, its guard, its death."""
