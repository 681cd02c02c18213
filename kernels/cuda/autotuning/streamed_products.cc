#include "kernels/cuda/autotuning/streamed_products.h"

#include "kernels/cuda/few_rows/few_rows.h"

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
  for (const FewRowsPlan& plan : few_rows_plans(size, device.limits())) add(plan);
  return all;
}

}  // namespace

std::vector<Candidate> streamed_gated(CudaDevice& device, const Activation& activation,
                                      const GatedOperands& o) {
  return candidates(device, {.rows = o.h.rows(), .cols = o.h.cols(), .k = o.x.cols(), .weights = 2},
                    [=, stream = device.stream()](const auto& plan) {
                      enqueue_streamed_gated(plan, activation, o, stream);
                    });
}

std::vector<Candidate> streamed_matmul(CudaDevice& device, const Tensor& x, const Tensor& w,
                                       const Tensor& out) {
  return candidates(device, {.rows = out.rows(), .cols = out.cols(), .k = x.cols(), .weights = 1},
                    [=, stream = device.stream()](const auto& plan) {
                      enqueue_streamed_matmul(plan, x, w, out, stream);
                    });
}

}  // namespace fusegate::kernels
