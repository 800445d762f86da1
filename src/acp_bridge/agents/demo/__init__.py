"""The demo agent: a whole turn inside this process, without a network, a key or a program to install.

`scenarios` holds what it can play as data, `turn` performs one scenario, `agent` is the Agent around them.
"""

from acp_bridge.agents.demo.agent import DemoAgent

__all__ = ["DemoAgent"]
