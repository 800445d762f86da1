--- JSON null: 0.12 hands it on as `vim.NIL` everywhere, 0.11 leaves such members of objects out.

local M = {}

---@param value any
---@return boolean
function M.is(value)
  return value == nil or value == vim.NIL
end

--- `value` without any null in it; a null itself becomes nil.
---@param value any
---@return any
function M.strip(value)
  if value == vim.NIL then
    return nil
  end
  if type(value) ~= 'table' then
    return value
  end
  if vim.islist(value) then
    return vim.tbl_map(M.strip, value)
  end
  local clean = {}
  for key, item in pairs(value) do
    clean[key] = M.strip(item)
  end
  return clean
end

return M
