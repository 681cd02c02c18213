#include "bench/measuring/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <stdexcept>
#include <thread>

#include "baselines/statistics/statistics.h"
#include "bench/measuring/timed_check.h"
#include "bench/ranks/interrupt.h"

namespace fusegate::bench {
namespace {

// Bounds the size of a graph. Batches of 1.5 ms reach it below 0.4 us a call; the shortest call
// seen took 1 us.
constexpr int kMostCalls = 4000;

double needed_ns(const Protocol& protocol) {
  return std::chrono::duration<double, std::nano>(protocol.batch).count();
}

double process_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// At least once: the first replay of a graph is slow, and the clock rises from idle.
void warm_up(Batch& batch, std::chrono::nanoseconds length, kernels::Ranks& ranks) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + length;
  do {
    batch.run();
  } while (ranks.all("warm-up goes on", Clock::now() < end) && !interrupted());
}

// NaN where launches allocate what they need.
double memory_bytes(const PlannedBenchmark& benchmark, const kernels::PreparedKernel& kernel) {
  if (kernel.allocates) return std::nan("");
  const kernels::Operation& operation =
      kernels::find_operation(benchmark.implementation->operation);
  return kernels::tensor_bytes(operation, benchmark.problem) + kernel.scratch_bytes();
}

}  // namespace

bool is_lost(kernels::Device& device) {
  bool is_lost = false;
  try {
    device.synchronize();
  } catch (const kernels::DeviceError&) {
    is_lost = true;
  }
  try {
    return !device.ranks().all("whether the device is lost", !is_lost);
  } catch (const kernels::RankError&) {
    return true;  // with a rank that has ended nothing more can be measured
  }
}

void Session::verify(kernels::Verifier& verifier) {
  const kernels::Operation& operation =
      kernels::find_operation(benchmark_.implementation->operation);
  const double needed = kernels::tensor_bytes(operation, benchmark_.problem);
  ranks().together("looking for memory", [&] {
    const auto available = static_cast<double>(context_.device.available_bytes());
    if (needed <= available) return;
    throw kernels::DeviceError(fmt::format("its tensors need {:.3g} GB, and {} has {:.3g} GB free",
                                           needed / 1e9, context_.device.name(), available / 1e9));
  });
  context_.device.pin_choices(benchmark_.pinned_choices);
  kernels::Verification result;
  ranks().together("its check", [&] {
    result = verifier.verify(*benchmark_.implementation, benchmark_.problem);
  });
  if (!result.passed()) throw std::runtime_error(result.message());
  record_.relative_error = result.relative_error;
  verified_ = true;
}

std::unique_ptr<Layout> Session::move_to(int layout) {
  std::unique_ptr<Layout> here;
  ranks().together("preparing", [&] { here = move_alone_to(layout); });
  return here;
}

std::unique_ptr<Layout> Session::move_alone_to(int layout) {
  const auto& [device, meter, ballast, protocol, seed] = context_;
  // A tensor's address decides which L2 slices serve it.
  if (protocol.layout_kind == LayoutKind::kNumbered) {
    device.lay_out(static_cast<std::uint64_t>(layout));
  } else {
    ballast.roll();
  }
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(layout));
  const kernels::Operation& operation =
      kernels::find_operation(benchmark_.implementation->operation);
  std::unique_ptr<Layout> here(
      new Layout{kernels::Workspace(device, operation, benchmark_.problem, random()), {}, {}, {}});
  // Autotuned when prepared for the first time; later preparations take the same kernel.
  device.pin_choices(benchmark_.pinned_choices);
  here->kernel = benchmark_.implementation->prepare(
      device, benchmark_.problem, here->workspace.inputs(), here->workspace.outputs());
  return here;
}

std::string Session::why_not_capturable(Layout& layout) const {
  std::vector<kernels::Tensor> results = layout.workspace.outputs();
  for (const kernels::Memory& scratch : layout.kernel.scratch) {
    results.push_back(
        {scratch.data(), {static_cast<std::int64_t>(scratch.bytes())}, kernels::Dtype::kInt8});
  }
  std::uint64_t changes = 0;
  const auto change_inputs = [&] {
    layout.workspace.restore(context_.seed + changes++);  // not the layout's own seed
  };
  std::string why = context_.meter.not_capturable(layout.kernel, results, change_inputs);
  if (changes > 0) layout.workspace.restore();
  return why;
}

std::unique_ptr<Layout> Session::enter(int layout) {
  if (!verified_) throw std::logic_error("a kernel must be checked before it is timed");
  std::unique_ptr<Layout> here;
  ranks().together("entering a memory layout", [&] { here = enter_in_step(layout); });
  return here;
}

std::unique_ptr<Layout> Session::enter_in_step(int layout) {
  std::unique_ptr<Layout> here = move_to(layout);
  const bool is_first = record_.calls == 0;
  if (is_first) record_.not_capturable = why_not_capturable(*here);
  if (record_.not_capturable.empty()) {
    check_.require_current_arguments(here->workspace, here->kernel);
  } else {
    here->record.warnings.insert(baselines::Warning::kNotCapturable);
  }
  if (is_first) {
    size_batch(here->kernel);
    describe(here->kernel);
  }
  here->batch = context_.meter.record(here->kernel, batch_options());
  check_.poison_outputs(here->workspace);
  warm_up(*here->batch, context_.protocol.warm, ranks());
  check_.require_written_outputs(here->workspace, here->kernel, *here->batch);
  return here;
}

ProfileAttempt Session::profile() {
  const std::unique_ptr<Layout> here = move_to(0);
  const std::string why = why_not_capturable(*here);
  ProfileAttempt attempt =
      context_.meter.profile(here->kernel, here->workspace.tensors(), why.empty());
  if (!why.empty()) {
    attempt.identity = baselines::CallIdentity{.unknown = "it cannot be captured: " + why};
  }
  attempt.flops = here->kernel.flops();
  attempt.min_bytes = here->kernel.min_bytes();
  attempt.memory_bytes = memory_bytes(benchmark_, here->kernel);
  attempt.kept_bytes = here->kernel.kept_bytes;
  for (const kernels::Stage& stage : here->kernel.stages) {
    if (!stage.choice.empty()) attempt.choices[stage.name] = stage.choice;
  }
  return attempt;
}

std::optional<CallEnergy> Session::call_energy(const EnergySource& source,
                                               std::chrono::nanoseconds stretch) {
  const std::unique_ptr<Layout> here = move_to(0);
  BatchOptions options = batch_options();
  options.spin = {};  // no part of a call
  const auto batch = context_.meter.record(here->kernel, options);
  return bench::call_energy(
      source, [&] { batch->launch(); }, record_.calls, stretch);
}

TracedBenchmark Session::trace(const TraceSchedule& schedule, const StepBorder& border) {
  if (!verified_) throw std::logic_error("a kernel must be checked before it is traced");
  const std::unique_ptr<Layout> here = move_to(0);
  TracedBenchmark traced{.name = benchmark_.name()};
  traced.steps = record_steps(
      schedule, [this] { return context_.meter.attach_profiler(); },
      profiled_call(here->kernel, context_.device), border);
  return traced;
}

BatchOptions Session::batch_options() const {
  return {.calls = record_.calls,
          .l2 = context_.protocol.l2,
          .spin = context_.protocol.spin,
          .captured = record_.not_capturable.empty()};
}

void Session::size_batch(const kernels::PreparedKernel& kernel) {
  const double target_ns = needed_ns(context_.protocol);
  int& calls = record_.calls;
  calls = 1;
  // The time of a few calls predicts the time of many badly, so the batch grows in steps.
  for (int attempt = 0; attempt < 4; ++attempt) {
    const auto pilot = context_.meter.record(kernel, batch_options());
    pilot->run();
    const double call_ns = pilot->run().batch_ns / calls;
    constexpr double kMargin = 1.1;  // a later batch may run at a higher clock
    const double wanted = std::ceil(kMargin * target_ns / call_ns);
    const int next = static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(kMostCalls)));
    const bool settled = std::abs(next - calls) <= 0.05 * calls;
    calls = next;
    if (settled) return;
  }
}

void Session::describe(const kernels::PreparedKernel& kernel) {
  record_.flops = kernel.flops();
  record_.min_bytes = kernel.min_bytes();
  record_.memory_bytes = memory_bytes(benchmark_, kernel);
  record_.kept_bytes = kernel.kept_bytes;
  const bool captured = record_.not_capturable.empty();
  if (captured) record_.launches = context_.meter.count_launches(kernel);
  record_.host_ns = context_.meter.host_ns(kernel);
  record_.host_graph_ns = captured ? context_.meter.host_graph_ns(kernel) : std::nan("");
  record_.stages = kernel.stages;
  for (kernels::Stage& stage : record_.stages) {
    if (captured) stage.kernels = context_.meter.kernels(stage);
    stage.launch = nullptr;
  }
  context_.meter.annotate(kernel, benchmark_.name());
}

const Sample& Session::run_sample(Layout& layout) {
  std::this_thread::sleep_for(context_.protocol.idle);
  LayoutRecord& record = layout.record;
  const double before = process_cpu_ns();
  Sample& sample = record.samples.emplace_back();
  ranks().together("taking a sample", [&] { sample = layout.batch->run(); });
  sample.cpu_ns = process_cpu_ns() - before;
  shortest_ns_ = std::min(shortest_ns_, sample.batch_ns);
  if (sample.batch_ns < needed_ns(context_.protocol))
    record.warnings.insert(baselines::Warning::kShortBatch);
  if (!std::isnan(sample.hidden_ns)) hidden_shares_.push_back(sample.hidden_ns / sample.batch_ns);
  if (std::isnan(sample.sm_clock_hz)) record.warnings.insert(baselines::Warning::kClockUnread);
  return sample;
}

std::vector<kernels::Memory> Session::check_timed(Layout& layout, std::uint64_t seed,
                                                  std::mt19937_64& random) const {
  const TimedBatch timed{.device = context_.device,
                         .operation = kernels::find_operation(benchmark_.implementation->operation),
                         .problem = benchmark_.problem,
                         .workspace = layout.workspace,
                         .kernel = layout.kernel,
                         .batch = *layout.batch,
                         .calls = record_.calls,
                         .call_ns = shortest_ns_ / record_.calls,
                         .idle = context_.protocol.idle};
  std::vector<kernels::Memory> outputs;
  ranks().together("checking what was timed",
                   [&] { outputs = bench::check_timed(timed, seed, random); });
  return outputs;
}

void Session::require_whole_times() const {
  constexpr double kMost = 0.05;
  if (hidden_shares_.empty()) return;
  const double share = baselines::median(hidden_shares_);
  if (share <= kMost) return;
  throw std::runtime_error(
      fmt::format("the GPU works for {:.2g} % longer than between the events that time it: it "
                  "works on after them, or changes what they say",
                  100 * share));
}

}  // namespace fusegate::bench
