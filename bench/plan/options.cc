#include "bench/plan/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/help_example.h"
#include "baselines/io/json_field.h"
#include "baselines/io/near_names.h"
#include "baselines/record/program_variables.h"
#include "kernels/contract/kernel.h"

namespace fusegate::bench {
namespace {

using nlohmann::json;

// Of a sweep's keys.
bool is_axis(const std::string& key) {
  return key != "dtype" && key != "operations" && key != "implementations";
}

// A list flag that stands for a sweep's key of the same name.
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

// Several of one flag join: --axis heads=8 --axis heads=16 is as --axis heads=8,16.
void add_general_axis(CLI::App& app, Options& options) {
  const auto store = [&options](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const std::size_t equals = text.find('=');
      json sizes = json::array();
      for (const std::string& part : CLI::detail::split(text.substr(equals + 1), ',')) {
        std::int64_t size = 0;
        if (CLI::detail::lexical_cast(part, size))
          sizes.push_back(size);
        else
          sizes.push_back(part);
      }
      const std::string name = text.substr(0, equals);
      if (equals == std::string::npos || name.empty() || !is_axis(name)) {
        throw baselines::InputError("--axis", "",
                                    fmt::format("'{}' is not NAME=SIZE,... of an axis", text));
      }
      json& axis = options.axes[name];
      if (axis.is_null()) axis = json::array();
      axis.insert(axis.end(), sizes.begin(), sizes.end());
    }
  };
  app.add_option_function<std::vector<std::string>>(
         "--axis", store,
         "Sizes of any axis of an operation, as in --axis heads=8,16; may be repeated")
      ->allow_extra_args(false)
      ->type_name("AXIS=SIZE,...");
}

constexpr std::array kLadderAxes{"batch", "seq", "dim", "hidden"};

// "64,128,768,3072" or "heads:16/kv:4096" as a sweep of that problem alone.
json problem_sweep(const std::string& text) {
  json sweep{{"dtype", {"bf16"}}};
  const bool is_named = text.find(':') != std::string::npos;
  const std::vector<std::string> parts = CLI::detail::split(text, is_named ? '/' : ',');
  bool fits = is_named || parts.size() == kLadderAxes.size();
  for (std::size_t i = 0; fits && i < parts.size(); ++i) {
    const std::size_t colon = is_named ? parts[i].find(':') : std::string::npos;
    const std::string axis = is_named ? parts[i].substr(0, colon) : kLadderAxes[i];
    std::int64_t size = 0;
    fits = CLI::detail::lexical_cast(is_named ? parts[i].substr(colon + 1) : parts[i], size) &&
           1 <= size && size <= kernels::kLargestAxis && !sweep.contains(axis);
    sweep[axis] = {size};
  }
  if (fits) return sweep;
  throw baselines::InputError(
      "--problem", "",
      fmt::format(
          "'{}' is not batch,seq,dim,hidden nor AXIS:SIZE/..., of whole numbers from 1 to {}", text,
          kernels::kLargestAxis));
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

void add_protocol_options(CLI::App& app, Options& options) {
  const auto add_choice = [&](const char* name, const char* choices, const char* help) {
    add_protocol<std::string>(app, options, name, name, help)->type_name(choices);
  };
  const auto add_number = [&](const char* name, const char* key, const char* help) {
    add_protocol<std::int64_t>(app, options, name, key, help);
  };
  add_choice(
      "regime", "{burst,sustained}",
      "burst: the device idles before every sample; sustained: samples follow each other at once");
  add_number("samples", "samples", "How many samples of each benchmark are taken");
  add_number("places", "places", "How many places in memory the samples are spread over");
  add_choice(
      "order", "{interleaved,contiguous}",
      "interleaved: the benchmarks' places are mixed; contiguous: one benchmark after the other");
  add_number("batch-us", "batch_us", "A sample takes at least so many microseconds");
  add_number("idle-us", "idle_us", "The device idles for so many microseconds before every sample");
  add_number("warm-ms", "warm_ms",
             "The kernel runs for so many milliseconds at every place before its samples");
  add_number("spin-us", "spin_us",
             "Between idling and a sample, a GPU is kept busy for so many microseconds");
  add_choice("l2", "{warm,flushed}",
             "What the L2 cache holds before a call. warm: what the call before left; flushed: "
             "nothing of it");
  add_choice("layout", "{numbered,driver}",
             "Where a place's tensors lie. numbered: where the place's number says; driver: where "
             "the driver "
             "puts them");
}

// "0.5" and, from version 1.8 on, "0.5s"; the "10x" of that version counts iterations, which are
// the batch's to choose.
std::int64_t microseconds_of(const std::string& flag, const std::string& text) {
  constexpr double kDay = 86400;
  double seconds = 0;
  if (!CLI::detail::lexical_cast(text.ends_with('s') ? text.substr(0, text.size() - 1) : text,
                                 seconds) ||
      !(seconds >= 0 && seconds < kDay)) {
    throw baselines::InputError(flag, "", "is followed by no time to measure for");
  }
  return std::llround(seconds * 1e6);
}

// Google Benchmark's flags that set what the protocol sets: they become the protocol's, so that the
// run file says what was done.
void add_google_options(CLI::App& app, Options& options) {
  add_protocol<std::int64_t>(app, options, "benchmark_repetitions", "places",
                             "The same as --places");
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

// What is written instead of measuring.
void add_trace_and_identify(CLI::App& app, Options& options) {
  CLI::Option* const trace =
      app.add_option(
             "--trace", options.trace,
             "Measure nothing, but write a trace of 3 calls of each benchmark to this file (Chrome "
             "JSON, which ui.perfetto.dev shows)")
          ->type_name("FILE");
  CLI::Option* const identify =
      app.add_option("--identify", options.identify,
                     "Write what each benchmark launches here (kernels' machine code, launches and "
                     "arguments) instead of measuring")
          ->type_name("FILE");
  identify->excludes(trace);
  for (const char* other : {"--out", "--invocation", "--resume", "--force", "--progress",
                            "--environment", "--plan", "--profile", "--energy-ms"}) {
    trace->excludes(app.get_option(other));
    identify->excludes(app.get_option(other));
  }
}

// Flags that say how to measure, where nothing is measured. google: Google Benchmark's.
void require_no_measuring(const json& protocol, const std::vector<std::string>& google) {
  const auto refuse = [](const std::string& flag) {
    throw baselines::InputError("--trace", "", "excludes " + flag + ", since nothing is measured");
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

// Flags of what a plan, which is printed, does not do.
void require_plan_alone(const CLI::App& app) {
  for (const char* flag : {"--energy-ms", "--environment", "--force", "--out", "--profile",
                           "--progress", "--resume"}) {
    if (app.count(flag) > 0) throw baselines::InputError(flag, "", "does not go with --plan");
  }
}

void add_choices_options(CLI::App& app, Options& options) {
  app.add_option(
         "--keep-choices", options.keep_choices,
         "Some kernels are chosen by measuring. Take the one that this baseline, run file, run "
         "folder or file of identities took, unless it is more than 5 % slower than the fastest "
         "now. Of several, separated by colons, the first of this device counts")
      ->type_name("PATH")
      ->delimiter(':')
      ->envname(baselines::kKeepChoicesVariable);
  app.add_flag("--keep-strictly", options.keep_strictly,
               "Take what --keep-choices names without measuring. A benchmark whose kept kernel is "
               "not there fails")
      ->envname(baselines::kKeepStrictlyVariable);
}

std::string operations_help() {
  std::vector<std::string> names;
  for (const kernels::Operation& operation : kernels::operations()) names.push_back(operation.name);
  return fmt::format("Names of operations: {}", fmt::join(names, ", "));
}

// Those of this program's kernels, in the order in which all are told.
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

// Options that are added from now on stand under it in --help.
void set_topic(CLI::App& app, const char* topic) { app.option_defaults()->group(topic); }

void add_options(CLI::App& app, Options& options, const std::vector<std::string>& suites) {
  set_topic(app, "What is measured");
  app.add_option("--suite", options.suite,
                 fmt::format("The suite to measure: {}{}a .json file", fmt::join(suites, ", "),
                             suites.empty() ? "" : ", or "))
      ->type_name("SUITE");
  app.add_option("--device", options.device, "The device to measure on: auto, cuda or cpu")
      ->type_name("{auto,cuda,cpu}")
      ->capture_default_str();
  add_axis<std::int64_t>(app, options, "batch", "batch", "Batch sizes, as in --batch=1,8,64");
  add_axis<std::int64_t>(app, options, "seq", "seq", "Sequence lengths");
  add_axis<std::int64_t>(app, options, "dim", "dim", "Model widths");
  add_axis<std::int64_t>(app, options, "hidden", "hidden", "Hidden widths");
  add_general_axis(app, options);
  add_axis<std::string>(app, options, "dtype", "dtype", dtypes_help());
  add_axis<std::string>(app, options, "operation", "operations", operations_help());
  add_axis<std::string>(app, options, "implementation", "implementations", implementations_help());
  add_problem_option(app, options);
  set_topic(app, "How it is measured");
  add_protocol_options(app, options);
  add_google_options(app, options);
  add_choices_options(app, options);
  app.add_option("--seed", options.seed,
                 "The seed of the random inputs; by default another one each time");
  set_topic(app, "What is written");
  app.add_option("--out", options.out, "The run file to write")->type_name("FILE");
  app.add_option("--invocation", options.invocation, "The number of this process in its run")
      ->check(CLI::PositiveNumber);
  app.add_flag("--progress", options.progress,
               "Print lines that fusegate reads, in place of the table");
  app.add_flag("--environment", options.environment, "Print the environment as JSON and stop");
  app.add_flag("--plan", options.plan,
               "Print as JSON what would be measured, how and where, and stop");
  app.add_option(
         "--profile", options.profile,
         "on or off: whether, after all are measured, what each benchmark launches is recorded")
      ->type_name("{on,off}")
      ->transform(CLI::CheckedTransformer(std::map<std::string, bool>{{"on", true}, {"off", false}})
                      .description(""))
      ->default_str("on");
  app.add_option("--energy-ms", options.energy_ms,
                 "Run each benchmark so long after all are measured, and record the energy that a "
                 "call takes, where the GPU counts it; by default not at all")
      ->check(CLI::Range(0, 60'000));
  app.add_option("--stuck-after-s", options.stuck_after_s,
                 "A benchmark of which a check, a place or a sample does not end within so many "
                 "seconds has failed. The rest is measured in a fresh process. By default 300 on a "
                 "GPU, and for ever on a CPU, where a check may take long")
      ->check(CLI::Range(1, 86'400));
  app.add_flag("--resume", options.resume,
               "Measure what the run file of --out lacks, and add it there. Refused where that is "
               "of another suite, protocol, environment or commit");
  app.add_flag("--force", options.force,
               "Replace the file of --out also where it holds something else than what is measured "
               "now: another suite, protocol or benchmark, or no run file at all");
  app.add_option_function<std::size_t>(
         baselines::kLargestFileFlag,
         [](std::size_t mib) { baselines::set_largest_file(mib << 20); },
         "The most that is read of one file, in MiB; by default 512")
      ->check(CLI::Range(1, 1 << 20));
  add_trace_and_identify(app, options);
}

bool sweeps_controls_alone(const json& sweep) {
  const json names = sweep.value("operations", json::array());
  return !names.empty() && std::ranges::all_of(names, [](const json& name) {
    return kernels::find_operation(name.get<std::string>()).is_control;
  });
}

bool has_axis(const kernels::Operation& operation, const std::string& axis) {
  return std::ranges::find(operation.axes, axis) != operation.axes.end();
}

std::vector<const kernels::Operation*> named_operations(const json& names) {
  std::vector<const kernels::Operation*> named;
  for (const kernels::Operation& operation : kernels::operations()) {
    if (std::ranges::find(names, json(operation.name)) != names.end()) named.push_back(&operation);
  }
  return named;
}

// Puts flags in place of what sweeps say, and sees that each flag found its place.
class FlagsInSweeps {
 public:
  explicit FlagsInSweeps(const json& flags) : flags_(flags) {
    for (const auto& [key, values] : flags.items()) {
      if (is_axis(key)) unused_.insert(key);
    }
    for (const auto* operation : named_operations(flags.value("operations", json::array()))) {
      unplaced_.insert(operation->name);
    }
  }

  // The sweep with the flags; false, and nothing changes, where it lacks axes of all the operations
  // that the flags name.
  bool apply(json& sweep) {
    json changed = sweep;
    changed.update(flags_);
    const bool names_some = place_operations(changed);
    if (flags_.contains("operations") && !names_some) return false;
    const auto measured = changed.contains("operations")
                              ? named_operations(changed.at("operations"))
                              : all_that_find_their_axes(changed);
    for (const auto& [key, values] : flags_.items()) {
      if (!is_axis(key)) continue;
      const bool is_had = std::ranges::any_of(
          measured, [&key = key](const auto* operation) { return has_axis(*operation, key); });
      if (is_had) unused_.erase(key);
      if (!is_had && !sweep.contains(key)) changed.erase(key);
    }
    sweep = std::move(changed);
    return true;
  }

  void require_all_used() const {
    if (!unused_.empty()) {
      throw baselines::InputError(
          "--axis " + *unused_.begin(), "",
          "no operation that is measured has this axis, or one lacks another of its own");
    }
    if (!unplaced_.empty()) {
      const kernels::Operation& operation = kernels::find_operation(*unplaced_.begin());
      throw baselines::InputError("--operation", "",
                                  fmt::format("'{}' finds its axes in no sweep; they are {}",
                                              operation.name, fmt::join(operation.axes, ", ")));
    }
  }

 private:
  // Of the operations that the flags name, keeps those that find their axes; whether there is one.
  // Names that nobody knows stay, for who reads the suite to complain of.
  bool place_operations(json& sweep) {
    if (!flags_.contains("operations")) return false;
    json placed = json::array();
    for (const json& name : flags_.at("operations")) {
      const auto found = named_operations({name});
      if (!found.empty() && !finds_its_axes(*found.front(), sweep)) continue;
      placed.push_back(name);
      unplaced_.erase(name.get<std::string>());
    }
    if (!placed.empty()) sweep["operations"] = placed;
    return !placed.empty();
  }
  static std::vector<const kernels::Operation*> all_that_find_their_axes(const json& sweep) {
    std::vector<const kernels::Operation*> all;
    for (const kernels::Operation& operation : kernels::operations()) {
      if (!operation.is_control && finds_its_axes(operation, sweep)) all.push_back(&operation);
    }
    return all;
  }

  const json& flags_;
  std::set<std::string> unused_, unplaced_;
};

// The sweeps with the flags in place of what they say. Controls keep the shapes at which they say
// something of the machine; flags that name what to measure leave them out.
void set_axes(json& sweeps, const json& flags) {
  const bool names_something = flags.contains("operations") || flags.contains("implementations");
  FlagsInSweeps places(flags);
  json kept = json::array(), misfits = json::array();
  for (json& sweep : sweeps) {
    const bool controls = sweeps_controls_alone(sweep);
    if (controls && names_something) continue;
    const bool fits = controls || places.apply(sweep);
    if (!fits) sweep.update(flags);
    (fits ? kept : misfits).push_back(std::move(sweep));
  }
  // Where none fits, who reads the suite says what is missing.
  if (!kept.empty()) places.require_all_used();
  sweeps = kept.empty() ? std::move(misfits) : std::move(kept);
}

// What flags without a suite ask for: the reference problem of "Profiling in PyTorch, part 2" as
// far as operations have its axes, and of the operations those that have an axis that a flag names.
json sweep_of_flags(const json& flags) {
  const auto is_meant = [&](const kernels::Operation& operation) {
    if (flags.contains("operations")) {
      const json& names = flags.at("operations");
      return std::ranges::find(names, json(operation.name)) != names.end();
    }
    bool names_axes = false, has_one = false;
    for (const auto& [key, values] : flags.items()) {
      names_axes = names_axes || is_axis(key);
      has_one = has_one || has_axis(operation, key);
    }
    return !operation.is_control && (has_one || !names_axes);
  };
  json sweep{{"dtype", {"bf16", "fp32"}}};
  json meant = json::array();
  for (const kernels::Operation& operation : kernels::operations()) {
    if (!is_meant(operation)) continue;
    meant.push_back(operation.name);
    for (const auto& [axis, size] : {std::pair("batch", 64), std::pair("seq", 128),
                                     std::pair("dim", 768), std::pair("hidden", 3072)}) {
      if (has_axis(operation, axis)) sweep[axis] = {size};
    }
  }
  json with_flags = sweep;
  with_flags.update(flags);
  // Of those that no flag names, the ones that find all of their axes.
  json found = json::array();
  for (const auto* operation : named_operations(meant)) {
    if (finds_its_axes(*operation, with_flags)) found.push_back(operation->name);
  }
  if (!meant.empty() && !flags.contains("operations")) {
    sweep["operations"] = found.empty() ? meant : found;
  }
  return sweep;
}

// The suite's protocol, which may be null, with the flags in place of what it says.
void set_protocol(json& protocol, const json& flags) {
  if (protocol.is_null()) protocol = json::object();
  // Chosen for the suite's regime, these would make another regime something else.
  if (flags.contains("regime") && flags.at("regime") != protocol.value("regime", "burst")) {
    for (const char* key : {"idle_us", "places", "warm_ms"}) protocol.erase(key);
  }
  protocol.update(flags);
}

// A program of one's own kernels has another than ours, and often one.
std::string default_suite(const std::filesystem::path& folder) {
  const std::vector<std::string> suites = suites_in(folder);
  return suites.size() == 1 ? suites.front() : "smoke";
}

std::string unknown_flag_text(const std::string& flag, const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) flags.push_back(option->get_name());
  const std::string nearest = baselines::nearest_name(flag.substr(0, flag.find('=')), flags);
  return fmt::format("unknown flag{}; see --help",
                     nearest.empty() ? "" : ", of which the nearest is " + nearest);
}

}  // namespace

std::optional<std::chrono::seconds> stuck_after(const Options& options,
                                                std::string_view device_kind) {
  if (options.stuck_after_s) return std::chrono::seconds(*options.stuck_after_s);
  if (device_kind == "cpu") return std::nullopt;
  // fusegate's to set, which does not know the device.
  const char* const variable = std::getenv(baselines::kStuckAfterVariable);
  const long told_s = variable != nullptr ? std::strtol(variable, nullptr, 10) : 0;
  return told_s > 0 ? std::chrono::seconds(told_s) : kStuckAfter;
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
  add_options(app, options, suites);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.help = app.help();
    return options;
  }
  if (options.plan) require_plan_alone(app);
  if (options.trace) require_no_measuring(options.protocol, app.remaining());
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

Suite suite_of(const Options& options, const std::filesystem::path& folder) {
  json suite;
  std::string source = "the command line";
  if (!options.problems.empty()) {
    for (const auto& [key, values] : options.axes.items()) {
      if (!is_axis(key)) continue;
      throw baselines::InputError("--problem", "", fmt::format("stands in place of --{}", key));
    }
    suite = {{"name", "custom"}, {"sweeps", options.problems}};
  } else if (options.suite || options.axes.empty()) {
    source = suite_path(options.suite.value_or(default_suite(folder)), folder).string();
    suite = baselines::parse_json(baselines::read_file(source), source);
    // Checked before the flags replace anything: a broken file is broken whatever the flags are.
    parse_suite(suite, source);
  } else {
    suite = {{"name", "custom"}, {"sweeps", {sweep_of_flags(options.axes)}}};
  }
  set_axes(suite["sweeps"], options.axes);
  set_protocol(suite["protocol"], options.protocol);
  return parse_suite(suite, source);
}

}  // namespace fusegate::bench
