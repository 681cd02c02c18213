// NVIDIA's management library, opened at run time: a machine may have a GPU and no NVML, and a
// build machine has neither. Every question may go unanswered.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fusegate::bench {

// What the driver says of one GPU. An empty optional: not supported, or not permitted.
struct GpuState {
  std::optional<std::string> driver;
  std::optional<double> power_limit_w;
  std::optional<unsigned> max_sm_clock_mhz;
  std::optional<unsigned> max_memory_clock_mhz;
  std::optional<bool> ecc;
  std::optional<bool> mig;
  std::optional<bool> persistence;
  std::optional<unsigned> temperature_c;
  std::optional<unsigned> sm_clock_mhz;       // at this moment
  std::vector<std::string> throttle_reasons;  // at this moment, such as "sw_power_cap"
  int compute_processes = 0;                  // ours among them
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
  // The SM clock at this moment alone, which is one question and not twelve.
  std::optional<unsigned> sm_clock_mhz(const std::string& uuid) const;
  // All that the GPU has taken since its driver was loaded.
  std::optional<unsigned long long> energy_mj(const std::string& uuid) const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace fusegate::bench
