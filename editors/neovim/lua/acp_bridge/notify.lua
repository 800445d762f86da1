--- Everything the plugin says outside the chat.

local M = {}

local TITLE = { title = 'acp-bridge' }

---@param text string
function M.info(text)
  vim.notify('acp-bridge: ' .. text, vim.log.levels.INFO, TITLE)
end

---@param text string
function M.warn(text)
  vim.notify('acp-bridge: ' .. text, vim.log.levels.WARN, TITLE)
end

--- Say what failed and what to try.
---@param text string
---@param hint string?
function M.error(text, hint)
  local tail = (hint and hint ~= '') and ('\nTry: ' .. hint) or ''
  vim.notify('acp-bridge: ' .. text .. tail, vim.log.levels.ERROR, TITLE)
end

--- An error the bridge answered: `{code, message, data: {kind, hint, detail?}}`.
---@param what string
---@param err lsp.ResponseError
function M.rpc_error(what, err)
  local data = type(err.data) == 'table' and err.data or {}
  local detail = (type(data.detail) == 'string' and data.detail ~= '') and ('\n' .. data.detail) or ''
  M.error(what .. ': ' .. tostring(err.message) .. detail, type(data.hint) == 'string' and data.hint or nil)
end

return M
