"""Fault: updates, content, kinds, statuses and plan words that no schema knows, fields missing or odd."""

from well_behaved import end, serve, text, tool, tool_update, update

ODD = [
    {"sessionUpdate": "hologram", "beam": [1, 2]},
    {"sessionUpdate": 7},
    {"noSessionUpdate": True},
    {"sessionUpdate": "agent_message_chunk"},
    {"sessionUpdate": "agent_message_chunk", "content": "bare text"},
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "smell", "of": "roses"}},
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": 5}},
    {"sessionUpdate": "tool_call"},
    {"sessionUpdate": "tool_call_update", "toolCallId": 12, "status": "completed"},
    {"sessionUpdate": "plan", "entries": [7, {"content": "kept", "priority": "urgent", "status": "half"}]},
    {"sessionUpdate": "plan"},
    {"sessionUpdate": "usage_update", "used": "many"},
    {"sessionUpdate": "usage_update", "used": 5, "size": 0},
    {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [None, {"name": "ok", "description": "d"}],
    },
    {"sessionUpdate": "config_option_update", "configOptions": {"not": "a list"}},
    {"sessionUpdate": "current_mode_update", "modeId": "elsewhere"},
    {"sessionUpdate": "session_info_update", "title": ["not", "text"]},
]


def prompt(message):
    text("before ")
    for odd in ODD:
        update(odd)
    tool(
        "t1",
        title="odd",
        kind="teleport",
        status="pondering",
        content=[7, {"type": "smell"}],
        locations="here",
    )
    tool_update("t1", status="completed")
    text("after")
    end(message)


serve(prompt)
