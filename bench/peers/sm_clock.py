"""The SM clock, from readings before and after a batch. A reading is of one block: its SM, the time and the cycles."""

import statistics


def clock_hz(before, after):
    """before, after: triples of SM, nanoseconds and cycles. Returns the median over the SMs that have both readings,
    NaN where none has."""
    first = {sm: (time_ns, cycles) for sm, time_ns, cycles in before}
    last = {sm: (time_ns, cycles) for sm, time_ns, cycles in after}
    rates = [1e9 * (last[sm][1] - first[sm][1]) / (last[sm][0] - first[sm][0])
             for sm in first.keys() & last.keys() if last[sm][0] > first[sm][0]]
    return statistics.median(rates) if rates else float("nan")
