// Prints what the gate makes of simulated suites, as Markdown tables:
//
//   fusegate_gate_audit CALIBRATION [SUITES [FILTER]]
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "tests/audit/simulation.h"

namespace fusegate::baselines::audit {
namespace {

std::string percent(int count, int of) {
  return of > 0 ? fmt::format("{:.1f}", 100.0 * count / of) : "-";
}

void print(const Outcome& own, const std::string& name) {
  const Interval bounds = binomial_interval(own.with_false_regression, own.suites, 0.025);
  fmt::print("| {} | {}/{}/{} | {} | {:.1f} to {:.1f} % | {} | {} | {} | {:.2f} |\n", name,
             own.exits[0], own.exits[1], own.exits[2], own.with_false_regression, 100 * bounds.low,
             100 * bounds.high, percent(own.found, own.slowed), percent(own.covered, own.judged),
             percent(own.missed, own.bounded), 100 * own.typical_bound);
  std::fflush(stdout);
}

void run(const std::filesystem::path& calibration, int suites, const std::string& filter) {
  std::string group;
  for (const Scenario& scenario : scenarios(benchmarks_of(calibration))) {
    if ((scenario.group + ": " + scenario.name).find(filter) == std::string::npos) continue;
    if (scenario.group != group) {
      group = scenario.group;
      fmt::print(
          "\n## {}\n\n| scenario, {} suites | exit 0/1/2 | false suites | 95 % | found, % | "
          "covered, % | bound missed, % | largest bound, % |\n"
          "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
          group, suites);
    }
    const bool is_large = scenario.benchmarks.size() > 1000;
    print(simulate(scenario, is_large ? std::max(1, suites / 10) : suites), scenario.name);
  }
}

}  // namespace
}  // namespace fusegate::baselines::audit

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "Usage: fusegate_gate_audit CALIBRATION [SUITES [FILTER]]\n");
    return 2;
  }
  try {
    fusegate::baselines::audit::run(argv[1], argc > 2 ? std::atoi(argv[2]) : 100,
                                    argc > 3 ? argv[3] : "");
  } catch (const std::exception& error) {
    fmt::print(stderr, "fusegate_gate_audit: {}\n", error.what());
    return 2;
  }
}
