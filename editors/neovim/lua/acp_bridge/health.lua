--- `:checkhealth acp_bridge`

local client = require('acp_bridge.client')
local config = require('acp_bridge.config')

local M = {}

local function check_neovim()
  if vim.fn.has('nvim-0.11') == 1 then
    vim.health.ok('Neovim ' .. tostring(vim.version()))
  else
    vim.health.error('Neovim ' .. tostring(vim.version()) .. ' is too old', 'Use 0.11 or newer.')
  end
  local name = client.name
  if #vim.api.nvim_get_runtime_file('lsp/' .. name .. '.lua', false) == 0 then
    vim.health.error('lsp/acp_bridge.lua is not on the runtimepath', 'Add editors/neovim to it.')
  elseif vim.lsp.is_enabled and vim.lsp.is_enabled(name) or vim.lsp._enabled_configs[name] then
    vim.health.ok('Every file you open is attached (vim.lsp.enable).')
  else
    vim.health.info('Not enabled: the first :AcpBridge command starts the bridge.')
  end
end

---@return boolean
local function check_program()
  local cmd = vim.lsp.config[client.name].cmd
  if type(cmd) ~= 'table' then
    vim.health.info('The bridge is started by a function.')
    return true
  end
  if vim.fn.executable(cmd[1]) == 0 then
    vim.health.error(
      cmd[1] .. ' is not found',
      "Install it (pipx install . in a checkout), or require('acp_bridge').setup{cmd = {'/path/to/acp-bridge', 'lsp'}}"
    )
    return false
  end
  local done = vim.system({ cmd[1], '--version' }, { text = true, timeout = 10000 }):wait()
  if done.code == 0 and done.stdout:find('acp%-bridge') then
    vim.health.ok(vim.trim(done.stdout) .. ' (' .. vim.fn.exepath(cmd[1]) .. ')')
  else
    vim.health.warn(cmd[1] .. ' does not say its version', 'Check `cmd` in setup().')
  end
  return true
end

local function check_agents()
  local lsp_client = client.current()
  if not lsp_client then
    vim.health.info('No bridge runs here: open a chat, then look again for the agents.')
    return
  end
  vim.health.ok(('The bridge runs in %s'):format(lsp_client.root_dir or '(no folder)'))
  for _, agent in ipairs(client.agents_now()) do
    local text = ('%s (%s): '):format(agent.displayName, agent.id)
    if agent.available then
      vim.health.ok(text .. agent.state)
    else
      vim.health.info(text .. (agent.reason or 'not available'))
    end
  end
end

function M.check()
  vim.health.start('acp-bridge')
  check_neovim()
  if check_program() then
    check_agents()
  end
  if config.options.default_agent then
    vim.health.info('Default agent: ' .. config.options.default_agent)
  end
end

return M
