"""How far rounding may move a right result from its reference: by element, row, tile and as a whole. The bounds, their
names and their derivation are those of kernels/contract/rounding.h. Arrays are NumPy's or torch's."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from ..tensors import default_bound

FALSE_ALARM = 1e-6
GROUP = 64  # the fewest elements of a row or column that has a bound of its own
ENOUGH, MOST = 32768, 8  # enough elements of perturbed references, and the most references to get them

# Stored significand bits; the smallest number that a kernel may not flush to zero; the largest number, if larger ones
# saturate to it.
FORMATS = {"fp64": (52, 2.0**-1022, math.inf), "fp32": (23, 2.0**-126, math.inf), "fp16": (10, 2.0**-24, math.inf),
           "bf16": (7, 2.0**-126, math.inf), "fp8_e4m3": (3, 2.0**-9, 448.0), "fp8_e5m2": (2, 2.0**-16, 57344.0)}


def unit_roundoff(dtype: str) -> float:
    """0 for integers."""
    return 2.0 ** -(FORMATS[dtype][0] + 1) if dtype in FORMATS else 0.0


def unit(dtype: str, problem_dtype: str, longest: int, tolerance: float) -> float:
    """The unit u of an output's rounding errors."""
    bound = default_bound(dtype, problem_dtype)
    if tolerance > bound:
        return tolerance
    own = max(unit_roundoff(dtype), unit_roundoff(problem_dtype))
    return max(own + min(own, 2.0**-24) * math.sqrt(longest), bound / 3)  # sums are in fp32, or in fp64 where all is


def quantile(count: int) -> float:
    return math.sqrt(2 * math.log(2 * count / FALSE_ALARM))


def _matrix(array):
    """The last axis, and all others merged."""
    shape = tuple(array.shape)
    return array.reshape(-1, shape[-1]) if shape and shape[-1] else array.reshape(1, -1)


def _slope(along, reference):
    return along / (reference + (reference == 0))


def _tile_sums(matrix) -> list[tuple[int, int, int, float]]:
    """For each tile of up to 4096 elements: its first row and column, its number of elements, and their sum."""
    rows, columns = matrix.shape
    width = min(columns, GROUP)
    height = min(rows, GROUP * GROUP // width)
    width = min(columns, GROUP * GROUP // height)
    down = [min(at + height, rows) - 1 for at in range(0, rows, height)]
    across = [min(at + width, columns) - 1 for at in range(0, columns, width)]
    sums = matrix.cumsum(0)[down].cumsum(1)[:, across].tolist()
    tiles = []
    for i, last_row in enumerate(down):
        for j, last_column in enumerate(across):
            above, left = (sums[i - 1][j] if i else 0.0), (sums[i][j - 1] if j else 0.0)
            corner = sums[i - 1][j - 1] if i and j else 0.0
            elements = (last_row + 1 - i * height) * (last_column + 1 - j * width)
            tiles.append((i * height, j * width, elements, sums[i][j] - above - left + corner))
    return tiles


def first_not_finite(out, reference) -> str:
    """The first element that is not finite, with its reference."""
    at = int((~(abs(out.reshape(-1)) < math.inf) * 1.0).argmax())
    return (f"element {_index_text(at, tuple(reference.shape))}, which is {float(out.reshape(-1)[at])} and its reference "
            f"{float(reference.reshape(-1)[at]):.7g}")


@dataclasses.dataclass
class Spread:
    """The spread of perturbed references. all: the mean square of their differences; rows: the same by row; columns: a
    factor by column; both None for short rows or columns. slopes: root mean squares by row, by tile and as a whole."""

    unit: float
    inputs: int  # in floating point
    shortest: int
    longest: int
    all: float = 0.0
    rows: Any = None
    columns: Any = None
    slopes: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @staticmethod
    def of(reference, perturbed, **fields) -> "Spread":
        """perturbed: references from inputs that were changed by up to unit; empty if no input is floating-point."""
        spread = Spread(**fields)
        reference = _matrix(reference)
        rows, columns = reference.shape
        squares, slopes = 0, ([], [], [])
        for one in perturbed:
            error = _matrix(one) - reference
            error[~(abs(error) < math.inf)] = 0
            squares = squares + error * error / len(perturbed)
            along, size = error * reference, reference * reference
            slopes[0].append(float((_slope(along.sum(1), size.sum(1)) ** 2).mean()))
            tiles = [(part[3] / whole[3])**2 for part, whole in zip(_tile_sums(along), _tile_sums(size)) if whole[3]]
            slopes[1].append(sum(tiles) / max(1, len(tiles)))
            slopes[2].append(float(_slope(along.sum(), size.sum())) ** 2)
        spread.all = float(squares.mean()) if perturbed else 0.0
        if not spread.all > 0:
            spread.all = spread.unit**2 / 3 * float((reference * reference).mean())
            return spread
        spread.rows = squares.mean(1).reshape(-1, 1) if columns >= GROUP else None
        spread.columns = squares.mean(0).reshape(1, -1) / spread.all if rows >= GROUP else None
        spread.slopes = tuple(math.sqrt(sum(each) / len(each)) for each in slopes)
        return spread

    def beyond(self, out, reference, dtype: str, u: float) -> tuple[str, str]:
        """What exceeds its bound in the result, which is given in double precision; "" if nothing does. And the worst
        element, with its index, value and reference."""
        shape, (_, smallest, largest) = tuple(reference.shape), FORMATS[dtype]
        out, reference = _matrix(out), _matrix(reference)
        if largest < math.inf:
            reference = reference.clip(-largest, largest)
        ratio = u / self.unit if self.unit else 0.0
        through = (self.all if self.rows is None else self.rows) * (1.0 if self.columns is None else self.columns)
        error, size = out - reference, reference * reference
        variance = through * ratio**2 + u * u / 3 * size + (self.all * ratio**2 / GROUP + smallest**2 + 1e-300)
        scaled = error * error / variance
        at, count = int(scaled.argmax()), math.prod(tuple(scaled.shape))
        worst = math.sqrt(float(scaled.max()))
        element = (f"element {_index_text(at, shape)}, which is {float(out.reshape(-1)[at]):.7g} and its reference "
                   f"{float(reference.reshape(-1)[at]):.7g}")
        if worst > quantile(count):
            what = f"an element is off by {worst:.3g} times what rounding comes to, {quantile(count):.2g} allowed"
            return what, element
        return self._group_beyond(scaled, error * reference, size, variance * size, u, ratio, shape), element

    def _group_beyond(self, scaled, along, size, noise, u, ratio, shape) -> str:
        rows, columns = scaled.shape
        groups = []  # name, elements, number of such groups, and the sums
        if columns >= GROUP:
            sums = [each.sum(1).tolist() for each in (scaled, along, size, noise)]
            groups += [(lambda i=i: f"row {_row(i, shape)}", columns, rows, self.slopes[0], *each)
                       for i, each in enumerate(zip(*sums))]
        tiles = [_tile_sums(each) for each in (scaled, along, size, noise)]
        for each in zip(*tiles):
            row, column, elements, _ = each[0]
            if elements >= GROUP:
                name = (lambda at=row * columns + column: f"the tile from element {_index_text(at, shape)}")
                groups.append((name, elements, len(tiles[0]), self.slopes[1], *(part[3] for part in each)))
        for name, elements, count, slope_of_spread, square, part, whole, wavering in groups:
            n, t = min(elements, self.shortest), math.log(count / FALSE_ALARM)
            rms, allowed = math.sqrt(max(0.0, square) / elements), math.sqrt(3 * (1 + 2 * math.sqrt(t / n) + 2 * t / n))
            if rms > allowed:
                return f"{name()} is off by {rms:.3g} times what rounding comes to, {allowed:.2g} allowed"
            if whole > 0:
                slope, own = part / whole, math.sqrt(max(0.0, wavering)) / whole
                most = u + quantile(count) * max(ratio * slope_of_spread, own)
                if abs(slope) > most:
                    return _too_large(name(), slope, most)
        return self._whole_beyond(*(float(each.sum()) for each in (along, size, noise)), u, ratio, rows, columns)

    def _whole_beyond(self, along, size, noise, u, ratio, rows, columns) -> str:
        if not size > 0:
            return ""
        slope, own = along / size, max(ratio * self.slopes[2], math.sqrt(noise) / size)
        independent = min(rows, columns, self.shortest, 1 / (2 * u))
        most = min(u + quantile(1) * own, 2 * (self.inputs + 1) * u * u +
                   quantile(1) * (u / math.sqrt(3 * independent) + own))
        return _too_large("the output", slope, most) if abs(slope) > most else ""


def _too_large(name: str, slope: float, most: float) -> str:
    return f"{name} is too {'large' if slope > 0 else 'small'} by {abs(slope):.2e} of itself, {most:.1e} allowed"


def _index_text(at: int, shape) -> str:
    parts = []
    for size in reversed(shape):
        parts.append(str(at % size))
        at //= size
    return f"[{', '.join(reversed(parts))}]"


def _row(at: int, shape) -> str:
    return _index_text(at, shape[:-1])[:-1] + (", :]" if len(shape) > 1 else ":]")
