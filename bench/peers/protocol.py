"""How a benchmark is measured: what a sample is, how many there are and what comes between them. Words,
defaults and record are those of fusegate_bench (bench/plan/protocol.h), so that the two can be compared."""

import dataclasses

REGIMES = ("burst", "sustained")
L2_STATES = ("warm", "flushed")
ORDERS = ("interleaved", "contiguous")


@dataclasses.dataclass
class Protocol:
    regime: str = "burst"
    samples: int = 48
    batch_ns: int = 1_500_000  # the least length of a sample
    idle_ns: int = 3_000_000  # before every sample
    places: int = 48  # fresh allocations of every tensor that the samples are spread over
    order: str = "interleaved"
    warm_ns: int = 0  # back to back at a place before its first sample; one batch always is
    l2: str = "warm"
    min_effect: float = 0.0  # the gate's, where the suite sets one for GPUs; else 0

    def first_sample(self, place):
        return self.samples * place // self.places

    def samples_at(self, place):
        return self.first_sample(place + 1) - self.first_sample(place)

    def to_json(self):
        fields = dataclasses.asdict(self)
        if not self.min_effect:
            del fields["min_effect"]
        # The caching allocator decides where a tensor lies, and no kernel here spins.
        return {**fields, "layout": "driver", "spin_ns": 0}


def protocol_of(regime):
    """The defaults in a regime."""
    if regime == "burst":
        return Protocol()
    return Protocol(regime=regime, idle_ns=0, places=12, warm_ns=100_000_000)


def place_order(protocol, benchmarks, random):
    """Which benchmark's next place is measured when: numbers below `benchmarks`, each `places` times."""
    order = [benchmark for benchmark in range(benchmarks) for _ in range(protocol.places)]
    if protocol.order == "interleaved":
        random.shuffle(order)
    return order
