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

// "softmax.cu", without the folders of the machine that compiled it.
std::string name_of_file(std::string_view file) {
  return std::string(file.substr(file.find_last_of('/') + 1));
}

}  // namespace

Tensor PreparedKernel::intermediate(Device& device, std::vector<std::int64_t> shape, Dtype dtype) {
  return allocate_tensor(device, std::move(shape), dtype, scratch);
}

void PreparedKernel::launch() const {
  for (const Stage& stage : stages) {
    if (stage.launch) stage.launch();
  }
}

double PreparedKernel::flops() const {
  return std::transform_reduce(stages.begin(), stages.end(), 0.0, std::plus<>{},
                               [](const Stage& s) { return s.flops; });
}

double PreparedKernel::min_bytes() const {
  return std::transform_reduce(stages.begin(), stages.end(), 0.0, std::plus<>{},
                               [](const Stage& s) { return s.min_bytes; });
}

double PreparedKernel::scratch_bytes() const {
  return std::transform_reduce(
      scratch.begin(), scratch.end(), 0.0, std::plus<>{},
      [](const Memory& memory) { return static_cast<double>(memory.bytes()); });
}

OperationRegistration::OperationRegistration(Operation operation, const char* file) {
  operation.registered_at = name_of_file(file);
  mutable_operations().push_back(std::move(operation));
  std::ranges::stable_sort(mutable_operations(), {}, &Operation::name);
}

OperationRegistration::OperationRegistration(std::span<const Activation> activations,
                                             Operation (*of)(const Activation&), const char* file) {
  for (const Activation& activation : activations) OperationRegistration(of(activation), file);
}

ImplementationRegistration::ImplementationRegistration(Implementation implementation,
                                                       const char* file) {
  implementation.registered_at = name_of_file(file);
  implementation.registered_as = mutable_implementations().size();
  mutable_implementations().push_back(std::move(implementation));
  std::ranges::stable_sort(
      mutable_implementations(),
      [](const Implementation& a, const Implementation& b) { return identity(a) < identity(b); });
}

ImplementationRegistration::ImplementationRegistration(std::span<const Activation> activations,
                                                       Implementation (*of)(const Activation&),
                                                       const char* file) {
  for (const Activation& activation : activations) {
    ImplementationRegistration(of(activation), file);
  }
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

const Implementation& find_implementation(std::string_view operation, std::string_view name,
                                          std::string_view device) {
  const auto found = std::ranges::find_if(implementations(), [&](const Implementation& i) {
    return identity(i) == std::tie(operation, name, device);
  });
  if (found != implementations().end()) return *found;
  throw std::out_of_range(fmt::format("no implementation {}/{} for {}", operation, name, device));
}

namespace {

bool is_over_ranks(const std::string& name) {
  const auto operation = std::ranges::find(operations(), name, &Operation::name);
  return operation != operations().end() &&
         std::ranges::find(operation->axes, kRanksAxis) != operation->axes.end();
}

}  // namespace

std::string refusal(const Implementation& implementation, const Device& device,
                    const Problem& problem) {
  if (implementation.device != device.kind()) {
    return fmt::format("it needs a {} device", implementation.device);
  }
  const std::vector<Dtype>& dtypes = implementation.dtypes;
  if (std::ranges::find(dtypes, problem.dtype) == dtypes.end()) {
    return fmt::format("it has no {} version", dtype_name(problem.dtype));
  }
  for (const auto& [axis, multiple] : implementation.multiples) {
    const std::int64_t size = problem.at(axis);
    if (size % multiple == 0) continue;
    return fmt::format("{} {} must be a multiple of {}", axis, size, multiple);
  }
  if (!ranks_of(problem) && is_over_ranks(implementation.operation)) {
    return fmt::format("it needs the axis '{}'", kRanksAxis);
  }
  const std::int64_t here = device.ranks().count(), needed = ranks_of(problem).value_or(here);
  if (needed > here) {
    return fmt::format("it needs {0} ranks, and there are {1}; --ranks={0} starts as many", needed,
                       here);
  }
  if (!implementation.refuses) return "";
  try {
    return implementation.refuses(device, problem);
  } catch (const std::exception& error) {
    return fmt::format("refuses: {}", error.what());
  }
}

std::string benchmark_name(const Implementation& implementation, const Problem& problem) {
  return fmt::format("{}/{}/{}", implementation.operation, implementation.name,
                     problem_name(problem));
}

}  // namespace fusegate::kernels
