-- Neovim 0.10, which has no vim.lsp.enable: start the server for each Python buffer.
local has_plugin, lens = pcall(require, 'autograd_lsp.lens')
local beside = has_plugin and lens.capabilities or {}

vim.api.nvim_create_autocmd('FileType', {
  pattern = 'python',
  group = vim.api.nvim_create_augroup('autograd_lsp', {}),
  callback = function(event)
    vim.lsp.start({
      name = 'autograd_lsp',
      cmd = { 'autograd-lsp', 'server', '--stdio' },
      root_dir = vim.fs.root(event.buf, { 'pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt', '.git' }),
      capabilities = vim.tbl_deep_extend('force', vim.lsp.protocol.make_client_capabilities(), beside),
    }, { bufnr = event.buf })
  end,
})
