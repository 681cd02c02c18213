// A device that is a GPU by name, "fake_gpu", and the CPU in truth: built into
// fusegate_bench_faulty alone. It has an id, so that NVML is asked of it
// (bench/machine/fake_nvml.h); its kernels fault as planted_fault.h says, and its meter's times are
// made up, so that verdicts depend on no machine.
#include <fmt/format.h>

#include <chrono>
#include <random>
#include <string>
#include <thread>

#include "bench/measuring/planted_fault.h"
#include "bench/meters/fake_meter.h"
#include "bench/meters/make_meter.h"
#include "kernels/onednn/onednn_device.h"

namespace fusegate::bench {
namespace {

constexpr const char* kKind = "fake_gpu";

class FakeGpu : public kernels::OnednnDevice {
 public:
  explicit FakeGpu(int number) : uuid_(fmt::format("GPU-00000000-0000-0000-0000-{:012}", number)) {}
  std::string_view kind() const override { return kKind; }
  std::string name() const override { return "Fake GPU"; }
  std::string uuid() const override { return uuid_; }
  void synchronize() override {
    if (is_lost_) throw kernels::DeviceError("an illegal memory access was encountered");
    OnednnDevice::synchronize();
  }
  // Like a CUDA context, for good.
  void lose() { is_lost_ = true; }

 private:
  std::string uuid_;
  bool is_lost_ = false;
};

const kernels::DeviceRegistration device{{.name = kKind, .preference = -1, .open = [](int number) {
                                            return std::make_unique<FakeGpu>(number);
                                          }}};

kernels::PreparedKernel prepare_healthy(kernels::Device& device, const kernels::Problem& problem,
                                        kernels::Inputs in, const kernels::Tensor& out) {
  return prepare_fused("cpu", device, problem, in, out);
}

kernels::PreparedKernel prepare_fault(kernels::Device& device, const kernels::Problem& problem,
                                      kernels::Inputs in, const kernels::Tensor& out) {
  kernels::PreparedKernel kernel = prepare_healthy(device, problem, in, out);
  std::function<void()>& launch = kernel.stages.back().launch;
  switch (next_planted_fault()) {
    case PlantedFault::kNone:
      break;
    case PlantedFault::kMemory:
      throw kernels::DeviceError("cannot allocate any more");
    case PlantedFault::kAddress:
      launch = [&device] { static_cast<FakeGpu&>(device).lose(); };
      break;
    case PlantedFault::kEndless:
      launch = [] {
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
      };
      break;
  }
  return kernel;
}

const kernels::ImplementationRegistration fused{
    {"geglu", "fused", kKind, {kernels::Dtype::kFp32}, {}, &prepare_healthy}};
const kernels::ImplementationRegistration planted{
    {"geglu", "planted_fault", kKind, {kernels::Dtype::kFp32}, {}, &prepare_fault}};

// Launches what it makes up the time of.
class LaunchedBatch : public Batch {
 public:
  LaunchedBatch(kernels::Device& device, const kernels::PreparedKernel& kernel, int calls)
      : device_(device), kernel_(kernel), calls_(calls) {}

  Sample run() override {
    kernel_.launch();
    device_.synchronize();
    static std::mt19937_64 random{std::random_device{}()};
    const double call_ns = std::normal_distribution(1e5, 20.0)(random);
    return {.batch_ns = calls_ * call_ns, .sm_clock_hz = 1.98e9};
  }

  double run_changing(const Changes& changes) override {
    launch_each(changes, kernel_);
    return static_cast<double>(changes.size());
  }

 private:
  kernels::Device& device_;
  const kernels::PreparedKernel& kernel_;
  int calls_;
};

class FakeGpuMeter : public FakeMeter {
 public:
  explicit FakeGpuMeter(kernels::Device& device) : FakeMeter(0), device_(device) {}
  std::unique_ptr<Batch> record(const kernels::PreparedKernel& kernel,
                                const BatchOptions& options) override {
    return std::make_unique<LaunchedBatch>(device_, kernel, options.calls);
  }

 private:
  kernels::Device& device_;
};

const MeterRegistration meter{
    kKind, [](kernels::Device& device) { return std::make_unique<FakeGpuMeter>(device); }};

}  // namespace
}  // namespace fusegate::bench
