"""Pictures in a report."""

import base64
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dataworth import report
from dataworth.report import images
from tests.reports import written


def test_images_become_thumbnails(simple: Any, tmp_path: Path) -> None:
    Image.new("RGB", (1000, 500), "red").save(tmp_path / "big.jpg")
    (tmp_path / "text.png").write_text("no picture")
    column = ["big.jpg", "no.png", "text.png", None]
    data = written(tmp_path / "r", simple, {"file": column}, image="file", image_root=tmp_path)
    places = {row["p"]: row["i"] for row in data["rows"]}
    assert places == {
        0: 0,
        1: "no such file",
        2: "not a png, jpeg, gif or webp file that can be read",
        3: None,
    }
    assert data["images"][0].startswith("data:image/webp;base64,")
    assert len(data["images"][0]) < 2_000


def test_pictures_outside_the_folder_are_not_shown(simple: Any, tmp_path: Path) -> None:
    inside, secret = tmp_path / "table" / "deep" / "in.png", tmp_path / "secret.png"
    inside.parent.mkdir(parents=True)
    Image.new("RGB", (4, 4), "red").save(inside)
    Image.new("RGB", (4, 4), "blue").save(secret)
    (tmp_path / "table" / "link.png").symlink_to(secret)
    for column, shown in (
        (["../secret.png", str(secret), "link.png", "deep/../../secret.png"], 0),
        (["deep/in.png", str(inside), "deep/../deep/in.png", "../secret.png"], 3),
    ):
        data = written(
            tmp_path / "r", simple, {"f": column}, image="f", image_root=tmp_path / "table"
        )
        places = {row["p"]: row["i"] for row in data["rows"]}
        assert [places[p] for p in range(shown, 4)] == ["not in the folder of pictures"] * (
            4 - shown
        )
        assert all(isinstance(places[p], int) for p in range(shown))
        assert len(data["images"]) == shown
    data = written(tmp_path / "r", simple, {"f": [secret] * 4}, image="f", image_root=tmp_path)
    assert len(data["images"]) == 4


def test_arrays_become_pictures(simple: Any, tmp_path: Path) -> None:
    floats = np.zeros((4, 2, 3))
    floats[0, 0, 0], floats[1, 1, 2] = -4.0, 12.0
    mixed = [np.full((2, 2, 3), 9, np.uint8), floats[0], np.ones((2, 2, 1), bool), None]
    for column, expected in ((floats, [[64, 64, 64], [64, 64, 255]]), (mixed, None)):
        data = written(tmp_path / "r", simple, {"x": column}, image="x")
        assert data["columns"] == []
        if expected is not None:
            place = next(row["i"] for row in data["rows"] if row["p"] == 1)
            address = data["images"][place]
            assert address.startswith("data:image/png;base64,")
            png = Image.open(io.BytesIO(base64.b64decode(address.split(",")[1])))
            assert np.asarray(png).tolist() == expected
        else:
            assert len(data["images"]) == 3
    with pytest.raises(ValueError, match="entry 0 has shape \\(3, 8, 8\\)"):
        report.write(tmp_path / "r", simple, {"x": np.zeros((4, 3, 8, 8))}, image="x")


def test_pictures_beyond_the_budget_are_left_out_and_it_is_said(
    simple: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (4, 30, 30), dtype=np.uint8)
    monkeypatch.setattr(images, "BUDGET", 3_000)
    data = written(tmp_path / "r", simple, {"x": noise}, image="x")
    assert len(data["images"]) == 2
    assert [row["i"] for row in data["rows"]][2:] == ["left out, to keep the report small"] * 2
    assert data["notes"] == ["Some pictures are left out to keep the file small."]


def test_pictures_need_pillow_and_say_so(
    simple: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ImportError, match="image needs PIL.*dataworth\\[report\\]"):
        report.write(tmp_path / "r", simple, {"x": ["a"] * 4}, image="x")


def test_files_are_counted_without_opening_them(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("not a picture")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    names = ["a.png", Path("a.png"), "b.png", "../c.png", "loop", "x\0y", 9999 * "n", None]
    assert images.Gallery(names, tmp_path).count() == images.Count(named=7, found=2, outside=1)
