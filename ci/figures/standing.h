// How our implementations stand at each problem: against each other, against their yardsticks, and
// against peers, other people's implementations of the same operations measured by bench/peers.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "baselines/record/benchmark_name.h"
#include "baselines/record/run.h"
#include "ci/figures/bound.h"
#include "ci/figures/yardstick.h"

namespace fusegate::ci {

struct MeasuredImplementation {
  std::string name;
  double time_ns = 0;     // NaN where it failed every time
  std::string failure;    // empty where it never failed
  Yardstick yardstick{};  // of ours; unknown for a peer, whose work is not counted by our stages
  BoundClass bound{};     // likewise
  double energy_j = std::numeric_limits<double>::quiet_NaN();  // of a call, where it was measured
};

struct ProblemStanding {
  baselines::BenchmarkName problem;          // its implementation is empty
  std::vector<MeasuredImplementation> ours;  // by name, as are the peers
  std::vector<MeasuredImplementation> peers;

  // The fastest, or nullptr where none has a time.
  const MeasuredImplementation* our_best() const;
  const MeasuredImplementation* best_peer() const;
  // Our best's time over the best peer's; NaN where either is missing.
  double ratio() const;
};

// Of one operation in one dtype.
struct OperationStanding {
  std::string operation;
  std::string dtype;
  std::vector<std::string> ours;  // every implementation's name that any problem has
  std::vector<std::string> peers;
  std::vector<ProblemStanding> problems;  // by shape, M or another axis, batch

  bool has_yardsticks() const;  // of any problem's best
  bool has_energies() const;    // any problem's best, or the best of its peers
};

struct Standings {
  std::vector<OperationStanding> operations;  // by operation, then dtype; without controls
  MeasuredRates rates;                        // measured in our run
  std::optional<std::string> peers;           // describes their run; nothing where none was given
  std::vector<std::string> notes;             // about the rates, then about the peers
};

// peers: nullptr where there are none. Benchmarks with names of other programs are left out.
// Whether the two may be compared is told by peer_match.h.
Standings standings(const baselines::Run& ours, const baselines::Run* peers);

}  // namespace fusegate::ci
