#include "bench/measuring/existing_run_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::bench {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class ExistingRunFileTest : public testing::Test {
 protected:
  static json context() {
    return {{"suite", "smoke"},
            {"process", 1},
            {"seed", 7},
            {"protocol", {{"samples", 8}, {"min_effect", 0.003}}},
            {"environment", {{"device", "cpu"}, {"threads", 2}}},
            {"provenance", {{"commit", "0123"}, {"dirty", false}}}};
  }
  std::filesystem::path write(const json& fusegate) {
    const json entries = {{{"name", "a"}}, {{"name", "b"}}, {{"name", "a"}}};
    return folder_.write(
        "1.json", json{{"context", {{"fusegate", fusegate}}}, {"benchmarks", entries}}.dump());
  }
  // "" where nothing is wrong.
  template <typename Check>
  static std::string problem(const Check& check) {
    try {
      check();
    } catch (const baselines::InputError& error) {
      return error.what();
    }
    return "";
  }
  std::string resumed(const json& file) {
    const auto path = write(file);
    return problem([&] { require_same_measurement(path, context()); });
  }
  std::string replaced(const json& file, const std::set<std::string>& benchmarks = {"a", "b"}) {
    const auto path = write(file);
    return problem([&] { require_replaceable(path, context(), benchmarks); });
  }
  static json with(const char* pointer, const json& value) {
    json changed = context();
    changed[json::json_pointer(pointer)] = value;
    return changed;
  }

  baselines::ScratchFolder folder_;
};

TEST_F(ExistingRunFileTest, TheSameMeasurementGoesOnWithAnotherSeedAndSmallestEffect) {
  EXPECT_EQ(resumed(context()), "");
  EXPECT_EQ(resumed(with("/seed", 8)), "");
  json former = context();
  former["invocation"] = 1;
  former.erase("process");
  EXPECT_EQ(resumed(former), "") << "with the key's name before";
  EXPECT_EQ(resumed(with("/protocol/min_effect", 0.01)), "");
  EXPECT_EQ(resumed(with("/protocol/allow", 0.02)), "");
  EXPECT_EQ(resumed(with("/protocol/host_min_ns", 500)), "");
}

TEST_F(ExistingRunFileTest, AnotherMeasurementIsRefusedByTheKeyInWhichItDiffers) {
  EXPECT_THAT(
      resumed(with("/suite", "pr")),
      HasSubstr("1.json: context.fusegate.suite: is pr in the file and smoke now; --resume"));
  EXPECT_THAT(resumed(with("/protocol/samples", 16)),
              HasSubstr("context.fusegate.protocol.samples: is 16 in the file and 8 now"));
  EXPECT_THAT(resumed(with("/environment/threads", 4)), HasSubstr("environment.threads: is 4"));
  EXPECT_THAT(resumed(with("/provenance/commit", "4567")), HasSubstr("provenance.commit: is 4567"));
  EXPECT_THAT(resumed(with("/provenance/device_uuid", "GPU-1")),
              HasSubstr("provenance.device_uuid: is GPU-1 in the file and (absent) now"));
  EXPECT_THAT(resumed(with("/process", 2)), HasSubstr("fusegate.process: is 2 in the file"));
  EXPECT_THAT(resumed(json::object()), HasSubstr("(absent) in the file"));
}

TEST_F(ExistingRunFileTest, MeasuringTheSameAgainReplaces) {
  EXPECT_EQ(replaced(context()), "");
  EXPECT_EQ(replaced(with("/provenance/commit", "4567")), "");
  EXPECT_EQ(replaced(context(), {"a", "b", "c"}), "");
}

TEST_F(ExistingRunFileTest, OtherContentIsNotReplacedUnasked) {
  EXPECT_THAT(
      replaced(with("/suite", "pr")),
      HasSubstr(
          "suite: is pr in the file and smoke now; name another file, or replace it with --force"));
  EXPECT_THAT(replaced(with("/protocol/samples", 16)), HasSubstr("--force"));
  EXPECT_THAT(replaced(context(), {"a"}),
              HasSubstr("1.json: benchmarks[1]: b is not measured now and would be lost"));
  EXPECT_THAT(replaced(json::object()), HasSubstr("(absent) in the file"));
  for (const char* text : {"notes", "{\"fusegate_baseline\": 1}", "[]"}) {
    const auto path = folder_.write("other", text);
    EXPECT_THAT(
        problem([&] { require_replaceable(path, context(), {}); }),
        HasSubstr(
            "other: exists and is not a run file; name another file, or replace it with --force"))
        << text;
  }
}

TEST_F(ExistingRunFileTest, NothingThereIsNothingToLose) {
  EXPECT_EQ(problem([&] { require_replaceable(folder_.path() / "none", context(), {}); }), "");
  EXPECT_EQ(problem([&] { require_replaceable("/dev/null", context(), {}); }), "");
  const auto empty = folder_.write("empty", "");
  EXPECT_EQ(problem([&] { require_replaceable(empty, context(), {}); }), "");
}

}  // namespace
}  // namespace fusegate::bench
