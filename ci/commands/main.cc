#include <sys/ioctl.h>
#include <unistd.h>

#include <exception>
#include <iostream>

#include "ci/commands/command_line.h"

namespace {

int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

int main(int argc, char** argv) {
  fusegate::ci::Console console{std::cout, std::cerr, isatty(STDERR_FILENO) == 1,
                                terminal_columns()};
  try {
    const fusegate::baselines::ExitCode code =
        fusegate::ci::parse_command_line(argc, argv)(console);
    // A full disk behind a redirection is an error too, and shows only now.
    if (!std::cout.flush()) throw std::runtime_error("standard output: cannot be written");
    return static_cast<int>(code);
  } catch (const std::exception& error) {
    std::cerr << "fusegate: " << error.what() << '\n';
    return static_cast<int>(fusegate::baselines::ExitCode::kCouldNotJudge);
  }
}
