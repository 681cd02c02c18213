// The built program as a test calls it, with shell scripts in place of the benchmark program: what
// a pipeline relies on are its exit codes, its files and its one line of error.
#pragma once

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "ci/commands/measuring/measuring_test.h"
#include "ci/console/layout.h"
#include "ci/processes/child_process.h"

namespace fusegate::ci {

struct Ended {
  int code = -1;
  std::string out;
  std::string err;
};

// A piece of shell that has a test's program interrupted: from behind, once the sleep is there, as
// a shell that is just starting it can lose a signal.
inline constexpr const char* kSaysReadyAndSleeps = R"sh(
  (sleep 0.3; echo '@fusegate {"event":"benchmark","index":1,"total":2,"benchmark":"ready",
      "failure":"x"}' | tr -d '\n'; echo) &
  exec sleep 60)sh";

class ProgramTest : public ::testing::Test {
 protected:
  Ended fusegate(std::vector<std::string> arguments, const Interrupts* interrupts = nullptr) {
    arguments.insert(arguments.begin(), (own_folder() / "fusegate").string());
    Ended ended;
    ChildProcess request;
    request.arguments = std::move(arguments);
    request.timeout_s = 120;
    request.grace_s = 60;
    request.interrupts = interrupts;
    request.on_line = [&](OutputStream stream, std::string_view line) {
      (stream == OutputStream::kOut ? ended.out : ended.err).append(line).push_back('\n');
      if (interrupts != nullptr && line.find("ready") != std::string_view::npos) raise(SIGINT);
    };
    const ChildEnd end = run_child(request);
    ended.code = end.signal != 0 ? 128 + end.signal : end.exit_code;
    return ended;
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  Ended report(const std::string& candidate, const std::vector<std::string>& more = {}) {
    std::vector<std::string> line{"report", "--candidate", path(candidate), "--store",
                                  path("store")};
    line.insert(line.end(), more.begin(), more.end());
    return fusegate(line);
  }
  // A program whose run files say that; slower for later processes by a hair.
  std::string program(const std::string& name, const FakeRunFile& file,
                      const std::string& more = "") {
    const std::string prepared = write_run(folder_, name + "-prepared", file, 5);
    return write_script(
        folder_, name,
        fmt::format("{}leave \"{}/$(( (process - 1) % 5 + 1 )).json\" \"$out\"\n{}\n", kReadFlags,
                    prepared, more));
  }
  Ended gate(const std::string& candidate) {
    return fusegate({"gate", "--baseline", path("base"), "--candidate", candidate, "--json",
                     path("gate.json")});
  }
  // In gate.json: kFused alone.
  void expect_one_regression() {
    const nlohmann::json gate = json_in(path("gate.json"));
    EXPECT_EQ(gate["exit_code"], 1);
    for (const auto& verdict : gate["verdicts"]) {
      EXPECT_EQ(verdict["verdict"] == "regression", verdict["benchmark"] == kFused) << verdict;
    }
  }
  // The error is one line that says what and where, and the code is 2.
  void expect_error(const Ended& ended, const std::vector<std::string>& parts) {
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, StartsWith("fusegate: "));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    for (const std::string& part : parts) EXPECT_THAT(ended.err, HasSubstr(part));
  }

  baselines::ScratchFolder folder_;
};

}  // namespace fusegate::ci
