"""What the rules' calls come to: counts, the Markdown table and the JSON."""

from samples import CLASSES


class Tally:
    """Of one rule on one kind of comparison."""

    def __init__(self, rule, sides, slowdowns):
        self.rule = rule
        self.sides = sides
        self.not_run = ""  # why there is nothing
        self.comparisons = 0
        self.with_false_alarm = 0
        self.benchmarks = 0
        self.benchmarks_called = 0
        self.found = {slowdown: {key: [0, 0] for key, _, _ in CLASSES} for slowdown in slowdowns}

    def add_unchanged(self, called, benchmarks):
        self.comparisons += 1
        self.with_false_alarm += bool(called)
        self.benchmarks += len(benchmarks)
        self.benchmarks_called += len(called)

    def add_slowed(self, slowdown, duration_class, was_found):
        count = self.found[slowdown][duration_class]
        count[0] += was_found
        count[1] += 1

    def json(self):
        if self.not_run:
            return {"rule": self.rule, "sides": self.sides, "not_run": self.not_run}
        return {"rule": self.rule, "sides": self.sides,
                "with_false_alarm": {"count": self.with_false_alarm, "of": self.comparisons},
                "benchmarks_called": {"count": self.benchmarks_called, "of": self.benchmarks},
                "found": [{"slowdown": slowdown,
                           "classes": {key: {"count": count[0], "of": count[1]} for key, count in classes.items()}}
                          for slowdown, classes in self.found.items()]}


def percent(count, of):
    return f"{100 * count / of:.1f} %" if of else "-"


def markdown(group, tallies, slowdowns):
    """A table a group; the classes that the group has none of are left out."""
    classes = [(key, title) for key, title, _ in CLASSES if key in group.classes.values()]
    sizes = ", ".join(f"{sum(own == key for own in group.classes.values())} of {title}" for key, title in classes)
    facts = "; ".join(f"{key}: {', '.join(values)}" for key, values in group.facts().items())
    lines = [f"### {group.name}", "", f"{facts}." if facts else "The files name no device.", "",
             f"{len(group.invocations)} processes on {len(group.cards)} card(s), {len(group.benchmarks)} benchmarks: "
             f"{sizes}. Found: " + ", ".join(title for _, title in classes) + ".", "",
             "| rule | sides | comparisons | with a false alarm | benchmarks falsely called | " +
             " | ".join(f"finds +{slowdown * 100:g} %" for slowdown in slowdowns) + " |",
             "| --- | --- | ---: | ---: | ---: |" + " ---: |" * len(slowdowns)]
    for tally in tallies:
        if tally.not_run:
            lines.append(f"| {tally.rule} | {tally.sides} | not run: {tally.not_run} |" + " |" * (2 + len(slowdowns)))
            continue
        found = [" / ".join(percent(*tally.found[slowdown][key]) for key, _ in classes) for slowdown in slowdowns]
        lines.append(f"| {tally.rule} | {tally.sides} | {tally.comparisons} | "
                     f"{percent(tally.with_false_alarm, tally.comparisons)} | "
                     f"{percent(tally.benchmarks_called, tally.benchmarks)} | {' | '.join(found)} |")
    return "\n".join(lines).replace("< 3", "&lt; 3") + "\n"
