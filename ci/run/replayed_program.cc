#include "ci/run/replayed_program.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/record/run_context.h"
#include "ci/processes/child_process.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

// Loading a GPU's driver and libraries takes seconds, not minutes.
constexpr double kAnswerTimeoutS = 120;

bool is_file_name(const std::string& suite) { return fs::path(suite).extension() == ".json"; }

// The suites of a command that measures a file of Python kernels lie beside that file.
fs::path suite_beside(const std::string& program, const std::string& suite) {
  fs::path owner = program;
  for (const std::string& word : command_words(program)) {
    if (fs::path(word).extension() == ".py") owner = word;
  }
  return owner.parent_path() / "suites" / (suite + ".json");
}

nlohmann::json protocol_of(const fs::path& suite) {
  const nlohmann::json root = baselines::parse_json(baselines::read_file(suite), suite.string());
  return root.is_object() ? root.value("protocol", nlohmann::json()) : nlohmann::json();
}

}  // namespace

ReportedEnvironment environment_of(const std::string& program, const std::string& suite,
                                   const std::vector<std::string>& flags) {
  ChildProcess process{.arguments = {program, "--suite=" + suite, "--environment"},
                       .timeout_s = kAnswerTimeoutS};
  process.arguments.insert(process.arguments.end(), flags.begin(), flags.end());
  const ChildOutput output = collect_output(std::move(process));
  if (!output.failure.empty()) return {.failure = output.failure};
  try {
    const nlohmann::json root = baselines::parse_json(output.out, program + " --environment");
    const baselines::JsonField field(root, program + " --environment", "");
    return {.environment = baselines::read_environment(field.at("environment"))};
  } catch (const baselines::InputError& error) {
    return {.failure = error.what()};
  }
}

SuitePair suites_of(const std::string& suite, const std::string& base, const std::string& head,
                    const std::vector<std::string>& flags) {
  const fs::path of_base = suite_beside(base, fs::path(suite).stem().string());
  const fs::path of_head = is_file_name(suite) ? fs::path(suite) : suite_beside(head, suite);
  if (!fs::exists(of_head)) return {suite, suite};
  const std::string shared = of_head.string();
  const bool has_own = fs::exists(of_base);
  if (has_own && baselines::read_file(of_base) == baselines::read_file(of_head)) {
    return {shared, shared};
  }
  if (has_own && protocol_of(of_base) == protocol_of(of_head)) {
    return {of_base.string(), shared,
            "The two programs have different suites: each measures its own, and a benchmark that "
            "only one has is new or missing."};
  }
  const std::string refusal = environment_of(base, shared, flags).failure;
  if (refusal.empty()) {
    return {
        shared, shared,
        has_own
            ? "The protocols of the two suites differ: both programs measure the candidate's suite."
            : ""};
  }
  if (!has_own && is_file_name(suite)) return {suite, suite};
  const std::string why =
      fmt::format("The baseline's program cannot read the candidate's suite ({})", refusal);
  if (!has_own) return {suite, shared, why + ": each measures its own."};
  return {of_base.string(), of_base.string(), why + ": both measure the baseline's."};
}

BuiltProgram program_of_commit(const fs::path& checkout, const std::string& commit,
                               Console& console) {
  BuiltProgram built;
  const fs::path script = checkout / "ci" / "pipelines" / "build_commit.sh";
  const Interrupts interrupts;
  ChildProcess process{.arguments = {script.string(), commit}, .interrupts = &interrupts};
  std::string last_words = script.string() + " failed";
  process.on_line = [&](OutputStream stream, std::string_view line) {
    if (stream == OutputStream::kOut) {
      built.program = line;
    } else {
      console.err.print("{}\n", line);
      console.err.flush();  // a build takes minutes
      last_words = line;
    }
  };
  try {
    const ChildEnd end = run_child(process);
    built.interrupted = end.interrupted_by != 0;
    if (end.succeeded() && !built.program.empty()) return built;
    built.failure = last_words;
  } catch (const std::system_error& error) {
    built.failure =
        fmt::format("{} cannot be started: {}", script.string(), error.code().message());
  }
  built.program.clear();
  return built;
}

}  // namespace fusegate::ci
