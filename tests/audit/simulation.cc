#include "tests/audit/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/io/parallel.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines::audit {
namespace {

class Suite {
 public:
  Suite(const Scenario& scenario, unsigned seed) : scenario_(scenario), random_(seed) {
    const std::size_t count = scenario.benchmarks.size();
    for (std::size_t k = 0; k < scenario.card.factors.size(); ++k) {
      loadings_.push_back(draws(count, Tails::kNormal));
    }
    session_ = machine(scenario.session);
    for (int card = 0; card < std::max(1, scenario.baseline_cards); ++card) {
      cards_.push_back(machine(scenario.card));
    }
    candidate_card_ = scenario.baseline_cards > 0 ? machine(scenario.card) : cards_.front();
    std::uniform_real_distribution<double> uniform(0, 1), off(0.017, 0.025);
    for (std::size_t i = 0; i < count; ++i) {
      if (uniform(random_) < scenario.odd_kind_share) candidate_card_[i] += off(random_);
    }
  }

  // What is undecided gets more processes of both sides, up to three times as many, where the
  // scenario says so: as `fusegate duet` does it.
  GateResult judge() {
    Run baseline = run_of(false);
    Run candidate = run_of(true);
    GateOptions options;
    options.allow = scenario_.allow;
    if (scenario_.side_by_side) options.rule.tested_effect = kTestedSideBySide;
    GateResult result = gate(baseline, candidate, options);
    if (!scenario_.is_extended) return result;
    const int most = 3 * scenario_.candidate_processes;
    for (int process = scenario_.candidate_processes; process < most; ++process) {
      if (!extend(result.verdicts, process, baseline, candidate)) break;
      result = gate(baseline, candidate, options);
    }
    return result;
  }

  void add_to(Outcome& outcome, double& largest_bound) {
    const GateResult result = judge();
    ++outcome.suites;
    ++outcome.exits.at(static_cast<std::size_t>(result.exit_code));
    bool any_false = false;
    largest_bound = 0;
    for (std::size_t i = 0; i < result.verdicts.size(); ++i) {
      const Verdict& verdict = result.verdicts[i];
      const double truth = is_slowed(i) ? scenario_.slowdown : 0;
      const bool called = verdict.kind == VerdictKind::kRegression;
      any_false |= called && truth == 0;
      outcome.slowed += truth > 0;
      outcome.found += called && truth > 0;
      const bool is_exempt = verdict.kind == VerdictKind::kIdentical || verdict.is_control ||
                             scenario_.slow_process_share < 1;
      if (is_exempt) continue;
      if (std::isfinite(verdict.estimates.interval.low) &&
          std::isfinite(verdict.estimates.interval.high)) {
        ++outcome.judged;
        outcome.covered +=
            verdict.estimates.interval.low <= truth && truth <= verdict.estimates.interval.high;
      }
      if (std::isfinite(verdict.estimates.ruled_out)) {
        ++outcome.bounded;
        outcome.missed += truth > verdict.estimates.ruled_out;
        largest_bound = std::max(largest_bound, verdict.estimates.ruled_out);
      }
    }
    outcome.with_false_regression += any_false;
  }

 private:
  double draw(Tails tails) {
    if (tails == Tails::kNormal) return normal_(random_);
    return t3_(random_) / std::sqrt(3);
  }

  std::vector<double> draws(std::size_t count, Tails tails) {
    std::vector<double> values(count);
    for (double& value : values) value = draw(tails);
    return values;
  }

  // What it does to each benchmark.
  std::vector<double> machine(const Machine& machine) {
    const std::size_t count = scenario_.benchmarks.size();
    std::array<double, 6> classes{};
    for (double& value : classes) value = machine.by_class * draw(Tails::kNormal);
    std::vector<double> effects(count, machine.common);
    for (std::size_t k = 0; k < machine.factors.size(); ++k) {
      const double score = machine.factors[k] * draw(Tails::kNormal);
      for (std::size_t i = 0; i < count; ++i) effects[i] += score * loadings_[k][i];
    }
    for (std::size_t i = 0; i < count; ++i) {
      effects[i] += classes.at(class_of(i)) + machine.scatter * draw(machine.tails);
    }
    return effects;
  }

  std::size_t class_of(std::size_t i) const {
    const Benchmark& benchmark = scenario_.benchmarks[i];
    const std::size_t duration = benchmark.time_ns < 1e4 ? 0 : benchmark.time_ns < 6e4 ? 1 : 2;
    return 3 * static_cast<std::size_t>(benchmark.is_memory_bound) + duration;
  }

  bool is_slowed(std::size_t i) const { return scenario_.slowed && scenario_.slowed(i); }
  bool is_identical(std::size_t i) const {
    return scenario_.identical && scenario_.identical(i) && !is_slowed(i);
  }

  BenchmarkSeries series(std::size_t i, bool is_candidate) const {
    const Benchmark& benchmark = scenario_.benchmarks[i];
    BenchmarkSeries result;
    result.name = benchmark.name;
    result.is_control = benchmark.is_control;
    result.counters = {{"flops", benchmark.is_memory_bound ? 1e6 : 5e8}, {"min_bytes", 1e6}};
    if (!scenario_.identical) return result;
    return doing(std::move(result), is_candidate && !is_identical(i) ? "1e" : "0f");
  }

  // Time and cycles share most of their noise, as both come of the same samples.
  ProcessSummary measure(std::size_t i, double effect, int process, int card) {
    const Benchmark& benchmark = scenario_.benchmarks[i];
    const bool in_time = scenario_.side_by_side || !scenario_.has_cycles;
    const double spread = in_time ? benchmark.spread_time : benchmark.spread_equal_clock;
    const double shared = draw(scenario_.process_tails);
    const auto noise = [&] {
      return spread * (0.9 * shared + std::sqrt(0.19) * draw(scenario_.process_tails));
    };
    ProcessSummary summary;
    summary.time_ns = benchmark.time_ns * std::exp(effect + noise());
    summary.cycles = scenario_.has_cycles ? 1.9 * benchmark.time_ns * std::exp(effect + noise())
                                          : std::numeric_limits<double>::quiet_NaN();
    summary.spread = 0.001;
    summary.samples = 48;
    summary.process = process;
    summary.card = card;
    if (scenario_.side_by_side) summary.block = process + 1;
    return summary;
  }

  // What the candidate's session and card do to the benchmark, and the code where it shows.
  double candidate_effect(std::size_t i, bool shows) const {
    return session_[i] + candidate_card_[i] + (shows ? std::log1p(scenario_.slowdown) : 0);
  }

  Run run_of(bool is_candidate) {
    Run run;
    run.session = scenario_.side_by_side ? "one" : "";
    run.environment = {{"device", "simulated"}};
    const int cards = is_candidate ? 1 : static_cast<int>(cards_.size());
    const int a_card = is_candidate ? scenario_.candidate_processes : scenario_.baseline_processes;
    std::uniform_real_distribution<double> uniform(0, 1);
    for (std::size_t i = 0; i < scenario_.benchmarks.size(); ++i) {
      run.benchmarks.push_back(series(i, is_candidate));
      for (int process = 0; process < cards * a_card; ++process) {
        const int card = process / a_card;
        const bool shows =
            is_candidate && is_slowed(i) && uniform(random_) < scenario_.slow_process_share;
        const double effect =
            is_candidate ? candidate_effect(i, shows) : cards_[static_cast<std::size_t>(card)][i];
        run.benchmarks[i].processes.push_back(measure(i, effect, process, card));
      }
    }
    const bool is_new = is_candidate && scenario_.baseline_cards > 0;
    for (int card = 0; card < cards; ++card) {
      run.cards.push_back(is_new ? "GPU-new" : fmt::format("GPU-{}", card));
    }
    for (int k = 1; k <= cards * a_card; ++k) {
      run.process_names.push_back(fmt::format("{}.json", k));
    }
    return run;
  }

  // Whether any benchmark went on.
  bool extend(const std::vector<Verdict>& verdicts, int process, Run& baseline, Run& candidate) {
    bool any = false;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      const VerdictKind kind = verdicts[i].kind;
      if (kind != VerdictKind::kRegression && kind != VerdictKind::kInconclusive) continue;
      any = true;
      for (const auto& [run, effect] : {std::pair(&baseline, cards_.front()[i]),
                                        std::pair(&candidate, candidate_effect(i, is_slowed(i)))}) {
        ProcessSummary summary = measure(i, effect, process, 0);
        summary.extension = true;
        run->benchmarks[i].processes.push_back(summary);
      }
    }
    for (Run* run : {&baseline, &candidate}) {
      run->process_names.push_back(fmt::format("{}.json", process + 1));
    }
    return any;
  }

  const Scenario& scenario_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> t3_{3};
  std::vector<std::vector<double>> loadings_;
  std::vector<double> session_;
  std::vector<std::vector<double>> cards_;
  std::vector<double> candidate_card_;
};

void add(const Outcome& more, Outcome& sum) {
  sum.suites += more.suites;
  for (std::size_t i = 0; i < sum.exits.size(); ++i) sum.exits[i] += more.exits[i];
  sum.with_false_regression += more.with_false_regression;
  sum.slowed += more.slowed;
  sum.found += more.found;
  sum.judged += more.judged;
  sum.covered += more.covered;
  sum.bounded += more.bounded;
  sum.missed += more.missed;
}

}  // namespace

std::vector<Benchmark> benchmarks_of(const std::filesystem::path& calibration) {
  const nlohmann::json json = parse_json(read_file(calibration), calibration.string());
  std::vector<Benchmark> benchmarks;
  for (const JsonField& own :
       JsonField(json, calibration.string(), "").at("benchmarks").elements()) {
    Benchmark benchmark;
    benchmark.name = own.at("name").text();
    benchmark.time_ns = own.at("time_ns").number();
    benchmark.spread_time = own.at("spread_time").number();
    benchmark.spread_equal_clock = own.at("spread_equal_clock").number();
    benchmark.is_control = benchmark.name.starts_with("control_");
    benchmark.is_memory_bound =
        benchmark.name.starts_with("geglu/") || benchmark.name.starts_with("control_copy");
    benchmarks.push_back(std::move(benchmark));
  }
  return benchmarks;
}

Outcome simulate(const Scenario& scenario, int suites, unsigned seed) {
  std::vector<Outcome> outcomes(static_cast<std::size_t>(suites));
  std::vector<double> bounds(outcomes.size());
  in_parallel(outcomes.size(), [&](std::size_t i) {
    Suite(scenario, seed * 100'003 + static_cast<unsigned>(i)).add_to(outcomes[i], bounds[i]);
  });
  Outcome sum;
  for (const Outcome& outcome : outcomes) add(outcome, sum);
  sum.typical_bound = median(bounds);
  return sum;
}

}  // namespace fusegate::baselines::audit
