// Checks what an operation declares of its tensors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "kernels/contract/kernel.h"

namespace fusegate::kernels {
namespace {

using Specs = std::vector<TensorSpec>;
using SpecsOf = std::function<Specs(const Problem&)>;

std::int64_t elements_of(const TensorSpec& spec) {
  std::int64_t count = 1;
  for (const std::int64_t size : spec.shape) {
    if (size < 1) throw ContractError(fmt::format("an axis has size {}, must be at least 1", size));
    // Leaves room for counting bytes.
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 16;
    if (count > kMost / size) throw ContractError("more elements than fit into 64 bits");
    count *= size;
  }
  return count;
}

// The range in which a dtype holds every integer.
std::pair<std::int64_t, std::int64_t> whole_numbers(Dtype dtype) {
  const auto range_of = []<typename T>(T) -> std::pair<std::int64_t, std::int64_t> {
    return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  };
  constexpr std::int64_t kOfFloat = std::int64_t{1} << 24, kOfDouble = std::int64_t{1} << 53;
  switch (dtype) {
    case Dtype::kInt32:
      return range_of(std::int32_t{});
    case Dtype::kInt16:
      return range_of(std::int16_t{});
    case Dtype::kInt8:
      return range_of(std::int8_t{});
    case Dtype::kUint8:
      return range_of(std::uint8_t{});
    case Dtype::kInt64:  // what is compared are doubles
    case Dtype::kFp64:
      return {-kOfDouble, kOfDouble};
    default:
      return {-kOfFloat, kOfFloat};
  }
}

void check_fill(const Fill& fill, Dtype dtype) {
  const auto [least, most] = whole_numbers(dtype);
  if (fill.kind == Fill::Kind::kIntegers &&
      (fill.low > fill.high || fill.low < least || fill.high > most)) {
    throw ContractError(fmt::format("integers from {} to {}: must ascend within {}'s {} to {}",
                                    fill.low, fill.high, dtype_name(dtype), least, most));
  }
  if (fill.kind == Fill::Kind::kFunction && !fill.function) {
    throw ContractError("Fill::values needs a function");
  }
  if (fill.kind == Fill::Kind::kOnDevice && !fill.device_function) {
    throw ContractError("Fill::on_device needs a function");
  }
  if (!std::isfinite(fill.scale) || !std::isfinite(fill.center)) {
    throw ContractError("fill: scale and mean must be finite");
  }
}

void check_split(const TensorSpec& spec, const Problem& problem) {
  if (!spec.split_axis) return;
  if (!ranks_of(problem)) {
    throw ContractError(
        fmt::format("split_axis: only an operation with the axis '{}' has parts", kRanksAxis));
  }
  const int axis = *spec.split_axis;
  if (axis < 0 || axis >= static_cast<int>(spec.shape.size())) {
    throw ContractError(fmt::format("split_axis is {}; it has {} axes", axis, spec.shape.size()));
  }
  const std::int64_t size = spec.shape[static_cast<std::size_t>(axis)], parts = *ranks_of(problem);
  if (size % parts == 0) return;
  throw ContractError(
      fmt::format("split_axis: {} elements cannot be split into {} parts", size, parts));
}

void check_output(const TensorSpec& spec, const Specs& inputs) {
  if (spec.split_axis.value_or(0) != 0) {
    throw ContractError(
        fmt::format("split_axis is {}; an output is split along its first", *spec.split_axis));
  }
  if (spec.tolerance && !(*spec.tolerance >= 0)) {
    throw ContractError(fmt::format("tolerance is {}, must be at least 0", *spec.tolerance));
  }
  if (spec.in_place_of.empty()) return;
  const auto input = std::ranges::find(inputs, spec.in_place_of, &TensorSpec::name);
  if (input == inputs.end()) {
    throw ContractError(fmt::format("in_place_of: '{}' is not an input", spec.in_place_of));
  }
  if (input->shape != spec.shape || input->dtype != spec.dtype ||
      input->split_axis != spec.split_axis) {
    throw ContractError(fmt::format(
        "in_place_of: input '{}' has another shape or dtype, or other parts", spec.in_place_of));
  }
}

// what: "inputs" or "outputs". inputs: of outputs alone.
Specs checked_specs(const Operation& operation, const Problem& problem, const char* what,
                    const SpecsOf& function, const Specs* inputs) {
  std::string at;
  try {
    Specs specs = function ? function(problem) : Specs();
    if (inputs != nullptr && specs.empty()) throw ContractError("name at least one");
    std::set<std::string> names, replaced;
    for (TensorSpec& spec : specs) {
      at = fmt::format("'{}': ", spec.name);
      if (spec.name.empty()) throw ContractError("a name is missing");
      if (!names.insert(spec.name).second) throw ContractError("is repeated");
      if (!spec.dtype) spec.dtype = problem.dtype;
      elements_of(spec);
      check_fill(spec.fill, *spec.dtype);
      check_split(spec, problem);
      if (inputs != nullptr) check_output(spec, *inputs);
      if (!spec.in_place_of.empty() && !replaced.insert(spec.in_place_of).second) {
        throw ContractError(
            fmt::format("in_place_of: another output overwrites '{}' too", spec.in_place_of));
      }
    }
    return specs;
  } catch (const std::exception& error) {
    throw ContractError(fmt::format("operation '{}': {} of {}: {}{}", operation.name, what,
                                    problem_name(problem), at, error.what()));
  }
}

}  // namespace

Specs input_specs(const Operation& operation, const Problem& problem) {
  return checked_specs(operation, problem, "inputs", operation.inputs, nullptr);
}

Specs output_specs(const Operation& operation, const Problem& problem) {
  const Specs inputs = input_specs(operation, problem);
  return checked_specs(operation, problem, "outputs", operation.outputs, &inputs);
}

std::vector<std::int64_t> part_shape(const TensorSpec& spec, const Problem& problem) {
  std::vector<std::int64_t> shape = spec.shape;
  if (spec.split_axis) {
    shape[static_cast<std::size_t>(*spec.split_axis)] /= ranks_of(problem).value_or(1);
  }
  return shape;
}

double tensor_bytes(const Operation& operation, const Problem& problem) {
  double total = 0;  // does not wrap around for absurd sizes
  const auto add = [&](const TensorSpec& spec) {
    if (!spec.in_place_of.empty()) return;
    const auto parts = static_cast<double>(spec.split_axis ? ranks_of(problem).value_or(1) : 1);
    total += static_cast<double>(elements_of(spec)) / parts *
             static_cast<double>(dtype_bytes(*spec.dtype));
  };
  std::ranges::for_each(input_specs(operation, problem), add);
  std::ranges::for_each(output_specs(operation, problem), add);
  return total;
}

}  // namespace fusegate::kernels
