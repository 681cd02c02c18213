#include "bench/plan/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ranges>
#include <set>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/help_example.h"
#include "baselines/io/json_field.h"
#include "baselines/io/message_names.h"
#include "baselines/record/program_variables.h"
#include "bench/plan/models.h"
#include "kernels/contract/kernel.h"

namespace fusegate::bench {
namespace {

using nlohmann::json;

// A list flag that sets a key of a sweep.
template <typename T>
void add_axis(CLI::App& app, Options& options, const std::string& name, const std::string& key,
              const std::string& help) {
  const auto store = [&options, key](const std::vector<T>& values) { options.axes[key] = values; };
  app.add_option_function<std::vector<T>>("--" + name, store, help)->delimiter(',');
}

template <typename T>
CLI::Option* add_protocol(CLI::App& app, Options& options, const std::string& name,
                          const std::string& key, const std::string& help) {
  const auto store = [&options, key](const T& value) { options.protocol[key] = value; };
  return app.add_option_function<T>("--" + name, store, help);
}

// As a suite's JSON has it: a size, a fraction, true or false, or a name.
json axis_value(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  std::int64_t size = 0;
  if (CLI::detail::lexical_cast(text, size)) return size;
  double fraction = 0;
  if (CLI::detail::lexical_cast(text, fraction) && std::isfinite(fraction)) return fraction;
  return text;
}

// Repeated flags join: --axis heads=8 --axis heads=16 means --axis heads=8,16.
void add_general_axis(CLI::App& app, Options& options) {
  const auto store = [&options](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const std::size_t equals = text.find('=');
      json values = json::array();
      for (const std::string& part : CLI::detail::split(text.substr(equals + 1), ',')) {
        values.push_back(axis_value(part));
      }
      const std::string name = text.substr(0, equals);
      if (equals == std::string::npos || name.empty() || !is_axis(name)) {
        throw baselines::InputError("--axis", "",
                                    fmt::format("'{}': expected NAME=VALUE,...", text));
      }
      json& axis = options.axes[name];
      if (axis.is_null()) axis = json::array();
      axis.insert(axis.end(), values.begin(), values.end());
    }
  };
  app.add_option_function<std::vector<std::string>>(
         "--axis", store,
         "Values of any axis of an operation, as in --axis heads=8,16; may be repeated")
      ->allow_extra_args(false)
      ->type_name("AXIS=VALUE,...");
}

constexpr std::array kLadderAxes{"batch", "seq", "dim", "hidden"};

// "64,128,768,3072" or "heads:16/kv:4096" as a sweep of that problem alone, without its dtype.
json problem_sweep(const std::string& text) {
  json sweep = json::object();
  const bool is_named = text.find(':') != std::string::npos;
  const std::vector<std::string> parts = CLI::detail::split(text, is_named ? '/' : ',');
  bool fits = is_named || parts.size() == kLadderAxes.size();
  for (std::size_t i = 0; fits && i < parts.size(); ++i) {
    const std::size_t colon = is_named ? parts[i].find(':') : std::string::npos;
    const std::string axis = is_named ? parts[i].substr(0, colon) : kLadderAxes[i];
    const json value = axis_value(is_named ? parts[i].substr(colon + 1) : parts[i]);
    const bool may_be = value.is_number_integer()
                            ? 1 <= value.get<std::int64_t>() && value <= kernels::kLargestAxis
                            : is_named && colon != std::string::npos;
    fits = may_be && is_axis(axis) && !sweep.contains(axis);
    sweep[axis] = {value};
  }
  if (fits) return sweep;
  throw baselines::InputError(
      "--problem", "",
      fmt::format("'{}': expected BATCH,SEQ,DIM,HIDDEN or AXIS:VALUE/..., with sizes from 1 to {}",
                  text, kernels::kLargestAxis));
}

void add_problem_option(CLI::App& app, Options& options) {
  const auto store = [&options](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) options.problems.push_back(problem_sweep(text));
  };
  app.add_option_function<std::vector<std::string>>(
         "--problem", store,
         "One problem as BATCH,SEQ,DIM,HIDDEN or AXIS:SIZE/AXIS:SIZE, in place of a suite; in bf16 "
         "unless --dtype says otherwise; may be repeated")
      ->type_name("PROBLEM")
      ->excludes(app.get_option("--suite"));
}

void add_model_options(CLI::App& app, Options& options, const std::vector<std::string>& models) {
  const auto store = [&options](const char* key) {
    return [&options, key](const auto& values) { options.models[key] = values; };
  };
  CLI::Option* const model =
      app.add_option_function<std::vector<std::string>>(
             "--model", store("models"),
             fmt::format(
                 "The calls of these models' layers, in place of what the suite has besides "
                 "controls; in bf16 unless --dtype says otherwise: {}{}a .json file",
                 fmt::join(models, ", "), models.empty() ? "" : ", or "))
          ->delimiter(',')
          ->type_name("MODEL")
          ->excludes(app.get_option("--problem"));
  app.add_option_function<std::vector<std::int64_t>>("--rows", store("rows"),
                                                     "With --model: sizes of the batch, in tokens")
      ->delimiter(',')
      ->needs(model);
  model->needs(app.get_option("--rows"));
}

void add_protocol_options(CLI::App& app, Options& options) {
  const auto add_choice = [&](const char* name, const char* choices, const char* help) {
    add_protocol<std::string>(app, options, name, name, help)->type_name(choices);
  };
  const auto add_number = [&](const char* name, const char* key, const char* help) {
    add_protocol<std::int64_t>(app, options, name, key, help);
  };
  add_choice("regime", "{burst,sustained}",
             "burst: the device idles before every sample; sustained: samples run back to back");
  add_number("samples", "samples", "Samples of each benchmark");
  add_number("layouts", "layouts", "Memory layouts that the samples are spread over");
  add_choice(
      "order", "{interleaved,contiguous}",
      "interleaved: the benchmarks' layouts are mixed; contiguous: one benchmark after the other");
  add_number("batch-us", "batch_us", "The shortest time of a sample, in microseconds");
  add_number("idle-us", "idle_us", "Idle this many microseconds before every sample");
  add_number("warm-ms", "warm_ms",
             "Run the kernel for this many milliseconds in every layout before its samples");
  add_number("spin-us", "spin_us",
             "Keep the GPU busy for this many microseconds between idling and a sample");
  add_choice("l2", "{warm,flushed}",
             "The L2 cache before a call. warm: what the previous call left; flushed: overwritten");
  add_choice("layout", "{numbered,driver}",
             "Who lays out the tensors. numbered: the layout's number, alike in every process; "
             "driver: the driver");
}

// "0.5" and, since Google Benchmark 1.8, "0.5s". Its "10x" is refused: the batch sets the number of
// iterations.
std::int64_t microseconds_of(const std::string& flag, const std::string& text) {
  constexpr double kDay = 86400;
  double seconds = 0;
  if (!CLI::detail::lexical_cast(text.ends_with('s') ? text.substr(0, text.size() - 1) : text,
                                 seconds) ||
      !(seconds >= 0 && seconds < kDay)) {
    throw baselines::InputError(flag, "", "not a duration; expected seconds, such as 0.5 or 0.5s");
  }
  return std::llround(seconds * 1e6);
}

// Google Benchmark's flags that the protocol has too set the protocol, so that the run file records
// it.
void add_google_options(CLI::App& app, Options& options) {
  add_protocol<std::int64_t>(app, options, "benchmark_repetitions", "layouts",
                             "The same as --layouts");
  const std::string min_time = "--benchmark_min_time";
  app.add_option_function<std::string>(
      min_time,
      [&options, min_time](const std::string& text) {
        options.protocol["batch_us"] = microseconds_of(min_time, text);
      },
      "The same as --batch-us, but in seconds");
  app.add_flag_function(
      "--benchmark_enable_random_interleaving",
      [&options](std::int64_t yes) {
        options.protocol["order"] = order_name(yes > 0 ? Order::kInterleaved : Order::kContiguous);
      },
      "The same as --order=interleaved; with =false, --order=contiguous");
}

void add_trace_and_identify(CLI::App& app, Options& options) {
  CLI::Option* const trace =
      app.add_option(
             "--trace", options.trace,
             "Measure nothing, but write a trace of 3 calls of each benchmark to this file (Chrome "
             "JSON, which ui.perfetto.dev shows)")
          ->type_name("FILE");
  CLI::Option* const identify =
      app.add_option("--identify", options.identify,
                     "Measure nothing, but write what each benchmark launches to this file (hashes "
                     "of machine code, launches and arguments)")
          ->type_name("FILE");
  identify->excludes(trace);
  for (const char* other : {"--out", "--process", "--resume", "--force", "--progress",
                            "--environment", "--plan", "--profile", "--energy-ms"}) {
    trace->excludes(app.get_option(other));
    identify->excludes(app.get_option(other));
  }
}

// A trace takes the layout of the protocol and --benchmark_filter. google: Google Benchmark's
// flags.
void require_no_measuring(const json& protocol, const std::vector<std::string>& google) {
  const auto refuse = [](const std::string& flag) {
    throw baselines::InputError("--trace", "", "excludes " + flag + ": a trace measures nothing");
  };
  for (const std::string& flag : google) {
    if (flag.starts_with("--benchmark_") && !flag.starts_with("--benchmark_filter=")) refuse(flag);
  }
  for (const auto& [key, value] : protocol.items()) {
    std::string name = key;
    std::ranges::replace(name, '_', '-');
    if (key != "layout") refuse("--" + name);
  }
}

// A plan is printed and measures nothing.
void require_plan_alone(const CLI::App& app) {
  for (const char* flag : {"--energy-ms", "--environment", "--force", "--out", "--profile",
                           "--progress", "--resume"}) {
    if (app.count(flag) > 0)
      throw baselines::InputError(flag, "", "cannot be used with --plan, which measures nothing");
  }
}

void add_pin_options(CLI::App& app, Options& options) {
  app.add_option(
         "--pin-choices", options.pin_choices,
         "For kernels that are autotuned: take the choice recorded in this baseline, run file, run "
         "folder or file of identities, unless it is now more than 5 % slower than the fastest. "
         "Of several paths, separated by colons, the first of this device counts")
      ->type_name("PATH")
      ->delimiter(':')
      ->envname(baselines::kPinChoicesVariable);
  app.add_flag("--pin-strictly", options.pin_strictly,
               "Take the choices of --pin-choices without measuring. A benchmark whose pinned "
               "kernel is missing fails")
      ->envname(baselines::kPinStrictlyVariable);
}

std::string operations_help() {
  const auto names = kernels::operations() | std::views::transform(&kernels::Operation::name);
  return fmt::format("Names of operations: {}", fmt::join(names, ", "));
}

// Of this program's kernels, in all_dtypes()'s order.
std::string dtypes_help() {
  std::vector<std::string_view> names;
  for (const kernels::Dtype dtype : kernels::all_dtypes()) {
    const auto takes = [dtype](const kernels::Implementation& implementation) {
      return std::ranges::find(implementation.dtypes, dtype) != implementation.dtypes.end();
    };
    if (std::ranges::any_of(kernels::implementations(), takes)) names.push_back(dtype_name(dtype));
  }
  return fmt::format("Number formats: {}", fmt::join(names, ", "));
}

std::string implementations_help() {
  std::set<std::string> names;
  for (const auto& implementation : kernels::implementations()) names.insert(implementation.name);
  return fmt::format("Names of implementations: {}", fmt::join(names, ", "));
}

// The topic in --help of the options that are added from now on.
void set_topic(CLI::App& app, const char* topic) { app.option_defaults()->group(topic); }

void add_what_is_measured(CLI::App& app, Options& options, const std::filesystem::path& folder) {
  const std::vector<std::string> suites = suites_in(folder);
  set_topic(app, "What is measured");
  app.add_option("--suite", options.suite,
                 fmt::format("The suite to measure: {}{}a .json file", fmt::join(suites, ", "),
                             suites.empty() ? "" : ", or "))
      ->type_name("SUITE");
  app.add_option("--device", options.device, "The device to measure on: auto, cuda or cpu")
      ->type_name("{auto,cuda,cpu}")
      ->capture_default_str();
  app.add_option("--ranks", options.ranks,
                 "How many processes measure together, each on a GPU of its own, what is computed "
                 "across ranks; by default as many as the suite names and there are GPUs for")
      ->check(CLI::Range(1, 64));
  add_axis<std::int64_t>(app, options, "batch", "batch", "Batch sizes, as in --batch=1,8,64");
  add_axis<std::int64_t>(app, options, "seq", "seq", "Sequence lengths");
  add_axis<std::int64_t>(app, options, "dim", "dim", "Model widths");
  add_axis<std::int64_t>(app, options, "hidden", "hidden", "Hidden widths");
  add_general_axis(app, options);
  add_axis<std::string>(app, options, "dtype", "dtype", dtypes_help());
  add_axis<std::string>(app, options, "operation", "operations", operations_help());
  add_axis<std::string>(app, options, "implementation", "implementations", implementations_help());
  add_problem_option(app, options);
  add_model_options(app, options, models_in(folder));
}

void add_how_it_is_measured(CLI::App& app, Options& options) {
  set_topic(app, "How it is measured");
  add_protocol_options(app, options);
  add_google_options(app, options);
  add_pin_options(app, options);
  app.add_option("--seed", options.seed, "The seed of the random inputs; by default a random one");
}

// What is recorded after the samples, and when a benchmark is given up.
void add_recording_options(CLI::App& app, Options& options) {
  app.add_option(
         "--profile", options.profile,
         "on or off: after all samples, record the kernels that each benchmark launches (CUPTI)")
      ->type_name("{on,off}")
      ->transform(CLI::CheckedTransformer(std::map<std::string, bool>{{"on", true}, {"off", false}})
                      .description(""))
      ->default_str("on");
  app.add_option("--energy-ms", options.energy_ms,
                 "After all samples, run each benchmark for this long and record the energy of a "
                 "call, where the GPU counts it; by default not at all")
      ->check(CLI::Range(0, 60'000));
  app.add_option("--stuck-after-s", options.stuck_after_s,
                 "Give a benchmark up when its check, one layout or one sample takes longer than "
                 "this many seconds, and measure the others in a fresh process. By default 300 on "
                 "a GPU; no limit on a CPU, where a check may take long")
      ->check(CLI::Range(1, 86'400));
}

void add_what_is_written(CLI::App& app, Options& options) {
  set_topic(app, "What is written");
  app.add_option("--out", options.out, "The run file to write")->type_name("FILE");
  app.add_option("--process", options.process, "The number of this process in its run")
      ->check(CLI::PositiveNumber);
  app.add_flag("--progress", options.progress,
               "Print progress for `fusegate run` to read, in place of the table");
  app.add_flag("--environment", options.environment, "Print the environment as JSON and stop");
  app.add_flag("--plan", options.plan,
               "Print as JSON what would be measured, how and where, and stop");
  add_recording_options(app, options);
  app.add_flag("--resume", options.resume,
               "Measure what the run file of --out lacks, and add it there. The file must be of "
               "the same suite, protocol, environment and commit");
  app.add_flag("--force", options.force,
               "Replace the file of --out even if it is of another suite, protocol or benchmark, "
               "or not a run file");
  app.add_option_function<std::size_t>(
         baselines::kLargestFileFlag,
         [](std::size_t mib) { baselines::set_largest_file(mib << 20); },
         "The most that is read of one file, in MiB; by default 512")
      ->check(CLI::Range(1, 1 << 20));
  add_trace_and_identify(app, options);
}

std::string unknown_flag_text(const std::string& flag, const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) flags.push_back(option->get_name());
  const std::string nearest = baselines::nearest_name(flag.substr(0, flag.find('=')), flags);
  if (nearest.empty()) return "unknown flag; see --help";
  return fmt::format("unknown flag; did you mean {}? See --help", nearest);
}

// The flags' former names, which scripts may hold.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFormerFlags{
    {{"--invocation", "--process"},
     {"--places", "--layouts"},
     {"--keep-choices", "--pin-choices"},
     {"--keep-strictly", "--pin-strictly"}}};

std::string with_current_name(const std::string& argument) {
  const std::size_t equals = std::min(argument.find('='), argument.size());
  for (const auto& [former, current] : kFormerFlags) {
    if (argument.compare(0, equals, former) == 0) {
      return std::string(current) + argument.substr(equals);
    }
  }
  return argument;
}

// As CLI11 takes arguments: the last one first.
std::vector<std::string> arguments_of(int argc, const char* const* argv) {
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i) arguments.push_back(with_current_name(argv[i]));
  return arguments;
}

void add_options(CLI::App& app, Options& options, const std::filesystem::path& folder) {
  add_what_is_measured(app, options, folder);
  add_how_it_is_measured(app, options);
  add_what_is_written(app, options);
}

}  // namespace

std::optional<std::chrono::seconds> stuck_after(const Options& options,
                                                std::string_view device_kind) {
  if (options.stuck_after_s) return std::chrono::seconds(*options.stuck_after_s);
  if (device_kind == "cpu") return std::nullopt;
  // Set by `fusegate run`, which does not know the device.
  const char* const variable = std::getenv(baselines::kStuckAfterVariable);
  const long seconds = variable != nullptr ? std::strtol(variable, nullptr, 10) : 0;
  return seconds > 0 ? std::chrono::seconds(seconds) : kStuckAfter;
}

Options parse_options(int argc, const char* const* argv, const std::filesystem::path& folder) {
  Options options;
  const std::vector<std::string> suites = suites_in(folder);
  const std::string name = std::filesystem::path(argv[0]).filename().string();
  CLI::App app{"Measures its kernels once: a run is several processes of it", name};
  app.footer("Google Benchmark's own flags work as usual, --benchmark_filter=REGEX among them.");
  baselines::add_example(app, fmt::format("{} --suite={} --out=1.json", name,
                                          suites.empty() ? "suite.json" : suites.back()));
  app.allow_extras();
  add_options(app, options, folder);
  try {
    app.parse(arguments_of(argc, argv));
  } catch (const CLI::CallForHelp&) {
    options.help = app.help();
    return options;
  }
  if (options.plan) require_plan_alone(app);
  if (options.trace) require_no_measuring(options.protocol, app.remaining());
  if (options.resume && !options.out) {
    throw baselines::InputError("--resume", "", "needs --out, the run file to complete");
  }
  options.benchmark_flags = app.remaining();
  for (const std::string& flag : options.benchmark_flags) {
    if (!flag.starts_with("--benchmark_") && !flag.starts_with("--v=")) {
      throw baselines::InputError(flag, "", unknown_flag_text(flag, app));
    }
  }
  // Kernels may change the folder.
  for (auto* written : {&options.out, &options.trace, &options.identify}) {
    if (*written) *written = std::filesystem::absolute(**written);
  }
  return options;
}

}  // namespace fusegate::bench
