"""The examples of docs/peers.md, which only the environments of the peers can run."""

from pathlib import Path

from docs.pages import BLOCK

PAGE = Path(__file__).parent.parent.parent / "docs" / "peers.md"


def example(start: str) -> str:
    """The block of the page that begins with this."""
    blocks = [code for *_, code in BLOCK.findall(PAGE.read_text())]
    return next(code for code in blocks if code.startswith(start))
