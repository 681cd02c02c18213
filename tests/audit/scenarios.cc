// What the gate is held to: regressions that must not pass, machines that must raise no alarm, and
// changes that must be found.
#include <fmt/format.h>

#include "tests/audit/simulation.h"

namespace fusegate::baselines::audit {
namespace {

using Where = std::function<bool(std::size_t)>;

// Outlives the benchmarks.
Where named(const std::vector<Benchmark>& benchmarks, std::string_view prefix) {
  std::vector<char> is_named;
  for (const Benchmark& own : benchmarks) is_named.push_back(own.name.starts_with(prefix));
  return [is_named](std::size_t i) { return is_named[i] != 0; };
}

Where none_of(Where a) {
  return [a](std::size_t i) { return !a(i); };
}

Where only(std::size_t which) {
  return [which](std::size_t i) { return i == which; };
}

Where every(std::size_t step) {
  return [step](std::size_t i) { return i % step == step / 2; };
}

// Sessions of a quiet machine.
constexpr Machine kQuiet{.by_class = 0.0003, .scatter = 0.0003};

// So many benchmarks, sorted by name, without controls and with spreads as they come.
std::vector<Benchmark> resized(const std::vector<Benchmark>& benchmarks, std::size_t count) {
  std::vector<Benchmark> code;
  for (const Benchmark& own : benchmarks) {
    if (!own.is_control) code.push_back(own);
  }
  std::vector<Benchmark> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back(code[i * 37 % code.size()]);
    result.back().name = fmt::format("{:06}/{}", i, result.back().name);
  }
  return result;
}

// As eight H200s are: one factor explains 64 % of the variance between cards, three 90 %.
const Machine kLowRank{.scatter = 0.0011, .factors = {0.0029, 0.0014, 0.0011}};

// Cards that move classes of benchmarks and single ones, far at times.
constexpr Machine kTails{.by_class = 0.002, .scatter = 0.003, .tails = Tails::kT3};

class Audit {
 public:
  explicit Audit(const std::vector<Benchmark>& benchmarks) : all_(benchmarks) {}

  std::vector<Scenario> scenarios() {
    regressions();
    unchanged();
    session_tails();
    small_suites();
    unseen_cards();
    power();
    power_on_other_cards();
    return std::move(list_);
  }

 private:
  // Of all benchmarks, where the scenario names none.
  void add(Scenario scenario) {
    if (scenario.benchmarks.empty()) scenario.benchmarks = all_;
    scenario.group = group_;
    list_.push_back(std::move(scenario));
  }

  void regressions() {
    group_ = "Regressions that must not pass";
    const Where is_control = named(all_, "control"), is_linear = named(all_, "linear/");
    const Where is_ours = [=](std::size_t i) { return !is_control(i) && !is_linear(i); };
    for (const double slowdown : {0.01, 0.02, 0.05, 0.2}) {
      add({.name = fmt::format("stored, all code +{:g} %", 100 * slowdown),
           .slowed = none_of(is_control),
           .slowdown = slowdown,
           .session = kQuiet});
    }
    for (const double slowdown : {0.05, 0.2}) {
      add({.name = fmt::format("stored, all our kernels +{:g} %", 100 * slowdown),
           .slowed = is_ours,
           .slowdown = slowdown,
           .identical = none_of(is_ours),
           .session = kQuiet});
    }
    add({.name = "stored, all MLPs +2 %",
         .slowed = named(all_, "geglu_mlp/"),
         .slowdown = 0.02,
         .session = kQuiet});
    for (const int processes : {5, 10}) {
      add({.name =
               fmt::format("side by side, one benchmark +10 % in 60 % of {} processes", processes),
           .side_by_side = true,
           .baseline_processes = processes,
           .candidate_processes = processes,
           .slowed = only(30),
           .slowdown = 0.1,
           .slow_process_share = 0.6});
    }
  }

  void unchanged() {
    group_ = "Unchanged code";
    add({.name = "side by side", .side_by_side = true});
    add({.name = "side by side, heavy tails", .side_by_side = true, .process_tails = Tails::kT3});
    add({.name = "side by side, half identical", .side_by_side = true, .identical = every(2)});
    for (const int processes : {4, 5}) {
      add({.name = fmt::format("side by side, {} processes, undecided ones again", processes),
           .side_by_side = true,
           .is_extended = true,
           .baseline_processes = processes,
           .candidate_processes = processes});
    }
    add({.name = "stored, quiet sessions", .session = kQuiet});
    add({.name = "stored, quiet sessions, half identical",
         .identical = every(2),
         .session = kQuiet});
    add({.name = "four other cards, three quarters identical",
         .baseline_processes = 4,
         .identical = none_of(every(4)),
         .session = kQuiet,
         .card = kLowRank,
         .baseline_cards = 4});
  }

  void session_tails() {
    group_ = "Sessions that move single benchmarks, heavy tails";
    for (const double scatter : {0.0005, 0.001, 0.002, 0.004}) {
      for (const bool is_known : {false, true}) {
        add({.name = fmt::format("stored, {:g} %, {}", 100 * scatter,
                                 is_known ? "half identical" : "code unknown"),
             .identical = is_known ? every(2) : Where(),
             .session = {.by_class = scatter / 2, .scatter = scatter, .tails = Tails::kT3}});
      }
    }
    add({.name = "stored, 0.1 %, code unknown, 10,000 benchmarks",
         .benchmarks = resized(all_, 10'000),
         .session = {.scatter = 0.001, .tails = Tails::kT3}});
    add({.name = "stored, 0.1 % without tails, code unknown", .session = {.scatter = 0.001}});
  }

  void small_suites() {
    group_ = "Small suites, the machine +0.4 % in all";
    for (const std::size_t count : {1, 2, 3, 5, 10, 15, 16, 30}) {
      Scenario small = small_suite(count);
      small.session = {.common = 0.004};
      add(std::move(small));
    }
    group_ = "Small suites, one benchmark +20 %";
    for (const std::size_t count : {3, 10, 15, 30}) {
      Scenario small = small_suite(count);
      small.session = kQuiet;
      small.slowed = only(1);
      small.slowdown = 0.2;
      add(std::move(small));
    }
  }

  Scenario small_suite(std::size_t count) const {
    return {.name = fmt::format("stored, {} benchmarks, no cycles", count),
            .benchmarks = resized(all_, count),
            .has_cycles = false,
            .allow = 0.05};
  }

  void unseen_cards() {
    group_ = "An unseen kind of card, half identical";
    for (const int cards : {1, 4, 5}) {
      add({.name = fmt::format("{} cards, heavy tails", cards),
           .baseline_processes = 4,
           .identical = every(2),
           .card = kTails,
           .baseline_cards = cards});
      add({.name = fmt::format("{} cards, a twelfth 1.7 to 2.5 % off", cards),
           .baseline_processes = 4,
           .identical = every(2),
           .card = kLowRank,
           .baseline_cards = cards,
           .odd_kind_share = 1.0 / 12});
    }
    group_ = "An unseen kind of card, code unknown";
    add({.name = "5 cards, heavy tails",
         .baseline_processes = 4,
         .card = kTails,
         .baseline_cards = 5});
  }

  void power() {
    group_ = "What is found";
    for (const double slowdown : {0.005, 0.01}) {
      for (const bool is_known : {false, true}) {
        add({.name = fmt::format("side by side, a tenth +{:g} %{}", 100 * slowdown,
                                 is_known ? ", the rest identical" : ""),
             .side_by_side = true,
             .slowed = every(10),
             .slowdown = slowdown,
             .identical = is_known ? none_of(every(10)) : Where()});
      }
    }
    for (const bool is_quiet : {true, false}) {
      add({.name = fmt::format("stored, same card, {}, a tenth +1 %",
                               is_quiet ? "quiet sessions" : "same session"),
           .slowed = every(10),
           .slowdown = 0.01,
           .session = is_quiet ? kQuiet : Machine()});
    }
  }

  void power_on_other_cards() {
    group_ = "What is found";
    for (const int cards : {4, 5}) {
      for (const double slowdown : {0.01, 0.02}) {
        add({.name = fmt::format("{} other cards, one benchmark +{:g} %, the rest identical", cards,
                                 100 * slowdown),
             .baseline_processes = 4,
             .slowed = only(30),
             .slowdown = slowdown,
             .identical = none_of(only(30)),
             .session = kQuiet,
             .card = kLowRank,
             .baseline_cards = cards});
      }
    }
    add({.name = "4 other cards, a tenth +2 %, three quarters identical",
         .baseline_processes = 4,
         .slowed = every(10),
         .slowdown = 0.02,
         .identical = none_of(every(4)),
         .session = kQuiet,
         .card = kLowRank,
         .baseline_cards = 4});
  }

  const std::vector<Benchmark>& all_;
  std::string group_;
  std::vector<Scenario> list_;
};

}  // namespace

std::vector<Scenario> scenarios(const std::vector<Benchmark>& benchmarks) {
  return Audit(benchmarks).scenarios();
}

}  // namespace fusegate::baselines::audit
