--- The highlights of a chat's lines.

local M = {}

local ns = vim.api.nvim_create_namespace('acp_bridge')

--- Whether two lines look the same.
---@param a acp_bridge.Line
---@param b acp_bridge.Line
---@return boolean
function M.same(a, b)
  return a.text == b.text and a.line_hl == b.line_hl and vim.deep_equal(a.marks, b.marks)
end

--- Take the highlights of lines [from, to) away.
---@param buf integer
---@param from integer 0-based
---@param to integer
function M.clear(buf, from, to)
  vim.api.nvim_buf_clear_namespace(buf, ns, from, to)
end

---@param buf integer
---@param lnum integer 0-based
---@param line acp_bridge.Line
function M.line(buf, lnum, line)
  for _, mark in ipairs(line.marks) do
    local stop = mark[2] < 0 and #line.text or math.min(mark[2], #line.text)
    if mark[1] < stop then
      vim.api.nvim_buf_set_extmark(buf, ns, lnum, mark[1], { end_col = stop, hl_group = mark[3] })
    end
  end
  if line.line_hl then
    vim.api.nvim_buf_set_extmark(buf, ns, lnum, 0, { line_hl_group = line.line_hl })
  end
end

return M
