// What surrounds a measurement: the environment, which must match between runs, the machine, which
// need not, and the doubts that the machine's state raises.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baselines/record/doubt.h"
#include "baselines/record/environment.h"
#include "bench/machine/nvml.h"
#include "kernels/contract/device.h"

namespace fusegate::bench {

class EnvironmentProbe {
 public:
  explicit EnvironmentProbe(const kernels::Device& device);

  // Once, at the start.
  baselines::Environment environment() const;
  std::string_view device_kind() const { return device_.kind(); }
  const std::string& device_uuid() const { return uuid_; }
  // Host name, load, clocks and temperature now: JSON for people and doctors.
  nlohmann::json machine() const;
  // The GPU's SM clock now, where NVML tells.
  std::optional<unsigned> sm_clock_mhz() const;
  // All energy that the GPU has taken, likewise.
  std::optional<unsigned long long> energy_mj() const;

  // Looks at the machine's state once more; call it between benchmarks, never within a sample.
  void look();
  // Adds an SM clock seen during a sample.
  void saw_clock(double hz);
  // Adds a sample's time, and how much of it the host did something else.
  void saw_batch(double batch_ns, double held_up_ns);
  std::set<baselines::Doubt> doubts() const;
  // Numbers of the driver's errors (nvml.h) that look() saw so far.
  const std::set<unsigned>& xids() const { return xids_; }
  // Throttle reasons that the last look() saw.
  const std::vector<std::string>& throttle_reasons() const { return throttle_reasons_; }

 private:
  bool is_gpu() const { return !uuid_.empty(); }
  std::optional<GpuState> state() const { return nvml_ ? nvml_->state(uuid_) : std::nullopt; }
  void compare_with_last(const GpuState& now);

  const kernels::Device& device_;
  std::string uuid_;
  std::unique_ptr<Nvml> nvml_;
  std::optional<GpuSettings> settings_;  // at the start
  std::optional<GpuState> last_;
  bool clocks_were_held_ = false, clocks_were_free_ = false;
  std::set<unsigned> xids_;
  std::set<baselines::Doubt> doubts_;
  std::vector<std::string> throttle_reasons_;
  double lowest_clock_hz_ = 0, highest_clock_hz_ = 0;
  double batches_ns_ = 0, held_up_ns_ = 0;
};

}  // namespace fusegate::bench
