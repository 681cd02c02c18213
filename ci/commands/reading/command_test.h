// For tests of commands: a request, and what the command prints and says of it. Those that measure
// two programs side by side take scripts for them (fake_bench.h).
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <sstream>
#include <string>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"
#include "ci/commands/reading/commands.h"
#include "tests/fakes/fake_bench.h"

namespace fusegate::ci {

namespace fs = std::filesystem;
using baselines::ExitCode;
using baselines::read_file;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using tests::FakeBench;
using tests::FakeRunFile;
using tests::kReadFlags;
using tests::run_file_text;
using tests::write_bench;
using tests::write_run;
using tests::write_script;
using enum baselines::ExitCode;

// The benchmarks of a FakeRunFile.
inline constexpr const char* kFused = "geglu/fused/bf16/batch:64/seq:128/dim:768/hidden:3072";
inline constexpr const char* kLinear = "linear/addmm/bf16/batch:64/seq:128/dim:768/hidden:3072";

inline nlohmann::json json_in(const fs::path& file) {
  return nlohmann::json::parse(read_file(file));
}

// Of which kFused takes that many times as long.
inline FakeRunFile slowed(double factor = 1.2) {
  FakeRunFile file;
  file.times[kFused] *= factor;
  return file;
}
// Thirty benchmarks, of which the program says what they launch.
template <typename Request, ExitCode (*kCommand)(const Request&, Console&)>
class CommandTest : public ::testing::Test {
 protected:
  void TearDown() override {
    if (HasFailure()) std::cerr << out_.str() << err_.str();
  }

  // out_ and err_ have what it printed.
  ExitCode run() {
    out_.str("");
    err_.str("");
    Console console{out_, err_};
    return kCommand(request_, console);
  }
  // What the command throws as bad input.
  std::string problem() {
    try {
      run();
    } catch (const baselines::InputError& error) {
      return error.what();
    }
    return "none";
  }
  void accept(const fs::path& run, const fs::path& store) {
    Console console{out_, err_};
    accept_command(
        {.runs = {run}, .reason = "a reason", .who = "somebody", .store = store, .force = true},
        console);
  }

  baselines::ScratchFolder folder_;
  Request request_;
  std::ostringstream out_;
  std::ostringstream err_;
};

}  // namespace fusegate::ci
