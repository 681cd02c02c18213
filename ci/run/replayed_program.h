// What a replay must know before it measures: the environment that a benchmark program reports, the
// suite that two programs both take, and the program of a commit.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "baselines/record/environment.h"
#include "ci/console/console.h"

namespace fusegate::ci {

struct ReportedEnvironment {
  baselines::Environment environment{};
  // Why there is none: the program does not run, or does not take the suite. Else empty.
  std::string failure{};
};

// suite: a name or a file. Programs of any age read it before they report their environment.
ReportedEnvironment environment_of(const std::string& program, const std::string& suite,
                                   const std::vector<std::string>& flags);

struct SuitePair {
  std::string base;  // what each is asked for
  std::string head;
  std::string remark{};  // for people; empty where both measure the head's
};

// suite: a name or a file, of the head. Each program measures its own suite of that name, and a
// benchmark that one lacks is new or missing. Where the protocols differ, or the base has no such
// suite, both measure the head's if the base takes it (an older program may not), else the base's.
SuitePair suites_of(const std::string& suite, const std::string& base, const std::string& head,
                    const std::vector<std::string>& flags);

struct BuiltProgram {
  std::string program{};
  std::string failure{};  // why there is none; names the log where something was built
  bool interrupted = false;
};

// Built by ci/pipelines/build_commit.sh of the checkout, which keeps what it built. Its output goes
// to console.err.
BuiltProgram program_of_commit(const std::filesystem::path& checkout, const std::string& commit,
                               Console& console);

}  // namespace fusegate::ci
