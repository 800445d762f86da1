--- Options: defaults, what `setup()` was given, and what of it goes to the bridge.

local M = {}

---@class acp_bridge.Icons
---@field user string
---@field agent string
---@field pending string
---@field in_progress string
---@field completed string
---@field failed string
---@field cancelled string

---@class acp_bridge.ChatOptions
---@field position 'right'|'left'|'top'|'bottom'|'tab' where the chat opens
---@field size number columns (or rows); below 1 a share of the screen
---@field prompt_height integer rows of the prompt below the chat

---@class acp_bridge.Options
---@field cmd string[] how the bridge is started
---@field enable boolean attach to every file you open (`vim.lsp.enable`); else the first command starts it
---@field default_agent string? agent of a new chat; without one you are asked
---@field agent_servers table<string, table> more agents, as in acp.json
---@field settings table settings of the bridge
---@field trusted boolean|fun(root: string?): boolean may a project's own configuration start agents?
---@field chat acp_bridge.ChatOptions
---@field icons acp_bridge.Icons

---@type acp_bridge.Options
local defaults = {
  cmd = { 'acp-bridge', 'lsp' },
  enable = true,
  default_agent = nil,
  agent_servers = {},
  settings = {},
  trusted = false,
  chat = { position = 'right', size = 0.42, prompt_height = 5 },
  icons = {
    user = '❯',
    agent = '●',
    pending = '◌',
    in_progress = '◐',
    completed = '✓',
    failed = '✗',
    cancelled = '⊘',
  },
}

---@type acp_bridge.Options
M.options = vim.deepcopy(defaults)

local types = {
  cmd = 'table',
  enable = 'boolean',
  default_agent = 'string',
  agent_servers = 'table',
  settings = 'table',
  trusted = { 'boolean', 'function' },
  chat = 'table',
  icons = 'table',
}

local positions = { right = true, left = true, top = true, bottom = true, tab = true }

---@param given table
---@param known table
---@param where string
local function refuse_unknown(given, known, where)
  for key in pairs(given) do
    if known[key] == nil then
      local names = vim.tbl_keys(known)
      table.sort(names)
      error(('acp_bridge: no option %s%s; there are %s'):format(where, key, table.concat(names, ', ')), 0)
    end
  end
end

--- Take the user's options; raises an error that names a wrong one.
---@param given table?
function M.set(given)
  given = given or {}
  vim.validate('options', given, 'table')
  refuse_unknown(given, types, '')
  for name, kind in pairs(types) do
    vim.validate('acp_bridge option ' .. name, given[name], kind, true)
  end
  refuse_unknown(given.chat or {}, defaults.chat, 'chat.')
  refuse_unknown(given.icons or {}, defaults.icons, 'icons.')
  local options = vim.tbl_deep_extend('force', vim.deepcopy(defaults), given)
  if not positions[options.chat.position] then
    error('acp_bridge: chat.position must be right, left, top, bottom or tab', 0)
  end
  M.options = options
end

--- An empty Lua table would become a JSON list.
---@param value any
local function object(value)
  return next(value) == nil and vim.empty_dict() or value
end

---@param server table
local function server_object(server)
  local copy = vim.deepcopy(server)
  if type(copy.env) == 'table' then
    copy.env = object(copy.env)
  end
  return object(copy)
end

--- `initializationOptions.acp`: what this plugin draws and serves itself, and the user's settings.
---@return table
function M.init_options()
  return {
    ui = { thread = true, permission = true, save = true },
    agentServers = object(vim.tbl_map(server_object, M.options.agent_servers)),
    settings = object(M.options.settings),
    trusted = false,
  }
end

--- Whether the user trusts the project at `root` with starting programs.
---@param root string?
---@return boolean
function M.trusts(root)
  local trusted = M.options.trusted
  if type(trusted) == 'function' then
    return trusted(root) == true
  end
  return trusted == true
end

return M
