// Runs a fuzz target on given inputs, and on random changes of them, where the compiler has no
// libFuzzer. Its flags are some of libFuzzer's and mean the same:
//
//   TARGET [-runs=N] [-max_total_time=S] [-seed=N] [-max_len=N] [-timeout=S] [-artifact_prefix=P]
//          [FILE or FOLDER ...]
//
// Without -runs and -max_total_time the given inputs alone are run, once each. What ends the
// program (a sanitizer, an exception, too much time) is in the file "P" + "crash" afterwards.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>

#include "baselines/io/file_io.h"
#include "ci/fuzzing/mutation.h"
#include "ci/fuzzing/target.h"

// A sanitizer that ends the program raises SIGABRT, as an exception that nobody catches does.
extern "C" const char* __asan_default_options() { return "abort_on_error=1"; }
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }

namespace {

namespace fs = std::filesystem;
using fusegate::baselines::InputError;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// What a signal's handler may touch: it allocates nothing.
std::string current_input;
std::string artifact_path;

void say(std::string_view text) {
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) _exit(1);
}

void keep_input(int signal) {
  const int file = open(artifact_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const bool kept = file >= 0 && write(file, current_input.data(), current_input.size()) ==
                                     static_cast<ssize_t>(current_input.size());
  say(signal == SIGALRM ? "The input takes too long. " : "");
  say(kept ? "It is in " : "It could not be written to ");
  say(artifact_path);
  say("\n");
  _exit(1);
}

using Flags = std::map<std::string, std::string>;

std::uint64_t number(const Flags& flags, const std::string& name, std::uint64_t otherwise) {
  const auto found = flags.find(name);
  if (found == flags.end()) return otherwise;
  std::uint64_t value = 0;
  const char* const end = found->second.data() + found->second.size();
  const auto [next, error] = std::from_chars(found->second.data(), end, value);
  if (error == std::errc() && next == end) return value;
  throw InputError("-" + name, "", "must be a whole number");
}

// Takes the flags, and leaves the inputs' paths.
Flags take_flags(std::vector<std::string>& arguments) {
  const std::vector<std::string> known{"runs",    "max_total_time", "seed",
                                       "max_len", "timeout",        "artifact_prefix"};
  Flags flags;
  std::erase_if(arguments, [&](const std::string& argument) {
    if (!argument.starts_with('-')) return false;
    const std::size_t equals = std::min(argument.find('='), argument.size() - 1);
    const std::string name = argument.substr(1, equals - 1);
    if (std::ranges::find(known, name) == known.end()) {
      throw InputError(argument, "", "is no flag of this program");
    }
    flags[name] = argument.substr(equals + 1);
    return true;
  });
  return flags;
}

// In the same order on every machine.
std::vector<std::string> read_inputs(const std::vector<std::string>& arguments) {
  std::vector<fs::path> files;
  for (const fs::path path : arguments) {
    const bool is_folder = fs::is_directory(path);
    if (!is_folder) files.push_back(path);
    const std::size_t before = files.size();
    for (const auto& entry : is_folder ? fs::directory_iterator(path) : fs::directory_iterator()) {
      files.push_back(entry.path());
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  std::vector<std::string> inputs;
  for (const fs::path& file : files) inputs.push_back(fusegate::baselines::read_file(file));
  return inputs;
}

// An exception that leaves it ends the program here, and not as one of our own flags would.
void run(std::string input, unsigned timeout_s) noexcept {
  current_input = std::move(input);
  alarm(timeout_s);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current_input.data()),
                         current_input.size());
  alarm(0);
}

void run_all(std::vector<std::string> arguments) {
  const Flags flags = take_flags(arguments);
  const bool goes_on = flags.contains("runs") || flags.contains("max_total_time");
  const std::uint64_t runs = number(flags, "runs", goes_on ? kNoLimit : 0);
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(number(flags, "max_total_time", 1'000'000'000));
  const auto timeout_s = static_cast<unsigned>(number(flags, "timeout", 30));
  const auto prefix = flags.find("artifact_prefix");
  artifact_path = (prefix == flags.end() ? "" : prefix->second) + "crash";
  std::vector<std::string> inputs = read_inputs(arguments);
  std::signal(SIGABRT, keep_input);
  std::signal(SIGALRM, keep_input);
  for (const std::string& input : inputs) run(input, timeout_s);
  std::uint64_t done = inputs.size();
  fusegate::ci::Mutator mutator(number(flags, "seed", 1), std::move(inputs),
                                number(flags, "max_len", 1 << 20));
  for (; done < runs && std::chrono::steady_clock::now() < end; ++done) {
    run(mutator.next(), timeout_s);
  }
  fmt::print("Done {} runs\n", done);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run_all({argv + 1, argv + argc});
    return 0;
  } catch (const InputError& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
