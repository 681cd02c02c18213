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
  Tensor x, w_gate, w_up, h;
  cudaStream_t stream;

  void operator()(const GemvPlan& plan) const {
    enqueue_gemv_gated(plan, activation, x, w_gate, w_up, h, stream);
  }
  void operator()(const FewRowsPlan& plan) const {
    enqueue_few_rows_gated(plan, activation, x, w_gate, w_up, h, stream);
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
                                      const Tensor& x, const Tensor& w_gate, const Tensor& w_up,
                                      const Tensor& h) {
  return candidates(device, {.rows = h.rows(), .cols = h.cols(), .k = x.cols(), .weights = 2},
                    EnqueueGated{activation, x, w_gate, w_up, h, device.stream()});
}

std::vector<Candidate> streamed_matmul(CudaDevice& device, const Tensor& x, const Tensor& w,
                                       const Tensor& out) {
  return candidates(device, {.rows = out.rows(), .cols = out.cols(), .k = x.cols(), .weights = 1},
                    EnqueueMatmul{x, w, out, device.stream()});
}

}  // namespace fusegate::kernels
