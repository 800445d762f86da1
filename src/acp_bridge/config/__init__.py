"""Floor 1: which agents there are. Files and editor settings in, `AgentServer` records and problems out."""
