"""What a process pays and what it never does; and the files around the package."""

import ast
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import dataworth
from dataworth import KNNShapley
from docs.rooms import parsed
from scripts.minimums import minimums

ROOT = Path(__file__).parent.parent

VALUE = """
import hashlib, sys
import numpy as np
from dataworth import KNNShapley
rng = np.random.default_rng(0)
X, y = rng.normal(size=(500, 8)), np.arange(500) % 3
values = KNNShapley(PARAMS).fit(X, y).value(X[:20] + 0.1, y[:20]).values
import numba
kernels = [d for m in list(sys.modules.values()) if m.__name__.startswith("dataworth")
           for d in vars(m).values() if isinstance(d, numba.core.dispatcher.Dispatcher)]
hits = sum(sum(k.stats.cache_hits.values()) for k in kernels)
misses = sum(sum(k.stats.cache_misses.values()) for k in kernels)
print(hits, misses, int(hashlib.sha256(values.tobytes()).hexdigest(), 16))
"""
WEIGHTED = VALUE.replace("PARAMS", "")
UNWEIGHTED = VALUE.replace("PARAMS", "weights='uniform'")  # compiles faster

# Values of small games of every kind, and their bounds, as JSON.
EVERY_GAME = """
import json
import numpy as np
from dataworth import KNNShapley
rng = np.random.default_rng(0)
X, y, t = rng.normal(size=(17, 2)), np.arange(17) % 3, rng.uniform(-0.5, 0.5, size=17)
X_val, y_val, t_val = rng.normal(size=(3, 2)), np.arange(3), rng.uniform(-0.5, 0.5, size=3)
kinds = [
    {"game": "soft"}, {"game": "hard"}, {"game": "hard", "multiclass": "direct"},
    {"game": "regression"},
]
ways = [
    {"weights": "uniform"}, {"weights": "rbf"}, {"weights": "rbf", "max_rank": 8},
    {"weights": "rbf", "support": 6}, {"weights": "rbf", "semivalue": "banzhaf"},
    {"weights": "rbf", "n_bits": None}, {"weights": "rbf", "n_bits": None, "max_rank": 8},
]
out = {}
for kind in kinds:
    for way in ways:
        if kind["game"] == "hard" and "n_bits" in way:
            continue  # the vote needs whole weights
        targets = (t, t_val) if kind["game"] == "regression" else (y, y_val)
        got = KNNShapley(n_neighbors=3, **kind, **way).fit(X, targets[0]).value(X_val, targets[1])
        out[f"{kind} {way}"] = [*got.values, *got.lower, *got.upper]
print(json.dumps(out))
"""


def run(code: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_import_compiles_nothing(tmp_path: Path) -> None:
    code = (
        "import numba.core.event as e\n"
        "seen = e.RecordingListener()\n"
        "e.register('numba:compile', seen)\n"
        "import dataworth\n"
        "print(len(seen.buffer))"
    )
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)) == "0"
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_second_run_pays_no_compilation(tmp_path: Path) -> None:
    first = [int(n) for n in run(UNWEIGHTED, NUMBA_CACHE_DIR=str(tmp_path)).split()]
    second = [int(n) for n in run(UNWEIGHTED, NUMBA_CACHE_DIR=str(tmp_path)).split()]
    assert first[1] > 0
    assert second[0] > 0
    assert second[1] == 0
    assert first[2] == second[2]  # the bits: code from disk is the code that was compiled


def test_every_dependency_declares_a_minimum() -> None:
    """`make test-minimum` installs these; an interpreter and tools have minimums of their own."""
    project = _project()
    pins = minimums(project, project["optional-dependencies"])
    assert {"numpy", "scipy", "numba", "scikit-learn"} <= {pin.partition("==")[0] for pin in pins}
    for broken, message in (
        (["numpy"], "declares no minimum of numpy"),
        (["numpy<3"], "declares no minimum of numpy"),
        (["numpy>=2.0", "numpy>=2.1"], "declares two minimums of numpy"),
        (["numpy @ somewhere"], "cannot be read"),
    ):
        with pytest.raises(ValueError, match=message):
            minimums({"name": "tool", "dependencies": broken})


def test_works_where_nothing_can_be_cached() -> None:
    """And gives the same bits as code from disk, which a run before has compiled."""
    bare = "import numba.core.caching as c\nc.CacheImpl._locator_classes = []\n"
    anew = [int(n) for n in run(bare + WEIGHTED).split()]
    assert anew[0] == 0
    assert anew[1] > 0
    run(WEIGHTED)
    kept = [int(n) for n in run(WEIGHTED).split()]
    assert kept[0] > 0
    assert kept[1] == 0
    assert kept[2] == anew[2]


def test_plotting_and_frames_stay_unimported() -> None:
    code = (
        "import sys, sklearn.neighbors\n"
        "before = set(sys.modules)  # scikit-learn itself imports pandas where it is installed\n"
        "import dataworth\n"
        "optional = {'matplotlib', 'pandas', 'polars', 'dask', 'torch'}\n"
        "print(sorted(optional & (set(sys.modules) - before)))"
    )
    assert run(code) == "[]"


def test_kernels_release_the_interpreter_lock() -> None:
    code = (
        "import threading, time\n"
        "import numpy as np\n"
        "from dataworth.games.kernels import hard\n"
        "from dataworth.games.kernels.coefficients import shapley_like\n"
        "n = 400_000\n"
        "weights, right = np.ones(n, np.int16), np.ones(n)\n"
        "rest = (7, 20, 1.0, shapley_like(n, 20))\n"
        "hard.binary(weights[:50], right[:50], 50, *rest, np.empty(50), np.empty(15))\n"
        "args = (weights, right, n, *rest, np.empty(n), np.empty(15))\n"
        "work = threading.Thread(target=hard.binary, args=args)\n"
        "ticks = 0\n"
        "work.start()\n"
        "while work.is_alive():\n"
        "    time.sleep(0.001)\n"
        "    ticks += 1\n"
        "print(ticks)"
    )
    # A kernel that held the lock would let the loop run once, when it is done.
    assert int(run(code)) > 10


def test_kernels_run_without_the_compiler() -> None:
    """For debuggers and coverage. The compiler may only change the order of sums.

    Targets span 1, so that no utility of any game is above 1, whose last digit is 2e-16. With
    targets of other size the differences are larger by the square of that.
    """
    ref = json.loads(run(EVERY_GAME, NUMBA_DISABLE_JIT="0"))
    got = json.loads(run(EVERY_GAME, NUMBA_DISABLE_JIT="1"))
    assert got.keys() == ref.keys()
    for name in ref:
        # Real weights are sums over some hundred nodes of both signs, so their last digits differ.
        atol = 2e-14 if "'n_bits': None" in name else 5e-16
        np.testing.assert_allclose(got[name], ref[name], rtol=0, atol=atol, err_msg=name)


NETWORK = {"aiohttp", "ftplib", "http", "httpx", "requests", "socket", "ssl", "urllib", "urllib3"}
UNPICKLERS = {"cloudpickle", "dill", "marshal", "pickle", "shelve"}


def test_nothing_imports_the_network_or_pickle() -> None:
    for module, tree in parsed().items():
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            tops = {name.partition(".")[0] for name in names}
            assert not tops & (NETWORK | UNPICKLERS), f"{module}: {tops}"
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("np.load", "joblib.load"):
                said = {word.arg: ast.unparse(word.value) for word in node.keywords}
                assert said.get("allow_pickle") == "False", f"{module}:{node.lineno}"


def test_values_need_no_network() -> None:
    code = (
        "import socket\n"
        "def refuse(*args, **options): raise AssertionError('a socket was opened')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
        "import dataworth.demo\n"
        f"{WEIGHTED}"
    )
    assert run(code)


@pytest.mark.parametrize("game", ["soft", "hard", "regression"])
@pytest.mark.parametrize("validation", [True, False])
def test_inputs_are_never_changed(game: Any, validation: bool) -> None:
    rng = np.random.default_rng(0)
    given = [rng.normal(size=(30, 2)), np.arange(30) % 2, rng.normal(size=(5, 2)), np.arange(5) % 2]
    before = [array.tobytes() for array in given]
    for weights in ("uniform", "rbf"):
        valuator = KNNShapley(game=game, weights=weights).fit(given[0], given[1])
        valuator.value(*(given[2:] if validation else []))
        assert [array.tobytes() for array in given] == before
    for array in given:
        array.flags.writeable = False
    valuator.fit(given[0], given[1]).value(*(given[2:] if validation else []))


def test_promises_name_tests_that_exist() -> None:
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    promises = re.findall(r"^- \*\*.*?(?=^- \*\*|^#)", page, re.MULTILINE | re.DOTALL)
    assert len(promises) >= 5
    for promise in promises:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", promise)
        assert named, promise
        for path, name in named:
            assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), name


def test_citation_is_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == dataworth.__version__
    assert cited["license"] == _project()["license"]
    assert [a["name"] for a in cited["authors"]] == [a["name"] for a in _project()["authors"]]


def test_everything_is_what_users_would_want() -> None:
    """`all` has every extra but those that are for work on the package itself."""
    extras = _project()["optional-dependencies"]
    [everything] = extras["all"]
    named = everything.removeprefix("dataworth[").removesuffix("]").split(",")
    assert set(named) == set(extras) - {"all", "dev", "docs", "paper"}


def test_other_tools_call_the_makefile() -> None:
    """Hooks and workflows know no commands of their own, so that they cannot differ from ours."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    assert [repo["repo"] for repo in hooks["repos"]] == ["local"]
    called = [hook["entry"] for repo in hooks["repos"] for hook in repo["hooks"]]
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        jobs = yaml.safe_load(path.read_text())["jobs"].values()
        called += [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    assert len(called) > 3
    for command in called:
        make, target = command.split()
        assert make == "make"
        assert target in targets


def test_workflow_tries_what_we_promise() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text())["jobs"]
    tried = jobs["test"]["strategy"]["matrix"]["python"]
    promised = [c.split()[-1] for c in _project()["classifiers"] if "Python :: 3." in c]
    assert tried == promised
    assert _project()["requires-python"] == f">={tried[0]}"


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_make_test_asks_for_no_rights() -> None:
    bare = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    done = subprocess.run(
        ["make", "--dry-run", "test"], cwd=ROOT, env=bare, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "pytest" in done.stdout
    for path in (ROOT / "Makefile", *(p for p in (ROOT / "scripts").iterdir() if p.is_file())):
        assert "sudo" not in path.read_text(encoding="utf-8"), path


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


HEAVY = ("sklearn", "numba", "pyarrow", "pandas", "scipy")


def loaded(code: str) -> str:
    """Which heavy libraries a fresh process has loaded after running this code."""
    code += f"\nprint(sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stderr.strip()


def test_importing_the_package_is_light() -> None:
    assert loaded("import sys, dataworth\nassert 'KNNShapley' in dir(dataworth)") == "[]"
    assert "numba" in loaded("import sys, dataworth\ndataworth.KNNShapley")


@pytest.mark.parametrize("line", ["--help", "--version", "value --help", "value --wrong"])
def test_help_is_light(line: str) -> None:
    code = f"import sys\nfrom dataworth.cli.main import main\nmain({line.split()})"
    assert loaded(code).splitlines()[-1] == "[]"


def test_what_the_package_exports() -> None:
    assert set(dataworth.__all__) <= set(dir(dataworth))
    for name in dataworth.__all__:
        kind = getattr(dataworth, name)
        assert kind.__name__ == name
        assert pickle.loads(pickle.dumps(kind)) is kind
    with pytest.raises(AttributeError, match="module 'dataworth' has no attribute 'worth'"):
        _ = dataworth.worth
    with pytest.raises(ImportError):
        exec("from dataworth import worth")
    code = "import sys\nfrom dataworth import report, plots, decisions\nfrom dataworth import *"
    assert "numba" in loaded(code + "\nKNNShapley, DataValues, decisions.read, report.write")
