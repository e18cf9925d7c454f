"""`dataworth demo`: an example to watch."""

from dataworth.cli import options


def demo(debug: options.Debug = False) -> None:
    """Find planted label errors among handwritten digits.

    \b
    Example:
      dataworth demo
    """
    from dataworth import demo as example

    example.main()
