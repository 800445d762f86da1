--- Windows that follow the end of a growing buffer: those whose cursor stands there.

local M = {}

---@param buf integer
---@return integer[] windows that follow
function M.windows(buf)
  local last = vim.api.nvim_buf_line_count(buf)
  return vim.tbl_filter(function(win)
    return vim.api.nvim_win_get_cursor(win)[1] >= last
  end, vim.fn.win_findbuf(buf))
end

--- Put the cursor of windows at the end; one in which something is being selected stays.
---@param buf integer
---@param wins integer[]
function M.to_end(buf, wins)
  local last = vim.api.nvim_buf_line_count(buf)
  for _, win in ipairs(wins) do
    local selecting = win == vim.api.nvim_get_current_win() and vim.fn.mode():find('^[vV\22]')
    if not selecting then
      vim.api.nvim_win_set_cursor(win, { last, 0 })
    end
  end
end

return M
