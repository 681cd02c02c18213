"""The SM clock from readings before and after: every block says on which SM it ran, and both clocks there."""

import statistics


def clock_hz(before, after):
    """before, after: triples of SM, nanoseconds and cycles. The median over the SMs that were reached both
    times; NaN where none was."""
    first = {sm: (time_ns, cycles) for sm, time_ns, cycles in before}
    last = {sm: (time_ns, cycles) for sm, time_ns, cycles in after}
    rates = [1e9 * (last[sm][1] - first[sm][1]) / (last[sm][0] - first[sm][0])
             for sm in first.keys() & last.keys() if last[sm][0] > first[sm][0]]
    return statistics.median(rates) if rates else float("nan")
