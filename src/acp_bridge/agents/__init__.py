"""Floor 2: one module a dialect. All an agent says becomes an Event; all asked of it is a method of Agent."""
