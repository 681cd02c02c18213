// Simulated comparisons of whole suites through the real gate: what truth there is, and what the
// gate makes of it. For the tests of its promises and for the page of evidence.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "baselines/gating/gate.h"

namespace fusegate::baselines::audit {

// A benchmark as a calibration describes it. Spreads are standard deviations of logarithms between
// the processes of one card.
struct Benchmark {
  std::string name;
  double time_ns = 0;
  double spread_time = 0;
  double spread_equal_clock = 0;
  bool is_control = false;
  bool is_memory_bound = false;
};

// The benchmarks of a stored calibration. Throws InputError.
std::vector<Benchmark> benchmarks_of(const std::filesystem::path& calibration);

enum class Tails { kNormal, kT3 };  // t3: Student's t with three degrees of freedom

// How a machine treats one benchmark otherwise than another, from session to session or from card
// to card, of logarithms.
struct Machine {
  double common = 0;  // in all benchmarks, this much
  // Standard deviations: of what a class of benchmarks shares, and of a single one. Tails of unit
  // variance where they are kT3.
  double by_class = 0;
  double scatter = 0;
  Tails tails = Tails::kNormal;
  // So many random factors, each of these standard deviations over the benchmarks.
  std::vector<double> factors{};
};

struct Scenario {
  std::string name;
  std::string group{};  // the table that it belongs to
  std::vector<Benchmark> benchmarks{};
  bool side_by_side = false;
  bool is_extended = false;    // what is undecided is measured again
  int baseline_processes = 5;  // a card
  int candidate_processes = 5;
  Tails process_tails = Tails::kNormal;
  bool has_cycles = true;
  // Which benchmarks the change slows, and how far.
  std::function<bool(std::size_t)> slowed{};
  double slowdown = 0;
  double slow_process_share = 1;  // of the candidate's processes that show it
  // Which are known to run identical code; none where empty. Never those that are slowed.
  std::function<bool(std::size_t)> identical{};
  Machine session{};
  Machine card{};
  int baseline_cards = 0;  // 0: the candidate's card is the baseline's
  // A share of the benchmarks is off by 1.7 to 2.5 % on the candidate's card alone.
  double odd_kind_share = 0;
  double allow = 0.02;  // GateOptions::allow
};

struct Outcome {
  int suites = 0;
  std::array<int, 3> exits{};     // by exit code
  int with_false_regression = 0;  // suites in which a benchmark that is not slower is called so
  int slowed = 0, found = 0;      // benchmarks
  int judged = 0, covered = 0;    // that have an interval; which holds the true effect
  int bounded = 0, missed = 0;    // that have a bound; which the true effect exceeds
  double typical_bound = 0;       // the median over suites of the largest bound
};

Outcome simulate(const Scenario& scenario, int suites, unsigned seed = 1);

// All scenarios of the audit on the benchmarks of the calibration.
std::vector<Scenario> scenarios(const std::vector<Benchmark>& benchmarks);

}  // namespace fusegate::baselines::audit
