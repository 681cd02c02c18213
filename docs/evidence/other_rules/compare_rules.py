#!/usr/bin/env python3
"""Compares the rules that tell a slower kernel from noise: what each calls slower although nothing changed, and how much it
finds of what is made slower.

    compare_rules.py RUN... [--fusegate LABEL=PROGRAM]...      processes of unchanged code
    compare_rules.py --simulate [--fusegate LABEL=PROGRAM]...  suites of `pr` with the noise of the H200

A RUN is a run folder of `fusegate run` or of any Google Benchmark files, one a process; a folder of such; or a tar archive.
All are of the same code and protocol, and are compared card by card. Every rule gets the same comparisons, and the benchmarks
without the controls, which no change of code slows. Slower calls count, faster ones do not. Made slower are in turn the
benchmarks of one implementation and dtype, and a tenth of all. The table goes to stdout. Exits with 0 whatever it says, and
with 2 where something cannot be read.
"""

import argparse
import hashlib
import json
import pathlib
import random
import re
import sys

try:
    import rules
    from suites import CLASSES, KINDS, InputError, Measured, Simulated, family_of, read_processes
except ImportError as missing:
    print(f"compare_rules.py: {missing}: pip install -r docs/evidence/other_rules/requirements.txt", file=sys.stderr)
    sys.exit(77)  # ctest: skipped


def parse_options(arguments):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("runs", nargs="*", type=pathlib.Path, metavar="RUN", help="processes of unchanged code")
    parser.add_argument("--simulate", action="store_true", help="suites with normal noise, and with that of Student's t (3)")
    parser.add_argument("--fusegate", action="append", default=[], metavar="[LABEL=]PROGRAM",
                        help="a built program, with what the table calls it; may be named again")
    parser.add_argument("--side", type=int, default=5, metavar="N", help="processes a side (default: 5)")
    parser.add_argument("--comparisons", type=int, default=200, metavar="N", help="at most, of each kind (default: 200)")
    parser.add_argument("--slowed", type=int, metavar="N", help="of these, made slower too (default: all)")
    parser.add_argument("--finds", type=lambda text: tuple(map(float, text.split(","))), default=(0.005, 0.01, 0.02), metavar="LIST",
                        help="slowdowns (default: 0.005,0.01,0.02)")
    parser.add_argument("--rules", default="", metavar="REGEX", help="rules whose names match (default: all)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the draws (default: 1)")
    parser.add_argument("--compare-py", default=rules.DEBIANS_COMPARE_PY, metavar="FOLDER", help="where compare.py lies")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the counts there")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="PAGE", help="write the table there too; of a page with the "
                        "lines <!-- compare_rules NAME --> and <!-- end -->, between these; NAME: simulated or measured")
    options = parser.parse_args(arguments)
    if bool(options.runs) == options.simulate or min(options.side, options.comparisons) < 1:
        parser.error("name runs or --simulate, and positive numbers")
    return options


def main(arguments=None):
    options = parse_options(arguments)
    try:
        programs = [path.rpartition("=")[::2] for path in options.fusegate]
        chosen = [rule for rule in rules.all_rules(programs, options.compare_py) if re.search(options.rules, rule.name)]
        sections = [compared(title, suite, chosen, options) for title, suite in suites_of(options)]
        write(sections, options)
    except (InputError, OSError) as error:
        print(f"compare_rules.py: {error}", file=sys.stderr)
        return 2
    return 0


def write(sections, options):
    text = "\n".join(markdown(section, options) for section in sections)
    print(text, end="")
    if options.json:
        options.json.write_text(json.dumps({"seed": options.seed, "sections": sections}, indent=1) + "\n", encoding="utf-8")
    if options.markdown:
        put_into(options.markdown, "simulated" if options.simulate else "measured", text)


def suites_of(options):
    if options.simulate:
        return [("Simulated, normal noise", Simulated("normal")), ("Simulated, noise of Student's t (3)", Simulated("t3"))]
    suite = Measured([one for run in options.runs for one in read_processes(run)])
    cards = {one.card for one in suite.processes}
    hashes = [f"{run.name} (SHA-256 {hashlib.sha256(run.read_bytes()).hexdigest()})" for run in options.runs if run.is_file()]
    return [(f"Measured: {len(suite.processes)} processes, {len(cards)} card(s)" + "".join(f"; {own}" for own in hashes), suite)]


def compared(title, suite, chosen, options):
    """The counts of each rule on each kind of comparison."""
    benchmarks = [name for name in suite.benchmarks if name not in suite.controls]
    section = {"title": title, "benchmarks": {name: sum(suite.classes[own] == name for own in benchmarks) for name, _ in CLASSES},
               "rules": []}
    for kind in KINDS:
        for rule in chosen:
            # Simulated processes are the same, whatever the kind: only the gate looks at it.
            # Their samples lie about the figure alike: the fast half says what the median does.
            looks = suite.is_measured or isinstance(rule, rules.Gate)
            if looks or (kind == KINDS[0] and getattr(rule, "figure", "") != "fast half"):
                comparisons = suite.comparisons(kind, options.side, options.comparisons, options.seed)
                section["rules"].append({"rule": rule.name, "sides": rule.sides, "kind": kind if looks else "either",
                                         **count(rule, comparisons, suite, benchmarks, options)})
    section["rules"].sort(key=lambda own: [rule.name for rule in chosen].index(own["rule"]))
    return section


def count(rule, comparisons, suite, benchmarks, options):
    if rule.why_not:
        return {"not_run": rule.why_not}
    result = {"comparisons": 0, "with_false": 0, "falsely_called": 0,
              "found": {f"{slowdown:g}": {name: [0, 0] for name, _ in CLASSES} for slowdown in options.finds}}
    for i, comparison in enumerate(comparisons):
        called = rule.called(comparison, benchmarks)
        result["comparisons"] += 1
        result["with_false"] += bool(called)
        result["falsely_called"] += len(called)
        if options.slowed is not None and i >= options.slowed:
            continue
        slowed = slowed_benchmarks(i, benchmarks, options.seed)
        for slowdown in options.finds:
            called = rule.called(comparison.slower(slowed, 1 + slowdown), benchmarks)
            for name in slowed:
                counts = result["found"][f"{slowdown:g}"][suite.classes[name]]
                counts[0] += name in called
                counts[1] += 1
    return result if result["comparisons"] else {"not_run": f"no card has {2 * options.side} processes"}


def slowed_benchmarks(i, benchmarks, seed):
    """Of the ith comparison: those of a family, all of them in turn, or a tenth of all."""
    families = sorted({family_of(name) for name in benchmarks})
    if i % 2 == 0:
        return [name for name in benchmarks if family_of(name) == families[i // 2 % len(families)]]
    return random.Random(f"{seed} {i}").sample(benchmarks, max(1, len(benchmarks) // 10))


def percent(part, whole):
    return f"{100 * part / whole:.1f}" if whole else "-"


def interval(count, trials):
    """Clopper and Pearson's, of 95 %."""
    low = rules.stats.beta.ppf(0.025, count, trials - count + 1) if count else 0.0
    high = rules.stats.beta.ppf(0.975, count + 1, trials - count) if count < trials else 1.0
    return f"{100 * low:.2f} to {100 * high:.2f}"


def markdown(section, options):
    titles = [name for name, _ in CLASSES if section["benchmarks"][name]]
    sizes = ", ".join(f"{section['benchmarks'][name]} of {name}" for name in titles)
    lines = [f"**{section['title']}.** {options.side} processes a side, seed {options.seed}; {sizes}. Found: all, and in "
             f"brackets {', '.join(titles)}, in %.", "",
             "| rule | gets | comparison | with a false call | benchmarks falsely called | " +
             " | ".join(f"finds +{100 * slowdown:g} %" for slowdown in options.finds) + " |",
             "| --- | --- | --- | ---: | ---: |" + " ---: |" * len(options.finds)]
    of_all = sum(section["benchmarks"].values())
    for own in section["rules"]:
        cells = [own["rule"], own["sides"], own["kind"]]
        if "not_run" in own:
            cells += [f"not run: {own['not_run']}"] + [""] * (1 + len(options.finds))
        else:
            cells += [f"{own['with_false']} of {own['comparisons']} ({interval(own['with_false'], own['comparisons'])} %)",
                      percent(own["falsely_called"], own["comparisons"] * of_all)]
            cells += [f"{percent(*map(sum, zip(*found.values())))} ({', '.join(percent(*found[name]) for name in titles)})"
                      for found in own["found"].values()]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines).replace("<", "&lt;") + "\n"


def put_into(page, name, text):
    """A page that is there has the marks: nothing else of it changes."""
    new = text
    if page.exists():
        new, places = re.subn(rf"(<!-- compare_rules {name} -->\n).*?(<!-- end -->)", lambda marks: f"{marks[1]}{text}{marks[2]}",
                              page.read_text(encoding="utf-8"), flags=re.DOTALL)
        if places != 1:
            raise InputError(f"{page}: has {places} lines '<!-- compare_rules {name} -->' with '<!-- end -->' below")
    temporary = page.with_name(f".{page.name}.new")
    temporary.write_text(new, encoding="utf-8")
    temporary.replace(page)


if __name__ == "__main__":
    sys.exit(main())
