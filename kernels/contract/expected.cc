#include "kernels/contract/expected.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <span>

#include "kernels/contract/host_reference.h"
#include "kernels/contract/number_format.h"
#include "kernels/contract/random.h"

namespace fusegate::kernels {
namespace {

using Values = std::vector<double>;

std::size_t size_of(const Tensor& tensor) { return static_cast<std::size_t>(tensor.count()); }

// Doubles behind a reference's own, which show whether it wrote too many.
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

bool may_be_off(const TensorSpec& input) { return !is_integer(*input.dtype) && !input.is_exact; }

// Of inputs, to measure how rounding errors pass through the operation (rounding.h).
struct Perturbation {
  double unit = 0;
  std::uint64_t seed = 0;

  bool concerns(const TensorSpec& input) const { return unit != 0 && may_be_off(input); }
};

std::vector<Memory> on_device(Device& device, const Operation& operation, const Problem& problem,
                              const Workspace& workspace, Perturbation perturbation) {
  std::vector<Memory> widened, values;
  std::vector<double*> inputs, outputs;
  for (const Tensor& input : workspace.inputs()) {
    widened.push_back(doubles(device, input));
    inputs.push_back(static_cast<double*>(widened.back().data()));
    device.reference_math().widen(input, inputs.back());
    if (!perturbation.concerns(workspace.input_specs()[inputs.size() - 1])) continue;
    device.reference_math().perturb(inputs.back(), input.count(), perturbation.unit,
                                    perturbation.seed + inputs.size());
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
                            const Workspace& workspace, Perturbation perturbation) {
  std::vector<Values> inputs, outputs;
  for (const Tensor& input : workspace.inputs()) {
    inputs.push_back(widened_on_host(device, input));
    if (!perturbation.concerns(workspace.input_specs()[inputs.size() - 1])) continue;
    HostReference().perturb(inputs.back().data(), input.count(), perturbation.unit,
                            perturbation.seed + inputs.size());
  }
  for (const Tensor& output : workspace.outputs()) {
    outputs.emplace_back(size_of(output), std::nan(""));  // finds values never written
  }
  operation.host_reference(problem, inputs, outputs);
  std::vector<Memory> values;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::size_t wanted = size_of(workspace.outputs()[i]);
    if (outputs[i].size() != wanted) {
      throw ContractError(fmt::format("made {} values for output '{}', which has {}",
                                      outputs[i].size(), workspace.output_specs()[i].name, wanted));
    }
    values.push_back(doubles(device, workspace.outputs()[i]));
    device.copy_to_device(std::as_bytes(std::span(outputs[i])), values.back().data());
  }
  return values;
}

std::vector<Memory> evaluated(Device& device, const Operation& operation, const Problem& problem,
                              const Workspace& workspace, Perturbation perturbation = {}) {
  return operation.host_reference ? on_host(device, operation, problem, workspace, perturbation)
                                  : on_device(device, operation, problem, workspace, perturbation);
}

void require_finite(Device& device, const Workspace& workspace, const std::vector<Memory>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Tensor& out = workspace.outputs()[i];
    const ErrorNorms norms =
        device.reference_math().compare(out, static_cast<const double*>(values[i].data()));
    if (norms.bad_reference == 0) continue;
    throw ContractError(
        fmt::format("{} of {} values of output '{}' are NaN, infinite or were never written",
                    norms.bad_reference, out.count(), workspace.output_specs()[i].name));
  }
}

// u of rounding.h.
double unit_of(const TensorSpec& spec, Dtype dtype, Dtype of_problem, std::int64_t longest) {
  const double tolerance = allowed_error(spec, dtype);
  if (tolerance > error_bound(dtype)) return tolerance;
  if (is_integer(dtype)) return 0;
  return std::max(std::max(unit_roundoff(dtype), unit_roundoff(of_problem)) +
                      0x1p-24 * std::sqrt(static_cast<double>(longest)),
                  error_bound(dtype) / 3);
}

std::vector<RoundingTerms> rounding_terms(const Workspace& workspace, const Problem& problem,
                                          bool is_discontinuous) {
  std::vector<std::int64_t> axes;
  for (const auto* const specs : {&workspace.input_specs(), &workspace.output_specs()}) {
    for (const TensorSpec& spec : *specs) {
      if (!spec.is_exact) axes.insert(axes.end(), spec.shape.begin(), spec.shape.end());
    }
  }
  if (axes.empty()) axes.push_back(1);
  const auto [shortest, longest] = std::ranges::minmax(axes);
  std::vector<RoundingTerms> terms;
  for (std::size_t i = 0; i < workspace.outputs().size(); ++i) {
    const Dtype dtype = workspace.outputs()[i].dtype;
    terms.push_back({.unit = unit_of(workspace.output_specs()[i], dtype, problem.dtype, longest),
                     .dtype = dtype,
                     .float_inputs = std::ranges::count_if(workspace.input_specs(), &may_be_off),
                     .shortest_axis = shortest,
                     .is_discontinuous = is_discontinuous});
  }
  return terms;
}

// How many perturbed references there are: up to eight where an output is small, so that the spread
// is measured over some thousand elements, and up to 64 where all are.
std::int64_t spread_count(const std::vector<Tensor>& outputs, bool is_discontinuous) {
  constexpr std::int64_t kEnough = 32768, kMost = 8, kMostOfSmall = 64;
  std::int64_t fewest = kEnough, all = 0;
  for (const Tensor& output : outputs) {
    fewest = std::min(fewest, output.count());
    all += output.count();
  }
  return std::clamp<std::int64_t>(kEnough / fewest, is_discontinuous ? 2 : 1,
                                  all <= kEnough / kMost ? kMostOfSmall : kMost);
}

// By output. Where outputs jump, the second is the first's negative.
std::vector<std::vector<Errors>> spreads(Device& device, const Operation& operation,
                                         const Problem& problem, const Workspace& workspace,
                                         const std::vector<Memory>& values, Perturbation first) {
  const std::vector<Tensor>& outputs = workspace.outputs();
  std::vector<std::vector<Errors>> spreads(outputs.size());
  if (std::ranges::none_of(workspace.input_specs(), &may_be_off)) return spreads;
  const std::int64_t times = spread_count(outputs, operation.is_discontinuous);
  for (std::int64_t time = 0; time < times; ++time) {
    const bool is_negative = operation.is_discontinuous && time == 1;
    const Perturbation perturbation{
        is_negative ? -first.unit : first.unit,
        random_bits(first.seed, is_negative ? 0 : static_cast<std::uint64_t>(time))};
    const auto perturbed = evaluated(device, operation, problem, workspace, perturbation);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      spreads[i].push_back(device.reference_math().spread(
          static_cast<const double*>(perturbed[i].data()), outputs[i],
          static_cast<const double*>(values[i].data()), times));
    }
  }
  return spreads;
}

std::vector<RoundingBound> rounding_bounds(Device& device, const Operation& operation,
                                           const Problem& problem, const Workspace& workspace,
                                           const std::vector<Memory>& values, std::uint64_t seed) {
  const std::vector<RoundingTerms> terms =
      rounding_terms(workspace, problem, operation.is_discontinuous);
  const double unit = std::ranges::max(terms, {}, &RoundingTerms::unit).unit;
  std::vector<std::vector<Errors>> of_outputs(terms.size());
  try {
    if (unit > 0) of_outputs = spreads(device, operation, problem, workspace, values, {unit, seed});
  } catch (const DeviceError&) {
    throw;
  } catch (const std::exception&) {
    // A reference may refuse perturbed inputs, such as a mask: then none is known.
  }
  std::vector<RoundingBound> bounds;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Tensor& out = workspace.outputs()[i];
    const auto* const reference = static_cast<const double*>(values[i].data());
    const double norm =
        device.reference_math().spread(reference, out, reference, 1).norms().reference;
    bounds.emplace_back(device, terms[i], of_outputs[i], unit,
                        norm * norm / static_cast<double>(out.count()));
  }
  return bounds;
}

}  // namespace

double allowed_error(const TensorSpec& spec, Dtype dtype) {
  return spec.tolerance.value_or(error_bound(dtype));
}

double allowed_error(const TensorSpec& spec, Dtype dtype, const RoundingBound& bound) {
  return spec.tolerance.value_or(std::max(error_bound(dtype), bound.norm()));
}

std::vector<Memory> reference_values(Device& device, const Operation& operation,
                                     const Problem& problem, const Workspace& workspace) {
  try {
    std::vector<Memory> values = evaluated(device, operation, problem, workspace);
    require_finite(device, workspace, values);
    return values;
  } catch (const DeviceError&) {
    throw;
  } catch (const std::exception& error) {
    throw ContractError(fmt::format("operation '{}': {} of {}: {}", operation.name,
                                    operation.host_reference ? "host_reference" : "reference",
                                    problem_name(problem), error.what()));
  }
}

Expected expected_outputs(Device& device, const Operation& operation, const Problem& problem,
                          const Workspace& workspace, std::uint64_t seed) {
  std::vector<Memory> values = reference_values(device, operation, problem, workspace);
  std::vector<RoundingBound> bounds =
      rounding_bounds(device, operation, problem, workspace, values, seed);
  return {std::move(values), std::move(bounds)};
}

}  // namespace fusegate::kernels
