// What a replay must know before it measures: what a benchmark program says of the machine, which
// suite two programs can both be asked for, and the program of a commit.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "baselines/record/environment.h"
#include "ci/console/console.h"

namespace fusegate::ci {

struct ProgramAnswer {
  baselines::Environment environment{};
  // Why there is none: the program does not run, or does not take the suite. Else empty.
  std::string failure{};
};

// suite: a name or a file. Programs of any age read it before they say where they are.
ProgramAnswer ask_program(const std::string& program, const std::string& suite,
                          const std::vector<std::string>& flags);

struct SharedSuite {
  std::string suite;     // what both are asked for
  std::string remark{};  // for people; empty where both measure the head's
};

// The file of the head's suite, where the base can read that. Else each measures its own suite of
// that name, and what one lacks is new or missing; or, where their protocols differ, both measure
// the base's. A suite that is named by its file stays as it is.
SharedSuite suite_for_both(const std::string& suite, const std::string& base,
                           const std::string& head, const std::vector<std::string>& flags);

struct BuiltProgram {
  std::string program{};
  std::string failure{};  // why there is none; names the log where something was built
  bool interrupted = false;
};

// By ci/pipelines/build_commit.sh of the checkout, which keeps what it built. What it says goes to
// console.err.
BuiltProgram program_of_commit(const std::filesystem::path& checkout, const std::string& commit,
                               Console& console);

}  // namespace fusegate::ci
