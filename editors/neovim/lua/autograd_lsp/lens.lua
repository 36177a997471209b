-- Code lenses: kept up to date where the server offers them, and what happens when one is run.

local clients = require('autograd_lsp.client')
local options = require('autograd_lsp.options')

local M = {}

function M.attach(buffer, client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  if not client or not clients.is_ours(client) or not options.get().code_lens then
    return
  elseif not client.server_capabilities.codeLensProvider then
    return
  elseif vim.lsp.codelens.enable then
    vim.lsp.codelens.enable(true, { bufnr = buffer })
    return
  end
  local function refresh()
    vim.lsp.codelens.refresh({ bufnr = buffer })
  end
  vim.api.nvim_create_autocmd({ 'BufEnter', 'InsertLeave', 'TextChanged' }, {
    group = vim.api.nvim_create_augroup(('autograd_lsp.lens.%d'):format(buffer), {}),
    buffer = buffer,
    callback = refresh,
  })
  refresh()
end

return M
