"""A person at a shell: demo, run, agents, doctor."""
