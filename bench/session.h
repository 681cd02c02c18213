// One benchmark in one process, as the protocol has it: check, then samples, each after idling,
// spread over several places in memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baselines/doubt.h"
#include "bench/meter.h"
#include "bench/plan.h"
#include "bench/protocol.h"
#include "kernels/verify.h"
#include "kernels/workspace.h"

namespace fusegate {

// What is known of a benchmark besides its samples.
struct BenchmarkRecord {
  std::string failure;  // not empty: it threw, or its results were wrong
  double relative_error = 0;
  double flops = 0;
  double min_bytes = 0;
  double host_ns = 0;
  LaunchCount launches;
  std::vector<Stage> stages;                  // without launch functions
  std::vector<std::string> throttle_reasons;  // seen right after the last sample
  std::set<Doubt> doubts;
};

class Session {
 public:
  // Checks the implementation against the reference. Throws std::runtime_error where it fails.
  Session(Device& device, Meter& meter, Verifier& verifier, const Protocol& protocol,
          const PlannedBenchmark& benchmark, std::uint64_t seed);

  // Moves to the place in memory that the sample (counted from 0) belongs to. Not timed.
  void prepare_sample(int sample);
  // Idles, then runs one batch.
  Sample run_sample();
  int calls() const { return calls_; }
  const BenchmarkRecord& record() const { return record_; }

 private:
  void check(Verifier& verifier);
  void move_to(int place);
  void size_batch();
  void describe();

  Device& device_;
  Meter& meter_;
  const Protocol& protocol_;
  const PlannedBenchmark& benchmark_;
  std::uint64_t seed_;
  BenchmarkRecord record_;

  int place_ = -1;
  int calls_ = 0;
  std::vector<Memory> padding_;  // kept, so that each place is another
  std::optional<Workspace> workspace_;
  PreparedKernel kernel_;
  std::unique_ptr<Batch> batch_;  // after kernel_, which it refers to
};

}  // namespace fusegate
