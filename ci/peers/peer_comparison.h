// Our implementations at each problem, compared with each other, with their roofline times, and
// with peers: other people's implementations of the same operations, measured by bench/peers.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baselines/record/benchmark_name.h"
#include "baselines/record/run.h"
#include "ci/sweep/bottleneck.h"
#include "ci/sweep/roofline_time.h"

namespace fusegate::ci {

struct MeasuredImplementation {
  std::string name;
  double time_ns = 0;  // NaN where it failed every time
  // Of ours; unknown for a peer, whose work is not counted by our stages.
  RooflineTime roofline_time{};
  Bottlenecks bottlenecks{};                                   // likewise
  double energy_j = std::numeric_limits<double>::quiet_NaN();  // of a call, where it was measured
};

struct ProblemComparison {
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
struct OperationComparison {
  std::string operation;
  std::string dtype;
  std::vector<std::string> ours;  // every implementation's name that any problem has
  std::vector<std::string> peers;
  std::vector<ProblemComparison> problems;  // by shape, M or another axis, batch

  bool has_roofline_times() const;  // of any problem's best
  bool has_energies() const;        // any problem's best, or the best of its peers
};

struct PeerComparison {
  std::vector<OperationComparison> operations;  // by operation, then dtype; without controls
  MeasuredRates rates;                          // measured in our run
  std::optional<std::string> peers;             // describes their run; nothing where none was given
  std::vector<std::string> notes;               // about the rates, then about the peers
};

// peers: runs with different implementations. Benchmarks with names of other programs are left out.
// peer_match.h says whether the two may be compared.
PeerComparison peer_comparison(const baselines::Run& ours, std::span<const baselines::Run> peers);

}  // namespace fusegate::ci
