#include "bench/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <thread>

namespace fusegate {
namespace {

// Bounds the size of a graph. 1.5 ms of calls reach it only below 0.4 us a call; the shortest call
// seen took 1 us.
constexpr int kMostCalls = 4000;

double needed_ns(const Protocol& protocol) {
  return std::chrono::duration<double, std::nano>(protocol.batch).count();
}

}  // namespace

Session::Session(Device& device, Meter& meter, Verifier& verifier, const Protocol& protocol,
                 const PlannedBenchmark& benchmark, std::uint64_t seed)
    : device_(device), meter_(meter), protocol_(protocol), benchmark_(benchmark), seed_(seed) {
  check(verifier);
  move_to(0);
  describe();
}

void Session::check(Verifier& verifier) {
  const Operation& operation = find_operation(benchmark_.implementation->operation);
  const double needed = tensor_bytes(operation, benchmark_.problem);
  const auto available = static_cast<double>(device_.available_bytes());
  if (needed > available) {
    throw DeviceError(fmt::format("its tensors take {:.3g} GB and {} has {:.3g} GB free",
                                  needed / 1e9, device_.name(), available / 1e9));
  }
  const Verification result = verifier.verify(*benchmark_.implementation, benchmark_.problem);
  if (!result.passed()) throw std::runtime_error(result.complaint());
  record_.relative_error = result.relative_error;
}

void Session::move_to(int place) {
  batch_.reset();
  kernel_ = {};
  workspace_.reset();
  // What lies where decides which L2 slices serve it; pages of another place serve it otherwise.
  std::mt19937_64 random(seed_ + static_cast<std::uint64_t>(place));
  padding_.push_back(device_.allocate((1 + random() % 64) << 20));
  const Operation& operation = find_operation(benchmark_.implementation->operation);
  workspace_.emplace(device_, operation, benchmark_.problem, random());
  kernel_ = benchmark_.implementation->prepare(device_, benchmark_.problem, workspace_->inputs(),
                                               workspace_->output());
  if (calls_ == 0) size_batch();
  batch_ = meter_.record(kernel_, calls_, protocol_.l2);
  batch_->run();  // warm-up: the first replay of a graph, and the clock's way up from idle
  place_ = place;
}

void Session::size_batch() {
  const double target_ns = needed_ns(protocol_);
  calls_ = 1;
  // A few calls say little about the time of many; growing towards the target settles it.
  for (int attempt = 0; attempt < 4; ++attempt) {
    const std::unique_ptr<Batch> pilot = meter_.record(kernel_, calls_, protocol_.l2);
    pilot->run();
    const double call_ns = pilot->run().batch_ns / calls_;
    constexpr double kMargin = 1.1;  // a later batch may run at a higher clock than the pilot's
    const double wanted = std::ceil(kMargin * target_ns / call_ns);
    const int next = static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(kMostCalls)));
    const bool settled = std::abs(next - calls_) <= 0.05 * calls_;
    calls_ = next;
    if (settled) return;
  }
}

void Session::describe() {
  record_.flops = kernel_.flops();
  record_.min_bytes = kernel_.min_bytes();
  record_.launches = meter_.count_launches(kernel_);
  record_.host_ns = meter_.host_ns(kernel_);
  record_.stages = kernel_.stages;
  for (Stage& stage : record_.stages) stage.launch = nullptr;
  meter_.annotate(kernel_, benchmark_.name());
}

void Session::prepare_sample(int sample) {
  const int samples_a_place = std::max(1, protocol_.samples / protocol_.places);
  const int place = sample / samples_a_place;
  if (place != place_) move_to(place);
}

Sample Session::run_sample() {
  std::this_thread::sleep_for(protocol_.idle);
  const Sample sample = batch_->run();
  if (sample.batch_ns < needed_ns(protocol_)) record_.doubts.insert(Doubt::kShortBatch);
  if (std::isnan(sample.sm_clock_hz) && device_.kind() == "cuda") {
    record_.doubts.insert(Doubt::kClockUnread);
  }
  return sample;
}

}  // namespace fusegate
