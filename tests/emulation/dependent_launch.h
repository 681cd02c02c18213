// Replaces cuda/device/dependent_launch.h: runs a kernel cluster by cluster, each in another
// order of its threads. The last is the first, since a cluster may wait for what the next one gives
// (stream-K), which must not wait for it.
#pragma once

#include <cuda_runtime_api.h>

#include <type_traits>

#include "tests/emulation/cluster.h"
#include "tests/emulation/cuda_device.h"
#include "tests/emulation/threads.h"

namespace fusegate::kernels {

struct LaunchShape {
  dim3 blocks;
  dim3 threads;
  std::size_t shared_bytes = 0;
  unsigned cluster = 1;
  bool early = false;
};

inline bool can_launch_early(const void*) { return true; }
inline void allow_shared_bytes(const void*, int) {}
inline void prefer_shared_memory(const void*) {}
inline int resident_clusters(const void*, const LaunchShape& shape) {
  return CudaDevice().limits().sm_count / static_cast<int>(shape.cluster);
}

template <typename... Params>
void launch_kernel(void (*kernel)(Params...), const LaunchShape& shape, cudaStream_t,
                   std::type_identity_t<Params>... args) {
  static unsigned seed = 0;
  const int row_blocks = static_cast<int>(shape.blocks.x),
            cluster = static_cast<int>(shape.cluster);
  for (int row = 0; row < static_cast<int>(shape.blocks.y); ++row) {
    for (int first = row_blocks - cluster; first >= 0; first -= cluster) {
      emulation::Cluster(cluster, static_cast<int>(shape.threads.x), shape.shared_bytes, ++seed)
          .run(first, row, row_blocks, [&] { kernel(args...); });
    }
  }
}

}  // namespace fusegate::kernels
