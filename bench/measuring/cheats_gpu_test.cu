// Kernels that are fast where they are timed and right where they are checked, on a GPU. What
// decides is on the device, or in the host's code that is captured. timed_check_test.cc has those
// of a CPU.
#include <cuda_bf16.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/measuring/cheat_test.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/device/cuda_graph.h"

namespace fusegate::bench {
namespace {

using kernels::Tensor;
using testing::AnyOf;
using testing::HasSubstr;

constexpr int kThreads = 256;

// geglu's numbers, the work repeated so often. doit: null, or whether it works at all.
__global__ void work(const __nv_bfloat16* g, const __nv_bfloat16* u, __nv_bfloat16* out, int count,
                     int times, const int* doit) {
  const int at = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (at >= count || (doit != nullptr && *doit == 0)) return;
  const float x = __bfloat162float(g[at]);
  float sum = 0;
  for (int time = 0; time < times; ++time) {
    const float y = x + 1e-30f * sum;  // lest the loop be one pass
    sum += 0.5f * y * (1 + tanhf(0.7978845608f * (y + 0.044715f * y * y * y)));
  }
  out[at] = __float2bfloat16(sum / static_cast<float>(times) * __bfloat162float(u[at]));
}

// Works where it finds poison.
__global__ void work_on_poison(const __nv_bfloat16* g, const __nv_bfloat16* u, __nv_bfloat16* out,
                               int count) {
  const int at = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (at >= count || !isnan(__bfloat162float(out[at]))) return;
  const float x = __bfloat162float(g[at]);
  const float y = 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
  out[at] = __float2bfloat16(y * __bfloat162float(u[at]));
}

// What a kernel keeps from call to call.
struct Kept {
  int doit;
  int calls;
  unsigned long long key;
  unsigned long long sum;
  unsigned long long last_ns;
};

__device__ unsigned long long now_ns() {
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void one_call_in_ten(Kept* kept) { kept->doit = kept->calls++ % 10 == 0; }

// The first call after a pause.
__global__ void first_of_a_batch(Kept* kept) {
  const unsigned long long now = now_ns();
  kept->doit = now - kept->last_ns > 200'000;
  kept->last_ns = now;
}

__global__ void where_first_inputs_change(Kept* kept, const unsigned long long* g) {
  kept->doit = kept->key != g[0];
  kept->key = g[0];
}

__global__ void add_up(Kept* kept, const unsigned* g, const unsigned* u, int words) {
  const int at = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  unsigned long long sum = at < words ? g[at] * (2ull * at + 1) + u[at] * (2ull * at + 7919) : 0;
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(~0u, sum, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(&kept->sum, sum);
}
__global__ void where_any_input_changes(Kept* kept) {
  kept->doit = kept->key != kept->sum;
  kept->key = kept->sum;
  kept->sum = 0;
}

class CheatsGpuTest : public CheatTest {
 protected:
  void SetUp() override {
    try {
      open("cuda", kernels::ladder_problem(1, 128, 768, 3072, kernels::Dtype::kBf16));
    } catch (const kernels::DeviceError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  // A prepared call of a cheat, and what it works on.
  struct Call {
    cudaStream_t stream;
    const __nv_bfloat16 *g, *u;
    __nv_bfloat16* out;
    int count;
    Kept* kept;
    void* copy;  // as large as the output
    std::size_t bytes;

    int blocks() const { return (count + kThreads - 1) / kThreads; }
    void do_work(int times = 1) const {
      work<<<blocks(), kThreads, 0, stream>>>(g, u, out, count, times, nullptr);
      FUSEGATE_CUDA(cudaGetLastError());
    }
    // Else the output is that of an earlier call.
    void work_if_kept_says_so(int times) const {
      work<<<blocks(), kThreads, 0, stream>>>(g, u, static_cast<__nv_bfloat16*>(copy), count, times,
                                              &kept->doit);
      move(copy, out);
    }
    void move(const void* from, void* to) const {
      FUSEGATE_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
    }
    bool is_captured() const {
      cudaStreamCaptureStatus status{};
      FUSEGATE_CUDA(cudaStreamIsCapturing(stream, &status));
      return status == cudaStreamCaptureStatusActive;
    }
  };

  using Launch = std::function<void(const Call&)>;
  // prepare: makes a launch of a call.
  std::string refusal(std::function<Launch(const Call&)> prepare) {
    kernels::Implementation cheat{.operation = "geglu",
                                  .name = "cheat",
                                  .device = "cuda",
                                  .dtypes = {kernels::Dtype::kBf16},
                                  .prepare = {}};
    cheat.prepare = [=](kernels::Device& device, const kernels::Problem&, kernels::Inputs in,
                        const Tensor& out) {
      kernels::PreparedKernel kernel;
      kernel.scratch.push_back(device.allocate(sizeof(Kept)));
      kernel.scratch.push_back(device.allocate(out.bytes()));
      const Call call{kernels::cuda_stream(device),
                      static_cast<const __nv_bfloat16*>(in[0].data),
                      static_cast<const __nv_bfloat16*>(in[1].data),
                      static_cast<__nv_bfloat16*>(out.data),
                      static_cast<int>(out.count()),
                      static_cast<Kept*>(kernel.scratch[0].data()),
                      kernel.scratch[1].data(),
                      out.bytes()};
      FUSEGATE_CUDA(cudaMemsetAsync(call.kept, 0, sizeof(Kept), call.stream));
      kernel.stages.push_back(
          {.name = "cheat", .launch = [call, launch = prepare(call)] { launch(call); }});
      return kernel;
    };
    return refusal_of(cheat);
  }
  std::string refusal_of_launch(const Launch& launch) {
    return refusal([=](const Call&) { return launch; });
  }
};

TEST_F(CheatsGpuTest, PassesAnHonestKernel) {
  EXPECT_EQ(refusal_of_launch([](const Call& call) { call.do_work(); }), "");
  EXPECT_EQ(refusal_of_launch([](const Call& call) { call.do_work(100); }), "");
}

TEST_F(CheatsGpuTest, RefusesResultsKeptByAddress) {
  EXPECT_THAT(refusal([](const Call&) -> Launch {
                return [calls = std::make_shared<int>(0)](const Call& call) {
                  if (++*calls > 3 || call.is_captured()) return call.move(call.copy, call.out);
                  call.do_work();
                  call.move(call.out, call.copy);
                };
              }),
              HasSubstr(kWrongWhereTimed));
}

TEST_F(CheatsGpuTest, RefusesWhatIsComputedWhenItIsPrepared) {
  EXPECT_THAT(refusal([](const Call& prepared) -> Launch {
                prepared.do_work();
                prepared.move(prepared.out, prepared.copy);
                return [](const Call& call) { call.move(call.copy, call.out); };
              }),
              HasSubstr(kWrongWhereTimed));
}

TEST_F(CheatsGpuTest, RefusesWhatReadsItsOwnLastOutput) {
  EXPECT_THAT(refusal_of_launch([](const Call& call) {
                work_on_poison<<<call.blocks(), kThreads, 0, call.stream>>>(call.g, call.u,
                                                                            call.out, call.count);
              }),
              HasSubstr(kStale));
}

TEST_F(CheatsGpuTest, RefusesWhatComputesOneCallInTen) {
  EXPECT_THAT(refusal_of_launch([](const Call& call) {
                one_call_in_ten<<<1, 1, 0, call.stream>>>(call.kept);
                call.work_if_kept_says_so(50);
              }),
              AnyOf(HasSubstr(kStale), HasSubstr("wrong result")));
}

TEST_F(CheatsGpuTest, RefusesWhatComputesTheFirstCallOfABatch) {
  EXPECT_THAT(refusal_of_launch([](const Call& call) {
                first_of_a_batch<<<1, 1, 0, call.stream>>>(call.kept);
                call.work_if_kept_says_so(50);
              }),
              AnyOf(HasSubstr(kStale), HasSubstr("wrong result")));
}

TEST_F(CheatsGpuTest, RefusesResultsKeptByAFewOfTheInputs) {
  EXPECT_THAT(refusal_of_launch([](const Call& call) {
                where_first_inputs_change<<<1, 1, 0, call.stream>>>(
                    call.kept, reinterpret_cast<const unsigned long long*>(call.g));
                call.work_if_kept_says_so(50);
              }),
              AnyOf(HasSubstr(kStale), HasSubstr("wrong result"),
                    HasSubstr("writes nothing to its output")));
}

// It reads every number of the inputs, so its results are right.
TEST_F(CheatsGpuTest, RefusesResultsKeptByAllOfTheInputs) {
  EXPECT_THAT(refusal_of_launch([](const Call& call) {
                add_up<<<call.blocks(), kThreads, 0, call.stream>>>(
                    call.kept, reinterpret_cast<const unsigned*>(call.g),
                    reinterpret_cast<const unsigned*>(call.u), call.count / 2);
                where_any_input_changes<<<1, 1, 0, call.stream>>>(call.kept);
                call.work_if_kept_says_so(500);
              }),
              HasSubstr("keeps results"));
}

TEST_F(CheatsGpuTest, RefusesWhatIsRightUntilItWasChecked) {
  int calls = 0;
  EXPECT_THAT(refusal_of_launch([&](const Call& call) {
                if (++calls <= 2) return call.do_work();
                FUSEGATE_CUDA(cudaMemsetAsync(call.out, 0, call.bytes, call.stream));
              }),
              HasSubstr(kWrongWhereTimed));
}

// The event that ends the batch then does not wait for it.
TEST_F(CheatsGpuTest, RefusesACallThatNothingWaitsFor) {
  EXPECT_THAT(
      refusal_of_launch([](const Call& call) {
        cudaStreamCaptureStatus status{};
        const cudaGraphNode_t* last = nullptr;
        std::size_t count = 0;
        cudaGraph_t graph = nullptr;
        FUSEGATE_CUDA(cudaStreamGetCaptureInfo(call.stream, &status, nullptr, &graph, &last,
                                               nullptr, &count));
        std::vector<cudaGraphNode_t> before(last, last + count);
        call.do_work(100);
        if (status != cudaStreamCaptureStatusActive || before.empty()) return;
        FUSEGATE_CUDA(cudaStreamUpdateCaptureDependencies(
            call.stream, before.data(), nullptr, before.size(), cudaStreamSetCaptureDependencies));
      }),
      HasSubstr("what follows a call does not wait for all of its work"));
}

// Of the harness's own: the batch then seems to begin when its last call ends.
TEST_F(CheatsGpuTest, RefusesWhatRecordsTheFirstEventAgain) {
  EXPECT_THAT(
      refusal_of_launch([](const Call& call) {
        call.do_work(20);
        if (!call.is_captured()) return;
        cudaStreamCaptureStatus status{};
        cudaGraph_t graph = nullptr;
        FUSEGATE_CUDA(cudaStreamGetCaptureInfo(call.stream, &status, nullptr, &graph, nullptr,
                                               nullptr, nullptr));
        for (const cudaGraphNode_t node : kernels::graph_nodes(graph)) {
          const cudaGraphNodeType type = kernels::graph_node_type(node);
          if (type != cudaGraphNodeTypeEventRecord) continue;
          cudaEvent_t event = nullptr;
          FUSEGATE_CUDA(cudaGraphEventRecordNodeGetEvent(node, &event));
          FUSEGATE_CUDA(cudaEventRecordWithFlags(event, call.stream, cudaEventRecordExternal));
          return;
        }
      }),
      HasSubstr("longer than between the events that time it"));
}

// A call asks the host for work on another stream, which nobody waits for.
TEST_F(CheatsGpuTest, RefusesWhatWritesLazily) {
  struct Worker {
    std::atomic<bool> is_asked = false;
    std::jthread thread;
  };
  EXPECT_THAT(
      refusal([](const Call& prepared) -> Launch {
        auto worker = std::make_shared<Worker>();
        worker->thread = std::jthread([prepared, self = worker.get()](const std::stop_token& stop) {
          Call elsewhere = prepared;
          FUSEGATE_CUDA(cudaStreamCreateWithFlags(&elsewhere.stream, cudaStreamNonBlocking));
          while (!stop.stop_requested()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            if (!self->is_asked.exchange(false)) continue;
            elsewhere.do_work();
            cudaStreamSynchronize(elsewhere.stream);
          }
          cudaStreamDestroy(elsewhere.stream);
        });
        return [worker, calls = std::make_shared<int>(0)](const Call& call) {
          if (++*calls <= 3 && !call.is_captured()) return call.do_work();
          FUSEGATE_CUDA(cudaLaunchHostFunc(
              call.stream, [](void* self) { static_cast<Worker*>(self)->is_asked = true; },
              worker.get()));
        };
      }),
      AnyOf(HasSubstr("is written after its calls have ended"),
            HasSubstr("writes nothing to its output"), HasSubstr(kStale),
            HasSubstr("wrong result")));
}

// It is timed as it is: until the whole GPU has ended.
TEST_F(CheatsGpuTest, TimesWorkOnAnotherStreamToItsEnd) {
  const auto time_of = [&](const Launch& launch) {
    EXPECT_EQ(refusal_of_launch(launch), "");
    return last_sample_.batch_ns / last_record_.calls;
  };
  const double honest_ns = time_of([](const Call& call) { call.do_work(2000); });
  EXPECT_EQ(last_record_.not_capturable, "");
  cudaStream_t other = nullptr;
  FUSEGATE_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  const double elsewhere_ns = time_of([=](const Call& call) {
    Call elsewhere = call;
    elsewhere.stream = other;
    elsewhere.do_work(2000);
    // Right where it is checked.
    if (!call.is_captured()) FUSEGATE_CUDA(cudaStreamSynchronize(other));
  });
  EXPECT_NE(last_record_.not_capturable, "");
  EXPECT_GT(elsewhere_ns, 0.9 * honest_ns);
  cudaStreamDestroy(other);
}

}  // namespace
}  // namespace fusegate::bench
