-- Neovim 0.10, which has no vim.lsp.enable: start the server for each Python buffer.
vim.api.nvim_create_autocmd('FileType', {
  pattern = 'python',
  group = vim.api.nvim_create_augroup('autograd_lsp', {}),
  callback = function(event)
    vim.lsp.start({
      name = 'autograd_lsp',
      cmd = { 'autograd-lsp', 'server', '--stdio' },
      root_dir = vim.fs.root(event.buf, { 'pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt', '.git' }),
    }, { bufnr = event.buf })
  end,
})
