// A meter that keeps its own time, for tests: calls take call_ns each and a batch a fixed overhead
// more, in which one call is launched.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/meters/meter.h"
#include "bench/profiling/fake_profiler.h"

namespace fusegate::bench {

class FakeMeter : public Meter {
 public:
  explicit FakeMeter(double call_ns) : call_ns(call_ns) {}

  std::unique_ptr<Batch> record(const kernels::PreparedKernel& kernel,
                                const BatchOptions& options) override {
    struct FakeBatch : Batch {
      FakeBatch(FakeMeter& meter, const kernels::PreparedKernel& kernel, int calls)
          : meter(meter), kernel(kernel), calls(calls) {}
      Sample run() override {
        kernel.launch();
        ++meter.runs;
        return {.batch_ns = meter.overhead_ns + calls * meter.call_ns,
                .sm_clock_hz = meter.clock_hz};
      }
      void launch() override { ++meter.launches; }
      void start() override { kernel.launch(); }
      double run_changing(const Changes& changes) override {
        launch_each(changes, kernel);
        return meter.changing_ns(static_cast<double>(changes.size()) * meter.call_ns);
      }
      FakeMeter& meter;
      const kernels::PreparedKernel& kernel;
      int calls;
    };
    last_options = options;
    ++records;
    return std::make_unique<FakeBatch>(*this, kernel, options.calls);
  }
  std::string not_capturable(const kernels::PreparedKernel&, const std::vector<kernels::Tensor>&,
                             const std::function<void()>&) override {
    return uncapturable;
  }
  std::optional<StaleArgument> stale_argument(const kernels::PreparedKernel&,
                                              const std::vector<kernels::Tensor>&) override {
    return stale;
  }
  bool can_spin() const override { return spins; }
  LaunchCount count_launches(const kernels::PreparedKernel&) override { return {.kernels = 3}; }
  double host_ns(const kernels::PreparedKernel&) override { return 42; }
  double host_graph_ns(const kernels::PreparedKernel&) override { return 7; }
  std::vector<kernels::KernelResources> kernels(const kernels::Stage& stage) override {
    return {{.name = stage.name + "_kernel", .registers = 32}};
  }
  void annotate(const kernels::PreparedKernel&, const std::string& benchmark) override {
    annotated.push_back(benchmark);
  }

  ProfileAttempt profile(const kernels::PreparedKernel&, const std::vector<kernels::Tensor>&,
                         bool captured) override {
    ++profiles;
    last_profile_captured = captured;
    return attempt;
  }

  std::unique_ptr<Profiler> attach_profiler() override {
    if (attempt.warning) throw ProfilerError(*attempt.warning);
    return std::make_unique<FakeProfiler>(profiler);
  }

  double call_ns;
  double overhead_ns = 1000;
  double clock_hz = 1e9;
  // What a batch of changes takes, given its calls' time.
  std::function<double(double)> changing_ns = [](double ns) { return ns; };
  bool spins = true;
  std::string uncapturable;  // why; "" where it is not
  std::optional<StaleArgument> stale;
  bool last_profile_captured = true;
  int runs = 0;
  std::atomic<int> launches = 0;  // of batches, nothing being read
  int records = 0;
  BatchOptions last_options;
  std::vector<std::string> annotated;
  int profiles = 0;
  ProfileAttempt attempt;
  FakeProfilerLog profiler;
};

}  // namespace fusegate::bench
