"""How a benchmark is measured: the protocol of fusegate_bench's plan (bench/plan/protocol.h)."""

import dataclasses

from input_error import InputError


@dataclasses.dataclass
class Protocol:
    samples: int
    places: int
    batch_ns: int
    idle_ns: int
    warm_ns: int
    order: str
    l2: str

    def first_sample(self, place):
        return self.samples * place // self.places

    def samples_at(self, place):
        return self.first_sample(place + 1) - self.first_sample(place)


def protocol_of(given):
    """given: fusegate_bench's plan. Raises InputError for what no peer can follow."""
    fusegate = given["fusegate"]
    source, protocol = f"suite {fusegate['suite']}", fusegate["protocol"]
    if protocol["spin_ns"] > 0:
        raise InputError(source, "protocol.spin_us", "the peers have no kernel that spins")
    if protocol.get("layout") == "numbered":
        raise InputError(source, "protocol.layout", "torch leaves the layout of memory to its allocator")
    return Protocol(**{field.name: protocol[field.name] for field in dataclasses.fields(Protocol)})


def place_order(protocol, benchmarks, random):
    """The order in which places are measured: a list of benchmarks' numbers, each as often as it has places."""
    order = [benchmark for benchmark in range(benchmarks) for _ in range(protocol.places)]
    if protocol.order == "interleaved":
        random.shuffle(order)
    return order
