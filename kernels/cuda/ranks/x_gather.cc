#include "kernels/cuda/ranks/x_gather.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kernels/cuda/device/cuda.h"

namespace fusegate::kernels {

// A stream for each other rank, and events. Never destroyed: captured calls refer to them.
struct XGather::Streams {
  struct Side {
    cudaStream_t stream = nullptr;
    cudaEvent_t end = nullptr;
  };
  cudaEvent_t begin = nullptr;
  std::vector<Side> sides;
};

std::shared_ptr<const XGather::Streams> XGather::streams_of(CudaDevice& device) {
  const auto count = static_cast<std::size_t>(device.ranks().count());
  std::shared_ptr<void>& kept = device.kept()[fmt::format("copy streams of {}", count)];
  if (!kept) {
    auto made = std::make_shared<Streams>();
    FUSEGATE_CUDA(cudaEventCreateWithFlags(&made->begin, cudaEventDisableTiming));
    made->sides.resize(count);
    for (Streams::Side& side : made->sides) {
      FUSEGATE_CUDA(cudaStreamCreateWithFlags(&side.stream, cudaStreamNonBlocking));
      FUSEGATE_CUDA(cudaEventCreateWithFlags(&side.end, cudaEventDisableTiming));
    }
    kept = made;
  }
  return std::static_pointer_cast<const Streams>(kept);
}

XGather::XGather(CudaDevice& device, const GatheringPlan& plan, const RankExchange& exchange,
                 const Tensor& x)
    : stream_(device.stream()),
      chunk_rows_(plan.chunk_rows),
      exchange_(exchange),
      x_(x),
      streams_(streams_of(device)) {}

void XGather::begin() const {
  FUSEGATE_CUDA(cudaEventRecord(streams_->begin, stream_));
  // The next rank first, so that no rank gets from all at one time.
  for (int i = 1; i < exchange_.count; ++i) {
    const int to = (exchange_.rank + i) % exchange_.count;
    const Streams::Side& side = streams_->sides[static_cast<std::size_t>(to)];
    FUSEGATE_CUDA(cudaStreamWaitEvent(side.stream, streams_->begin));
    send(to, side.stream);
    FUSEGATE_CUDA(cudaEventRecord(side.end, side.stream));
  }
}

// The flag is the counter's number, which no kernel changes before end().
void XGather::send(int to, cudaStream_t stream) const {
  const std::int64_t row_bytes = x_.cols() * static_cast<std::int64_t>(dtype_bytes(x_.dtype));
  std::byte* const there = exchange_.gathered(to) + exchange_.rank * x_.rows() * row_bytes;
  const auto* const here = static_cast<const std::byte*>(x_.data);
  for (std::int64_t row = 0, chunk = 0; row < x_.rows(); row += chunk_rows_, ++chunk) {
    const std::int64_t rows = std::min<std::int64_t>(chunk_rows_, x_.rows() - row);
    FUSEGATE_CUDA(cudaMemcpyAsync(there + row * row_bytes, here + row * row_bytes,
                                  static_cast<std::size_t>(rows * row_bytes), cudaMemcpyDefault,
                                  stream));
    FUSEGATE_CUDA(
        cudaMemcpyAsync(exchange_.gather_flag(to, exchange_.rank, static_cast<int>(chunk)),
                        exchange_.counter(0), sizeof(std::uint32_t), cudaMemcpyDefault, stream));
  }
}

void XGather::end() const {
  for (int to = 0; to < exchange_.count; ++to) {
    if (to == exchange_.rank) continue;
    FUSEGATE_CUDA(cudaStreamWaitEvent(stream_, streams_->sides[static_cast<std::size_t>(to)].end));
  }
}

}  // namespace fusegate::kernels
