// NVIDIA's management library, opened at run time: a machine may have a GPU and no NVML, and a
// build machine has neither. Every question may go unanswered.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fusegate::bench {

// What was set for one GPU, and should stay as it is while something is measured. An empty
// optional: not supported, or not permitted.
struct GpuSettings {
  std::optional<std::string> driver;
  std::optional<double> power_limit_w;
  std::optional<unsigned> max_sm_clock_mhz;
  std::optional<unsigned> max_memory_clock_mhz;
  std::optional<unsigned> application_clock_mhz;
  std::optional<bool> ecc;
  std::optional<bool> mig;

  // Whether both tell something, and not the same.
  bool differ_from(const GpuSettings& other) const;
};

// What the driver says of one GPU; of a slice of one (MIG), what it says of the whole.
struct GpuState {
  GpuSettings settings;
  bool is_slice = false;
  std::optional<bool> persistence;
  std::optional<unsigned> temperature_c;
  std::optional<unsigned> sm_clock_mhz;       // at this moment
  std::vector<std::string> throttle_reasons;  // at this moment, such as "sw_power_cap"
  // Whether a setting held the clocks down at this moment. Not known while the GPU idles.
  std::optional<bool> clocks_held;
  std::optional<unsigned long long> memory_errors;  // since the driver was loaded, corrected or not
  std::optional<unsigned long long> energy_mj;      // taken since then
  int compute_processes = 0;                        // ours among them
};

// Reasons of GpuState::throttle_reasons that spoil a measurement. A software power cap is not among
// them: a GEMM on an H200 runs at its power limit whenever it runs long enough, and pacing answers
// that.
bool is_slowdown(std::string_view throttle_reason);

class Nvml {
 public:
  // Null where the library is missing or cannot be used.
  static std::unique_ptr<Nvml> open();
  ~Nvml();
  // It owns the library's handle.
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // uuid: as CUDA gives it, "GPU-...". Empty where NVML knows no such GPU.
  std::optional<GpuState> state(const std::string& uuid) const;
  // The SM clock at this moment alone, which is one question and not many.
  std::optional<unsigned> sm_clock_mhz(const std::string& uuid) const;
  // All that the GPU has taken since its driver was loaded.
  std::optional<unsigned long long> energy_mj(const std::string& uuid) const;
  // Numbers of the errors (Xid) that the driver reported of the GPU since the last call; of the
  // first call, none. "Xid Errors" of NVIDIA's documentation says what they mean.
  std::vector<unsigned> new_xids(const std::string& uuid);

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace fusegate::bench
