#include "bench/meters/cpu_meter.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "bench/meters/make_meter.h"

namespace fusegate::bench {
namespace {

// Larger than the last-level caches of the CPUs met so far (32 MB and 300 MB). A few server CPUs
// have more; there the declared state is only partly reached.
constexpr std::size_t kFlushBytes = std::size_t{512} << 20;

class CpuBatch : public Batch {
 public:
  CpuBatch(kernels::Device& device, const kernels::PreparedKernel& kernel,
           const BatchOptions& options, HostClock& clock)
      : device_(device),
        kernel_(kernel),
        clock_(clock),
        calls_(options.calls),
        flush_(options.l2 == L2State::kFlushed ? kFlushBytes : 0) {}

  Sample run() override {
    HostReading total;
    // With nothing to flush, one stretch of all the calls; else a stretch a call.
    const int stretches = flush_.empty() ? 1 : calls_;
    for (int stretch = 0; stretch < stretches; ++stretch) {
      if (!flush_.empty()) std::memset(flush_.data(), stretch & 0xff, flush_.size());
      const HostReading start = clock_.read();
      for (int call = 0; call < calls_ / stretches; ++call) kernel_.launch();
      device_.synchronize();
      const HostReading end = clock_.read();
      total.wall_ns += end.wall_ns - start.wall_ns;
      total.thread_ns += end.thread_ns - start.thread_ns;
      total.cycles += end.cycles - start.cycles;
    }
    return {.batch_ns = total.wall_ns,
            .sm_clock_hz = 1e9 * total.cycles / total.wall_ns,
            .held_up_ns = std::max(0.0, total.wall_ns - total.thread_ns)};
  }

  double run_changing(const Changes& changes) override {
    const HostReading start = clock_.read();
    launch_each(changes, kernel_);
    device_.synchronize();
    return clock_.read().wall_ns - start.wall_ns;
  }

 private:
  kernels::Device& device_;
  const kernels::PreparedKernel& kernel_;
  HostClock& clock_;
  int calls_;
  std::vector<char> flush_;
};

// Where nothing is launched, what there is to record are the parts.
class HostProfiler : public Profiler {
 public:
  std::int64_t now() const override {
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::nanoseconds(time).count();
  }
  void begin_part(std::size_t) override {}
  void end_part() noexcept override {}
  Activity take() override { return {}; }
};

class CpuMeter : public Meter {
 public:
  CpuMeter(kernels::Device& device, std::unique_ptr<HostClock> clock)
      : device_(device), clock_(std::move(clock)) {}

  std::unique_ptr<Batch> record(const kernels::PreparedKernel& kernel,
                                const BatchOptions& options) override {
    return std::make_unique<CpuBatch>(device_, kernel, options, *clock_);
  }
  std::unique_ptr<Profiler> attach_profiler() override { return std::make_unique<HostProfiler>(); }

 private:
  kernels::Device& device_;
  std::unique_ptr<HostClock> clock_;
};

const MeterRegistration registered{
    "cpu", [](kernels::Device& device) { return make_cpu_meter(device, open_host_clock()); }};

}  // namespace

std::unique_ptr<Meter> make_cpu_meter(kernels::Device& device, std::unique_ptr<HostClock> clock) {
  return std::make_unique<CpuMeter>(device, std::move(clock));
}

}  // namespace fusegate::bench
