// What the gate is held to: regressions that must not pass, machines that must raise no alarm, and
// changes that must be found.
#include <fmt/format.h>

#include "baselines/gating/audit/simulation.h"

namespace fusegate::baselines::audit {
namespace {

using Where = std::function<bool(std::size_t)>;

Where named(const std::vector<Benchmark>& benchmarks, const std::string& prefix) {
  std::vector<char> is_named;
  for (const Benchmark& own : benchmarks) is_named.push_back(own.name.starts_with(prefix));
  return [is_named](std::size_t i) { return is_named[i] != 0; };
}

Where either(Where a, Where b) {
  return [a, b](std::size_t i) { return a(i) || b(i); };
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
Machine low_rank(Tails tails) {
  return {.scatter = 0.0011, .tails = tails, .factors = {0.0029, 0.0014, 0.0011}};
}

class Audit {
 public:
  explicit Audit(const std::vector<Benchmark>& benchmarks)
      : all_(benchmarks), control_(named(benchmarks, "control")),
        ours_(none_of(either(control_, named(benchmarks, "linear/")))),
        mlps_(named(benchmarks, "geglu_mlp/")) {}

  std::vector<Scenario> scenarios() {
    regressions();
    unchanged();
    session_tails();
    small_suites();
    unseen_cards();
    power();
    return std::move(list_);
  }

 private:
  Scenario& add(std::string group, std::string name) {
    Scenario& scenario = list_.emplace_back();
    scenario.group = std::move(group);
    scenario.name = std::move(name);
    scenario.benchmarks = all_;
    scenario.options.allow = 0.02;
    return scenario;
  }

  void regressions() {
    const std::string group = "Regressions that must not pass";
    for (const double slowdown : {0.01, 0.02, 0.05, 0.2}) {
      Scenario& own = add(group, fmt::format("stored, all code +{:g} %", 100 * slowdown));
      own.slowed = none_of(control_);
      own.slowdown = slowdown;
      own.session = kQuiet;
    }
    for (const double slowdown : {0.05, 0.2}) {
      Scenario& own = add(group, fmt::format("stored, all our kernels +{:g} %", 100 * slowdown));
      own.slowed = ours_;
      own.identical = none_of(ours_);
      own.slowdown = slowdown;
      own.session = kQuiet;
    }
    Scenario& mlps = add(group, "stored, all MLPs +2 %");
    mlps.slowed = mlps_;
    mlps.slowdown = 0.02;
    mlps.session = kQuiet;
    for (const int processes : {5, 10}) {
      Scenario& modes = add(group, fmt::format("side by side, one benchmark +10 % in 60 % of {} "
                                               "processes", processes));
      modes.side_by_side = true;
      modes.candidate_processes = modes.baseline_processes = processes;
      modes.slowed = only(30);
      modes.slowdown = 0.1;
      modes.slow_process_share = 0.6;
    }
  }

  void unchanged() {
    const std::string group = "Unchanged code";
    Scenario& duet = add(group, "side by side");
    duet.side_by_side = true;
    Scenario& tails = add(group, "side by side, heavy tails");
    tails.side_by_side = true;
    tails.process_tails = Tails::kT3;
    Scenario& known = add(group, "side by side, half identical");
    known.side_by_side = true;
    known.identical = every(2);
    for (const int processes : {4, 5}) {
      Scenario& own = add(group, fmt::format("side by side, {} processes, undecided ones again",
                                             processes));
      own.side_by_side = own.is_extended = true;
      own.baseline_processes = own.candidate_processes = processes;
    }
    add(group, "stored, quiet sessions").session = kQuiet;
    Scenario& half = add(group, "stored, quiet sessions, half identical");
    half.session = kQuiet;
    half.identical = every(2);
    Scenario& cards = add(group, "four other cards, three quarters identical");
    cards.baseline_cards = 4;
    cards.baseline_processes = 4;
    cards.session = kQuiet;
    cards.card = low_rank(Tails::kNormal);
    cards.identical = none_of(every(4));
  }

  void session_tails() {
    const std::string group = "Sessions that move single benchmarks, heavy tails";
    for (const double scatter : {0.0005, 0.001, 0.002, 0.004}) {
      for (const bool is_known : {false, true}) {
        Scenario& own = add(group, fmt::format("stored, {:g} %, {}", 100 * scatter,
                                               is_known ? "half identical" : "code unknown"));
        own.session = {.by_class = scatter / 2, .scatter = scatter, .tails = Tails::kT3};
        if (is_known) own.identical = every(2);
      }
    }
    Scenario& large = add(group, "stored, 0.1 %, code unknown, 10,000 benchmarks");
    large.benchmarks = resized(all_, 10'000);
    large.session = {.scatter = 0.001, .tails = Tails::kT3};
    Scenario& normal = add(group, "stored, 0.1 % without tails, code unknown");
    normal.session = {.scatter = 0.001};
  }

  void small_suites() {
    for (const std::size_t count : {1, 2, 3, 5, 10, 15, 16, 30}) {
      Scenario& own = add("Small suites, the machine +0.4 % in all",
                          fmt::format("stored, {} benchmarks, no cycles", count));
      own.benchmarks = resized(all_, count);
      own.has_cycles = false;
      own.session = {.common = 0.004};
      own.options.allow = 0.05;
    }
    for (const std::size_t count : {3, 10, 15, 30}) {
      Scenario& own = add("Small suites, one benchmark +20 %",
                          fmt::format("stored, {} benchmarks, no cycles", count));
      own.benchmarks = resized(all_, count);
      own.has_cycles = false;
      own.session = kQuiet;
      own.slowed = only(1);
      own.slowdown = 0.2;
      own.options.allow = 0.05;
    }
  }

  void unseen_cards() {
    const std::string group = "An unseen kind of card, half identical";
    for (const int cards : {1, 4, 5}) {
      Scenario& tails = add(group, fmt::format("{} cards, heavy tails", cards));
      tails.baseline_cards = cards;
      tails.baseline_processes = 4;
      tails.card = {.by_class = 0.002, .scatter = 0.003, .tails = Tails::kT3};
      tails.identical = every(2);
      Scenario& kind = add(group, fmt::format("{} cards, a twelfth 1.7 to 2.5 % off", cards));
      kind.baseline_cards = cards;
      kind.baseline_processes = 4;
      kind.card = low_rank(Tails::kNormal);
      kind.identical = every(2);
      kind.odd_kind_share = 1.0 / 12;
    }
    Scenario& unknown = add("An unseen kind of card, code unknown", "5 cards, heavy tails");
    unknown.baseline_cards = 5;
    unknown.baseline_processes = 4;
    unknown.card = {.by_class = 0.002, .scatter = 0.003, .tails = Tails::kT3};
  }

  void power() {
    const std::string group = "What is found";
    for (const double slowdown : {0.005, 0.01}) {
      Scenario& own = add(group, fmt::format("side by side, a tenth +{:g} %", 100 * slowdown));
      own.side_by_side = true;
      own.slowed = every(10);
      own.slowdown = slowdown;
      Scenario& known = add(group, fmt::format("side by side, a tenth +{:g} %, the rest identical",
                                               100 * slowdown));
      known.side_by_side = true;
      known.slowed = every(10);
      known.identical = none_of(every(10));
      known.slowdown = slowdown;
    }
    Scenario& stored = add(group, "stored, same card, quiet sessions, a tenth +1 %");
    stored.session = kQuiet;
    stored.slowed = every(10);
    stored.slowdown = 0.01;
    Scenario& same = add(group, "stored, same card, same session, a tenth +1 %");
    same.slowed = every(10);
    same.slowdown = 0.01;
    for (const int cards : {4, 5}) {
      for (const double slowdown : {0.01, 0.02}) {
        Scenario& one = add(group, fmt::format("{} other cards, one benchmark +{:g} %, the rest "
                                               "identical", cards, 100 * slowdown));
        one.baseline_cards = cards;
        one.baseline_processes = 4;
        one.card = low_rank(Tails::kNormal);
        one.session = kQuiet;
        one.slowed = only(30);
        one.identical = none_of(only(30));
        one.slowdown = slowdown;
      }
    }
    Scenario& family = add(group, "4 other cards, a tenth +2 %, three quarters identical");
    family.baseline_cards = 4;
    family.baseline_processes = 4;
    family.card = low_rank(Tails::kNormal);
    family.session = kQuiet;
    family.slowed = every(10);
    family.identical = none_of(every(4));
    family.slowdown = 0.02;
  }

  const std::vector<Benchmark>& all_;
  Where control_;
  Where ours_;
  Where mlps_;
  std::vector<Scenario> list_;
};

}  // namespace

std::vector<Scenario> scenarios(const std::vector<Benchmark>& benchmarks) {
  return Audit(benchmarks).scenarios();
}

}  // namespace fusegate::baselines::audit
