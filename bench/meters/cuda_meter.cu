// Batches on a GPU: one CUDA graph a sample, that may spin first, reads the SM clock, records an
// event, launches every call, records another event and reads the clock again. All of it is queued
// with one launch, so that the host's pauses never fall between the two events. Another reading
// follows the graph: what a call makes the GPU do outside of the events lies between the two.
//
// Of several ranks, each device waits for the others once a batch, before its clocks are read: the
// hosts begin it some microseconds apart.
//
// What no graph can hold is launched anew in every sample, between the same events, and the second
// one follows when the whole device has ended, other streams included.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <list>
#include <nvtx3/nvtx3.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/meters/make_meter.h"
#include "bench/meters/rank_barrier.h"
#include "bench/meters/repeated_calls.h"
#include "bench/profiling/activity.h"
#include "bench/profiling/cuda_graph_kernels.h"
#include "bench/profiling/graph_identity.h"
#include "bench/profiling/profiler.h"
#include "kernels/contract/stage_marks.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/device/cuda_graph.h"

namespace fusegate::bench {
namespace {

struct NvtxDomain {
  static constexpr const char* name{"fusegate"};
};
using NvtxRange = nvtx3::scoped_range_in<NvtxDomain>;

// One SM's two clocks at one moment.
struct ClockReading {
  unsigned long long time_ns;
  unsigned long long cycles;
};

__device__ unsigned long long global_ns() {
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Every SM that gets a block writes its reading; twice as many blocks as SMs reach nearly all.
__global__ void read_clocks(ClockReading* by_sm) {
  unsigned sm = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (threadIdx.x != 0) return;
  ClockReading reading{};
  reading.time_ns = global_ns();
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(reading.cycles));
  by_sm[sm] = reading;
}

// Keeps the SMs busy in registers alone. The sum converges to one; that it would be written if it
// were minus one keeps the compiler from dropping it.
__global__ void spin_kernel(unsigned long long length_ns, float* never) {
  const unsigned long long start = global_ns();
  float value = 1.0f + 1e-7f * static_cast<float>(threadIdx.x);
  while (global_ns() - start < length_ns) {
#pragma unroll
    for (int i = 0; i < 64; ++i) value = __fmaf_rn(value, 0.9999f, 1e-4f);
  }
  if (value == -1.0f) *never = value;
}

// When the SMs' clocks are read: in the graph before and after its events, and after the graph.
enum Moment { kBefore, kAfter, kAtEnd, kMoments };

class CudaBatch : public Batch {
 public:
  // empty_ns: what a batch without calls does outside of its events. barrier: null of one rank.
  CudaBatch(kernels::CudaDevice& device, const kernels::PreparedKernel& kernel,
            const BatchOptions& options, double empty_ns, RankBarrier* barrier)
      : device_(device),
        kernel_(kernel),
        options_(options),
        empty_ns_(empty_ns),
        barrier_(barrier),
        sms_(device.properties().multiProcessorCount),
        repeated_(device.stream(), [&kernel] { kernel.launch(); }) {
    clocks_ = device.allocate(kMoments * static_cast<std::size_t>(sms_) * sizeof(ClockReading));
    // Twice the L2 and more, lest a replacement policy keep some of it.
    const auto flush_bytes = 3 * static_cast<std::size_t>(device.properties().l2CacheSize);
    const bool flushed = options.l2 == L2State::kFlushed;
    if (flushed) flush_ = device.allocate(flush_bytes);
    // With nothing to flush, one timed stretch of all the calls; else a stretch a call.
    const int stretches = flushed ? options.calls : 1;
    events_ = std::vector<kernels::GraphEvent>(2 * static_cast<std::size_t>(stretches));
    const auto enqueue = [this, stretches] {
      if (options_.spin.count() > 0) enqueue_spin(options_.spin);
      if (barrier_ != nullptr) barrier_->enqueue();
      read_clocks_into(kBefore);
      for (int stretch = 0; stretch < stretches; ++stretch) {
        enqueue_stretch(options_.calls / stretches, stretch);
      }
      read_clocks_into(kAfter);
    };
    if (options.captured) {
      graph_.emplace(device.stream(), enqueue);
      executable_.emplace(*graph_, device.stream());
    } else {
      enqueue_anew_ = enqueue;
    }
    device.synchronize();
  }

  Sample run() override {
    FUSEGATE_CUDA(cudaMemsetAsync(clocks_.data(), 0, clocks_.bytes(), device_.stream()));
    start();
    read_clocks_into(kAtEnd);
    device_.synchronize();
    Sample sample;
    for (std::size_t i = 0; i < events_.size(); i += 2) {
      sample.batch_ns += 1e6 * events_[i + 1].ms_since(events_[i]);
    }
    const std::vector<ClockReading> readings = clock_readings();
    sample.sm_clock_hz = sm_clock_hz(readings);
    // Where the L2 is flushed between events, or the host launches between them, much lies outside.
    if (executable_ && events_.size() == 2) {
      sample.hidden_ns = length_ns(readings) - sample.batch_ns - empty_ns_;
    }
    return sample;
  }

  // The kernels that read the clocks run all the same, once before the calls and once after.
  void start() override {
    if (executable_) {
      executable_->launch();
    } else {
      enqueue_anew_();
    }
  }
  void launch() override {
    start();
    device_.synchronize();
  }

  int fewest_calls() const override {
    return options_.captured && kernel_.collect ? std::min(options_.calls, 2) : 1;
  }
  double run_changing(const Changes& changes) override {
    const cudaStream_t stream = device_.stream();
    const kernels::GraphEvent begin, end;
    std::optional<kernels::ExecutableGraph> executable;
    if (!options_.captured) {
      begin.record_now(stream);
      // Lest another stream begin before a change, or go on in the next one.
      launch_each(changes, kernel_, [] { FUSEGATE_CUDA(cudaDeviceSynchronize()); });
      end.record_now(stream);
    } else {
      const kernels::Graph graph(stream, [&] {
        begin.record(stream);
        for (const Change& change : changes) {
          change.enqueue();
          repeated_.enqueue_stretch(change.calls);
        }
        end.record(stream);
      });
      executable.emplace(graph, stream);
      executable->launch();
    }
    device_.synchronize();
    return 1e6 * end.ms_since(begin);
  }

 private:
  // Before the first reading, so that the clock it spins up does not count as the batch's.
  void enqueue_spin(std::chrono::nanoseconds length) {
    spin_kernel<<<2 * static_cast<unsigned>(sms_), 256, 0, device_.stream()>>>(
        static_cast<unsigned long long>(length.count()), static_cast<float*>(clocks_.data()));
    FUSEGATE_CUDA(cudaGetLastError());
  }

  void read_clocks_into(Moment moment) {
    auto* const readings = static_cast<ClockReading*>(clocks_.data()) + moment * sms_;
    read_clocks<<<2 * static_cast<unsigned>(sms_), 32, 0, device_.stream()>>>(readings);
    FUSEGATE_CUDA(cudaGetLastError());
  }

  void enqueue_stretch(int calls, int stretch) {
    if (flush_.bytes() > 0) {
      FUSEGATE_CUDA(
          cudaMemsetAsync(flush_.data(), stretch & 0xff, flush_.bytes(), device_.stream()));
    }
    const auto first = 2 * static_cast<std::size_t>(stretch);
    if (options_.captured) {
      events_[first].record(device_.stream());
      repeated_.enqueue_stretch(calls);
      return events_[first + 1].record(device_.stream());
    }
    FUSEGATE_CUDA(cudaDeviceSynchronize());  // lest another stream begin before the event
    events_[first].record_now(device_.stream());
    for (int call = 0; call < calls; ++call) kernel_.launch();
    FUSEGATE_CUDA(cudaDeviceSynchronize());
    events_[first + 1].record_now(device_.stream());
  }

  std::vector<ClockReading> clock_readings() {
    std::vector<ClockReading> readings(clocks_.bytes() / sizeof(ClockReading));
    device_.copy_to_host(clocks_.data(), std::as_writable_bytes(std::span(readings)));
    return readings;
  }

  // Of what is known of each SM at two moments, the median over the SMs that were reached both
  // times; NaN where none was.
  template <typename Of>
  double median_of(const std::vector<ClockReading>& readings, Moment later, Of of) const {
    std::vector<double> all;
    for (int sm = 0; sm < sms_; ++sm) {
      const ClockReading& before = readings[static_cast<std::size_t>(kBefore * sms_ + sm)];
      const ClockReading& after = readings[static_cast<std::size_t>(later * sms_ + sm)];
      if (before.time_ns == 0 || after.time_ns <= before.time_ns) continue;
      all.push_back(of(static_cast<double>(after.time_ns - before.time_ns),
                       static_cast<double>(after.cycles - before.cycles)));
    }
    if (all.empty()) return std::numeric_limits<double>::quiet_NaN();
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::ranges::nth_element(all, middle);
    return *middle;
  }
  double sm_clock_hz(const std::vector<ClockReading>& readings) const {
    return median_of(readings, kAfter, [](double ns, double cycles) { return cycles / ns * 1e9; });
  }
  double length_ns(const std::vector<ClockReading>& readings) const {
    return median_of(readings, kAtEnd, [](double ns, double) { return ns; });
  }

  kernels::CudaDevice& device_;
  const kernels::PreparedKernel& kernel_;
  BatchOptions options_;
  double empty_ns_;
  RankBarrier* barrier_;
  int sms_;
  kernels::Memory clocks_;
  kernels::Memory flush_;
  std::vector<kernels::GraphEvent> events_;
  std::optional<kernels::Graph> graph_;  // what the calls that are repeated lie in
  RepeatedCalls repeated_;
  std::optional<kernels::ExecutableGraph> executable_;
  std::function<void()> enqueue_anew_;  // where there is none
};

// CUDA's error when a launch is captured; "" where capturing works, and the graph then.
std::string capture_error(cudaStream_t stream, const kernels::PreparedKernel& kernel,
                          cudaStreamCaptureMode mode, std::optional<kernels::Graph>& graph) {
  std::string ignored;  // an error that the kernel's launch did not check
  try {
    graph.emplace(
        stream,
        [&] {
          kernel.launch();
          const cudaError_t last = cudaGetLastError();
          const std::string name = cudaGetErrorName(last);
          if (name.starts_with("cudaErrorStreamCapture")) ignored = name;
        },
        mode);
    return ignored;
  } catch (const std::exception& error) {
    cudaGetLastError();  // a capture that failed must not fail the next launch's check
    return ignored.empty() ? error.what() : ignored;
  }
}

// Derived from CUDA's error, or from the call named with it. Without either: a relaxed capture
// accepts unsafe calls such as cudaMalloc, but none that waits.
std::string capture_cause(const std::string& error, const std::string& when_relaxed) {
  for (const char* other : {"Unjoined", "Isolation", "Implicit", "WrongThread", "Unmatched"}) {
    if (error.find(std::string("cudaErrorStreamCapture") + other) != error.npos) {
      return "it uses another stream";
    }
  }
  if (error.find("cudaErrorStreamCapture") == error.npos) return "it cannot be captured";
  for (const char* call : {"cudaMalloc", "cudaFree", "cudaHostAlloc"}) {
    if (error.find(call) != error.npos) return "it allocates or frees memory";
  }
  if (error.find("Synchronize(") != error.npos) return "it waits for the device";
  return when_relaxed.empty() ? "it allocates or frees memory" : "it waits for the device";
}

class CudaMeter : public Meter {
 public:
  explicit CudaMeter(kernels::Device& device) : device_(static_cast<kernels::CudaDevice&>(device)) {
    if (device.ranks().are_several()) barrier_.emplace(device_);
  }

  std::unique_ptr<Batch> record(const kernels::PreparedKernel& kernel,
                                const BatchOptions& options) override {
    return std::make_unique<CudaBatch>(device_, kernel, options, empty_ns(), barrier());
  }
  bool can_spin() const override { return true; }

  std::string not_capturable(const kernels::PreparedKernel& kernel,
                             const std::vector<kernels::Tensor>& results,
                             const std::function<void()>& change_inputs) override {
    kernel.launch();  // some may not be captured at first
    change_inputs();
    const std::vector<std::uint64_t> before = digests(results);
    std::optional<kernels::Graph> call;
    const std::string error =
        capture_error(device_.stream(), kernel, cudaStreamCaptureModeThreadLocal, call);
    if (!error.empty()) {
      call.reset();
      const std::string relaxed =
          capture_error(device_.stream(), kernel, cudaStreamCaptureModeRelaxed, call);
      FUSEGATE_CUDA(cudaDeviceSynchronize());
      return capture_cause(error, relaxed) + " (" + error + ")";
    }
    // Launched elsewhere, it ran and was not captured.
    const bool is_elsewhere =
        digests(results) != before ||
        (kernel.collect && !writes_results(*call, kernel, results, change_inputs));
    return is_elsewhere ? "it uses another stream" : "";
  }

  std::optional<StaleArgument> stale_argument(
      const kernels::PreparedKernel& kernel, const std::vector<kernels::Tensor>& tensors) override {
    const kernels::Graph graph(device_.stream(), [&] { kernel.launch(); });
    return find_stale_argument(graph, memory_of(kernel, tensors));
  }

  LaunchCount count_launches(const kernels::PreparedKernel& kernel) override {
    const kernels::Graph graph(device_.stream(), [&] { kernel.launch(); });
    LaunchCount count;
    for (const cudaGraphNode_t node : graph.nodes()) {
      const cudaGraphNodeType type = kernels::graph_node_type(node);
      if (type == cudaGraphNodeTypeKernel) ++count.kernels;
      if (type == cudaGraphNodeTypeMemset || type == cudaGraphNodeTypeMemcpy)
        ++count.memory_operations;
    }
    return count;
  }

  double host_ns(const kernels::PreparedKernel& kernel) override {
    return host_ns_of([&] { kernel.launch(); });
  }
  double host_graph_ns(const kernels::PreparedKernel& kernel) override {
    const kernels::ExecutableGraph call(kernels::Graph(device_.stream(), [&] { kernel.launch(); }),
                                        device_.stream());
    device_.synchronize();
    return host_ns_of([&] { call.launch(); });
  }

  std::vector<kernels::KernelResources> kernels(const kernels::Stage& stage) override {
    if (!stage.launch) return {};
    const kernels::Graph graph(device_.stream(), stage.launch);
    return graph_kernels(graph, device_.properties().maxThreadsPerMultiProcessor);
  }

  void annotate(const kernels::PreparedKernel& kernel, const std::string& benchmark) override {
    const NvtxRange whole(benchmark);
    for (const kernels::Stage& stage : kernel.stages) {
      if (!stage.launch) continue;
      const NvtxRange part(stage.name);
      std::list<NvtxRange> marked;
      const kernels::StageListener listener(
          [&](std::string_view name) { marked.emplace_back(std::string(name)); },
          [&] { marked.pop_back(); });
      stage.launch();
    }
    device_.synchronize();
  }

  ProfileAttempt profile(const kernels::PreparedKernel& kernel,
                         const std::vector<kernels::Tensor>& tensors, bool captured) override {
    const TraceSchedule once{.wait = 0, .warm_up = 1, .active = 1};
    try {
      // Launching hands over the kernels' machine code (cupti_activity.cc).
      const auto steps = record_steps(once, attach_cupti, profiled_call(kernel, device_));
      const auto profile = assemble_profile(steps.front().activity);
      if (!captured) return {.profile = profile};
      return {.profile = profile, .identity = identity_of(kernel, tensors)};
    } catch (const ProfilerError& error) {
      return {.warning = error.warning()};
    }
  }
  std::unique_ptr<Profiler> attach_profiler() override { return attach_cupti(); }

 private:
  RankBarrier* barrier() { return barrier_ ? &*barrier_ : nullptr; }

  // What a batch without calls does outside of its events. Without the other ranks, some of which
  // may know it from a benchmark of fewer ranks.
  double empty_ns() {
    if (empty_ns_) return *empty_ns_;
    const kernels::PreparedKernel nothing;
    CudaBatch batch(device_, nothing, {.calls = 0}, 0, nullptr);
    std::vector<double> all;
    for (int i = 0; i < 5; ++i) all.push_back(batch.run().hidden_ns);
    std::ranges::sort(all);
    return *(empty_ns_ = all[all.size() / 2]);
  }

  std::vector<std::uint64_t> digests(const std::vector<kernels::Tensor>& tensors) {
    FUSEGATE_CUDA(cudaDeviceSynchronize());
    std::vector<std::uint64_t> all;
    for (const kernels::Tensor& tensor : tensors) all.push_back(device_.digest(tensor));
    return all;
  }

  baselines::CallIdentity identity_of(const kernels::PreparedKernel& kernel,
                                      const std::vector<kernels::Tensor>& tensors) const {
    const auto capture = [&] { return kernels::Graph(device_.stream(), [&] { kernel.launch(); }); };
    const kernels::Graph graph = capture();
    const CallMemory memory = memory_of(kernel, tensors);
    if (!kernel.allocates) return graph_identity(graph, graph, memory, seen_kernel_codes());
    // The second capture gets other blocks from malloc, whose addresses some kernels have among
    // their arguments: PyTorch's that are made of lambdas for host and device.
    std::vector<std::vector<char>> blocks;
    for (std::size_t bytes = 16; bytes <= 512; bytes += 16) {
      for (int i = 0; i < 32; ++i) blocks.emplace_back(bytes);
    }
    return graph_identity(graph, capture(), memory, seen_kernel_codes());
  }

  // Whether the results that are collected go by the graph: they change when it runs first, or when
  // its inputs have changed. Those of work that ran while it was captured, elsewhere, do neither.
  bool writes_results(const kernels::Graph& graph, const kernels::PreparedKernel& kernel,
                      const std::vector<kernels::Tensor>& results,
                      const std::function<void()>& change_inputs) {
    const auto collected = [&] {
      FUSEGATE_CUDA(cudaDeviceSynchronize());
      kernel.collect();
      return digests(results);
    };
    const kernels::ExecutableGraph call(graph, device_.stream());
    const std::vector<std::uint64_t> captured = collected();
    call.launch();
    if (collected() != captured) return true;
    change_inputs();
    call.launch();
    return collected() != captured;
  }

  CallMemory memory_of(const kernels::PreparedKernel& kernel,
                       const std::vector<kernels::Tensor>& tensors) const {
    CallMemory memory;
    memory.program_allocates = kernel.allocates;
    const auto add = [&memory](const void* data, std::size_t bytes) {
      memory.spans.push_back({reinterpret_cast<std::uint64_t>(data), bytes});
    };
    for (const kernels::Tensor& tensor : tensors) add(tensor.data, tensor.bytes());
    for (const kernels::Memory& scratch : kernel.scratch) add(scratch.data(), scratch.bytes());
    for (const std::span<std::byte> shared : kernel.of_ranks) add(shared.data(), shared.size());
    add(device_.workspace().data(), device_.workspace().bytes());
    // A program that allocates for itself has no use for other memory of ours.
    memory.earlier_layout =
        [this, all = kernel.allocates](std::uint64_t address) -> std::optional<MemorySpan> {
      const auto unused = device_.unused_around(reinterpret_cast<const void*>(address), all);
      if (!unused) return std::nullopt;
      return MemorySpan{reinterpret_cast<std::uint64_t>(unused->data()), unused->size()};
    };
    return memory;
  }

  // Median over rounds.
  template <typename Call>
  double host_ns_of(const Call& enqueue) {
    // Few enough launches a round for the driver's queue, beyond which a launch waits for the GPU.
    constexpr int kRounds = 9, kCalls = 10;
    using Clock = std::chrono::steady_clock;
    std::vector<double> rounds;
    for (int round = 0; round < kRounds; ++round) {
      const auto start = Clock::now();
      for (int call = 0; call < kCalls; ++call) enqueue();
      rounds.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count() /
                       kCalls);
      device_.synchronize();
    }
    std::ranges::sort(rounds);
    return rounds[kRounds / 2];
  }

  kernels::CudaDevice& device_;
  std::optional<double> empty_ns_;
  std::optional<RankBarrier> barrier_;  // of several ranks
};

}  // namespace

// Others see it: nvcc puts its process's number into the names of a file of which they see nothing.
extern const MeterRegistration cuda_meter_registration;
const MeterRegistration cuda_meter_registration{
    "cuda", [](kernels::Device& device) { return std::make_unique<CudaMeter>(device); }};

}  // namespace fusegate::bench
