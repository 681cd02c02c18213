#include "ci/bisect/commit_program.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <system_error>
#include <vector>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/write_lock.h"
#include "ci/processes/child_process.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

fs::path build_script(const BuildRequest& request) {
  return request.checkout / "ci" / "pipelines" / "build_commit.sh";
}

std::string value_or(const char* variable, const char* otherwise) {
  const char* const value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

// What decides about a program besides its commit, as build_commit.sh has it.
std::string toolchain_hash(const BuildRequest& request) {
  std::string toolchain = request.build + '\n' + request.program;
  if (!request.build.empty()) {
    toolchain += '\n' + output_of({value_or("CXX", "c++"), "--version"});
    toolchain += '\n' + output_of({value_or("CUDACXX", "nvcc"), "--version"});
  }
  return fmt::format("{:016x}", std::hash<std::string>{}(toolchain)).substr(0, 8);
}

struct WorkTree {
  fs::path folder;
  fs::path log() const { return folder.string() + ".log"; }
  fs::path built() const { return folder.string() + ".built"; }  // there once it is
};

void check_out(const fs::path& checkout, const std::string& commit, const WorkTree& tree) {
  if (fs::exists(tree.folder / ".git")) return;
  fs::remove_all(tree.folder);
  collect_output({.arguments = {"git", "-C", checkout.string(), "worktree", "prune"}});
  const ChildOutput added =
      collect_output({.arguments = {"git", "-C", checkout.string(), "worktree", "add", "--quiet",
                                    "--force", "--detach", tree.folder.string(), commit}});
  if (added.failure.empty()) return;
  throw baselines::InputError(tree.folder.string(), "", "git worktree add: " + added.failure);
}

// In single quotes, as command_words() reads it.
std::string quoted(const std::string& word) {
  return word.find_first_of(" \t\"\\") == std::string::npos ? word : "'" + word + "'";
}

// The command with the tree's files in place of names that are relative to it, run there. A name
// that only the checkout has must not be taken from there: it may be another commit's.
BuiltProgram program_in(const BuildRequest& request, const WorkTree& tree) {
  const std::vector<std::string> words = command_words(request.program);
  std::string command;
  for (const std::string& word : words) {
    const bool is_command = &word == &words.front() && word.find('/') == std::string::npos;
    const bool is_here = fs::exists(tree.folder / word);
    const bool is_left_by_build = words.size() == 1;
    if (!is_here && (is_left_by_build || (!is_command && fs::exists(request.checkout / word)))) {
      return {.failure =
                  fmt::format("{} is missing in its work tree {}{}", word, tree.folder.string(),
                              request.build.empty() ? "" : "; see " + tree.log().string())};
    }
    if (is_left_by_build) return {.program = (tree.folder / word).string()};
    command += ' ' + quoted(is_here && !is_command ? (tree.folder / word).string() : word);
  }
  return {.program = fmt::format("env -C {}{}", quoted(tree.folder.string()), command)};
}

// Why it failed; "" where it did not.
std::string run_build(const BuildRequest& request, const WorkTree& tree,
                      const Interrupts& interrupts, bool* interrupted) {
  std::ofstream log(tree.log(), std::ios::binary);
  std::string last_words, last_error;
  ChildProcess process{.arguments = {"sh", "-c", "cd \"$1\" && eval \"$2\"", "sh",
                                     tree.folder.string(), request.build},
                       .interrupts = &interrupts};
  process.on_line = [&](OutputStream stream, std::string_view line) {
    log << line << '\n';
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    (stream == OutputStream::kErr ? last_error : last_words) = line;
  };
  const ChildEnd end = run_child(process);
  *interrupted = end.interrupted_by != 0;
  if (end.succeeded()) return "";
  const std::string& line = last_error.empty() ? last_words : last_error;
  return fmt::format("does not build: {}; see {}", line.empty() ? "no word of why" : line,
                     tree.log().string());
}

BuiltProgram build_in_tree(const BuildRequest& request, const std::string& commit,
                           Console& console) {
  const fs::path programs = request.checkout / ".fusegate" / "programs";
  const WorkTree tree{programs / fmt::format("{}-{}", commit, toolchain_hash(request))};
  const auto lock = baselines::WriteLock::of_file(tree.folder);
  // Else "git add --all" of the checkout would add the work trees.
  const fs::path ignored = request.checkout / ".fusegate" / ".gitignore";
  if (!fs::exists(ignored)) baselines::write_atomically(ignored, "*\n");
  check_out(request.checkout, commit, tree);
  if (request.build.empty()) return program_in(request, tree);
  if (fs::exists(tree.built())) {
    BuiltProgram kept = program_in(request, tree);
    if (kept.failure.empty()) return kept;
  }
  fs::remove(tree.built());
  console.err.print("building {} (log: {})\n", commit.substr(0, 12), tree.log().string());
  console.err.flush();
  const Interrupts interrupts;
  BuiltProgram built;
  built.failure = run_build(request, tree, interrupts, &built.interrupted);
  if (!built.failure.empty() || built.interrupted) return built;
  built = program_in(request, tree);
  if (built.failure.empty()) baselines::write_atomically(tree.built(), "");
  return built;
}

}  // namespace

void check_build(const BuildRequest& request) {
  if (!request.program.empty() || fs::exists(build_script(request))) return;
  throw baselines::InputError(
      "--program", "",
      fmt::format("{} has no ci/pipelines/build_commit.sh: name the benchmark program of a commit, "
                  "as a path in its work tree with --build COMMAND that makes it, or as a command "
                  "that runs there, such as \"fusegate_bench kernels.py\"",
                  request.checkout.string()));
}

BuiltProgram program_of(const BuildRequest& request, const std::string& commit, Console& console) {
  if (!request.program.empty()) return build_in_tree(request, commit, console);
  return program_of_commit(request.checkout, commit, console);
}

}  // namespace fusegate::ci
