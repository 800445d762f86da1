--- The commands; nothing is loaded before one of them is used.

if vim.g.loaded_acp_bridge then
  return
end
vim.g.loaded_acp_bridge = true

local function agents(lead)
  return require('acp_bridge.complete').agents(lead)
end

---@param name string
---@param action fun(bridge: table, call: vim.api.keyset.create_user_command.command_args)
---@param options vim.api.keyset.user_command
local function command(name, action, options)
  vim.api.nvim_create_user_command('AcpBridge' .. name, function(call)
    action(require('acp_bridge'), call)
  end, options)
end

---@param text string
---@return string?
local function given(text)
  return text ~= '' and text or nil
end

command('Chat', function(bridge)
  bridge.chat()
end, { desc = 'Open the chat with a coding agent' })

command('New', function(bridge, call)
  bridge.new(given(call.args))
end, { desc = 'Start a new chat [with this agent]', nargs = '?', complete = agents })

command('Ask', function(bridge, call)
  bridge.ask(call.args, call.range > 0 and { call.line1, call.line2 } or nil)
end, { desc = 'Send a prompt, with the selected lines if there are some', nargs = '+', range = true })

command('Send', function(bridge)
  bridge.send()
end, { desc = 'Send what stands in the prompt' })

command('Cancel', function(bridge)
  bridge.cancel()
end, { desc = 'Cancel the running turn' })

command('Permission', function(bridge)
  bridge.permission()
end, { desc = 'Decide what waits for your permission' })

command('Options', function(bridge)
  bridge.options()
end, { desc = 'Choose mode, model and other options of this chat' })

command('Queue', function(bridge)
  bridge.queue()
end, { desc = 'Resume, send or remove the prompts that wait' })

command('Agents', function(bridge)
  bridge.agents()
end, { desc = 'List the agents, start a chat with one' })

command('Login', function(bridge, call)
  bridge.login(call.args)
end, { desc = 'Log in to an agent', nargs = 1, complete = agents })

command('Log', function(bridge, call)
  bridge.log(given(call.args))
end, { desc = 'Show what an agent wrote beside the protocol', nargs = '?', complete = agents })
