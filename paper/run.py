"""One run of an experiment: what was asked for, its data, its units and its result files."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from dataworth.run.checkpoints import fingerprint
from paper import datasets, plots, protocol, writing
from paper.datasets import Dataset
from paper.store import Store

DEFAULT_SEEDS = 10
QUICK_SEEDS = 2
QUICK_DATA = ("phoneme", "fraud", "agnews")


class NoData(LookupError):
    """None of the data sets an experiment needs could be loaded."""


@dataclass(frozen=True)
class Run:
    """What was asked for.

    Attributes
    ----------
    name : str
        The experiment.
    out : Path
        The folder for the results.
    data_dir : Path or None
        The folder of the data sets.
    quick : bool
        Whether to run the small version.
    paper_setting : bool
        Whether to use the size that the paper's figures imply.
    seeds : int or None
        How many seeds to use, from 0 on; None for the usual number.
    model : str
        The network of `selection`.
    jobs : int
        How many threads to use.
    """

    name: str
    out: Path = Path("results")
    data_dir: Path | None = None
    quick: bool = False
    paper_setting: bool = False
    seeds: int | None = None
    model: str = "cnn"
    jobs: int = 1

    @property
    def stem(self) -> str:
        """The name of the result files, without their endings."""
        model = "" if self.model == "cnn" else f"-{self.model}"
        setting = "-paper-setting" if self.paper_setting else ""
        seeds = f"-seeds-{self.seeds}" if self.seeds is not None else ""
        return self.name + model + setting + seeds + ("-quick" if self.quick else "")

    @property
    def command(self) -> str:
        """The command that runs this again."""
        parts = ["python -m paper", self.name]
        parts += ["--quick"] if self.quick else []
        parts += ["--paper-setting"] if self.paper_setting else []
        parts += [f"--seeds {self.seeds}"] if self.seeds is not None else []
        parts += [f"--model {self.model}"] if self.model != "cnn" else []
        return " ".join(parts)

    @cached_property
    def store(self) -> Store:
        """The finished units of this run."""
        return Store(self.out / ".work" / f"{self.stem}.jsonl")

    def n_seeds(self, usual: int = DEFAULT_SEEDS) -> int:
        """How many seeds: as asked for, few in a quick run, or the usual number."""
        if self.seeds is not None:
            return self.seeds
        return QUICK_SEEDS if self.quick else usual

    def data(self, names: Iterable[str]) -> tuple[dict[str, Dataset], dict[str, str]]:
        """The data sets that can be loaded, and why the others cannot."""
        loaded, missing = {}, {}
        for name in names:
            try:
                loaded[name] = datasets.load(name, data_dir=self.data_dir)
            except OSError as error:  # no such file, or no way to OpenML
                missing[name] = str(error)
        if not loaded:
            raise NoData(
                "none of the data sets could be loaded; --data-dir, or the environment variable "
                f"{datasets.DATA_VARIABLE}, can name a folder that holds them. "
                f"{next(iter(missing))}: {next(iter(missing.values()))}"
            )
        return loaded, missing

    def progress(self, units: Sequence[Any]) -> Iterator[Any]:
        """The units, with a progress bar."""
        bar = tqdm(units, desc=self.stem, unit="unit", leave=False)
        yield from bar

    def measure(
        self,
        damage: str,
        data: dict[str, Dataset],
        compute: Callable[[protocol.Task], dict[str, Any]],
        *,
        sizes: tuple[int, int],
        n_seeds: int,
        facts: dict[str, Any],
    ) -> dict[str, list[dict[str, Any]]]:
        """Compute one unit for each data set and seed, or take it from the store.

        `compute` makes a unit of a draw, and `facts` say what it computes. Each unit also holds
        `sizes`, the numbers of points drawn.
        """
        prints = {name: identity(given) for name, given in data.items()}
        units: dict[str, list[dict[str, Any]]] = {name: [] for name in data}
        for name, seed in self.progress([(n, s) for n in data for s in range(n_seeds)]):

            def unit(name: str = name, seed: int = seed) -> dict[str, Any]:
                n_train, n_val = sizes
                task = protocol.draw(
                    name, data[name], damage, n_train=n_train, n_val=n_val, seed=seed
                )
                return {"sizes": [task.y_train.size, task.y_val.size], **compute(task)}

            setting = {
                "damage": damage, "data": name, "print": prints[name], "seed": seed,
                "sizes": list(sizes), **facts,
            }  # fmt: skip
            units[name].append(self.store.get(setting, unit))
        return units

    def finish(
        self,
        title: str,
        parts: Sequence[str],
        figure: Any,
        *,
        seeds: str,
        data: dict[str, Dataset] | None = None,
        packages: Sequence[str] = (),
    ) -> None:
        """Write `<stem>.png`, and `<stem>.md`, which tells at its end how it was made."""
        plots.save(figure, self.out / f"{self.stem}.png")
        made = [f"- Command: `{self.command}`", f"- Seeds: {seeds}"]
        if data:
            prints = ", ".join(f"{n} `{identity(d)}`" for n, d in data.items())
            made.append(f"- Data (hash of features and labels): {prints}")
        made.append(f"- Versions: {writing.versions(packages)}")
        picture = f"![{title}]({self.stem}.png)"
        warned = ["**A quick run: too small to conclude anything from.**"] if self.quick else []
        body = [f"# {title}", *warned, *parts, picture, "## How it was made", "\n".join(made)]
        text = "\n\n".join(body)
        writing.write(self.out / f"{self.stem}.md", text + "\n")


def identity(data: Dataset) -> str:
    """A short hash of a data set."""
    return fingerprint("dataset", data.X, data.y)[:12]
