"""The words of a text that matter: those it shares with its neighbours, and few others have.

They say why the neighbours are near. The page marks them, and a long text is cut so that they stay.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

WORD = re.compile(r"\w{2,}")
MOST = 8  # words of one text
COMMON = 10  # one in so many texts has a common word, and as many texts at least
LONG = 40  # characters from which a text is something to read
LOOKED_AT = 1_000  # entries of a column
READ = 20_000  # characters of a text that are looked at
KEPT = 256  # texts whose words are remembered: neighbours are shared, and so are texts
PLACES = 200  # of words, at which a text may begin
# Words like "must" and "so" say nothing, however rare; some in scikit-learn's list do.
MEANT = """amount bill bottom call cry describe detail empty fill fire front full interest mill mine
move name part serious show side sincere system thick thin top"""
STOP_WORDS = ENGLISH_STOP_WORDS - frozenset(MEANT.split())


def words(text: str) -> set[str]:
    """Return the words of a text in small letters."""
    return set(WORD.findall(text[:READ].lower()))


def are_texts(entries: Any) -> bool:
    """Tell whether a column holds texts to read: a tenth of them are long and of several words."""
    if getattr(getattr(entries, "dtype", None), "kind", "O") not in "OUT":
        return False
    texts = [entry for entry in islice(entries, LOOKED_AT) if isinstance(entry, str) and entry]
    read = sum(len(text) > LONG and " " in text for text in texts)
    return 0 < len(texts) <= 10 * read


class Rarity:
    """How rare words are among some texts.

    Parameters
    ----------
    texts : iterable of str
        The texts.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._seen: Counter[str] = Counter()
        self._texts = 0
        self._words = lru_cache(maxsize=KEPT)(words)
        for text in texts:
            self._texts += 1
            self._seen.update(self._words(text))

    def shared(self, text: str, near: Sequence[str]) -> list[str]:
        """Return the words of a text that matter, the one that matters most first.

        Words that more than a tenth of many texts have say nothing, nor do stop words.
        """
        most = max(COMMON, self._texts // COMMON)
        found = Counter(word for other in near for word in self._words(other))
        weight = {
            word: found[word] * math.log(self._texts / self._seen[word])
            for word in self._words(text)
            if found[word] and self._seen[word] <= most and word not in STOP_WORDS
        }
        ranked = sorted(weight.items(), key=lambda pair: (-pair[1], pair[0]))
        return [word for word, heavy in ranked[:MOST] if heavy > 0.0]


def start(text: str, wanted: Iterable[str], length: int) -> int:
    """Return where to begin a piece of a text that holds as many different wanted words as can be.

    Parameters
    ----------
    text : str
        The text.
    wanted : iterable of str
        Words in small letters.
    length : int
        How long the piece is.

    Returns
    -------
    int
        Its first character: the beginning of the text if that is as good as any other.

    Examples
    --------
    >>> from dataworth.report.words import start
    >>> text = "a long way to the words that matter"
    >>> text[start(text, ["matter", "words"], 20):]
    'the words that matter'
    """
    if len(text) <= length:
        return 0
    known = set(wanted)
    found = [(m.start(), m[0]) for m in WORD.finditer(text.lower()) if m[0] in known][:PLACES]
    best, most = 0, len({word for at, word in found if at + len(word) <= length})
    for first, _ in found:
        begin = text.rfind(" ", 0, max(first - length // 5, 0)) + 1
        inside = len({word for at, word in found if begin <= at <= begin + length - len(word)})
        if inside > most:
            best, most = begin, inside
    return best
