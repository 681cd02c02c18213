#include "ci/peers_program.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "ci/layout.h"

namespace fusegate {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

PeersProgram resolved(PeersProgram program) {
  if (program.python.empty()) program.python = variable("FUSEGATE_PYTHON");
  if (program.python.empty()) program.python = std::string("python3");
  if (program.folder.empty()) program.folder = peers_folder();
  return program;
}

std::vector<std::string> peers_command(const PeersProgram& program, const std::string& suite,
                                       int invocation, std::uint64_t seed,
                                       const std::filesystem::path& run_file) {
  const std::string inherited = variable("PYTHONPATH");
  const std::string path = program.folder.string() + (inherited.empty() ? "" : ":" + inherited);
  return {"env",
          "PYTHONPATH=" + path,
          program.python,
          "-m",
          "peers",
          "--suite",
          suite,
          "--invocation",
          fmt::format("{}", invocation),
          "--seed",
          fmt::format("{}", seed),
          "--out",
          run_file.string()};
}

}  // namespace fusegate
