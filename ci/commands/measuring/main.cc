#include <unistd.h>

#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string_view>

#include "ci/commands/measuring/all_commands.h"
#include "ci/console/terminal.h"

namespace {

using fusegate::baselines::ExitCode;

ExitCode fail(fusegate::ci::Console& console, std::string_view problem) {
  console.err.print("fusegate: {}\n", problem);
  return ExitCode::kCouldNotJudge;
}

ExitCode run(int argc, char** argv, fusegate::ci::Console& console) {
  try {
    const ExitCode code = fusegate::ci::parse_command_line(argc, argv)(console);
    // A full disk behind a redirection is an error too, and shows only now.
    return console.out.finish() ? code : fail(console, "standard output: cannot be written");
  } catch (const std::bad_alloc&) {
    return fail(console, "there is not enough memory");
  } catch (const std::filesystem::filesystem_error& error) {
    // Its own text starts with "filesystem error" and ends in the path.
    return fail(console, error.path1().string() + ": " + error.code().message());
  } catch (const std::exception& error) {
    return fail(console, error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace fusegate::ci;
  Console console{{std::cout, text_style(STDOUT_FILENO)},
                  std::cerr,
                  is_terminal(STDERR_FILENO),
                  terminal_columns(STDERR_FILENO)};
  return static_cast<int>(run(argc, argv, console));
}
