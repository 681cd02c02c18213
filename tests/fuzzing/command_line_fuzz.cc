// The command lines of fusegate and of fusegate_bench, an argument a line. They are parsed, and
// nothing of what they ask for is done.
#include <CLI/CLI.hpp>
#include <sstream>
#include <vector>

#include "bench/plan/options.h"
#include "ci/commands/measuring/all_commands.h"
#include "tests/fuzzing/target.h"

using namespace fusegate;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  // An argument holds no NUL: the system would cut it there.
  std::istringstream stream(text.substr(0, text.find('\0')));
  std::vector<std::string> lines{"program"};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void parse_bench_options(int argc, char** argv) {
  try {
    bench::parse_options(argc, argv);
  } catch (const CLI::Error&) {
  } catch (const baselines::InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> lines = lines_of(tests::text_of(data, size));
  std::vector<char*> argv;
  for (std::string& line : lines) argv.push_back(line.data());
  argv.push_back(nullptr);
  const int argc = static_cast<int>(lines.size());
  parse_bench_options(argc, argv.data());
  tests::promise(ci::parse_command_line(argc, argv.data()) != nullptr, "every line is a command");
  return 0;
}
