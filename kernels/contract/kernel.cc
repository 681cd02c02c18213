#include "kernels/contract/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>

namespace fusegate::kernels {
namespace {

// Functions' statics, since registrations run before main in no particular order.
std::vector<Operation>& mutable_operations() {
  static std::vector<Operation> operations;
  return operations;
}

std::vector<Implementation>& mutable_implementations() {
  static std::vector<Implementation> implementations;
  return implementations;
}

auto identity(const Implementation& i) { return std::tie(i.operation, i.name, i.device); }

}  // namespace

Tensor PreparedKernel::intermediate(Device& device, std::int64_t rows, std::int64_t cols,
                                    Dtype dtype) {
  return allocate_tensor(device, rows, cols, dtype, scratch);
}

void PreparedKernel::launch() const {
  for (const Stage& stage : stages) stage.launch();
}

double PreparedKernel::flops() const {
  return std::transform_reduce(stages.begin(), stages.end(), 0.0, std::plus<>{},
                               [](const Stage& s) { return s.flops; });
}

double PreparedKernel::min_bytes() const {
  return std::transform_reduce(stages.begin(), stages.end(), 0.0, std::plus<>{},
                               [](const Stage& s) { return s.min_bytes; });
}

OperationRegistration::OperationRegistration(Operation operation) {
  mutable_operations().push_back(std::move(operation));
  std::ranges::sort(mutable_operations(), {}, &Operation::name);
}

OperationRegistration::OperationRegistration(std::span<const Activation> activations,
                                             Operation (*of)(const Activation&)) {
  for (const Activation& activation : activations) OperationRegistration(of(activation));
}

ImplementationRegistration::ImplementationRegistration(Implementation implementation) {
  mutable_implementations().push_back(std::move(implementation));
  std::ranges::sort(
      mutable_implementations(),
      [](const Implementation& a, const Implementation& b) { return identity(a) < identity(b); });
}

ImplementationRegistration::ImplementationRegistration(std::span<const Activation> activations,
                                                       Implementation (*of)(const Activation&)) {
  for (const Activation& activation : activations) ImplementationRegistration(of(activation));
}

const std::vector<Operation>& operations() { return mutable_operations(); }

const std::vector<Implementation>& implementations() { return mutable_implementations(); }

std::vector<std::string> implementation_names() {
  std::set<std::string> names{
#include "kernels/contract/implementation_names.inc"
  };
  for (const Implementation& one : implementations()) names.insert(one.name);
  return {names.begin(), names.end()};
}

const Operation& find_operation(std::string_view name) {
  const auto found = std::ranges::find(operations(), name, &Operation::name);
  if (found != operations().end()) return *found;
  std::string known;
  for (const Operation& operation : operations()) known += " " + operation.name;
  throw std::out_of_range(fmt::format("no operation '{}'; there are:{}", name, known));
}

std::string refusal(const Implementation& implementation, const Device& device,
                    const Problem& problem) {
  if (implementation.device != device.kind()) {
    return fmt::format("it needs a {} device", implementation.device);
  }
  const auto offers = [&](const std::vector<Dtype>& dtypes) {
    return std::ranges::find(dtypes, problem.dtype) != dtypes.end();
  };
  if (!offers(implementation.dtypes)) {
    return fmt::format("it has no {} version", dtype_name(problem.dtype));
  }
  if (!offers(device.dtypes())) {
    return fmt::format("{} cannot compute in {}", device.name(), dtype_name(problem.dtype));
  }
  if (problem.dim % implementation.alignment != 0 ||
      problem.hidden % implementation.alignment != 0) {
    return fmt::format("dim {} and hidden {} must be multiples of {}", problem.dim, problem.hidden,
                       implementation.alignment);
  }
  return implementation.refuses ? implementation.refuses(device, problem) : "";
}

std::string benchmark_name(const Implementation& implementation, const Problem& problem) {
  return fmt::format("{}/{}/{}", implementation.operation, implementation.name,
                     problem_name(problem));
}

double tensor_bytes(const Operation& operation, const Problem& problem) {
  // In double, so that absurd sizes are seen as such and do not wrap around.
  const auto elements = [](const TensorShape& shape) {
    return static_cast<double>(shape.rows) * static_cast<double>(shape.cols);
  };
  double total = elements(operation.output(problem));
  for (const TensorShape& shape : operation.inputs(problem)) total += elements(shape);
  return total * static_cast<double>(dtype_bytes(problem.dtype));
}

}  // namespace fusegate::kernels
