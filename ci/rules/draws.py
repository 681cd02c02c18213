"""Which processes are compared with which: every rule gets the same comparisons."""

import itertools
import math
import random


class Draw:
    """Invocations of one card on either side; a single-file tool takes all their repetitions as one file."""

    def __init__(self, baseline, candidate):
        self.baseline = tuple(baseline)
        self.candidate = tuple(candidate)


def pairs(group, most, seed):
    """One process against one: every ordered pair of a card's, or `most` of them where there are more."""
    every = [Draw([one], [other]) for card in group.cards.values() for one, other in itertools.permutations(card, 2)]
    return _sample(every, most, seed)


def splits(group, side, most, seed):
    """`side` processes of a card against as many others; halves of a card where none has so many. Every
    split, or `most` of them. A side of one process is none that fusegate judges, nor drawn here."""
    cards = [card for card in group.cards.values() if len(card) >= 2 * side]
    sizes = {id(card): (side, side) for card in cards}
    if not cards:
        cards = [card for card in group.cards.values() if len(card) >= 4]
        sizes = {id(card): (len(card) - len(card) // 2, len(card) // 2) for card in cards}
    if sum(_count(len(card), *sizes[id(card)]) for card in cards) <= most:
        return [draw for card in cards for draw in _every_split(card, *sizes[id(card)])]
    source = random.Random(seed)
    drawn = {}
    while len(drawn) < most:  # there are more than `most`, so this ends
        card = source.choice(cards)
        baseline, candidate = sizes[id(card)]
        order = source.sample(range(len(card)), baseline + candidate)
        left, right = tuple(sorted(order[:baseline])), tuple(sorted(order[baseline:]))
        drawn.setdefault((id(card), left, right), Draw([card[i] for i in left], [card[i] for i in right]))
    return list(drawn.values())


def _count(invocations, baseline, candidate):
    return math.comb(invocations, baseline) * math.comb(invocations - baseline, candidate)


def _every_split(card, baseline, candidate):
    for left in itertools.combinations(range(len(card)), baseline):
        rest = [i for i in range(len(card)) if i not in left]
        for right in itertools.combinations(rest, candidate):
            yield Draw([card[i] for i in left], [card[i] for i in right])


def _sample(draws, most, seed):
    return draws if len(draws) <= most else random.Random(seed).sample(draws, most)
