"""What an error says, and what it carries for others to say it again."""

import pickle
from pathlib import Path

import pytest

from dataworth.errors import InputError, InputTypeError, extra


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("X", "be finite"), "X must be finite."),
        (("X", "be finite", "row 3 is NaN"), "X must be finite; row 3 is NaN."),
        (("X", "be finite", "", "Drop it."), "X must be finite. Drop it."),
        (
            ("X", "be finite", "row 3 is NaN", "Drop it."),
            "X must be finite; row 3 is NaN. Drop it.",
        ),
    ],
)
@pytest.mark.parametrize("kind", [InputError, InputTypeError])
def test_message_and_what_becomes_of_it(
    kind: type[InputError], parts: tuple[str, ...], message: str
) -> None:
    error = kind(*parts)
    assert str(error) == message
    renamed = error.renamed("--features")
    assert type(renamed) is kind
    assert str(renamed) == "--features" + message.removeprefix("X")
    assert str(error) == message
    for again in (pickle.loads(pickle.dumps(error)), pickle.loads(pickle.dumps(renamed))):
        assert type(again) is kind
        assert (again.wanted, again.came, again.hint) == (error.wanted, error.came, error.hint)
    assert str(pickle.loads(pickle.dumps(error))) == message


def test_a_wrong_type_is_caught_as_either() -> None:
    for kind in (InputError, ValueError, TypeError):
        with pytest.raises(kind, match="X must be dense."):
            raise InputTypeError("X", "be dense")
    assert not isinstance(InputError("X", "be finite"), TypeError)


@pytest.mark.parametrize("module", ["absent_package", "absent_package.part"])
def test_a_missing_package_says_which_extra_brings_it(module: str) -> None:
    with pytest.raises(ModuleNotFoundError) as caught:
        extra(module, "plots", "plot")
    how = "pip install '.[plot]' in the folder of dataworth's sources"
    assert str(caught.value) == f"plots needs absent_package: {how}"
    assert caught.value.name == "absent_package"
    assert caught.value.__suppress_context__


def test_a_package_that_is_there_is_imported() -> None:
    assert extra("json.decoder", "this", "that").JSONDecoder


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        ("import absent_package", ModuleNotFoundError, "No module named 'absent_package'"),
        ("raise ImportError('libsomething.so: no such file')", ImportError, "libsomething.so"),
        ("1 / 0", ZeroDivisionError, "division by zero"),
    ],
)
def test_an_error_inside_a_package_passes(
    code: str,
    error: type[Exception],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Such a package is installed, and to install it again would not mend it."""
    (tmp_path / "broken_package.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(error, match=message) as caught:
        extra("broken_package", "plots", "plot")
    assert "dataworth[plot]" not in str(caught.value)
