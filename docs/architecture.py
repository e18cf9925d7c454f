"""Draw the rooms of the package from its imports, and write them into the page on architecture.

`python -m docs.architecture` writes docs/architecture.svg and the table in docs/architecture.md.
An arrow points from a room to one that it imports. Where a room is also imported by something on
the way, the direct arrow is left out: without that, nearly everything would point at `base`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

from docs.rooms import FRONT_DOOR, ROOMS, Room, allowed, between_rooms, imports, parsed, room_of

PICTURE = Path(__file__).with_suffix(".svg")
PAGE = Path(__file__).with_suffix(".md")
START, END = "<!-- rooms: written by make picture -->\n", "<!-- end of rooms -->\n"

Pairs = set[tuple[str, str]]

BOX, GAP, MARGIN, APART, LANE = 44, 34, 24, 26, 18
STYLE = """
    svg { font-family: ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
    .paper { fill: #ffffff; } .box { fill: #eef1fb; stroke: #5c6bc0; }
    .name { fill: #1a237e; font-size: 14px; font-weight: 600; }
    .words { fill: #37474f; font-size: 11px; }
    .arrow { fill: none; stroke: #78809c; stroke-width: 1.3; } .head { fill: #78809c; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #1b1d25; } .box { fill: #2a2f45; stroke: #8c9eff; }
      .name { fill: #dfe3ff; } .words { fill: #c4c9d6; }
      .arrow { stroke: #9aa2bd; } .head { fill: #9aa2bd; }
    }
"""


@dataclass(eq=False)
class Stop:
    """A box, or (where `room` is None) the place where an arrow passes through a floor."""

    name: str
    floor: int
    room: Room | None = None
    x: float = 0.0
    up: list["Stop"] = field(default_factory=list)
    down: list["Stop"] = field(default_factory=list)

    @property
    def width(self) -> float:
        """Its width, estimated from its letters, as nothing here can measure text."""
        if self.room is None:
            return LANE
        return 24 + max(8.2 * len(self.room.name), 5.7 * len(self.room.words))


def reduced(pairs: Pairs) -> Pairs:
    """The pairs that no chain of other pairs stands for."""
    below: dict[str, set[str]] = {}
    for a, b in pairs:
        below.setdefault(a, set()).add(b)

    def reached(name: str) -> set[str]:
        out: set[str] = set()
        for other in below.get(name, ()):
            out |= {other} | reached(other)
        return out

    return {(a, b) for a, b in pairs if not any(b in reached(c) for c in below[a] - {b})}


def floors(rooms: Iterable[Room], pairs: Pairs) -> dict[str, int]:
    """The floor of each room: one above the highest of those that it imports.

    Rooms that come after the front door stand above it, whatever little they import.
    """
    out: dict[str, int] = {}
    least = 0
    for room in rooms:
        below = [out[b] + 1 for a, b in pairs if a == room.name and b in out]
        out[room.name] = max(below, default=0)
        if least:
            out[room.name] = max(out[room.name], least)
        if room.name == FRONT_DOOR:
            least = out[room.name] + 1
    return out


def laid_out(rooms: tuple[Room, ...], pairs: Pairs) -> list[list[Stop]]:
    """Floors from the ground up, each from left to right, with places for passing arrows."""
    level = floors(rooms, pairs)
    house: list[list[Stop]] = [[] for _ in range(max(level.values()) + 1)]
    stops = {room.name: Stop(room.name, level[room.name], room) for room in rooms}
    for stop in stops.values():
        house[stop.floor].append(stop)
    for a, b in sorted(pairs):
        last = stops[a]
        for number in range(level[a] - 1, level[b], -1):
            lane = Stop(f"{a}>{b}", number)
            house[number].append(lane)
            _join(last, lane)
            last = lane
        _join(last, stops[b])
    for floor in house:
        _spread(floor, [0.0] * len(floor))
    for turn in range(24):
        for floor in house if turn % 2 else reversed(house):
            wanted = [_mean(stop, stop.down if turn % 2 else stop.up) for stop in floor]
            order = sorted(range(len(floor)), key=wanted.__getitem__)
            floor[:] = [floor[i] for i in order]
            _spread(floor, [wanted[i] for i in order])
    for _ in range(30):  # the order is settled: straighten the arrows
        for floor in house:
            _spread(floor, [_mean(stop, stop.up + stop.down) for stop in floor])
    return house


def _join(upper: Stop, lower: Stop) -> None:
    upper.down.append(lower)
    lower.up.append(upper)


def _mean(stop: Stop, others: list[Stop]) -> float:
    return sum(other.x for other in others) / len(others) if others else stop.x


def _spread(floor: list[Stop], wanted: list[float]) -> None:
    """Put stops as near to where they are wanted as their widths allow, in least squares.

    Runs of stops that touch each other are merged from left to right, each at the mean of what its
    members want.
    """
    runs: list[list[float]] = []  # [sum of wanted starts, count]
    offset, offsets = 0.0, []
    for i, stop in enumerate(floor):
        if i:
            offset += (floor[i - 1].width + stop.width) / 2 + APART
        offsets.append(offset)
        runs.append([wanted[i] - offset, 1.0])
        while len(runs) > 1 and runs[-2][0] / runs[-2][1] > runs[-1][0] / runs[-1][1]:
            total, count = runs.pop()
            runs[-1][0] += total
            runs[-1][1] += count
    starts = [total / count for total, count in runs for _ in range(int(count))]
    for stop, start, shift in zip(floor, starts, offsets, strict=True):
        stop.x = start + shift


def drawn(rooms: tuple[Room, ...], pairs: Pairs) -> str:
    """The picture as SVG."""
    house = laid_out(rooms, reduced(pairs))
    stops = [stop for floor in house for stop in floor]
    left = min(stop.x - stop.width / 2 for stop in stops) - MARGIN
    width = max(stop.x + stop.width / 2 for stop in stops) + MARGIN - left
    height = len(house) * (BOX + GAP) - GAP + 2 * MARGIN

    def top(stop: Stop) -> float:
        return MARGIN + (len(house) - 1 - stop.floor) * (BOX + GAP)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" aria-labelledby="title">',
        '  <title id="title">The rooms of dataworth: arrows point from a room to what it imports, '
        "and all of them point down</title>",
        "  <!-- imports between rooms:",
        *(f"    {a} imports {b}" for a, b in sorted(pairs)),
        "  -->",
        f"  <style>{STYLE}  </style>",
        '  <marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path class="head" d="M0,0.5 L8,4 L0,7.5 z"/></marker>',
        f'  <rect class="paper" width="{width:.0f}" height="{height:.0f}"/>',
    ]
    for stop in stops:
        if stop.room is not None:
            lines += [_arrow(stop, below, left, top) for below in stop.down]
    for stop in stops:
        if stop.room is not None:
            x, y = stop.x - left, top(stop)
            lines += [
                f'  <rect class="box" x="{x - stop.width / 2:.0f}" y="{y}" '
                f'width="{stop.width:.0f}" height="{BOX}" rx="7"/>',
                f'  <text class="name" x="{x:.0f}" y="{y + 18}" text-anchor="middle">'
                f"{escape(stop.room.name)}</text>",
                f'  <text class="words" x="{x:.0f}" y="{y + 34}" text-anchor="middle">'
                f"{escape(stop.room.words)}</text>",
            ]
    return "\n".join([*lines, "</svg>", ""])


def _arrow(stop: Stop, below: Stop, left: float, top: Callable[[Stop], float]) -> str:
    """A curve from a box down to the next box, straight where it passes a floor."""
    # Arrows leave a box side by side, in the order of where they go, to be told apart.
    x, y = _port(stop, stop.down, below) - left, top(stop) + BOX
    path = f"M{x:.0f},{y}"
    while True:
        end = (_port(below, below.up, stop) if below.room else below.x) - left
        middle = y + GAP / 2
        path += f" C{x:.0f},{middle:.0f} {end:.0f},{middle:.0f} {end:.0f},{top(below)}"
        if below.room is not None:
            return f'  <path class="arrow" d="{path}" marker-end="url(#head)"/>'
        x, y = end, top(below) + BOX
        path += f" V{y}"
        stop, below = below, below.down[0]


def _port(stop: Stop, others: list[Stop], other: Stop) -> float:
    """Where on the edge of a box the arrow from or to another stop begins or ends."""
    order = sorted(others, key=lambda o: o.x)
    step = min(16.0, (stop.width - 20) / len(order))
    return stop.x + (order.index(other) - (len(order) - 1) / 2) * step


def table(rooms: tuple[Room, ...] = ROOMS) -> str:
    """The rooms as the page has them, from the first to the last."""
    lines = ["| Room | What it holds | May import |", "| --- | --- | --- |"]
    for room in rooms:
        modules = ", ".join(f"`{name or '__init__'}`" for name in room.modules)
        name = f"`{room.name}`" + (f" ({modules})" if modules else "")
        may = allowed(room, rooms)
        every = room.may is None and len(may) > 1
        said = (
            "everything above" if every else ", ".join(f"`{m}`" for m in may) or "nothing of ours"
        )
        lines.append(f"| {name} | {room.words} | {said} |")
    return "\n".join([*lines, ""])


def with_table(page: str, rooms: tuple[Room, ...] = ROOMS) -> str:
    """The page with the table put between its two marks."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{table(rooms)}\n{END}{after}"


def picture() -> str:
    """The picture of the package as it is; rooms that have no modules yet are left out."""
    modules = parsed()
    built = {room_of(name) for name in modules}
    rooms = tuple(room for room in ROOMS if room in built)
    # What may not be imported is for the test to report; the picture has arrows downwards only.
    below = {(room.name, name) for room in rooms for name in allowed(room)}
    return drawn(rooms, between_rooms(imports(modules)) & below)


def main() -> None:
    """Write both."""
    PICTURE.write_text(picture(), encoding="utf-8", newline="\n")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
