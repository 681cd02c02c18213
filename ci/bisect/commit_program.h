// The benchmark program of a commit: built once, and kept by commit and toolchain in
// .fusegate/programs of the checkout.
#pragma once

#include <filesystem>
#include <string>

#include "ci/console/console.h"
#include "ci/run/replayed_program.h"

namespace fusegate::ci {

struct BuildRequest {
  std::filesystem::path checkout{};
  // A shell command, run at the root of a git work tree of the commit. Empty: nothing to build.
  std::string build{};
  // What the build leaves, relative to the work tree; or a command, which runs there, such as
  // "fusegate_bench kernels.py". Empty: ci/pipelines/build_commit.sh of the checkout builds.
  std::string program{};
};

// Throws InputError where the request says neither how to build nor what to run.
void check_build(const BuildRequest& request);

// Of a commit that does not build, failure is the build's last line of error, and the log's path.
// Each commit has a work tree of its own: its program may use what lies beside it. Progress goes to
// console.err. Throws InputError where no work tree can be made.
BuiltProgram program_of(const BuildRequest& request, const std::string& commit, Console& console);

}  // namespace fusegate::ci
