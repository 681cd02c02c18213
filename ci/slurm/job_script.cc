#include "ci/slurm/job_script.h"

#include <fmt/format.h>

#include <string_view>

#include "baselines/io/error.h"
#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTask = "$SLURM_ARRAY_TASK_ID";

// sbatch reads its lines as a shell would, but expands no variables.
std::string option_line(const std::string& flag, const std::string& option,
                        const std::string& value) {
  if (value.empty()) return "";
  if (value.find_first_of("\n\r\"\\") != std::string::npos) {
    throw baselines::InputError(flag, "", "must not have line ends, quotes or backslashes");
  }
  const bool is_plain = value.find_first_of(" \t'#") == std::string::npos;
  const std::string_view quote = is_plain ? "" : "\"";
  return fmt::format("#SBATCH {0}={1}{2}{1}\n", option, quote, value);
}

// Of sbatch's file names, in which % starts a pattern.
std::string without_patterns(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '%' ? std::string("%%") : std::string(1, c);
  return text;
}

std::string other_line(const std::string& other) {
  if (other.find_first_of("\n\r") != std::string::npos || !other.starts_with('-')) {
    throw baselines::InputError("--sbatch", other, "must be flags of sbatch, on one line");
  }
  if (other.starts_with("--array") || other.starts_with("-a")) {
    throw baselines::InputError("--sbatch", other,
                                "is fusegate's to say: one task for each shard of the plan");
  }
  return fmt::format("#SBATCH {}\n", other);
}

// Single words, those of the user quoted.
std::string command_line(const SlurmSweep& sweep, const fs::path& fusegate) {
  std::string text = fmt::format(
      "{} {} --plan {} --shard \"{}\" --resume \\\n  --out {}/shard-\"{}\"",
      shell_word(fusegate.string()), sweep.command.front(), shell_word(sweep.plan_file().string()),
      kTask, shell_word(sweep.folder.string()), kTask);
  for (std::size_t i = 1; i < sweep.command.size(); ++i) {
    text += ' ' + shell_word(sweep.command[i]);
  }
  return text;
}

}  // namespace

std::string job_script(const SlurmSweep& sweep, const JobOptions& options,
                       const std::filesystem::path& fusegate) {
  std::string text =
      "#!/bin/sh\n"
      "# Written by fusegate slurm submit. A task measures one shard of plan.json.\n"
      "#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n";
  const std::string log = without_patterns(sweep.folder.string()) + "/shard-%a.log";
  text += option_line("--suite", "--job-name",
                      "fusegate-" + fs::path(sweep.plan.suite).stem().string());
  text += option_line("--out", "--output", log);
  text += option_line("the current folder", "--chdir", sweep.from.string());
  text += option_line("--partition", "--partition", options.partition);
  text += option_line("--account", "--account", options.account);
  text += option_line("--time", "--time", options.time);
  for (const std::string& other : options.others) text += other_line(other);
  text += fmt::format(
      "\n{}\n"
      "code=$?\n"
      "# 1: a regression in this shard. What is judged are all shards together.\n"
      "[ $code -ne 1 ] || code=0\n"
      "exit $code\n",
      command_line(sweep, fusegate));
  return text;
}

std::string ranges_text(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0, last = 0; i < numbers.size(); i = last + 1) {
    for (last = i; last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1;) ++last;
    if (!text.empty()) text += ',';
    text +=
        last == i ? std::to_string(numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
  }
  return text;
}

}  // namespace fusegate::ci
