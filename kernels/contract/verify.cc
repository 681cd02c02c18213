#include "kernels/contract/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "kernels/contract/number_format.h"

namespace fusegate::kernels {
namespace {

using Values = std::vector<double>;

std::size_t size_of(const Tensor& tensor) { return static_cast<std::size_t>(tensor.count()); }

// Behind the doubles of a reference, to see whether it wrote more of them.
constexpr std::size_t kBehind = 512;

Memory doubles(Device& device, const Tensor& like) {
  Memory memory = device.allocate((size_of(like) + kBehind) * sizeof(double));
  device.poison({memory.data(), {static_cast<std::int64_t>(memory.bytes())}, Dtype::kInt8});
  return memory;
}

void require_nothing_behind(Device& device, const Memory& memory, const Tensor& like,
                            const TensorSpec& spec) {
  std::vector<std::byte> seen(kBehind * sizeof(double));
  device.copy_to_host(static_cast<const double*>(memory.data()) + like.count(), seen);
  if (std::ranges::all_of(seen, [](std::byte byte) { return byte == std::byte{0xff}; })) return;
  throw ContractError(
      fmt::format("wrote more than the {} values of output '{}'", like.count(), spec.name));
}

std::vector<Memory> on_device(Device& device, const Operation& operation, const Problem& problem,
                              const Workspace& workspace) {
  std::vector<Memory> widened, values;
  std::vector<double*> inputs, outputs;
  for (const Tensor& input : workspace.inputs()) {
    widened.push_back(doubles(device, input));
    inputs.push_back(static_cast<double*>(widened.back().data()));
    device.reference_math().widen(input, inputs.back());
  }
  for (const Tensor& output : workspace.outputs()) {
    values.push_back(doubles(device, output));
    outputs.push_back(static_cast<double*>(values.back().data()));
  }
  operation.reference(device, problem, inputs, outputs);
  device.synchronize();  // before the widened inputs are freed
  for (std::size_t i = 0; i < values.size(); ++i) {
    require_nothing_behind(device, values[i], workspace.outputs()[i], workspace.output_specs()[i]);
  }
  return values;
}

Values widened_on_host(Device& device, const Tensor& tensor) {
  std::vector<std::byte> stored(tensor.bytes());
  device.copy_to_host(tensor.data, stored);
  Values values(size_of(tensor));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = load_element(stored.data(), tensor.dtype, static_cast<std::int64_t>(i));
  }
  return values;
}

std::vector<Memory> on_host(Device& device, const Operation& operation, const Problem& problem,
                            const Workspace& workspace) {
  std::vector<Values> inputs, outputs;
  for (const Tensor& input : workspace.inputs()) inputs.push_back(widened_on_host(device, input));
  for (const Tensor& output : workspace.outputs()) {
    outputs.emplace_back(size_of(output), std::nan(""));  // what is not written shows
  }
  operation.host_reference(problem, inputs, outputs);
  std::vector<Memory> values;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::size_t wanted = size_of(workspace.outputs()[i]);
    if (outputs[i].size() != wanted) {
      throw ContractError(fmt::format("made {} values of output '{}', which has {}",
                                      outputs[i].size(), workspace.output_specs()[i].name, wanted));
    }
    values.push_back(doubles(device, workspace.outputs()[i]));
    device.copy_to_device(std::as_bytes(std::span(outputs[i])), values.back().data());
  }
  return values;
}

std::vector<Memory> reference_values(Device& device, const Operation& operation,
                                     const Problem& problem, const Workspace& workspace) {
  const bool is_on_host = operation.host_reference != nullptr;
  try {
    std::vector<Memory> values = is_on_host ? on_host(device, operation, problem, workspace)
                                            : on_device(device, operation, problem, workspace);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Tensor& out = workspace.outputs()[i];
      const ErrorNorms norms =
          device.reference_math().compare(out, static_cast<const double*>(values[i].data()));
      if (norms.bad_reference == 0) continue;
      throw ContractError(
          fmt::format("{} of {} values of output '{}' are NaN, infinite or were never written",
                      norms.bad_reference, out.count(), workspace.output_specs()[i].name));
    }
    return values;
  } catch (const DeviceError&) {
    throw;
  } catch (const std::exception& error) {
    throw ContractError(fmt::format("operation '{}': {} of {}: {}", operation.name,
                                    is_on_host ? "host_reference" : "reference",
                                    problem_name(problem), error.what()));
  }
}

// Which stage did it, told by launching one after the other.
std::string damage_by_stage(Device& device, Workspace& workspace, const PreparedKernel& kernel,
                            std::string damage) {
  workspace.restore();
  for (const Stage& stage : kernel.stages) {
    stage.launch();
    device.synchronize();
    const std::string of_stage = workspace.damage();
    if (!of_stage.empty()) {
      damage = fmt::format("stage '{}' {}", stage.name, of_stage);
      break;
    }
  }
  workspace.restore();
  return damage;
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
    case Dtype::kFp8E4m3:
      return 8e-2;
    case Dtype::kFp8E5m2:
      return 1.6e-1;
    case Dtype::kInt8:
    case Dtype::kInt32:
      break;
  }
  return 0;
}

std::string Verification::complaint() const {
  if (!damage.empty()) return "wrong memory: " + damage;
  const std::string wrong =
      output.empty() ? "wrong result: " : fmt::format("wrong result: output '{}': ", output);
  if (not_finite > 0) {
    return fmt::format("{}{} elements are NaN, infinite or were never written", wrong, not_finite);
  }
  return fmt::format("{}relative error {:.2e} against the reference, {:.1e} allowed", wrong,
                     relative_error, bound);
}

Verifier::Reference& Verifier::reference(const Operation& operation, const Problem& problem) {
  if (!last_ || last_->operation != operation.name || last_->problem != problem) {
    last_.reset();  // its memory may be needed
    Workspace workspace(device_, operation, problem, seed_, Workspace::Guards::kAround);
    std::vector<Memory> values = reference_values(device_, operation, problem, workspace);
    last_.emplace(Reference{operation.name, problem, std::move(workspace), std::move(values)});
  }
  return *last_;
}

Verification Verifier::verify(const Implementation& implementation, const Problem& problem) {
  Reference& expected = reference(find_operation(implementation.operation), problem);
  Workspace& workspace = expected.workspace;
  workspace.restore();
  const PreparedKernel kernel =
      implementation.prepare(device_, problem, workspace.inputs(), workspace.outputs());
  workspace.restore();  // what it chose by measuring may have run
  kernel.launch();
  device_.synchronize();
  Verification result = compare(expected);
  result.damage = workspace.damage();
  if (!result.damage.empty()) {
    result.damage = damage_by_stage(device_, workspace, kernel, result.damage);
  }
  return result;
}

Verification Verifier::compare(const Reference& expected) const {
  Verification worst{.relative_error = -1};
  const std::vector<Tensor>& outputs = expected.workspace.outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const TensorSpec& spec = expected.workspace.output_specs()[i];
    const ErrorNorms norms = device_.reference_math().compare(
        outputs[i], static_cast<const double*>(expected.values[i].data()));
    const Verification one{.output = outputs.size() > 1 ? spec.name : "",
                           .relative_error = norms.relative(),
                           .bound = spec.tolerance.value_or(error_bound(outputs[i].dtype)),
                           .not_finite = norms.not_finite};
    // A bound of zero has no multiples: what is over it is worse than all that is not.
    const auto excess = [](const Verification& v) {
      return std::pair(!v.passed(), v.bound > 0 ? v.relative_error / v.bound : v.relative_error);
    };
    if (worst.relative_error < 0 || excess(one) > excess(worst)) worst = one;
  }
  return worst;
}

}  // namespace fusegate::kernels
