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

// Of an operation across ranks, whose reference sees every tensor whole.
Expected expected_of_whole(Device& device, const Operation& operation, const Problem& problem,
                           std::uint64_t seed, bool changes_inputs) {
  Workspace whole(device, operation, problem, seed, Workspace::Guards::kNone,
                  Workspace::Extent::kWhole);
  if (changes_inputs) whole.change(seed);
  return expected_outputs(device, operation, problem, whole, seed);
}

}  // namespace

std::string Verification::message() const {
  if (!on_ranks.empty()) return on_ranks;
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
    Expected expected =
        ranks_of(problem).value_or(1) == 1
            ? expected_outputs(device_, operation, problem, workspace, seed_)
            : expected_of_whole(device_, operation, problem, seed_, changes_inputs_);
    last_.emplace(Reference{operation.name, problem, std::move(workspace), std::move(expected)});
  }
  return *last_;
}

PreparedKernel Verifier::prepare(const Implementation& implementation, const Problem& problem,
                                 const Workspace& workspace) {
  PreparedKernel kernel;
  ranks().together("preparing", [&] {
    kernel = implementation.prepare(device_, problem, workspace.inputs(), workspace.outputs());
  });
  return kernel;
}

void Verifier::run(const PreparedKernel& kernel, bool by_stage) {
  ranks().together("a call", [&] {
    for (const Stage& stage : kernel.stages) {
      if (!stage.launch) continue;
      if (by_stage) ranks().note(fmt::format("stage '{}'", stage.name));
      stage.launch();
      if (by_stage) device_.synchronize();
    }
    if (kernel.collect) kernel.collect();
    device_.synchronize();
  });
}

Verification Verifier::agreed(Verification mine) const {
  if (!ranks().are_several()) return mine;
  mine.on_ranks = ranks().any("result", mine.passed() ? "" : mine.message());
  mine.relative_error = ranks().largest("relative error", mine.relative_error);
  return mine;
}

Verification Verifier::check(const PreparedKernel& kernel, const Reference& expected,
                             bool is_second) {
  run(kernel, ranks().are_several() && !is_second);
  Verification result = compare(expected, expected.workspace);
  result.is_second_call = is_second;
  result.damage = expected.workspace.damage();
  return agreed(std::move(result));
}

Verification Verifier::verify(const Implementation& implementation, const Problem& problem) {
  Reference& expected = reference(find_operation(implementation.operation), problem);
  Workspace& workspace = expected.workspace;
  workspace.restore();
  const PreparedKernel kernel = prepare(implementation, problem, workspace);
  Verification result{.damage = workspace.damage()};
  if (!result.damage.empty()) result.damage += " when it was made ready";
  result = agreed(std::move(result));
  if (!result.passed()) return result;
  // Twice: what a first call leaves behind may make later ones wrong, and those are timed.
  for (const bool is_second : {false, true}) {
    workspace.restore();
    result = check(kernel, expected, is_second);
    if (!result.passed()) break;
  }
  // Where others take part, a stage alone may wait for them.
  if (!result.damage.empty() && !ranks().are_several()) {
    result.damage = damage_by_stage(device_, workspace, kernel, result.damage);
  }
  if (!result.passed() || !ranks().all("allocates", kernel.allocates)) return result;
  const Verification elsewhere = check_elsewhere(implementation, expected);
  return elsewhere.passed() ? result : elsewhere;
}

// On the same numbers, with nothing right left where they were before.
Verification Verifier::check_elsewhere(const Implementation& implementation, Reference& expected) {
  const Operation& operation = find_operation(implementation.operation);
  const bool has_room = 2 * tensor_bytes(operation, expected.problem) <=
                        static_cast<double>(device_.available_bytes());
  if (!ranks().all("room for other memory", has_room)) return {};
  Workspace other(device_, operation, expected.problem, seed_);
  for (const Tensor& tensor : expected.workspace.tensors()) device_.poison(tensor);
  const PreparedKernel kernel = prepare(implementation, expected.problem, other);
  other.restore();
  run(kernel, false);
  Verification result = compare(expected, other);
  result.is_elsewhere = true;
  return agreed(std::move(result));
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
  return agreed(std::move(result));
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
  const std::int64_t first_row = spec.split_axis ? ranks().rank() * out.rows() : 0;
  const auto* const reference =
      static_cast<const double*>(of.expected.values[output].data()) + first_row * out.cols();
  const Errors errors = device_.reference_math().errors(out, reference, bound.scale(first_row));
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
