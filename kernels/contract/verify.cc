#include "kernels/contract/verify.h"

#include <fmt/format.h>

#include <cmath>

namespace fusegate::kernels {
namespace {

Memory doubles(Device& device, const Tensor& like) {
  return device.allocate(static_cast<std::size_t>(like.count()) * sizeof(double));
}

Memory reference_values(Device& device, const Operation& operation, const Problem& problem,
                        const Workspace& workspace) {
  std::vector<Memory> widened;
  std::vector<double*> inputs;
  for (const Tensor& input : workspace.inputs()) {
    widened.push_back(doubles(device, input));
    inputs.push_back(static_cast<double*>(widened.back().data()));
    device.reference_math().widen(input, inputs.back());
  }
  Memory out = doubles(device, workspace.output());
  operation.reference(device, problem, inputs, static_cast<double*>(out.data()));
  device.synchronize();  // before the widened inputs are freed
  return out;
}

}  // namespace

double error_bound(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFp32:
      return 1e-5;
    case Dtype::kFp16:
      return 1.5e-3;
    case Dtype::kBf16:
      return 1e-2;
  }
  return 0;
}

std::string Verification::complaint() const {
  if (not_finite > 0) {
    return fmt::format("wrong result: {} elements are NaN, infinite or were never written",
                       not_finite);
  }
  return fmt::format("wrong result: relative error {:.2e} against the reference, {:.1e} allowed",
                     relative_error, bound);
}

Verifier::Reference& Verifier::reference(const Operation& operation, const Problem& problem) {
  if (!last_ || last_->operation != operation.name || last_->problem != problem) {
    last_.reset();  // its memory may be needed
    Workspace workspace(device_, operation, problem, seed_);
    Memory values = reference_values(device_, operation, problem, workspace);
    last_.emplace(Reference{operation.name, problem, std::move(workspace), std::move(values)});
  }
  return *last_;
}

Verification Verifier::verify(const Implementation& implementation, const Problem& problem) {
  Reference& expected = reference(find_operation(implementation.operation), problem);
  const Tensor& out = expected.workspace.output();
  device_.poison(out);
  const PreparedKernel kernel =
      implementation.prepare(device_, problem, expected.workspace.inputs(), out);
  kernel.launch();
  device_.synchronize();
  const ErrorNorms norms =
      device_.reference_math().compare(out, static_cast<const double*>(expected.values.data()));
  return {norms.relative(), error_bound(problem.dtype), norms.not_finite};
}

}  // namespace fusegate::kernels
