// What the search for a slowdown (slowdown_search.h) takes times with, and how it leaves things as
// they were. Errors of CUDA are thrown as DeviceError.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "kernels/cuda/cuda_error.h"
#include "kernels/device.h"

namespace fusegate {

inline void refuse_capture(cudaStream_t stream) {
  cudaStreamCaptureStatus capture{};
  FUSEGATE_CUDA(cudaStreamIsCapturing(stream, &capture));
  if (capture == cudaStreamCaptureStatusNone) return;
  throw DeviceError("a slowed kernel must run once before it is captured");
}

// Holds again what it held when this was made, once this is gone: a kernel that writes over its
// input makes something else of it with every launch.
class RestoredTensor {
 public:
  RestoredTensor(const Tensor& tensor, cudaStream_t stream) : tensor_(tensor), stream_(stream) {
    FUSEGATE_CUDA(cudaMalloc(&copy_, tensor.bytes()));
    FUSEGATE_CUDA(
        cudaMemcpyAsync(copy_, tensor.data, tensor.bytes(), cudaMemcpyDeviceToDevice, stream));
  }
  ~RestoredTensor() {
    // Nothing can be done about an error here; the next check finds it.
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

// So many launches in a row, timed as bench/cuda_meter.cu times them: in one graph, since the host
// launches kernels below 2.5 us more slowly one by one than an H200 runs them.
class TimedLaunches {
 public:
  TimedLaunches(const std::function<void()>& enqueue, int launches, cudaStream_t stream)
      : stream_(stream) {
    FUSEGATE_CUDA(cudaEventCreate(&start_));
    FUSEGATE_CUDA(cudaEventCreate(&end_));
    cudaGraph_t graph = nullptr;
    FUSEGATE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    FUSEGATE_CUDA(cudaEventRecordWithFlags(start_, stream, cudaEventRecordExternal));
    for (int i = 0; i < launches; ++i) enqueue();
    FUSEGATE_CUDA(cudaEventRecordWithFlags(end_, stream, cudaEventRecordExternal));
    FUSEGATE_CUDA(cudaStreamEndCapture(stream, &graph));
    FUSEGATE_CUDA(cudaGraphInstantiate(&executable_, graph, 0));
    FUSEGATE_CUDA(cudaGraphDestroy(graph));
    FUSEGATE_CUDA(cudaGraphUpload(executable_, stream));
  }
  ~TimedLaunches() {
    cudaGraphExecDestroy(executable_);
    cudaEventDestroy(end_);
    cudaEventDestroy(start_);
  }
  // A copy would free them twice.
  TimedLaunches(const TimedLaunches&) = delete;
  TimedLaunches& operator=(const TimedLaunches&) = delete;

  double ms() const {
    FUSEGATE_CUDA(cudaGraphLaunch(executable_, stream_));
    FUSEGATE_CUDA(cudaStreamSynchronize(stream_));
    float elapsed = 0;
    FUSEGATE_CUDA(cudaEventElapsedTime(&elapsed, start_, end_));
    return elapsed;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t start_ = nullptr, end_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace fusegate
