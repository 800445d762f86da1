"""Floor 4: how the outside reaches the host. A face holds no rule; it translates."""
