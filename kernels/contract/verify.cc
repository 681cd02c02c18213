#include "kernels/contract/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <span>

#include "kernels/contract/number_format.h"

namespace fusegate::kernels {
namespace {

// Finds the stage by launching one after the other.
std::string damage_by_stage(Device& device, Workspace& workspace, const PreparedKernel& kernel,
                            std::string damage) {
  workspace.restore();
  for (const Stage& stage : kernel.stages) {
    if (!stage.launch) continue;
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

// "[3, 17]" in a row-major tensor.
std::string index_text(std::int64_t index, std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> indices(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    indices[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return fmt::format("[{}]", fmt::join(indices, ", "));
}

std::string element_text(Device& device, const Tensor& out, const double* reference,
                         const Errors& errors) {
  const std::int64_t at = errors.all().largest_at;
  if (at < 0) return "none";
  std::vector<std::byte> stored(dtype_bytes(out.dtype)), expected(sizeof(double));
  device.copy_to_host(
      static_cast<const std::byte*>(out.data) + at * static_cast<std::int64_t>(stored.size()),
      stored);
  device.copy_to_host(reference + at, expected);
  double of = 0;
  std::memcpy(&of, expected.data(), sizeof(of));
  const double value = load_element(stored.data(), out.dtype, 0);
  return fmt::format("element {}, which is {:.7g} and its reference {:.7g}",
                     index_text(at, out.shape), std::isnan(value) ? NAN : value, of);
}

std::string group_text(const BeyondRounding& beyond, const TileGrid& grid,
                       std::span<const std::int64_t> shape) {
  using What = BeyondRounding::What;
  if (beyond.what == What::kRow) {
    std::string row = index_text(beyond.index, shape.first(shape.size() - 1));
    row.insert(row.size() - 1, shape.size() > 1 ? ", :" : ":");
    return "row " + row;
  }
  if (beyond.what == What::kTile) {
    const std::int64_t row = beyond.index / grid.across() * grid.tile_rows;
    const std::int64_t column = beyond.index % grid.across() * grid.tile_columns;
    return fmt::format("the tile of {} x {} from element {}", grid.tile_rows, grid.tile_columns,
                       index_text(row * grid.columns + column, shape));
  }
  return "the output";
}

std::string beyond_text(const BeyondRounding& beyond, const TileGrid& grid,
                        std::span<const std::int64_t> shape) {
  if (beyond.what == BeyondRounding::What::kElement) {
    if (beyond.allowed == 0) return "elements differ that must be equal";
    return fmt::format("an element is off by {:.3g} times what rounding comes to, {:.2g} allowed",
                       beyond.seen, beyond.allowed);
  }
  const std::string group = group_text(beyond, grid, shape);
  if (beyond.is_slope) {
    return fmt::format("{} is too {} by {:.2e} of itself, {:.1e} allowed", group,
                       beyond.seen > 0 ? "large" : "small", std::abs(beyond.seen), beyond.allowed);
  }
  return fmt::format("{} is off by {:.3g} times what rounding comes to, {:.2g} allowed", group,
                     beyond.seen, beyond.allowed);
}

}  // namespace

std::string Verification::message() const {
  if (!damage.empty()) return "wrong memory: " + damage;
  const std::string wrong = fmt::format(
      "wrong result{}: {}",
      is_elsewhere ? " in other memory, as if it kept an address of an earlier call"
      : is_timed ? " of what was timed, on inputs that it had not seen, as if it returned what it "
                   "computed before, or when it was prepared from an input that "
                                     "is not declared a weight"
      : is_second_call ? " of the second call"
                       : "",
      output.empty() ? "" : fmt::format("output '{}': ", output));
  if (not_finite > 0) {
    return fmt::format("{}{} elements are NaN, infinite or were never written, such as {}", wrong,
                       not_finite, worst_element);
  }
  const std::string what =
      relative_error <= bound
          ? beyond_rounding
          : fmt::format("relative error {:.2e} against the reference, {:.1e} allowed",
                        relative_error, bound);
  return fmt::format("{}{}; worst is {}", wrong, what, worst_element);
}

Verifier::Reference& Verifier::reference(const Operation& operation, const Problem& problem) {
  if (!last_ || last_->operation != operation.name || last_->problem != problem) {
    last_.reset();  // its memory may be needed
    Workspace workspace(device_, operation, problem, seed_, Workspace::Guards::kAround);
    if (changes_inputs_) workspace.change(seed_);
    Expected expected = expected_outputs(device_, operation, problem, workspace, seed_);
    last_.emplace(Reference{operation.name, problem, std::move(workspace), std::move(expected)});
  }
  return *last_;
}

Verification Verifier::verify(const Implementation& implementation, const Problem& problem) {
  Reference& expected = reference(find_operation(implementation.operation), problem);
  Workspace& workspace = expected.workspace;
  workspace.restore();
  const PreparedKernel kernel =
      implementation.prepare(device_, problem, workspace.inputs(), workspace.outputs());
  Verification result{.damage = workspace.damage()};
  if (!result.damage.empty()) {
    result.damage += " when it was made ready";
    return result;
  }
  // Twice: what a first call leaves behind may make later ones wrong, and those are timed.
  for (const bool is_second : {false, true}) {
    workspace.restore();
    kernel.launch();
    if (kernel.collect) kernel.collect();
    device_.synchronize();
    result = compare(expected, workspace);
    result.is_second_call = is_second;
    result.damage = workspace.damage();
    if (!result.passed()) break;
  }
  if (!result.damage.empty()) {
    result.damage = damage_by_stage(device_, workspace, kernel, result.damage);
  }
  if (!result.passed() || !kernel.allocates) return result;
  const Verification elsewhere = check_elsewhere(implementation, expected);
  return elsewhere.passed() ? result : elsewhere;
}

// On the same numbers, with nothing right left where they were before.
Verification Verifier::check_elsewhere(const Implementation& implementation, Reference& expected) {
  const Operation& operation = find_operation(implementation.operation);
  if (2 * tensor_bytes(operation, expected.problem) >
      static_cast<double>(device_.available_bytes())) {
    return {};
  }
  Workspace other(device_, operation, expected.problem, seed_);
  for (const Tensor& tensor : expected.workspace.tensors()) device_.poison(tensor);
  const PreparedKernel kernel =
      implementation.prepare(device_, expected.problem, other.inputs(), other.outputs());
  other.restore();
  kernel.launch();
  if (kernel.collect) kernel.collect();
  device_.synchronize();
  Verification result = compare(expected, other);
  result.is_elsewhere = true;
  return result;
}

Verification Verifier::verify_timed(const Operation& operation, const Problem& problem,
                                    const std::vector<Memory>& outputs) {
  Reference& expected = reference(operation, problem);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    device_.copy(outputs[i].data(), expected.workspace.outputs()[i].data, outputs[i].bytes());
  }
  device_.synchronize();
  Verification result = compare(expected, expected.workspace);
  result.is_timed = true;
  return result;
}

Verification Verifier::compare(const Reference& of, const Workspace& workspace) const {
  Verification worst{.relative_error = -1};
  for (std::size_t i = 0; i < of.expected.values.size(); ++i) {
    const Verification one = compare(of, workspace, i);
    // Above a bound of zero, which has no multiples, is worse than all that passed.
    const auto excess = [](const Verification& v) {
      return std::pair(!v.passed(), v.bound > 0 ? v.relative_error / v.bound : v.relative_error);
    };
    if (worst.relative_error < 0 || excess(one) > excess(worst)) worst = one;
  }
  return worst;
}

Verification Verifier::compare(const Reference& of, const Workspace& workspace,
                               std::size_t output) const {
  const Tensor& out = workspace.outputs()[output];
  const TensorSpec& spec = workspace.output_specs()[output];
  const RoundingBound& bound = of.expected.bounds[output];
  const auto* const reference = static_cast<const double*>(of.expected.values[output].data());
  const Errors errors = device_.reference_math().errors(out, reference, bound.scale());
  const ErrorNorms norms = errors.norms();
  Verification result{.output = of.expected.values.size() > 1 ? spec.name : "",
                      .relative_error = norms.relative(),
                      .bound = allowed_error(spec, out.dtype, bound),
                      .not_finite = norms.not_finite};
  if (const auto beyond = bound.beyond(errors)) {
    result.beyond_rounding = beyond_text(*beyond, errors.grid, out.shape);
  }
  if (!result.passed()) result.worst_element = element_text(device_, out, reference, errors);
  return result;
}

}  // namespace fusegate::kernels
