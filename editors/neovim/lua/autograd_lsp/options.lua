-- What the user has set in vim.g.autograd_lsp, over what holds without a word.

local M = {}

M.defaults = {
  -- Show code lenses, and keep them up to date.
  code_lens = true,
  graph = {
    -- The border of the window; '' is 'winborder', or rounded where that is not set.
    border = '',
    -- :AutogradGraph follows the cursor without a bang too.
    follow = false,
    -- Milliseconds for which the cursor rests before the graph follows.
    patience = 100,
  },
}

--- `values` over `defaults`. A bad value counts as if it were not there, and `tell` hears of it.
local function merged(values, defaults, name, tell)
  if type(values) ~= 'table' then
    tell(('%s is a %s, not a table'):format(name, type(values)))
    return defaults
  end
  local result = vim.deepcopy(defaults)
  for key, value in pairs(values) do
    local default, called = defaults[key], ('%s.%s'):format(name, key)
    if default == nil then
      tell(called .. ' is no option')
    elseif type(default) == 'table' then
      result[key] = merged(value, default, called, tell)
    elseif type(value) ~= type(default) then
      tell(('%s is a %s, not a %s'):format(called, type(value), type(default)))
    else
      result[key] = value
    end
  end
  return result
end

function M.get()
  return merged(vim.g.autograd_lsp or {}, M.defaults, 'vim.g.autograd_lsp', function() end)
end

--- What is wrong with the user's options, a sentence each.
function M.problems()
  local found = {}
  merged(vim.g.autograd_lsp or {}, M.defaults, 'vim.g.autograd_lsp', function(problem)
    found[#found + 1] = problem
  end)
  table.sort(found)
  return found
end

return M
