// Chooses a matmul's algorithm by measurement: cublasLt's heuristic predicts times, and here its
// first candidates are timed on the device instead, and kernels of our own with them. Once for each
// LtProblem and device; from then on the choice is taken from CudaDevice::lt_choices(). Which one
// is taken: lt_choice.h.
//
// Each candidate runs back to back for 0.2 ms or more a round, in a CUDA graph between two events,
// in rounds that take the candidates in random order. After a batch the device idles twice as long
// as the batch took, as in the burst protocol: what draws more power must not be chosen by clocks
// that are not there when it counts. The operands are the real ones in the layout at hand, warm in
// the L2 as far as they fit.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/lt_matmul.h"
#include "kernels/device.h"

namespace fusegate {

// Another kernel for the same operands.
struct MatmulRival {
  std::string name;  // which tells how it is cut, and nothing that differs between processes
  std::function<void()> launch;
};

struct TunedMatmul {
  std::string choice;                  // "tuned: candidate 3 of 8, algo 66, tile 18, ..."
  std::optional<std::size_t> rival{};  // which of them is fastest; otherwise the matmul is
};

// The fastest for out [m, n] = x [m, k] w [n, k]^T; a rival rather than an equal of cublasLt's. The
// matmul uses from then on the algorithm that was chosen, unless a rival was. w must hold its
// values already; x and out hold afterwards what they held before. Throws DeviceError where the
// device's stream captures and nothing is known of the problem, or where no candidate runs.
TunedMatmul tune(CudaDevice& device, LtMatmul& matmul, const Tensor& x, const Tensor& w,
                 const Tensor& out, const std::vector<MatmulRival>& rivals = {});

}  // namespace fusegate
