#include "kernels/cuda/autotuning/streamed_products.h"

#include "kernels/cuda/few_rows/few_rows_gemm.h"
#include "kernels/cuda/few_rows/gemv.h"

namespace fusegate::kernels {
namespace {

// enqueue(plan) enqueues either kernel's plan.
template <typename Enqueue>
std::vector<Candidate> candidates(const CudaDevice& device, const FewRowsSize& size,
                                  const Enqueue& enqueue) {
  std::vector<Candidate> all;
  const auto add = [&](const auto& plan) {
    all.push_back({.name = plan_text(plan), .launch = [=] { enqueue(plan); }});
  };
  if (size.rows > kMostFewRows) return all;
  if (size.rows == 1) {
    for (const GemvPlan& plan : gemv_plans(size.cols, size.k)) add(plan);
  }
  for (const FewRowsPlan& plan : few_rows_plans(size, device.limits())) {
    add(plan);
  }
  return all;
}

struct EnqueueGated {
  Activation activation;
  GatedOperands operands;
  cudaStream_t stream;

  void operator()(const GemvPlan& plan) const {
    enqueue_gemv_gated(plan, activation, operands, stream);
  }
  void operator()(const FewRowsPlan& plan) const {
    enqueue_few_rows_gated(plan, activation, operands, stream);
  }
};

struct EnqueueMatmul {
  Tensor x, w, out;
  cudaStream_t stream;

  void operator()(const GemvPlan& plan) const { enqueue_gemv(plan, x, w, out, stream); }
  void operator()(const FewRowsPlan& plan) const {
    enqueue_few_rows_matmul(plan, x, w, out, stream);
  }
};

}  // namespace

std::vector<Candidate> streamed_gated(CudaDevice& device, const Activation& activation,
                                      const GatedOperands& o) {
  return candidates(device, {.rows = o.h.rows(), .cols = o.h.cols(), .k = o.x.cols(), .weights = 2},
                    EnqueueGated{activation, o, device.stream()});
}

std::vector<Candidate> streamed_matmul(CudaDevice& device, const Tensor& x, const Tensor& w,
                                       const Tensor& out) {
  return candidates(device, {.rows = out.rows(), .cols = out.cols(), .k = x.cols(), .weights = 1},
                    EnqueueMatmul{x, w, out, device.stream()});
}

}  // namespace fusegate::kernels
