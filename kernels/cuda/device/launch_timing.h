// Times launches before a benchmark, for autotuning (autotune.h) and the search for a slowdown
// (planted/slowdown.cuh). Errors of CUDA are thrown as DeviceError.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>

#include "kernels/contract/device.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/cuda_graph.h"

namespace fusegate::kernels {

// Throws DeviceError where the stream captures. what: needs timing first, such as "a slowed
// kernel".
inline void refuse_capture(cudaStream_t stream, const std::string& what) {
  cudaStreamCaptureStatus capture{};
  FUSEGATE_CUDA(cudaStreamIsCapturing(stream, &capture));
  if (capture == cudaStreamCaptureStatusNone) return;
  throw DeviceError(what + " needs to measure: run the kernel once before you capture it");
}

// Restores the tensor when destroyed: a kernel in place changes its input with every launch, and an
// output must stay poisoned for the check.
class RestoredTensor {
 public:
  RestoredTensor(const Tensor& tensor, cudaStream_t stream) : tensor_(tensor), stream_(stream) {
    FUSEGATE_CUDA(cudaMalloc(&copy_, tensor.bytes()));
    FUSEGATE_CUDA(
        cudaMemcpyAsync(copy_, tensor.data, tensor.bytes(), cudaMemcpyDeviceToDevice, stream));
  }
  ~RestoredTensor() {
    // The next check finds any error.
    cudaMemcpyAsync(tensor_.data, copy_, tensor_.bytes(), cudaMemcpyDeviceToDevice, stream_);
    cudaStreamSynchronize(stream_);
    cudaFree(copy_);
  }
  // A copy would restore and free twice.
  RestoredTensor(const RestoredTensor&) = delete;
  RestoredTensor& operator=(const RestoredTensor&) = delete;

 private:
  Tensor tensor_;
  cudaStream_t stream_;
  void* copy_ = nullptr;
};

// Launches in a row, timed as by bench/meters/cuda_meter.cu: in one graph, since the host
// launches kernels of less than 2.5 us more slowly than an H200 runs them.
class TimedLaunches {
 public:
  TimedLaunches(const std::function<void()>& enqueue, int launches, cudaStream_t stream)
      : stream_(stream), executable_(captured(enqueue, launches), stream) {}

  double ms() const {
    executable_.launch();
    FUSEGATE_CUDA(cudaStreamSynchronize(stream_));
    return end_.ms_since(start_);
  }

 private:
  Graph captured(const std::function<void()>& enqueue, int launches) const {
    return Graph(stream_, [&] {
      start_.record(stream_);
      for (int i = 0; i < launches; ++i) enqueue();
      end_.record(stream_);
    });
  }

  cudaStream_t stream_;
  GraphEvent start_, end_;
  ExecutableGraph executable_;
};

// How many launches in a row take that long, at least one. Runs them for 30 ms first, so that the
// clock has come up from idle.
inline int launches_that_take(double wanted_ms, const std::function<void()>& enqueue,
                              cudaStream_t stream) {
  using Clock = std::chrono::steady_clock;
  constexpr int kPilot = 20;
  constexpr std::chrono::milliseconds kWarm{30};
  const TimedLaunches pilot(enqueue, kPilot, stream);
  double ms = 0;
  for (const auto end = Clock::now() + kWarm; Clock::now() < end;) ms = pilot.ms();
  return std::max(1, static_cast<int>(std::lround(wanted_ms / ms * kPilot)));
}

}  // namespace fusegate::kernels
