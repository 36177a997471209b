-- The command, and what attaches itself to our server.

if vim.g.loaded_autograd_lsp then
  return
end
vim.g.loaded_autograd_lsp = true

vim.api.nvim_create_user_command('AutogradGraph', function(command)
  require('autograd_lsp.graph').open(command.bang)
end, { bang = true, bar = true, desc = 'The autograd graph of the tensor under the cursor; with !, follow the cursor' })

vim.lsp.commands['autograd-lsp.showReach'] = function(command, context)
  require('autograd_lsp.lens').show(command, context)
end
if vim.fn.has('nvim-0.11') == 1 then
  vim.lsp.config('autograd_lsp', { capabilities = require('autograd_lsp.lens').capabilities })
end

local group = vim.api.nvim_create_augroup('autograd_lsp.plugin', {})

vim.api.nvim_create_autocmd('LspAttach', {
  group = group,
  callback = function(event)
    require('autograd_lsp.lens').attach(event.buf, event.data.client_id)
  end,
})

vim.api.nvim_create_autocmd('LspNotify', {
  group = group,
  callback = function(event)
    require('autograd_lsp.pull').notified(event.buf, event.data.client_id, event.data.method)
  end,
})
