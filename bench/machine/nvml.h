// NVIDIA's management library, opened at run time: a machine may have a GPU and no NVML, and a
// build machine has neither. Any value may be missing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fusegate::bench {

// Settings of one GPU, which must not change during a measurement. Empty: not supported or not
// permitted.
struct GpuSettings {
  std::optional<std::string> driver;
  std::optional<double> power_limit_w;
  std::optional<unsigned> max_sm_clock_mhz;
  std::optional<unsigned> max_memory_clock_mhz;
  std::optional<unsigned> application_clock_mhz;
  std::optional<bool> ecc;
  std::optional<bool> mig;

  // Whether a setting is known to both and not the same.
  bool differ_from(const GpuSettings& other) const;
};

// What the driver reports of one GPU; of a MIG slice, what it reports of the whole GPU.
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

// Whether a reason of GpuState::throttle_reasons spoils a measurement. A software power cap does
// not: a long GEMM on an H200 always reaches the power limit, and idling before samples avoids it.
bool is_slowdown(std::string_view throttle_reason);

class Nvml {
 public:
  // Null where the library is missing or cannot be used.
  static std::unique_ptr<Nvml> open();
  ~Nvml();
  // It owns the library's handle.
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // uuid: as CUDA gives it, "GPU-...". Empty where NVML does not know the GPU.
  std::optional<GpuState> state(const std::string& uuid) const;
  // One query, where state() makes many.
  std::optional<unsigned> sm_clock_mhz(const std::string& uuid) const;
  // Since the driver was loaded.
  std::optional<unsigned long long> energy_mj(const std::string& uuid) const;
  // Numbers of the driver's errors (Xid) since the last call; none at the first call. NVIDIA's "Xid
  // Errors" explains them.
  std::vector<unsigned> new_xids(const std::string& uuid);

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace fusegate::bench
