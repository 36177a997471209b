-- Code lenses: kept up to date where the server offers them, and the list that the lens over a backward opens.

local clients = require('autograd_lsp.client')
local options = require('autograd_lsp.options')

local M = {}

--- The command of a lens over a backward: a document, a position in it, and the places of what it speaks of.
M.SHOW = 'autograd-lsp.showReach'

--- What the server has to know of us beside what Neovim says itself.
M.capabilities = { experimental = { commands = { commands = { M.SHOW } } } }

function M.show(command, context)
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  local places = (command.arguments or {})[3] or {}
  if #places == 0 then
    clients.tell(command.title)
    return
  end
  local items = vim.lsp.util.locations_to_items(places, client.offset_encoding)
  vim.fn.setqflist({}, ' ', { title = command.title, items = items })
  vim.cmd('botright copen')
end

--- Neovim 0.12 keeps lenses up to date itself once they are enabled; before that it is told when to ask.
local function keep_up_to_date(buffer)
  if vim.lsp.codelens.enable then
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

function M.attach(buffer, client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  local offers = client and clients.is_ours(client) and client.server_capabilities.codeLensProvider
  if offers and options.get().code_lens then
    keep_up_to_date(buffer)
  end
end

return M
