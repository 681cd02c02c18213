#include "ci/processes/process.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <system_error>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/printable.h"
#include "baselines/record/program_variables.h"
#include "baselines/record/run_file.h"
#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

// A shell's codes for a program that is not executable, or not there.
constexpr int kExitNotExecutable = 126;
constexpr int kExitNotFound = 127;
constexpr int kExitBadInput = 2;

const std::string kIdentifyFlag = "--identify=";

std::string seed_flag(const ProcessRequest& request) {
  return fmt::format("--seed={}", request.seed);
}

std::string suite_flag(const ProcessRequest& request) { return "--suite=" + request.suite; }

// The suite's file, or the one of its name beside the program; with the models beside it.
std::string suite_text(const ProcessRequest& request) {
  const fs::path beside = fs::path(request.program).parent_path() / "suites";
  for (const fs::path& file : {fs::path(request.suite), beside / (request.suite + ".json")}) {
    if (!fs::is_regular_file(file)) continue;
    std::map<std::string, std::string> models;
    std::error_code no_folder;
    for (const auto& model : fs::directory_iterator(file.parent_path() / "models", no_folder)) {
      if (model.is_regular_file()) models[model.path()] = baselines::read_file(model.path());
    }
    std::string text = baselines::read_file(file);
    for (const auto& [path, model] : models) text += model;
    return text;
  }
  return request.suite;
}

// A benchmark that never ends must be found before the whole program is stopped, so that the others
// are measured.
void set_patience(double timeout_s, ChildProcess& process) {
  constexpr double kOwnPatienceS = 300;  // its default (bench/plan/options.h)
  const double patience_s = std::floor(timeout_s / 4);
  const bool is_set = std::getenv(baselines::kStuckAfterVariable) != nullptr;
  if (is_set || patience_s < 1 || patience_s >= kOwnPatienceS) return;
  process.environment.emplace(baselines::kStuckAfterVariable, fmt::format("{:.0f}", patience_s));
}

// flags: of what it is asked for, in front of the user's.
std::vector<std::string> with_users(std::vector<std::string> flags, const ProcessRequest& request) {
  flags.insert(flags.end(), request.flags.begin(), request.flags.end());
  return flags;
}

ChildProcess child_process(const ProcessRequest& request, const std::vector<std::string>& flags) {
  ChildProcess process{.arguments = {request.program},
                       .environment = request.environment,
                       .timeout_s = request.timeout_s,
                       .interrupts = request.interrupts};
  if (!request.script.empty()) process.arguments.push_back(request.script);
  process.arguments.insert(process.arguments.end(), flags.begin(), flags.end());
  set_patience(request.timeout_s, process);
  return process;
}

std::string not_started_text(const std::system_error& error) {
  return "cannot be started: " + error.code().message();
}

// The log, and the line in it that most likely says what went wrong.
class Log {
 public:
  explicit Log(const fs::path& path) : path_(path), stream_(path, std::ios::binary) { check(); }

  void add(OutputStream stream, std::string_view line) {
    write(line);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    (stream == OutputStream::kErr ? last_error_ : last_output_) =
        line.size() <= kLongestReason ? std::string(line)
                                      : baselines::printable_excerpt(line, kLongestReason);
  }
  void close() {
    stream_.close();
    check();
  }
  // A line that explains no failure.
  void write(std::string_view line) {
    // A program that never stops printing must not fill the disk.
    if (bytes_ > kMostBytes) return;
    stream_ << line << '\n';
    bytes_ += line.size() + 1;
    if (bytes_ > kMostBytes) stream_ << "... the rest is left out: a log has 64 MiB at most\n";
  }
  const std::string& last_line() const { return last_error_.empty() ? last_output_ : last_error_; }

 private:
  static constexpr std::size_t kLongestReason = 1000;
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  void check() const {
    if (stream_) return;
    // A stream keeps no reason; the call that failed left it here.
    throw baselines::InputError(
        path_.string(), "",
        fmt::format("cannot be written: {}", std::generic_category().message(errno)));
  }

  fs::path path_;
  std::ofstream stream_;
  std::size_t bytes_ = 0;
  std::string last_error_;
  std::string last_output_;
};

std::string with_last_line(std::string what, const Log& log) {
  return log.last_line().empty() ? what : what + ": " + log.last_line();
}

// How the process ended, where that alone already means failure; else "".
std::string failure_of_process(const ProcessRequest& request, const ChildEnd& end, const Log& log) {
  if (end.interrupted_by != 0) return std::string(kInterruptedFailure);
  if (end.timed_out) {
    return with_last_line(fmt::format("stopped after {}", format_duration(request.timeout_s)), log);
  }
  if (end.signal != 0) {
    // A library that aborts says why in its last words.
    return with_last_line(fmt::format("ended by signal {} ({})", end.signal, strsignal(end.signal)),
                          log);
  }
  if (end.exit_code == 0) return "";
  return with_last_line(fmt::format("exit code {}", end.exit_code), log);
}

// Exit code 0 means that all is well; the file may say otherwise.
std::string failure_of_run_file(const baselines::RunFile& file) {
  if (!file.finished) return "ended with exit code 0 before it finished";
  return file.benchmarks.empty() && file.skipped.empty() ? "measured no benchmark" : "";
}

std::string failed_text(std::size_t benchmarks) {
  return fmt::format("{} failed", format_count(benchmarks, "benchmark"));
}

// Whether any benchmark was measured.
bool judge_run_file(const fs::path& run_file, const Log& log, ProcessOutcome* outcome) {
  std::string& failure = outcome->record.failure;
  bool any_measured = false;
  try {
    const baselines::RunFile file = baselines::read_run_file(run_file);
    for (const baselines::BenchmarkResult& result : file.benchmarks) {
      any_measured = any_measured || result.failure.empty();
      if (!result.failure.empty()) outcome->failed_benchmarks[result.name] = result.failure;
    }
    if (failure.empty() && !failure_of_run_file(file).empty()) {
      failure = with_last_line(failure_of_run_file(file), log);
      return any_measured;
    }
  } catch (const baselines::InputError& error) {
    if (failure.empty()) failure = error.what();
    return false;
  }
  // Failed benchmarks explain the code 2, and say more than it.
  const bool may_explain = failure.empty() || outcome->record.exit_code == kExitBadInput;
  outcome->only_benchmarks_failed = !outcome->failed_benchmarks.empty() && may_explain &&
                                    outcome->record.signal == 0 && !outcome->interrupted;
  if (outcome->only_benchmarks_failed) failure = failed_text(outcome->failed_benchmarks.size());
  return any_measured;
}

void judge(const ProcessRequest& request, const ChildEnd& end, const Log& log,
           const fs::path& run_file, ProcessOutcome* outcome) {
  ProcessRecord& record = outcome->record;
  record.exit_code = end.exit_code;
  record.signal = end.signal;
  record.seconds = end.seconds;
  record.failure = failure_of_process(request, end, log);
  outcome->interrupted = end.interrupted_by != 0;
  // Google Benchmark leaves an empty one where it measures nothing.
  const bool wrote_run_file = fs::exists(run_file) && !fs::is_empty(run_file);
  const bool any_measured = wrote_run_file && judge_run_file(run_file, log, outcome);
  if (!wrote_run_file && record.failure.empty()) {
    record.failure = with_last_line("wrote no run file", log);
  }
  const bool refuses = end.exit_code == kExitBadInput || end.exit_code == kExitNotExecutable ||
                       end.exit_code == kExitNotFound ||
                       record.failure.find(kGoogleBenchmarkRefusal) != std::string::npos;
  outcome->died = !record.failure.empty() && !outcome->interrupted &&
                  !(outcome->only_benchmarks_failed && any_measured);
  outcome->hopeless =
      !wrote_run_file && end.signal == 0 && !end.timed_out && !outcome->interrupted && refuses;
}

fs::path run_file_of(const ProcessRequest& request) {
  return request.folder / fmt::format("{}.json", request.number);
}

// The number by its old name, which programs of any age know.
std::vector<std::string> measuring_flags(const ProcessRequest& request) {
  const fs::path out = run_file_of(request);
  if (request.google_benchmark) return google_benchmark_flags(request.flags, out);
  return with_users(
      {suite_flag(request), "--out=" + out.string(), fmt::format("--invocation={}", request.number),
       seed_flag(request), "--progress"},
      request);
}

// Calls on_event for each event in what the program prints, and keeps the rest in the log.
std::function<void(OutputStream, std::string_view)> followed_lines(
    const ProcessRequest& request, Log& log,
    const std::function<void(const ProgressEvent&)>& on_event) {
  if (!request.google_benchmark) {
    return [&](OutputStream stream, std::string_view line) {
      const auto event = stream == OutputStream::kOut ? parse_progress_event(line) : std::nullopt;
      event ? on_event(*event) : log.add(stream, line);
    };
  }
  return [&, console = GoogleBenchmarkConsole(*request.google_benchmark, request.flags)](
             OutputStream stream, std::string_view line) mutable {
    is_google_benchmark_preamble(line) ? log.write(line) : log.add(stream, line);
    const auto event = stream == OutputStream::kOut ? console.event_of(line) : std::nullopt;
    if (event) on_event(*event);
  };
}

fs::path identities_file_of(const ProcessRequest& request) {
  return request.folder / baselines::kIdentitiesFile;
}

std::vector<std::string> identifying_flags(const ProcessRequest& request) {
  return with_users({suite_flag(request), kIdentifyFlag + identities_file_of(request).string(),
                     seed_flag(request)},
                    request);
}

IdentificationOutcome identify(const ProcessRequest& request, const std::function<void()>& on_idle,
                               StartedChild* started) {
  const fs::path file = identities_file_of(request);
  fs::remove(file);
  Log log(request.folder / "identities.log");
  ChildProcess process = child_process(request, identifying_flags(request));
  process.on_line = [&](OutputStream stream, std::string_view line) { log.add(stream, line); };
  process.on_idle = on_idle;
  IdentificationOutcome outcome;
  try {
    const ChildEnd end = started != nullptr ? started->follow(process) : run_child(process);
    outcome.interrupted = end.interrupted_by != 0;
    outcome.failure = failure_of_process(request, end, log);
    // Where single benchmarks failed, the code is 2 and the others are identified.
    if (fs::exists(file)) outcome.identities = baselines::read_identities(file);
  } catch (const std::system_error& error) {
    outcome.failure = not_started_text(error);
  } catch (const baselines::InputError& error) {
    outcome.failure = error.what();
  }
  if (!outcome.identities && outcome.failure.empty()) {
    outcome.failure = with_last_line("wrote no identities.json", log);
  }
  outcome.knows_how = outcome.failure.find(kIdentifyFlag) == std::string::npos;
  log.close();
  return outcome;
}

}  // namespace

StartedChild start_process(const ProcessRequest& request) {
  return StartedChild(child_process(request, measuring_flags(request)));
}

ProcessRecord record_of(const ProcessRequest& request) {
  return {.file = run_file_of(request).filename(), .seed = request.seed};
}

ProcessOutcome run_process(const ProcessRequest& request,
                           const std::function<void(const ProgressEvent&)>& on_event,
                           const std::function<void()>& on_idle, StartedChild* started) {
  const fs::path run_file = run_file_of(request);
  Log log(request.folder / fmt::format("{}.log", request.number));
  ChildProcess process = child_process(request, measuring_flags(request));
  process.on_line = followed_lines(request, log, on_event);
  process.on_idle = on_idle;
  ProcessOutcome outcome;
  outcome.record = record_of(request);
  try {
    const ChildEnd end = started != nullptr ? started->follow(process) : run_child(process);
    judge(request, end, log, run_file, &outcome);
    // Else what a killed one was writing lies there until somebody writes into the folder again.
    if (outcome.record.signal != 0) baselines::remove_leftovers(request.folder);
  } catch (const std::system_error& error) {
    outcome.record.exit_code = kExitNotFound;
    outcome.record.failure = not_started_text(error);
    outcome.hopeless = outcome.died = true;
    log.add(OutputStream::kErr, outcome.record.failure);
  }
  log.close();
  return outcome;
}

bool is_whole(const ProcessRecord& process, const fs::path& folder) {
  const fs::path file = folder / process.file;
  if (!fs::exists(file)) return false;
  try {
    return process.failure.empty() || baselines::read_run_file(file).finished;
  } catch (const baselines::InputError&) {
    return false;
  }
}

std::optional<ProcessRecord> ended_unrecorded(const ProcessRecord& measuring,
                                              const fs::path& folder) {
  const fs::path path = folder / measuring.file;
  if (!fs::exists(path)) return std::nullopt;
  ProcessRecord process = measuring;
  try {
    const baselines::RunFile file = baselines::read_run_file(path);
    if (!failure_of_run_file(file).empty()) return std::nullopt;
    const auto failed = std::ranges::count_if(
        file.benchmarks, [](const auto& result) { return !result.failure.empty(); });
    if (failed > 0) {
      process.exit_code = kExitBadInput;
      process.failure = failed_text(static_cast<std::size_t>(failed));
    }
  } catch (const baselines::InputError&) {
    return std::nullopt;
  }
  // run.json was written when it started.
  const auto took = fs::last_write_time(path) - fs::last_write_time(folder / "run.json");
  process.seconds = std::max(0.0, std::chrono::duration<double>(took).count());
  return process;
}

StartedChild start_identification(const ProcessRequest& request) {
  return StartedChild(child_process(request, identifying_flags(request)));
}

IdentificationOutcome run_identification(const ProcessRequest& request,
                                         const std::function<void()>& on_idle,
                                         StartedChild* started) {
  const IdentificationOutcome outcome = identify(request, on_idle, started);
  const bool is_answer = outcome.identities || outcome.interrupted;
  return is_answer || started == nullptr ? outcome : identify(request, on_idle, nullptr);
}

std::string identification_question(const ProcessRequest& request) {
  if (!fs::is_regular_file(request.program)) return "";
  std::string question = baselines::read_file(request.program) + '\n' + suite_text(request);
  for (const std::string& flag : request.flags) question += '\n' + flag;
  return fmt::format("{:016x}", std::hash<std::string>{}(question));
}

}  // namespace fusegate::ci
