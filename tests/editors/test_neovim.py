"""Neovim as its users have it: configured by the lines of the page on editors, and typed into."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.editors import neovim
from tests.editors.home import Home, make_home
from tests.editors.installs import REPOSITORY, Program, UnavailableError
from tests.editors.installs import neovim as install
from tests.editors.pages import snippets
from tests.lsp.editor import BROKEN

PLUGIN = REPOSITORY / "editors" / "neovim"
ENABLE, START_IN_0_10, CONFIGURE = snippets("Neovim", "lua")
ASTRAL = BROKEN.replace("y.add_(1)", "s = '😀é'; y.add_(1)")
LIBRARY = "def write(y):\n    y.add_(1)\n"
CALLER = BROKEN.replace("y.add_(1)", "from library import write; write(y)")
GRAPHS = """\
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
z = y * y
z.sum().backward()
d = y.detach()
z
"""
TWO = BROKEN.replace("y.add_(1)", "y.require_grad = True").replace("backward()", "backward(retain_graph=True)")
"""AG206, and AG402, which the settings of the page leave out."""
HALF = """\
import torch
body, head = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
loss = body(torch.ones(4, 3)).sum()
loss.backward()
optimizer.step()
"""
PROGRAMS = {
    "train.py": BROKEN,
    "astral.py": ASTRAL,
    "library.py": LIBRARY,
    "caller.py": CALLER,
    "graphs.py": GRAPHS,
    "two.py": TWO,
    "half.py": HALF,
    "notes.txt": "no program\n",
}


@dataclass(frozen=True)
class Neovim:
    version: str
    program: Program
    home: Home

    def run(self, script: str, init: str | None = None) -> Any:
        return neovim.run(self.program, self.home, self.usual if init is None else init, script)

    @property
    def usual(self) -> str:
        return ENABLE if self.version == "newest" else START_IN_0_10

    @property
    def start(self) -> str:
        """Of the usual configuration, the line that starts the server."""
        return self.usual.splitlines()[-1]


@pytest.fixture(params=["newest", "0.10"])
def editor(request: pytest.FixtureRequest, tmp_path: Path) -> Neovim:
    try:
        program = install(request.param)
    except UnavailableError as reason:
        pytest.skip(str(reason))
    return Neovim(request.param, program, make_home(tmp_path, PROGRAMS))


@pytest.fixture
def newest(tmp_path: Path) -> Neovim:
    try:
        program = install("newest")
    except UnavailableError as reason:
        pytest.skip(str(reason))
    return Neovim("newest", program, make_home(tmp_path, PROGRAMS))


def test_a_finding_is_underlined_and_tells_its_trace(editor: Neovim) -> None:
    [finding] = editor.run("return findings(open('train.py'), 1)")
    assert (finding["code"], finding["source"]) == ("AG104", "autograd-lsp")
    assert (finding["lnum"], finding["col"], finding["end_col"]) == (3, 0, 9)
    trace = finding["user_data"]["lsp"]["relatedInformation"]
    assert {2, 4} <= {step["location"]["range"]["start"]["line"] for step in trace}


def test_the_findings_are_pulled_and_none_is_shown_twice(editor: Neovim) -> None:
    namespaces = editor.run("""
        findings(open('train.py'), 1)
        rest(1000)
        local pushed = vim.lsp.diagnostic.get_namespace(client().id, false)
        return { all = #vim.diagnostic.get(0), pushed = #vim.diagnostic.get(0, { namespace = pushed }) }
    """)
    assert namespaces == {"all": 1, "pushed": 0}


def test_hover_floats_what_is_known_of_the_tensor(editor: Neovim) -> None:
    shown = editor.run("""
        open('train.py')
        go_to(3, 1)
        vim.lsp.buf.hover()
        return table.concat(await('hover', float).lines, '\\n')
    """)
    assert "requires_grad=True" in shown
    assert "ExpBackward0" in shown


def test_the_preferred_fix_changes_the_buffer_and_the_finding_goes(editor: Neovim) -> None:
    fixed = editor.run("""
        local buffer = open('train.py')
        findings(buffer, 1)
        go_to(4, 1)
        vim.lsp.buf.code_action({ apply = true, filter = function(action) return action.isPreferred end })
        findings(buffer, 0)
        return lines(buffer)
    """)
    assert fixed == BROKEN.replace("y.add_(1)", "y = y.add(1)").splitlines()


def test_columns_are_right_behind_an_astral_character(editor: Neovim) -> None:
    told = editor.run("""
        local buffer = open('astral.py')
        local before = findings(buffer, 1)[1]
        go_to(4, before.col + 1)
        type_keys('iü = 1; <Esc>')
        local after = await('moved finding', function()
          local moved = vim.diagnostic.get(buffer)[1]
          return moved and moved.col > before.col and moved
        end)
        vim.lsp.buf.code_action({ apply = true, filter = function(action) return action.isPreferred end,
          range = { start = { 4, after.col }, ['end'] = { 4, after.col } } })
        findings(buffer, 0)
        local encoding = client().offset_encoding
        return { encoding = encoding, before = before.col, after = after.col, line = lines(buffer)[4] }
    """)
    assert told["encoding"] == ("utf-8" if editor.version == "newest" else "utf-16")
    before = len("s = '😀é'; ".encode())
    assert (told["before"], told["after"]) == (before, before + len("ü = 1; ".encode()))
    assert told["line"] == "s = '😀é'; ü = 1; y = y.add(1)"


def test_an_edit_in_one_buffer_changes_the_findings_of_another(editor: Neovim) -> None:
    counts = editor.run("""
        local caller = open('caller.py')
        local before = #findings(caller, 1)
        local library = open('library.py')
        findings(library, 1)
        vim.api.nvim_buf_set_text(library, 1, 4, 1, -1, { 'return y.add(1)' })
        findings(library, 0)
        findings(caller, 0)
        vim.cmd.undo()
        findings(library, 1)
        return { before = before, after = #findings(caller, 1) }
    """)
    assert counts == {"before": 1, "after": 1}


def test_the_graph_is_a_tree_that_leads_to_the_lines_that_made_it(editor: Neovim) -> None:
    told = editor.run("""
        open('graphs.py')
        go_to(3, 1)
        vim.cmd.AutogradGraph()
        local graph = await('graph', float)
        local shown = screen()
        type_keys('jj')
        type_keys('<CR>')
        await('jump', function() return float() == nil end)
        return { lines = graph.lines, screen = shown, cursor = cursor(), name = vim.fn.expand('%:t') }
    """)
    print(told["screen"])
    assert told["lines"] == ["y  requires_grad=True", "└─ ExpBackward0  saves result", "   └─ x  leaf"]
    assert "graph of y" in told["screen"]
    assert all(line in told["screen"] for line in told["lines"])
    assert (told["cursor"], told["name"]) == ([2, 5], "graphs.py")


def test_the_graph_closes_with_q_and_when_it_is_left(editor: Neovim) -> None:
    told = editor.run("""
        open('graphs.py')
        go_to(3, 1)
        local closed = {}
        for _, keys in ipairs({ 'q', '<C-w>p', ':quit<CR>' }) do
          vim.cmd.AutogradGraph()
          await('graph', float)
          type_keys(keys)
          closed[#closed + 1] = await('end of the graph', function() return float() == nil end)
        end
        return { closed = closed, cursor = cursor(), windows = #vim.api.nvim_list_wins() }
    """)
    assert told == {"closed": [True, True, True], "cursor": [3, 1], "windows": 1}


GROUPS = """
local function groups(graph)
  local found, namespace = {}, vim.api.nvim_create_namespace('autograd_lsp.graph')
  local buffer = vim.api.nvim_win_get_buf(graph.window)
  for row, line in ipairs(graph.lines) do
    local words = {}
    local marks = vim.api.nvim_buf_get_extmarks(buffer, namespace, { row - 1, 0 }, { row - 1, -1 }, { details = true })
    for _, mark in ipairs(marks) do
      words[line:sub(mark[3] + 1, mark[4].end_col)] = mark[4].hl_group
    end
    found[row] = words
  end
  return found
end
"""


@pytest.mark.parametrize(
    ("place", "lines", "words"),
    [
        (
            (4, 1),
            [
                "z  requires_grad=True",
                "└─ MulBackward0  saves other, self",
                "   ├─ ExpBackward0  saves result",
                "   │  └─ x  leaf",
                "   └─ ExpBackward0  (see above)",
            ],
            {
                "z": "AutogradGraphTensor",
                "saves other, self": "AutogradGraphSaved",
                "x": "AutogradGraphLeaf",
                "  (see above)": "AutogradGraphNote",
            },
        ),
        (
            (7, 1),
            [
                "z  requires_grad=True",
                "└─ MulBackward0  saves other, self, freed",
                "   ├─ ExpBackward0  saves result, freed",
                "   │  └─ x  leaf",
                "   └─ ExpBackward0  (see above)",
            ],
            {"freed": "AutogradGraphFreed"},
        ),
        (
            (6, 1),
            ["d  leaf, requires_grad=False", "└─ detach  gradient stops here"],
            {"gradient stops here": "AutogradGraphCut", "leaf": "AutogradGraphLeaf"},
        ),
    ],
    ids=["shared", "freed", "cut"],
)
def test_the_graph_shows_what_is_saved_freed_and_cut(
    editor: Neovim, place: tuple[int, int], lines: list[str], words: dict[str, str]
) -> None:
    told = editor.run(f"""
        {GROUPS}
        open('graphs.py')
        go_to({place[0]}, {place[1]})
        vim.cmd.AutogradGraph()
        local graph = await('graph', float)
        local linked = vim.api.nvim_get_hl(0, {{ name = 'AutogradGraphCut' }}).link
        return {{ lines = graph.lines, groups = groups(graph), linked = linked }}
    """)
    assert told["lines"] == lines
    shown = {word: group for row in told["groups"] for word, group in row.items()}
    assert words.items() <= shown.items()
    assert told["linked"] == "DiagnosticError"


def test_with_a_bang_the_graph_follows_the_cursor(editor: Neovim) -> None:
    told = editor.run("""
        open('graphs.py')
        local function shows(name)
          return await('graph of ' .. name, function()
            local graph = float()
            return graph and vim.startswith(graph.lines[1], name .. ' ') and graph.window
          end)
        end
        type_keys('3G0')
        vim.cmd('AutogradGraph!')
        local window = shows('y')
        type_keys('jjj')
        local same = shows('d') == window
        local shown = screen()
        type_keys('gg')
        rest(500)
        local stays = shows('d') == window
        type_keys('Gz<Esc>')
        shows('z')
        type_keys('ggO<Esc>4G0')
        shows('y')
        vim.cmd('AutogradGraph!')
        return { same = same, stays = stays, gone = float() == nil, screen = shown, windows = vim.fn.winnr('$') }
    """)
    print(told.pop("screen"))
    assert told == {"same": True, "stays": True, "gone": True, "windows": 1}


def test_a_graph_that_follows_jumps_too_and_stays(editor: Neovim) -> None:
    told = editor.run("""
        open('graphs.py')
        local source = vim.api.nvim_get_current_win()
        type_keys('4G0')
        vim.cmd('AutogradGraph!')
        local window = await('graph', float).window
        vim.api.nvim_set_current_win(window)
        type_keys('3G<CR>')
        local there = vim.api.nvim_get_current_win() == source
        return { there = there, cursor = cursor(), stays = float().window == window }
    """)
    assert told == {"there": True, "cursor": [3, 5], "stays": True}


LENSES = """
-- A server inside Neovim, with one lens; the real one is not started.
local declared
local function server()
  local line = { start = { line = 4, character = 0 }, ['end'] = { line = 4, character = 18 } }
  local uri = vim.uri_from_fname(vim.env.HOME .. '/project/train.py')
  local place = { uri = uri, range = { start = { line = 1, character = 0 }, ['end'] = { line = 1, character = 1 } } }
  local command = {
    title = 'reaches 0 of 1 parameters: not `x`',
    command = 'autograd-lsp.showReach',
    arguments = { uri, line.start, { place } },
  }
  local answers = {
    initialize = { capabilities = { codeLensProvider = { resolveProvider = false }, textDocumentSync = 1 } },
    ['textDocument/codeLens'] = { { range = line, command = command } },
  }
  local closing = false
  return {
    request = function(method, params, callback)
      if method == 'initialize' then declared = params.capabilities.experimental end
      vim.schedule(function() callback(nil, answers[method]) end)
      return true, 1
    end,
    notify = function(method) closing = closing or method == 'exit' return true end,
    is_closing = function() return closing end,
    terminate = function() closing = true end,
  }
end
local start = vim.lsp.start
vim.lsp.start = function(config, options)
  return start(vim.tbl_extend('force', config, { cmd = server }), options)
end
"""


def test_lenses_are_shown_and_the_one_over_a_backward_lists_what_it_speaks_of(editor: Neovim) -> None:
    told = editor.run(f"""
        {LENSES}
        open('train.py')
        await('lens', function() return screen():find('reaches 0 of 1', 1, true) end)
        local shown = screen()
        go_to(5, 1)
        vim.lsp.codelens.run()
        local list = await('list', function()
          local list = vim.fn.getqflist({{ title = true, items = true, winid = true }})
          return #list.items > 0 and list.winid ~= 0 and list
        end)
        local item = list.items[1]
        return {{ screen = shown, title = list.title, place = {{ item.lnum, item.col }}, text = item.text,
                 declared = declared.commands.commands }}
    """)
    print(told["screen"])
    assert told["title"] == "reaches 0 of 1 parameters: not `x`"
    assert told["place"] == [2, 1]
    assert told["text"].startswith("x = torch.ones")
    assert told["declared"] == ["autograd-lsp.showReach"]


def test_lenses_can_be_left_out(editor: Neovim) -> None:
    shown = editor.run(
        f"{LENSES} open('train.py'); rest(1000); return screen()",
        init=editor.usual + "\nvim.g.autograd_lsp = { code_lens = false }",
    )
    assert "y.sum().backward()" in shown
    assert "reaches" not in shown


@pytest.mark.parametrize(
    ("script", "message"),
    [("vim.cmd.edit('notes.txt')", "is not attached"), ("open('train.py'); go_to(1, 2)", "no tensor is known here")],
)
def test_without_a_graph_there_is_a_message_and_no_window(editor: Neovim, script: str, message: str) -> None:
    told = editor.run(f"""
        {script}
        local told = {{}}
        vim.notify = function(words) told[#told + 1] = words end
        vim.cmd.AutogradGraph()
        await('message', function() return #told > 0 end)
        return {{ told = told, floats = float() ~= nil }}
    """)
    assert len(told["told"]) == 1
    assert message in told["told"][0]
    assert told["floats"] is False


def test_hints_stand_behind_the_names(editor: Neovim) -> None:
    shown = editor.run("""
        local buffer = open('train.py')
        vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
        return await('hint', function()
          local shown = screen()
          return shown:find('y: ExpBackward0 = x.exp()', 1, true) and shown
        end)
    """)
    print(shown)


def test_a_lens_of_the_server_is_shown(editor: Neovim) -> None:
    shown = editor.run("""
        open('half.py')
        return await('lens', function()
          local shown = screen()
          return shown:find('reaches 2 of 4 parameters: not `head.weight`, `head.bias`', 1, true) and shown
        end)
    """)
    print(shown)


def test_on_a_finding_the_steps_of_its_trace_are_highlighted(editor: Neovim) -> None:
    lines = editor.run("""
        local buffer = open('train.py')
        findings(buffer, 1)
        go_to(4, 1)
        vim.lsp.buf.document_highlight()
        return await('highlights', function()
          local found = {}
          for name, namespace in pairs(vim.api.nvim_get_namespaces()) do
            if name:find('lsp', 1, true) and name:find('reference', 1, true) then
              for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, namespace, 0, -1, {})) do
                found[#found + 1] = mark[2]
              end
            end
          end
          return #found > 0 and found
        end)
    """)
    assert {2, 4} <= set(lines)


def test_the_configuration_of_the_page_holds(newest: Neovim) -> None:
    newest.home.write("bin/autograd-lsp", "#!/bin/sh\nexit 1\n")
    told = newest.run(
        """
        local buffer = open('two.py')
        go_to(3, 1)
        type_keys('\\\\ag')
        local graph = await('graph', float)
        return { code = findings(buffer, 1)[1].code, program = client().config.cmd[1],
                 entered = vim.api.nvim_get_current_win() == graph.window }
    """,
        init=newest.usual + CONFIGURE,
    )
    assert told["program"] == str(newest.home.folder / ".venvs/autograd/bin/autograd-lsp")
    assert told["code"] == "AG206"
    assert told["entered"] is False, "a graph that follows the cursor is not entered"


def test_without_the_configuration_of_the_page_there_is_one_finding_more(newest: Neovim) -> None:
    found = newest.run("return findings(open('two.py'), 2)")
    assert {finding["code"] for finding in found} == {"AG206", "AG402"}


HEALTH = """
vim.cmd.checkhealth('autograd_lsp')
return await('report', function()
  local report = lines(0)
  return #report > 5 and report
end)
"""


def test_the_health_check_is_content(editor: Neovim) -> None:
    report = "\n".join(editor.run("findings(open('train.py'), 1)" + HEALTH))
    assert "ERROR" not in report
    assert "WARNING" not in report
    assert "is running in" in report
    assert "diagnostics are pulled" in report
    assert "autograd-lsp 0." in report


def test_the_health_check_says_what_is_wrong(newest: Neovim) -> None:
    init = f"""{newest.usual}
        vim.lsp.config('autograd_lsp', {{ cmd = {{ 'no-such-program', 'server' }} }})
        vim.g.autograd_lsp = {{ graph = {{ folow = true }}, code_lens = 'no' }}
    """
    report = "\n".join(newest.run(HEALTH, init))
    assert "no-such-program is not an executable program" in report
    assert "docs/start.md" in report
    assert "vim.g.autograd_lsp.graph.folow is no option" in report
    assert "vim.g.autograd_lsp.code_lens is a string, not a boolean" in report


def test_copied_into_the_configuration_it_works_and_its_help_is_found(editor: Neovim) -> None:
    shutil.copytree(PLUGIN, editor.home.folder / ".config" / "nvim", dirs_exist_ok=True)
    told = editor.run(
        """
        vim.cmd.helptags(vim.fn.stdpath('config') .. '/doc')
        findings(open('train.py'), 1)
        vim.cmd.help(':AutogradGraph')
        local page, wanted, missing = vim.fn.expand('%:t'), {}, {}
        for _, line in ipairs(lines(0)) do
          for tag in line:gmatch('|(%S-)|') do
            wanted[#wanted + 1] = tag
            if #vim.fn.taglist('^\\\\V' .. tag .. '\\\\$') == 0 then missing[#missing + 1] = tag end
          end
        end
        return { page = page, wanted = #wanted, missing = table.concat(missing, ' ') }
    """,
        init=editor.start,
    )
    assert told["page"] == "autograd-lsp.txt"
    assert told["wanted"] > 10
    assert told["missing"] == ("" if editor.version == "newest" else "vim.lsp.config()")


def test_as_a_package_it_works(editor: Neovim) -> None:
    package = editor.home.folder / ".local/share/nvim/site/pack/autograd/opt/autograd-lsp"
    package.parent.mkdir(parents=True)
    package.symlink_to(PLUGIN)
    told = editor.run(
        "local found = findings(open('train.py'), 1); return { #found, vim.fn.exists(':AutogradGraph') }",
        init=f"vim.cmd.packadd('autograd-lsp')\n{editor.start}",
    )
    assert told == [1, 2]


def test_the_server_alone_needs_one_file(newest: Neovim) -> None:
    alone = newest.home.folder / ".config/nvim/lsp/autograd_lsp.lua"
    alone.parent.mkdir(parents=True)
    shutil.copy(PLUGIN / "lsp" / "autograd_lsp.lua", alone)
    assert len(newest.run("return findings(open('train.py'), 1)", init=newest.start)) == 1
