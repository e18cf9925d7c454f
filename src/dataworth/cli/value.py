"""`dataworth value`: value every training point of a file."""

import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from dataworth.cli import options
from dataworth.cli.options import DATA, METHOD, RESULTS, option
from dataworth.errors import ReadingWarning
from dataworth.games.registry import DEFAULT_GAME, GAMES, NUMERIC_GAME
from dataworth.games.ties import TIES
from dataworth.weights.functions import WEIGHTS

NEIGHBORS, RECIPE_NEIGHBORS = 5, 10


def value(
    train: Annotated[
        Path,
        typer.Argument(
            metavar="TRAIN",
            help="The training points: .csv, .tsv, .parquet, .arrow, .feather, .npz or .npy.",
        ),
    ],
    label: options.Label = None,
    validation: Annotated[
        Path | None,
        option(
            DATA,
            "Validation points with the same columns. Without them, and without --cv, every "
            "training point judges the others (leave-one-out), or those of other folds where an "
            "encoder learns from labels.",
        ),
    ] = None,
    cv: Annotated[
        int | None,
        option(
            DATA,
            "Cross-valuation: split the training points into this many folds; each judges the "
            "points of the others.",
            min=2,
        ),
    ] = None,
    task: options.Task = "auto",
    id: options.Id = None,
    group: options.Group = None,
    owners: options.Owners = None,
    features: Annotated[
        list[str] | None,
        option(DATA, "A column to use as a feature. Repeat it for more; by default, all others."),
    ] = None,
    drop: Annotated[
        list[str] | None, option(DATA, "A column not to use as a feature. Repeat it for more.")
    ] = None,
    output: Annotated[
        str | None,
        option(
            RESULTS,
            "Where to write the values: .parquet, .arrow, .feather, .csv, .tsv, .npz, or - for CSV "
            "on standard output.",
            "--output",
            "-o",
        ),
    ] = None,
    report: Annotated[Path | None, option(RESULTS, "Where to write an HTML report.")] = None,
    budget: options.Budget = None,
    payouts: options.Payouts = None,
    by: options.By = None,
    image: options.Image = None,
    image_root: options.ImageRoot = None,
    title: options.Title = None,
    rows: options.Rows = None,
    top: options.Top = 10,
    neighbors: Annotated[
        int | None,
        option(
            METHOD,
            f"K: how many nearest points vote; {NEIGHBORS} by default, {RECIPE_NEIGHBORS} with "
            "--encoder recipe.",
            "--neighbors",
            "-k",
        ),
    ] = None,
    game: Annotated[
        options.GameName | None,
        option(
            METHOD,
            f"What a set of points is worth: {DEFAULT_GAME} by default, or {NUMERIC_GAME} if they "
            f"are numbers to predict. {options.listed(GAMES)}",
        ),
    ] = None,
    ties: Annotated[
        options.TieName,
        option(METHOD, f"What a tied vote of the hard game is. {options.listed(TIES)}"),
    ] = "right",
    class_weight: Annotated[
        options.ClassWeightName,
        option(METHOD, f"How much judges count. {options.listed(options.CLASS_WEIGHTS)}"),
    ] = "none",
    log: Annotated[
        bool,
        option(
            METHOD,
            "Value the logarithms of the numbers to predict, which must be positive: best for "
            "prices and the like, where a number with a zero too many is as wrong as one with a "
            "zero too few. Targets are shown as they are.",
            "--log",
        ),
    ] = False,
    weights: Annotated[
        options.WeightName | None,
        option(
            METHOD,
            "How much a neighbour counts: rbf by default, or what the forest of --encoder "
            f"out-of-bag says. {options.listed(WEIGHTS)}",
        ),
    ] = None,
    bandwidth: Annotated[
        str, option(METHOD, "How wide the weights of rbf reach: a number, or auto.")
    ] = "auto",
    bits: Annotated[
        str,
        option(
            METHOD,
            "Round weights to 2^bits levels: 1 to 10, none for no rounding, or auto, which is 3, "
            "and 8 for the weights of a forest.",
        ),
    ] = "auto",
    metric: Annotated[
        str | None, option(METHOD, "Any metric of scikit-learn; euclidean by default.")
    ] = None,
    radius: Annotated[
        float | None,
        option(METHOD, "Let all points within this distance vote, instead of the K nearest."),
    ] = None,
    semivalue: Annotated[
        str,
        option(METHOD, f"How sets of different sizes count: {options.SEMIVALUES_TYPED}."),
    ] = "shapley",
    support: Annotated[
        int | None,
        option(METHOD, "Give weight to only this many nearest points: still exact, and faster."),
    ] = None,
    max_rank: Annotated[
        str | None,
        option(
            METHOD,
            "Rank only this many nearest points, which gives bounds: a number, sqrt or adaptive.",
        ),
    ] = None,
    encoder: Annotated[
        options.EncoderName,
        option(METHOD, f"How columns become numbers. {options.listed(options.ENCODERS)}"),
    ] = "auto",
    jobs: Annotated[
        int, option(METHOD, "How many threads to use; -1 means all cores.", "--jobs", "-j")
    ] = -1,
    ruler: Annotated[
        int | None,
        option(
            METHOD,
            "How often to plant errors, to say how many labels look wrong: each time takes as long "
            "as the run itself. Without validation points, and with at least 100 training points, "
            "it is 3 times unless you say otherwise, if that should take less than two minutes; 0 "
            "for never.",
            min=0,
        ),
    ] = None,
    checkpoint: Annotated[
        str | None,
        option(METHOD, "Save progress in this folder, so that the same command can go on from it."),
    ] = None,
    debug: options.Debug = False,
) -> None:
    """Value every training point of a file.

    \b
    Examples:
      dataworth value train.csv --label y -o values.parquet
      dataworth value train.csv --label y --validation val.csv --id name -o -
      dataworth value train.parquet --label y --group owner --max-rank sqrt
      dataworth value train.csv --label y --owners owner --budget 10000
      dataworth value houses.csv --label price --log --report report.html
    """
    from dataworth.cli import advice, results, terminal
    from dataworth.cli import data as inputs
    from dataworth.cli import ruler as rulers
    from dataworth.report.table import ROWS, worth_explaining

    inputs.check_task(task, game, log=log)
    usual = RECIPE_NEIGHBORS if encoder == "recipe" else NEIGHBORS
    valuator = inputs.valuator(
        n_neighbors=usual if neighbors is None else neighbors,
        game=game or (NUMERIC_GAME if task == "numbers" or log else DEFAULT_GAME),
        ties=ties,
        log=log,
        class_weight=None if class_weight == "none" else class_weight,
        weights=weights or "auto",
        bandwidth=inputs.number(bandwidth, "--bandwidth", float, "auto"),
        n_bits=None if bits == "none" else inputs.number(bits, "--bits", int, "auto", "none"),
        metric=metric,
        radius=radius,
        semivalue=inputs.semivalue(semivalue),
        support=support,
        max_rank=inputs.number(max_rank, "--max-rank", int, "sqrt", "adaptive"),
        n_jobs=jobs,
    )
    inputs.check_output(output, report)
    rulers.check(ruler, validation)
    inputs.check_owners(valuator, owners, group, budget, payouts)
    inputs.for_report(report, {"--by": by, "--image": image, "--title": title, "--rows": rows})
    read = {"TRAIN": train, "--validation": validation, "--label": inputs.label_file(label)}
    folder = Path(checkpoint) if checkpoint else None
    written = {"--output": output, "--report": report, "--payouts": payouts}
    inputs.keep_apart(written, read, folder)
    inputs.check_image_root(image_root, image)
    data = inputs.training(
        train, label, id=id, group=group or owners, image=image, by=by, features=features,
        drop=drop, group_option="--group" if owners is None else "--owners",
    )  # fmt: skip
    inputs.check_pictures(data, image_root)
    X, y, judges = inputs.arrays(data, validation, cv)
    out = sys.stderr if output == "-" else sys.stdout
    judged = () if judges is None else (judges.X, judges.y)
    with (
        inputs.in_words(data, validation),
        terminal.notes(),
        terminal.notes_of_the_run(),
    ):
        if task == "auto" and game is None and not log:
            inputs.decide_task(valuator, y)
        else:
            warnings.filterwarnings("ignore", message="y holds")  # the user has decided
        inputs.set_encoder(valuator, encoder, X, y, alone=judges is None and cv is None)
        warnings.filterwarnings("ignore", message="column ")  # told below
        valuator.fit(X, y)
        forest, asked = encoder not in ("auto", "none"), ruler is not None
        if judges is None and ruler is None:
            ruler = rulers.repeats(valuator, X, y, forest=forest)
        if asked or not sys.stderr.isatty():  # a terminal shows a progress bar
            y_val = y if judges is None else judges.y
            rulers.tell_time(valuator, X, y, y_val, ruler or 0, forest=forest)
        values = valuator.value(*judged, cv=cv, ruler=ruler or None, checkpoint=checkpoint)
    unused = advice.tell_columns(X, encoder, out)
    with inputs.in_words(data, validation, groups="--group" if owners is None else "--owners"):
        noticed = results.noticed(valuator, values, data)
    index = values.index if data.ids is None else data.ids
    values = replace(values, origin=None, index=index, notes=noticed)
    if values.numeric and not log:
        advice.propose_logarithms(values.labels)
    elif not values.numeric and len(set(values.labels.tolist())) == 1:
        terminal.note("all labels are the same, so every value is 0.")
    paid = None
    if owners is not None:
        saved = None if folder is None else folder / "owners"
        words = inputs.in_words(data, validation, groups="--owners")
        with words, terminal.notes_of_the_run(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ReadingWarning)  # said above
            paid = valuator.value_owners(data.owners, *judged, cv=cv, checkpoint=saved)
            if budget is not None:
                paid.payouts(budget)  # refused before anything is written
    how = None if judges else "leave-one-out" if cv is None else f"{cv} folds"
    n_features = len(data.features) - len(unused)
    groups = data.owners if paid is None else None
    terminal.summary(values, groups, top, out, n_features=n_features, how=how, id=data.id)
    if values.one_sided:
        terminal.note(values.one_sided)
    if paid is not None:
        terminal.owners(paid, budget, out)
    results.write_values(output, values, data)
    if paid is not None and payouts is not None:
        paid.save(payouts, budget=budget)
        print(f"What the owners are worth is in {payouts}.", file=out)
    if report is not None:
        with inputs.in_words(data, validation):
            why = valuator.explain(worth_explaining(values, rows or ROWS))
        source: Any = "train" if judges is None else judges.source
        results.write_report(
            report, values, data, source, title=title, rows=rows, explanations=why,
            image_root=image_root, owners=paid, budget=budget,
        )  # fmt: skip
        print(f"The report is in {report}.", file=out)
    if (output is not None or report is not None) and data.source.table is not None:
        used = {*data.features, data.label, data.id}
        apart = [name for name in data.source.names if name not in used]
        then = advice.comparing(train, data.label, id=data.id, drop=apart)
        question = "Once it is cleaned (`dataworth apply`), is a model better?"
        print(f"{question} Add --test if you have test rows: {then}", file=out)
