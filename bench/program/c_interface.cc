// The C interface on the C++ registry: structs become registrations, texts become exceptions.
#include <errno.h>  // program_invocation_short_name

#include <algorithm>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/machine/log_warning.h"
#include "bench/machine/origin.h"
#include "bench/program/fusegate.h"
#include "bench/program/run_program.h"
#include "kernels/contract/kernel.h"
#include "kernels/contract/ranks.h"
#include "kernels/contract/stage_marks.h"

namespace kernels = fusegate::kernels;
namespace bench = fusegate::bench;

// What a program describes. No exception may pass through its functions: a failure waits here.
struct fusegate_tensor_specs {
  std::vector<kernels::TensorSpec> all;
  const fusegate_operation* operation;
  std::exception_ptr failure;
};

struct fusegate_call {
  kernels::PreparedKernel kernel;
  std::exception_ptr failure;
};

namespace {

using kernels::ContractError;
using kernels::Problem;
using kernels::Tensor;

// Of an exchange that failed, on all ranks alike: whatever the function makes of it, none may go
// on.
std::optional<kernels::RankError>& failed_exchange() {
  static std::optional<kernels::RankError> failed;
  return failed;
}

void check(fusegate_error error) {
  if (const auto failed = std::exchange(failed_exchange(), std::nullopt)) throw *failed;
  if (error != nullptr) throw std::runtime_error(error);
}

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

kernels::Dtype dtype_of(const char* name) {
  const auto dtype = kernels::parse_dtype(text_of(name));
  if (!dtype) throw ContractError("unknown dtype '" + text_of(name) + "'");
  return *dtype;
}

// A problem as the program sees it.
class ProblemView {
 public:
  explicit ProblemView(const Problem& problem) : dtype_(dtype_name(problem.dtype)) {
    for (const kernels::Axis& axis : problem.axes) texts_.push_back(axis.value());
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      const kernels::Axis& axis = problem.axes[i];
      axes_.push_back({axis.name.c_str(), axis.size, texts_[i].c_str()});
    }
    problem_ = {dtype_.c_str(), axes_.data(), axes_.size()};
  }
  ProblemView(const ProblemView&) = delete;  // it points into itself
  ProblemView& operator=(const ProblemView&) = delete;

  const fusegate_problem* get() const { return &problem_; }

 private:
  std::string dtype_;
  std::vector<std::string> texts_;
  std::vector<fusegate_axis> axes_;
  fusegate_problem problem_{};
};

// The tensors must outlive it: it refers to their shapes.
std::vector<fusegate_tensor> views_of(std::span<const Tensor> tensors) {
  std::vector<fusegate_tensor> views;
  for (const Tensor& tensor : tensors) {
    // Names of dtypes are literals, and so end with a zero.
    views.push_back(
        {tensor.data, tensor.shape.data(), tensor.shape.size(), dtype_name(tensor.dtype).data()});
  }
  return views;
}

// Doubles at these addresses, as tensors of the specs' shapes.
std::vector<Tensor> doubles_at(std::span<double* const> addresses,
                               const std::vector<kernels::TensorSpec>& specs) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    tensors.push_back({addresses[i], specs[i].shape, kernels::Dtype::kFp64});
  }
  return tensors;
}

// The process's device; known before anything but `refuses` and the texts for --help is called.
struct OpenedDevice {
  std::string kind;
  void* stream = nullptr;
  const kernels::Device* device = nullptr;  // while there is one
};
OpenedDevice& opened_device() {
  static OpenedDevice device;
  return device;
}

// A benchmark for fewer ranks than there are has those alone.
kernels::Ranks& ranks_now() {
  static kernels::Ranks alone;
  return opened_device().device == nullptr ? alone : opened_device().device->ranks();
}

// Registrations keep copies of the program's structs, whose arrays need not outlive the call.
std::vector<std::string> strings_of(const char* const* all, std::size_t count) {
  return {all, all + count};
}

kernels::Fill::OnDevice fill_by_program(const fusegate_operation& operation, std::size_t input) {
  return [fill = operation.fill, self = operation.self, input](
             const Problem& problem, std::uint64_t seed, const Tensor& tensor) {
    const ProblemView view(problem);
    check(fill(self, view.get(), input, seed, views_of(std::span(&tensor, 1)).data()));
  };
}

kernels::Fill fill_of(const fusegate_tensor_spec& spec, const fusegate_operation& operation,
                      std::size_t input) {
  using kernels::Fill;
  switch (spec.fill) {
    case FUSEGATE_UNIFORM:
      return Fill::uniform(spec.first, spec.second);
    case FUSEGATE_NORMAL:
      return Fill::normal(spec.second, spec.first);
    case FUSEGATE_INTEGERS:
      return Fill::integers(static_cast<std::int64_t>(spec.first),
                            static_cast<std::int64_t>(spec.second));
    case FUSEGATE_CONSTANT:
      return Fill::constant(spec.first);
    case FUSEGATE_FILLED:
      if (operation.fill == nullptr) throw ContractError("FUSEGATE_FILLED needs `fill`");
      return Fill::on_device(fill_by_program(operation, input));
  }
  throw ContractError("unknown fill");
}

using AskForTensors = decltype(fusegate_operation::inputs);

std::vector<kernels::TensorSpec> specs_of(const fusegate_operation& operation, AskForTensors ask,
                                          const Problem& problem) {
  fusegate_tensor_specs specs{.all = {}, .operation = &operation, .failure = nullptr};
  const ProblemView view(problem);
  check(ask(operation.self, view.get(), &specs));
  if (specs.failure) std::rethrow_exception(specs.failure);
  return std::move(specs.all);
}

// What fails waits in the description.
template <typename Description, typename Add>
void add_to(Description* description, Add&& add) {
  try {
    add();
  } catch (...) {
    if (!description->failure) description->failure = std::current_exception();
  }
}

Problem problem_of(const fusegate_problem& given) {
  Problem problem{.dtype = dtype_of(given.dtype), .axes = {}};
  for (const fusegate_axis& axis : std::span(given.axes, given.axis_count)) {
    problem.axes.push_back(
        {text_of(axis.name), axis.size, axis.size == 0 ? text_of(axis.text) : ""});
  }
  return problem;
}

std::vector<Problem> problems_of(const fusegate_operation& given) {
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < given.problem_count; ++i) {
    problems.push_back(problem_of(given.problems[i]));
  }
  return problems;
}

kernels::Operation operation_of(const fusegate_operation& given) {
  const auto operation = std::make_shared<const fusegate_operation>(given);
  return {
      .name = text_of(given.name),
      .axes = strings_of(given.axes, given.axis_count),
      .named_axes = strings_of(given.axes, given.axis_count),
      .problems = problems_of(given),
      .is_control = given.is_control != 0,
      .compared_with = text_of(given.compared_with),
      .inputs = [=](const Problem& p) { return specs_of(*operation, operation->inputs, p); },
      .outputs = [=](const Problem& p) { return specs_of(*operation, operation->outputs, p); },
      .reference =
          [=](kernels::Device&, const Problem& problem, std::span<double* const> inputs,
              const kernels::OneOrMore<double*>& outputs) {
            const ProblemView view(problem);
            const auto in = doubles_at(inputs, specs_of(*operation, operation->inputs, problem));
            const auto out = doubles_at(outputs, specs_of(*operation, operation->outputs, problem));
            check(operation->reference(operation->self, view.get(), views_of(in).data(), in.size(),
                                       views_of(out).data(), out.size()));
          },
      .registered_at = text_of(given.registered_at)};
}

kernels::PreparedKernel prepare(const fusegate_implementation& implementation,
                                const Problem& problem, kernels::Inputs inputs,
                                const kernels::Outputs& outputs) {
  const ProblemView view(problem);
  fusegate_call call{};
  call.kernel.allocates = true;
  check(implementation.prepare(implementation.self, view.get(), views_of(inputs).data(),
                               inputs.size(), views_of(outputs).data(), outputs.size(), &call));
  if (call.failure) std::rethrow_exception(call.failure);
  if (call.kernel.stages.empty()) throw ContractError("prepare adds no stage");
  if (std::ranges::none_of(call.kernel.stages,
                           [](const auto& stage) { return bool(stage.launch); }))
    throw ContractError("prepare adds no stage with a launch");
  return std::move(call.kernel);
}

kernels::Implementation implementation_of(const fusegate_implementation& given) {
  kernels::Implementation implementation{
      .operation = text_of(given.operation),
      .name = text_of(given.name),
      .device = text_of(given.device),
      .dtypes = {},
      .prepare =
          [given](kernels::Device&, const Problem& problem, kernels::Inputs inputs,
                  const kernels::Outputs& outputs) {
            return prepare(given, problem, inputs, outputs);
          },
      .registered_at = text_of(given.registered_at)};
  for (const std::string& dtype : strings_of(given.dtypes, given.dtype_count)) {
    implementation.dtypes.push_back(dtype_of(dtype.c_str()));
  }
  if (given.refuses != nullptr) {
    implementation.refuses = [given](const kernels::Device&, const Problem& problem) {
      const ProblemView view(problem);
      const char* why = nullptr;
      check(given.refuses(given.self, view.get(), &why));
      return text_of(why);
    };
  }
  return implementation;
}

// Registrations that failed wait for fusegate_main(), which reports them.
std::vector<std::string>& failed_registrations() {
  static std::vector<std::string> failed;
  return failed;
}

template <typename Register>
void register_or_keep_failure(const char* where, Register&& add) {
  try {
    add();
  } catch (const std::exception& error) {
    failed_registrations().push_back(text_of(where) + ": " + error.what());
  }
}

nlohmann::json json_of(const char* text) {
  return text == nullptr ? nlohmann::json() : nlohmann::json::parse(text);
}

bench::Program program_of(const fusegate_program& given) {
  bench::Program program;
  program.suites.folder = text_of(given.suites);
  program.suites.own = json_of(given.suite);
  program.suites.is_foreign = given.takes_foreign_suites != 0;
  program.opened = [given](const kernels::Device& device) {
    opened_device() = {
        .kind = std::string(device.kind()), .stream = device.native_stream(), .device = &device};
    if (given.opened != nullptr) check(given.opened(given.self));
  };
  const nlohmann::json versions = json_of(given.versions);
  for (const auto& [name, version] : versions.items()) {
    program.versions[name] = version.get<std::string>();
  }
  for (const char* const* argument = given.restart; argument != nullptr && *argument != nullptr;
       ++argument) {
    program.restart.emplace_back(*argument);
  }
  return program;
}

}  // namespace

int fusegate_abi(void) { return FUSEGATE_ABI; }

const char* fusegate_version(void) { return FUSEGATE_VERSION; }

void* fusegate_stream(void) { return opened_device().stream; }

const char* fusegate_device(void) { return opened_device().kind.c_str(); }

int fusegate_rank(void) { return ranks_now().rank(); }

int fusegate_ranks(void) { return ranks_now().count(); }

fusegate_error fusegate_gather(const char* what, const void* data, size_t bytes,
                               fusegate_receive receive, void* self) {
  static std::string failure;
  try {
    const auto texts = ranks_now().gather(what, {static_cast<const char*>(data), bytes});
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
      receive(self, static_cast<int>(rank), texts[rank].data(), texts[rank].size());
    }
    return nullptr;
  } catch (const kernels::RankError& error) {
    failed_exchange() = error;
    failure = error.what();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  return failure.c_str();
}

void fusegate_add_tensor(fusegate_tensor_specs* specs, const fusegate_tensor_spec* spec) {
  add_to(specs, [=] {
    kernels::TensorSpec added{.name = text_of(spec->name),
                              .shape = {spec->shape, spec->shape + spec->rank},
                              .fill = fill_of(*spec, *specs->operation, specs->all.size()),
                              .in_place_of = text_of(spec->in_place_of),
                              .is_weight = spec->is_weight != 0,
                              .is_exact = spec->is_exact != 0};
    if (spec->dtype != nullptr) added.dtype = dtype_of(spec->dtype);
    if (spec->tolerance >= 0) added.tolerance = spec->tolerance;
    if (spec->split_axis >= 0) added.split_axis = spec->split_axis;
    specs->all.push_back(std::move(added));
  });
}

void fusegate_add_stage(fusegate_call* call, const fusegate_stage* stage) {
  add_to(call, [=] {
    kernels::Stage added{.name = text_of(stage->name),
                         .flops = stage->flops,
                         .min_bytes = stage->min_bytes,
                         .choice = text_of(stage->choice)};
    if (stage->launch != nullptr) {
      added.launch = [launch = stage->launch, self = stage->self] { check(launch(self)); };
    }
    call->kernel.stages.push_back(std::move(added));
  });
}

void fusegate_begin_stage(const char* name) {
  try {
    kernels::StageListener::begin(text_of(name));
  } catch (const std::exception&) {
    // A profiler that fails says so when its records are taken.
  }
}

void fusegate_end_stage(void) { kernels::StageListener::end(); }

void fusegate_set_collect(fusegate_call* call, fusegate_error (*collect)(void* self), void* self) {
  call->kernel.collect = [=] { check(collect(self)); };
}

void fusegate_set_release(fusegate_call* call, void (*release)(void* self), void* self) {
  call->kernel.owner = std::shared_ptr<void>(self, release);
}

void fusegate_add_operation(const fusegate_operation* operation) {
  register_or_keep_failure(operation->registered_at, [=] {
    const kernels::OperationRegistration registered(operation_of(*operation));
  });
}

void fusegate_add_implementation(const fusegate_implementation* implementation) {
  register_or_keep_failure(implementation->registered_at, [=] {
    const kernels::ImplementationRegistration registered(implementation_of(*implementation));
  });
}

int fusegate_main(int argc, const char* const* argv, const fusegate_program* given) {
  static std::string name;
  name = text_of(given->name);
  program_invocation_short_name = name.data();
  try {
    for (const std::string& failed : failed_registrations()) throw ContractError(failed);
    const bench::OriginRegistration origin(
        {.commit = text_of(given->commit), .dirty = given->dirty != 0});
    const bench::Program program = program_of(*given);
    std::vector<const char*> arguments(argv, argv + argc);
    arguments.at(0) = given->name;
    arguments.push_back(nullptr);
    const int code = bench::run_program(argc, arguments.data(), program);
    opened_device().device = nullptr;
    return code;
  } catch (const std::exception& error) {
    bench::log_warning("{}", error.what());
    return 2;
  }
}
