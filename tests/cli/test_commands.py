"""The commands beside `check`."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from autograd_lsp import __version__
from tests.cli.command import BROKEN, run


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(BROKEN)
    return tmp_path


def test_version(project: Path) -> None:
    assert run("--version", cwd=project).stdout == f"autograd-lsp {__version__}\n"


def test_no_command_is_bad_usage(project: Path) -> None:
    assert run(cwd=project).returncode == 2


def test_facts_as_json(project: Path) -> None:
    done = run("facts", "--format", "json", "train.py", cwd=project)
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["version"] == 1
    [file] = document["files"]
    fact = next(fact for fact in file["facts"] if (fact["line"], fact["name"]) == (3, "y"))
    assert (fact["scope"], fact["requires_grad"], fact["is_leaf"]) == ("<module>", True, False)
    assert fact["grad_fn"] == ["ExpBackward0"]
    assert set(fact) == {"line", "scope", "name", "requires_grad", "is_leaf", "grad_fn", "shape", "dtype"}


def test_facts_of_one_line(project: Path) -> None:
    done = run("facts", "train.py:3", cwd=project)
    assert done.returncode == 0
    assert done.stdout.startswith("train.py:3: y  requires_grad=True")
    assert "grad_fn=ExpBackward0" in done.stdout
    assert run("facts", "train.py:1", cwd=project).stdout == ""


def test_facts_tell_since_where_a_name_is_unknown(project: Path) -> None:
    (project / "guess.py").write_text("from away import make\nmodel = make()\n\nout = model(1)\n")
    done = run("facts", "guess.py", cwd=project)
    assert done.stdout == "guess.py:2: model  unknown since line 2\nguess.py:4: out  unknown since line 2\n"
    document = json.loads(run("facts", "--format", "json", "guess.py", cwd=project).stdout)
    since = {"path": "guess.py", "line": 2}
    assert document["files"][0]["facts"] == []
    assert document["files"][0]["unknown"][1] == {"line": 4, "scope": "<module>", "name": "out", "since": since}


def test_facts_of_a_file_that_is_not_there(project: Path) -> None:
    done = run("facts", "absent.py", cwd=project)
    assert done.returncode == 2
    assert "absent.py" in done.stderr


def test_graph_as_text(project: Path) -> None:
    done = run("graph", "train.py:3", cwd=project)
    assert done.returncode == 0
    assert done.stdout.startswith("y ")
    assert "└─ ExpBackward0" in done.stdout


@pytest.mark.parametrize(("form", "start"), [("dot", "digraph"), ("mermaid", "flowchart TD")])
def test_graph_as_a_picture(project: Path, form: str, start: str) -> None:
    done = run("graph", "train.py:3:y", "--format", form, cwd=project)
    assert done.returncode == 0
    assert done.stdout.startswith(start)
    assert "ExpBackward0" in done.stdout


def test_graph_as_svg(project: Path) -> None:
    done = run("graph", "train.py:3:y", "--format", "svg", cwd=project)
    assert done.returncode == 0
    picture = ElementTree.fromstring(done.stdout)
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"y", "ExpBackward0", "saves result", "line 3", "x"} <= set(texts)


def test_graph_of_data_that_nobody_knows(project: Path) -> None:
    lines = [
        "import torch",
        "from lab import films",
        "net = torch.nn.Linear(2, 1)",
        "for x in films:",
        "    y = net(x)",
    ]
    (project / "films.py").write_text("\n".join(lines))
    told = run("graph", "films.py:5:y", cwd=project).stdout.splitlines()
    assert [line.strip(" └├─│") for line in told[2:]] == [
        "net.weight [line 3]  leaf",
        "net.bias [line 3]  leaf",
        "x [line 5]  presumed to be data without a graph",
    ]


def test_graph_names_the_last_of_a_name_on_its_line(project: Path) -> None:
    (project / "twice.py").write_text("import torch\nx = torch.ones(2, requires_grad=True)\nx = x.exp(); x = x.sin()\n")
    assert run("graph", "twice.py:3:x", cwd=project).stdout.splitlines()[1] == "└─ SinBackward0 [line 3]  saves self"


def test_graph_as_json(project: Path) -> None:
    document = json.loads(run("graph", "train.py:3:y", "--format", "json", cwd=project).stdout)
    assert document["name"] == "y"
    operator = next(node for node in document["nodes"] if node["label"] == "ExpBackward0")
    assert operator["range"]["start"]["line"] == 3
    known = {node["id"] for node in document["nodes"]}
    assert all({edge["from"], edge["to"]} <= known for edge in document["edges"])


def test_graph_where_there_is_no_tensor(project: Path) -> None:
    done = run("graph", "train.py:1", cwd=project)
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.parametrize("place", ["train.py", "train.py:0", "train.py:99", "absent.py:1"])
def test_graph_of_a_place_that_is_none(project: Path, place: str) -> None:
    assert run("graph", place, cwd=project).returncode == 2


def test_rules_are_listed_and_explained(project: Path) -> None:
    assert "AG104  saved-tensor-modified" in run("rule", cwd=project).stdout
    by_code, by_name = run("rule", "AG104", cwd=project), run("rule", "saved-tensor-modified", cwd=project)
    assert by_code.stdout == by_name.stdout
    assert by_code.stdout.startswith("# saved-tensor-modified (AG104)\n")
    assert run("rule", "no-such-rule", cwd=project).returncode == 2


def test_rules_are_told_to_programs(project: Path) -> None:
    every = json.loads(run("rule", "--output-format", "json", cwd=project).stdout)
    one = json.loads(run("rule", "AG104", "--output-format", "json", cwd=project).stdout)
    assert one in every
    assert (one["name"], one["url"].rstrip("/").rpartition("/")[2]) == (
        "saved-tensor-modified",
        "saved-tensor-modified",
    )
    assert "AG001" in {rule["code"] for rule in every}
    assert all(rule["page"] and rule["summary"] for rule in every)
    pages = run("rule", "--all", cwd=project).stdout
    assert all(f"# {rule['name']} ({rule['code']})\n" in pages for rule in every)
    assert run("rule", "--all", "AG104", cwd=project).returncode == 2


@pytest.mark.parametrize("arguments", [("--tcp", "nowhere"), ("--stdio", "--tcp", "localhost:0")])
def test_server_refuses_what_it_cannot_do(project: Path, arguments: tuple[str, ...]) -> None:
    assert run("server", *arguments, cwd=project).returncode == 2
