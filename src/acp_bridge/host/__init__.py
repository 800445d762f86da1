"""Floor 3: what a conversation is, whoever talks: sessions, turns, the thread, permissions, files."""
