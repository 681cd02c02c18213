#include "bench/program/bench_main.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/message_names.h"
#include "bench/machine/log_warning.h"
#include "bench/machine/nvml.h"
#include "bench/measuring/run_file_recorder.h"
#include "bench/meters/make_meter.h"
#include "bench/plan/options.h"
#include "bench/plan/pinned_choices.h"
#include "bench/plan/plan.h"
#include "bench/plan/rank_count.h"
#include "bench/program/identifying.h"
#include "bench/program/plan_json.h"
#include "bench/program/run_program.h"
#include "bench/program/runner.h"
#include "bench/program/tracing.h"
#include "bench/program/turn.h"
#include "bench/ranks/interrupt.h"
#include "bench/ranks/start_ranks.h"

namespace fusegate::bench {
namespace {

constexpr int kBadInput = 2;

void print_environment(const EnvironmentProbe& probe) {
  nlohmann::json warnings = nlohmann::json::array();
  for (const baselines::Warning warning : probe.warnings())
    warnings.push_back(baselines::warning_name(warning));
  const nlohmann::json json{{"device_kind", probe.device_kind()},
                            {"environment", probe.environment()},
                            {"machine", probe.machine()},
                            {"warnings", warnings}};
  fmt::print("{}\n", json.dump(2));
}

ProcessOptions process_options(const Options& options, const Suite& suite,
                               const kernels::Device& device) {
  return {.info = {.suite = suite.name,
                   .number = options.process,
                   .seed = device.ranks().first(
                       "the seed", options.seed ? *options.seed : std::random_device{}()),
                   .protocol = suite.protocol_on(std::string(device.kind())),
                   .settings = suite.settings,
                   .models = suite.models},
          .out = options.out,
          .writes = device.ranks().is_first(),
          .progress = options.progress && device.ranks().is_first(),
          .resume = options.resume,
          .force = options.force,
          .profile = options.profile,
          .energy = std::chrono::milliseconds(options.energy_ms),
          .stuck_after = stuck_after(options, device.kind())};
}

void print_plan(const Options& options, const Suite& suite, const kernels::Device& device,
                const EnvironmentProbe& probe) {
  Plan plan = plan_of(suite.sweeps, device);
  name_controls(suite.controls, plan);
  const Plan measured =
      options.benchmark_flags.empty() ? plan : filtered_plan(plan, options.benchmark_flags);
  ProcessInfo info = process_options(options, suite, device).info;
  info.controls = controls_of(plan);
  info.compared_with = compared_with(suite, plan);
  info.across_ranks = across_ranks(plan);
  fmt::print("{}\n", plan_json(measured, swept_operations(suite.sweeps), info, probe).dump(1));
}

const std::filesystem::path& start_folder() {
  static const std::filesystem::path folder = std::filesystem::current_path();
  return folder;
}

// Replaces this process by a fresh one that measures the other benchmarks, in the folder where it
// started: the command line may have relative paths, and kernels may have changed the folder.
[[noreturn]] void resume(std::vector<std::string> arguments) {
  end_other_ranks();
  std::filesystem::current_path(start_folder());
  arguments.emplace_back("--resume");
  std::vector<char*> again;
  for (std::string& argument : arguments) again.push_back(argument.data());
  again.push_back(nullptr);
  execv(again.front(), again.data());
  throw std::runtime_error(
      "the device was lost, and a fresh process could not be started; add --resume and run again");
}

// Called while the device blocks the main thread. Destroys nothing: that would wait for the device.
[[noreturn]] void leave(bool may_go_on, const Program& program) {
  try {
    if (may_go_on) resume(program.restart);
  } catch (const std::exception& error) {
    log_warning("{}", error.what());
  }
  end_other_ranks();
  std::_Exit(kBadInput);
}

// interrupted, lost: what the user is to know after a signal, or where the device was lost.
int finish(Outcome outcome, const std::string& interrupted, const std::string& lost) {
  if (outcome == Outcome::kInterrupted) log_warning("interrupted{}", interrupted);
  if (outcome == Outcome::kDeviceLost) log_warning("the device was lost; {}", lost);
  return outcome == Outcome::kComplete ? 0 : kBadInput;
}

int measure(kernels::Device& device, const Plan& plan, EnvironmentProbe& probe,
            const ProcessOptions& process, const Options& options, const Program& program) {
  const Outcome outcome = run_benchmarks(device, plan, probe, process, options.benchmark_flags);
  // Only a run file records what is done already.
  const bool is_first = device.ranks().is_first();
  if (outcome == Outcome::kDeviceLost && options.out && is_first) resume(program.restart);
  return finish(
      outcome,
      options.out ? "; what was measured is in " + options.out->string() +
                        ", add --resume to measure the rest"
                  : "",
      "the other benchmarks were not measured; with --out, a fresh process measures them");
}

int trace(const std::filesystem::path& out, kernels::Device& device, const Plan& plan,
          EnvironmentProbe& probe, const ProcessInfo& info) {
  if (device.ranks().is_first()) stop_on_signals();
  const std::unique_ptr<Meter> meter = make_meter(device);
  try {
    const Outcome outcome = record_trace(device, *meter, plan, probe, info, out);
    return finish(outcome, "; no trace was written", "no trace was written");
  } catch (const ProfilerError& error) {
    throw baselines::InputError("--trace", "", error.what());
  }
}

int write_identities(const std::filesystem::path& out, kernels::Device& device, const Plan& plan,
                     EnvironmentProbe& probe, const ProcessOptions& process) {
  if (device.ranks().is_first()) stop_on_signals();
  const std::unique_ptr<Meter> meter = make_meter(device);
  return finish(identify(device, *meter, plan, probe, process.info, out, process.stuck_after),
                "; nothing was written", "nothing was written");
}

void pin_choices(Plan& plan, const Options& options, const baselines::Environment& here) {
  const auto run = pin_choices(plan, options.pin_choices, here, options.pin_strictly);
  if (!run) return;
  log_warning("autotuned kernels are pinned to the choices in {}{}", run->string(),
              options.pin_strictly ? ", without measuring" : "");
}

// Names kernels that are registered and in no suite. Not where flags replace what suites say.
void warn_of_unswept(const Options& options, const Suite& suite,
                     const std::filesystem::path& suites, std::string_view device_kind) {
  if (!options.axes.empty() || !options.problems.empty()) return;
  std::vector<Sweep> sweeps = sweeps_in(suites);
  sweeps.insert(sweeps.end(), suite.sweeps.begin(), suite.sweeps.end());
  const std::vector<std::string> names = unswept_implementations(sweeps, device_kind);
  if (names.empty()) return;
  const std::string note =
      fmt::format("no suite names {}: the gate will not judge it; add it to a suite",
                  baselines::first_of(names, ", ", 5));
  log_warning("{}", note);
  if (options.progress) fmt::print("{}\n", RunFileRecorder::note_line(note));
}

// Where nobody chose the CPU, and the GPU cannot be used.
void warn_of_unused_gpu(const Options& options, const kernels::Device& device) {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (options.device != "auto" || device.kind() != "cpu" || (visible != nullptr && *visible == 0)) {
    return;
  }
  if (Nvml::open() == nullptr) return;
  log_warning(
      "this machine has a GPU, and the CPU is measured: the program was built without CUDA, or the "
      "driver is older than its CUDA; --device=cpu if that is intended");
}

// A plan needs to know how many ranks there would be, and no process of theirs.
class PlannedRanks : public kernels::Ranks {
 public:
  explicit PlannedRanks(int count) : count_(count) {}
  int count() const override { return count_; }

 private:
  int count_;
};

std::unique_ptr<kernels::Device> open(const Options& options, const Suite& suite,
                                      const Program& program) {
  const int count = options.environment ? 1 : rank_count(options, suite);
  if (options.plan) {
    auto device = kernels::open_device(options.device);
    device->join(std::make_shared<PlannedRanks>(count));
    return device;
  }
  const std::shared_ptr<kernels::Ranks> ranks = start_ranks(count, program.restart);
  std::unique_ptr<kernels::Device> device;
  ranks->together("opening its device",
                  [&] { device = kernels::open_device(options.device, ranks->rank()); });
  device->join(ranks);
  const std::vector<std::string> names = ranks->gather("its device", device->name());
  for (std::size_t rank = 1; rank < names.size(); ++rank) {
    if (names[rank] == names[0]) continue;
    throw kernels::RankError(fmt::format(
        "rank 0 has a {}, and rank {} a {}; choose devices of one model (CUDA_VISIBLE_DEVICES)",
        names[0], rank, names[rank]));
  }
  return device;
}

int run(int argc, const char* const* argv, const Program& program) {
  load_s();  // it has loaded
  kernels::require_sound_registrations();
  start_folder();
  const Options options = parse_options(argc, argv, program.suites.folder);
  if (options.help) {
    fmt::print("{}", *options.help);
    return 0;
  }
  for (const auto& out : {options.trace, options.identify}) {
    if (out) baselines::require_writable(*out);
  }
  // `fusegate doctor` asks for the environment without a suite.
  const Suite suite =
      options.environment && !options.suite ? Suite() : suite_of(options, program.suites);
  await_turn();
  const std::unique_ptr<kernels::Device> device = open(options, suite, program);
  if (program.opened) {
    device->ranks().together("starting", [&] { program.opened(*device); });
  }
  warn_of_unused_gpu(options, *device);
  EnvironmentProbe probe(*device, program.versions);
  if (options.environment) {
    print_environment(probe);
    return 0;
  }
  if (options.plan) {
    print_plan(options, suite, *device, probe);
    return 0;
  }
  Plan plan = make_plan(suite.sweeps, *device, suite.name);
  for (const std::string& refusal : plan.refusals) {
    log_warning("left out {}", refusal);
  }
  if (!program.suites.is_foreign) {
    warn_of_unswept(options, suite, program.suites.folder, device->kind());
  }
  name_controls(suite.controls, plan);
  pin_choices(plan, options, probe.environment());
  ProcessOptions process = process_options(options, suite, *device);
  process.info.controls = controls_of(plan);
  process.info.compared_with = compared_with(suite, plan);
  process.info.across_ranks = across_ranks(plan);
  const bool is_first = device->ranks().is_first();
  process.leave = [&options, &program, is_first](bool may_go_on) {
    leave(may_go_on && options.out.has_value() && is_first, program);
  };
  choose_layout_kind(*device, process.info);
  if (options.trace) {
    return trace(*options.trace, *device, filtered_plan(plan, options.benchmark_flags), probe,
                 process.info);
  }
  if (options.identify) {
    return write_identities(*options.identify, *device,
                            filtered_plan(plan, options.benchmark_flags), probe, process);
  }
  return measure(*device, plan, probe, process, options, program);
}

}  // namespace

int run_program(int argc, const char* const* argv, const Program& program) {
  logs_warnings = !is_other_rank();
  try {
    const int code = run(argc, argv, program);
    // A full disk behind a redirection shows only now.
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    throw std::runtime_error("standard output: cannot be written; is its disk full?");
  } catch (const kernels::RankError& error) {
    log_warning("{}", error.what());  // known to all
    return kBadInput;
  } catch (const std::exception& error) {
    logs_warnings = true;
    log_warning("{}", error.what());
    return kBadInput;
  }
}

int bench_main(int argc, char** argv) {
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe");
  Program program;
  program.suites.folder = executable.parent_path() / "suites";
  program.restart.push_back(executable.string());
  program.restart.insert(program.restart.end(), argv + 1, argv + argc);
  return run_program(argc, argv, program);
}

}  // namespace fusegate::bench
