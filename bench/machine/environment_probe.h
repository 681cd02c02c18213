// What surrounds a measurement: the environment, which must match between runs, the machine, which
// need not, and the warnings that the machine's state raises.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baselines/record/environment.h"
#include "baselines/record/warning.h"
#include "bench/machine/nvml.h"
#include "kernels/contract/device.h"

namespace fusegate::bench {

class EnvironmentProbe {
 public:
  // versions: of software that decides the program's speed besides the device's own.
  explicit EnvironmentProbe(const kernels::Device& device,
                            std::map<std::string, std::string> versions = {});

  // As it was at the start.
  baselines::Environment environment() const;
  std::string_view device_kind() const { return device_.kind(); }
  const std::string& device_uuid() const { return uuid_; }
  // Host name, load, clocks and temperature now, as JSON for `fusegate doctor` and the run file.
  nlohmann::json machine() const;
  // The GPU's SM clock now; nothing where NVML does not know it.
  std::optional<unsigned> sm_clock_mhz() const;
  // The energy that the GPU has taken since its driver was loaded, likewise.
  std::optional<unsigned long long> energy_mj() const;

  // Reads the machine's state once more; call it between benchmarks, never within a sample.
  void probe();
  // Adds an SM clock seen during a sample.
  void saw_clock(double hz);
  // Adds a sample's time, and for how much of it the host did something else.
  void saw_batch(double batch_ns, double held_up_ns);
  std::set<baselines::Warning> warnings() const;
  // Numbers of the driver's errors (nvml.h) that probe() saw so far.
  const std::set<unsigned>& xids() const { return xids_; }
  // Throttle reasons that the last probe() saw.
  const std::vector<std::string>& throttle_reasons() const { return throttle_reasons_; }

 private:
  bool is_gpu() const { return !uuid_.empty(); }
  std::optional<GpuState> state() const { return nvml_ ? nvml_->state(uuid_) : std::nullopt; }
  void check_settings(const GpuState& now);
  void check_counters(const GpuState& before, const GpuState& now);
  void check_load(const GpuState& now);
  void warn_if(bool is_so, baselines::Warning warning) {
    if (is_so) warnings_.insert(warning);
  }

  const kernels::Device& device_;
  std::map<std::string, std::string> versions_;
  std::string uuid_;
  std::unique_ptr<Nvml> nvml_;
  std::optional<GpuSettings> settings_;  // at the start
  std::optional<GpuState> last_;
  bool clocks_were_held_ = false, clocks_were_free_ = false;
  std::set<unsigned> xids_;
  std::set<baselines::Warning> warnings_;
  std::vector<std::string> throttle_reasons_;
  double lowest_clock_hz_ = 0, highest_clock_hz_ = 0;
  double batches_ns_ = 0, held_up_ns_ = 0;
};

}  // namespace fusegate::bench
