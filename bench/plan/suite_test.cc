#include "bench/plan/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "bench/plan/options.h"

namespace fusegate::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json valid() {
  return {{"name", "mine"},
          {"protocol", {{"samples", 20}, {"order", "contiguous"}, {"l2", "flushed"}}},
          {"gate", {{"cpu", {{"min_effect", 0.05}, {"allow", 0.1}}}, {"cuda", {{"allow", 0.02}}}}},
          {"controls", {"^geglu/", "gemm"}},
          {"compared_with", {{"geglu", "fused"}}},
          {"benchmarks", {{"^geglu/", {{"owner", "@org/team"}, {"min_effect", 0.02}}}}},
          {"sweeps",
           {{{"operations", {"geglu"}},
             {"implementations", {"fused"}},
             {"batch", {1, 8}},
             {"seq", {128}},
             {"dim", {768}},
             {"hidden", {3072}},
             {"dtype", {"fp32"}}}}}};
}

// The message of the InputError; "" where nothing is thrown.
template <typename F>
std::string message_of(F&& f) {
  try {
    f();
    return "";
  } catch (const baselines::InputError& error) {
    return error.what();
  }
}

std::string error_of(const json& suite) {
  return message_of([&] { parse_suite(suite, "mine.json"); });
}

TEST(Suite, ReadsEveryField) {
  const Suite suite = parse_suite(valid(), "mine.json");
  EXPECT_EQ(suite.name, "mine");
  EXPECT_EQ(suite.protocol.samples, 20);
  EXPECT_EQ(suite.protocol.order, Order::kContiguous);
  EXPECT_EQ(suite.protocol.l2, L2State::kFlushed);
  EXPECT_EQ(suite.protocol.idle, Protocol{}.idle) << "what is not named keeps its default";
  EXPECT_EQ(suite.gate.at("cpu").min_effect, 0.05);
  EXPECT_EQ(suite.gate.at("cpu").allow, 0.1);
  EXPECT_EQ(suite.gate.at("cuda").allow, 0.02);
  EXPECT_EQ(suite.gate.at("cuda").min_effect, std::nullopt);
  EXPECT_THAT(suite.controls, testing::ElementsAre("^geglu/", "gemm"));
  EXPECT_EQ(suite.compared_with.at("geglu"), "fused");
  EXPECT_EQ(suite.settings.at("^geglu/").owner, "@org/team");
  EXPECT_EQ(suite.settings.at("^geglu/").min_effect, 0.02);
  ASSERT_EQ(suite.sweeps.size(), 1u);
  EXPECT_THAT(suite.sweeps[0].axes.at("batch"), testing::ElementsAre(1, 8));
  EXPECT_THAT(suite.sweeps[0].operations, testing::ElementsAre("geglu"));
  EXPECT_THAT(suite.sweeps[0].dtype, testing::ElementsAre(kernels::Dtype::kFp32));
}

TEST(Suite, WhatTheGateGoesByIsByTheKindOfDevice) {
  json given = valid();
  given["gate"]["cuda"] = {{"host", {{"min_effect", 0.2}, {"min_us", 1.5}}}};
  const Suite suite = parse_suite(given, "mine.json");
  const json cpu = suite.protocol_on("cpu").to_json();
  EXPECT_EQ(cpu.at("min_effect"), 0.05);
  EXPECT_EQ(cpu.at("allow"), 0.1);
  EXPECT_FALSE(cpu.contains("host_min_effect"));
  EXPECT_FALSE(cpu.contains("host_min_ns"));
  const json cuda = suite.protocol_on("cuda").to_json();
  EXPECT_FALSE(cuda.contains("min_effect"));
  EXPECT_FALSE(cuda.contains("allow"));
  EXPECT_EQ(cuda.at("host_min_effect"), 0.2);
  EXPECT_EQ(cuda.at("host_min_ns"), 1500);
  EXPECT_EQ(suite.protocol_on("tpu").to_json(), suite.protocol.to_json());
}

TEST(Suite, TakesWhatIsNotNamedFromTheRegime) {
  json suite = valid();
  suite["protocol"] = {{"regime", "sustained"}};
  const Protocol sustained = parse_suite(suite, "mine.json").protocol;
  EXPECT_EQ(sustained.regime, Regime::kSustained);
  EXPECT_EQ(sustained.warm, std::chrono::milliseconds(100));
  EXPECT_EQ(sustained.idle.count(), 0);
  EXPECT_EQ(sustained.layouts, 12);
  EXPECT_EQ(sustained.samples, Protocol{}.samples);
  EXPECT_EQ(sustained.layout_kind, std::nullopt);  // the device's best
  suite["protocol"].update({{"warm_ms", 50}, {"layouts", 2}, {"spin_us", 7}, {"layout", "driver"}});
  const Protocol named = parse_suite(suite, "mine.json").protocol;
  EXPECT_EQ(named.warm, std::chrono::milliseconds(50));
  EXPECT_EQ(named.layouts, 2);
  EXPECT_EQ(named.spin, std::chrono::microseconds(7));
  EXPECT_EQ(named.layout_kind, LayoutKind::kDriver);
}

TEST(Suite, HasNoMoreLayoutsThanSamples) {
  json suite = valid();
  suite["protocol"] = {{"samples", 3}, {"layouts", 5}};
  EXPECT_EQ(parse_suite(suite, "mine.json").protocol.layouts, 3);
}

struct BadSuite {
  std::string pointer;  // where in the valid suite
  json value;           // what to put there; null removes it
  std::string expected;
};

const std::vector<BadSuite> kBadSuites{
    {"/name", nullptr, "name: is missing"},
    {"/name", "a/b", "name: must be a file name"},
    {"/speed", 1, "speed: unknown key"},
    {"/protocol/sample", 1, "protocol.sample: unknown key"},
    {"/protocol/samples", 0, "protocol.samples: must be a whole number"},
    {"/protocol/samples", "many", "protocol.samples"},
    {"/protocol/l2", "cold", "protocol.l2"},
    {"/protocol/order", "backwards", "protocol.order: must be \"interleaved\" or \"contiguous\""},
    {"/protocol/order", 1, "protocol.order: must be a string"},
    {"/protocol/regime", "idle", "protocol.regime: must be \"burst\" or \"sustained\""},
    {"/protocol/warm_ms", -1, "protocol.warm_ms: must be a whole"},
    {"/protocol/warm_ms", 1e7, "protocol.warm_ms"},
    {"/protocol/spin_us", 0.5, "protocol.spin_us: must be a whole"},
    {"/gate/cpu/min_effect", 1, "gate.cpu.min_effect"},
    {"/gate/cpu/min_effect", 0, "gate.cpu.min_effect"},
    {"/gate/cpu/allow", 1, "gate.cpu.allow: must be a number between"},
    {"/gate/cuda/allow", "2 %", "gate.cuda.allow: must be a number"},
    {"/gate/cpu/allow", 0.04, "gate.cpu.allow: must not be below min_effect, 0.05"},
    {"/gate/cuda", json::object(), "gate.cuda: must have at least one of min_effect"},
    {"/compared_with/geglu", "magic", "compared_with.geglu: unknown name 'magic'"},
    {"/compared_with/magic", "fused", "compared_with.magic: unknown operation"},
    {"/owners/(", "@ann", "owners.(: "},
    {"/owners/geglu", "ann", "owners.geglu: must be \"@user\""},
    {"/controls", "geglu", "controls: must be a list"},
    {"/controls", json::array(), "controls: must be a list"},
    {"/controls/1", 1, "controls[1]: must be a string"},
    {"/controls/1", "", "controls[1]: must not be empty"},
    {"/controls/0", "geglu[", "controls[0]: \"geglu[\" is not a regular expression"},
    {"/gate/cpu/maximum", 1, "gate.cpu.maximum: unknown key"},
    {"/gate/cpu/host", json::object(), "gate.cpu.host: must have"},
    {"/gate/cpu/host",
     {{"min_effect", 1}},
     "gate.cpu.host.min_effect: must be a number between 0 and 1"},
    {"/gate/cpu/host", {{"min_ns", 1}}, "gate.cpu.host.min_ns: unknown key"},
    {"/gate/cpu/host", {{"min_us", -1}}, "gate.cpu.host.min_us: must be a number from 0"},
    {"/sweeps", nullptr, "sweeps: is missing"},
    {"/sweeps", json::array(), "sweeps: must be a list"},
    {"/sweeps/0/batch/1", 0, "sweeps[0].batch[1]: must be a whole number"},
    {"/sweeps/0/batch/0", -1, "sweeps[0].batch[0]"},
    {"/sweeps/0/hidden/0", std::int64_t{1} << 40, "sweeps[0].hidden[0]"},
    {"/sweeps/0/hidden/0", 1e300, "sweeps[0].hidden[0]"},
    {"/sweeps/0/seq/0", 0.5, "sweeps[0].seq[0]"},
    {"/sweeps/0/seq", std::vector<int>(50'001, 128),
     "sweeps: have 100002 problems; at most 100000"},
    {"/sweeps/0/dim", nullptr,
     "sweeps[0].dim: is missing; operation 'geglu' has batch, seq, dim, hidden"},
    {"/sweeps/0/dtype/0", "fp12", "unknown dtype 'fp12'"},
    {"/sweeps/0/operations/0", "softmax", "unknown name 'softmax'"},
    {"/sweeps/0/implementations/0", "magic", "sweeps[0].implementations[0]: unknown name 'magic'"},
    {"/sweeps/0/heads", json::array({8}),
     "sweeps[0].heads: no operation of the sweep has this axis; 'geglu' has batch"},
    {"/sweeps/0/heads", "many", "sweeps[0].heads: must be a list"}};

TEST(Suite, IsRefusedNamingFileAndField) {
  for (const auto& [pointer, value, expected] : kBadSuites) {
    json suite = valid();
    const json::json_pointer at(pointer);
    if (value.is_null()) {
      suite.at(at.parent_pointer()).erase(at.back());
    } else {
      suite[at] = value;
    }
    EXPECT_THAT(error_of(suite), testing::AllOf(HasSubstr("mine.json: "), HasSubstr(expected)))
        << pointer << ": " << value;
  }
}

TEST(SuitePath, ListsTheSuitesThereAre) {
  const baselines::ScratchFolder folder;
  const auto written = folder.write("pr.json", valid().dump());
  EXPECT_EQ(suite_path("pr", folder.path()), written);
  EXPECT_THAT([&] { suite_path("weekly", folder.path()); },
              testing::ThrowsMessage<baselines::InputError>(
                  testing::AllOf(HasSubstr("weekly"), HasSubstr("pr"))));
  EXPECT_THAT([&] { suite_path("pr", folder.path() / "gone"); },
              testing::ThrowsMessage<baselines::InputError>(
                  testing::MatchesRegex("pr: no such suite: .*/gone has none; name a .*")));
}

Options options_of(std::vector<const char*> flags, const char* program = "fusegate_bench",
                   const std::filesystem::path& suites = {}) {
  flags.insert(flags.begin(), program);
  return parse_options(static_cast<int>(flags.size()), flags.data(), suites);
}

Suite from_flags(const std::vector<const char*>& flags,
                 const std::filesystem::path& folder = "none") {
  return suite_of(options_of(flags), {.folder = folder});
}

// suite: in the folder as smoke.
Suite from_flags(const std::vector<const char*>& flags, const json& suite) {
  const baselines::ScratchFolder folder;
  folder.write("smoke.json", suite.dump());
  return from_flags(flags, folder.path());
}

TEST(Flags, ReplaceTheSuitesAxes) {
  const Suite suite = from_flags({"--suite=smoke", "--batch=2,4", "--samples=3"}, valid());
  EXPECT_EQ(suite.name, "mine");
  EXPECT_THAT(suite.sweeps[0].axes.at("batch"), testing::ElementsAre(2, 4));
  EXPECT_THAT(suite.sweeps[0].axes.at("hidden"), testing::ElementsAre(3072));
  EXPECT_EQ(suite.protocol.samples, 3);
  EXPECT_THAT(from_flags({}, valid()).sweeps[0].axes.at("batch"), testing::ElementsAre(1, 8))
      << "nothing named means smoke";
}

TEST(Flags, OfAnotherRegimeDropWhatTheSuiteChoseForItsOwn) {
  json suite = valid();
  suite["protocol"] = {{"samples", 16}, {"idle_us", 2000}, {"layouts", 4}};
  const Protocol burst = from_flags({"--regime=burst"}, suite).protocol;
  EXPECT_EQ(burst.idle, std::chrono::microseconds(2000));
  EXPECT_EQ(burst.layouts, 4);
  const Protocol sustained = from_flags({"--regime=sustained", "--warm-ms=9"}, suite).protocol;
  EXPECT_EQ(sustained.idle.count(), 0);
  EXPECT_EQ(sustained.layouts, 12);
  EXPECT_EQ(sustained.samples, 16);
  EXPECT_EQ(sustained.warm, std::chrono::milliseconds(9));
}

TEST(Flags, LeaveControlsAsTheyAreOrOut) {
  json suite = valid();
  suite["sweeps"].push_back(json(suite["sweeps"][0]));
  suite["sweeps"][1].erase("implementations");
  suite["sweeps"][1]["operations"] = {"control_copy", "control_gemm"};
  const Suite resized = from_flags({"--suite=smoke", "--batch=4"}, suite);
  ASSERT_EQ(resized.sweeps.size(), 2u);
  EXPECT_THAT(resized.sweeps[0].axes.at("batch"), testing::ElementsAre(4));
  EXPECT_THAT(resized.sweeps[1].axes.at("batch"), testing::ElementsAre(1, 8));
  const Suite named =
      from_flags({"--suite=smoke", "--operation=linear", "--implementation=addmm"}, suite);
  ASSERT_EQ(named.sweeps.size(), 1u);
  EXPECT_THAT(named.sweeps[0].operations, testing::ElementsAre("linear"));
  EXPECT_EQ(from_flags({"--operation=control_gemm", "--batch=3", "--implementation=onednn"})
                .sweeps[0]
                .axes.at("batch")[0],
            3);
}

TEST(Flags, AloneStartFromTheReferenceProblem) {
  const Suite suite = from_flags({"--batch=1,8,64", "--dtype=bf16"});
  EXPECT_EQ(suite.name, "custom");
  EXPECT_THAT(suite.sweeps[0].axes.at("batch"), testing::ElementsAre(1, 8, 64));
  EXPECT_THAT(suite.sweeps[0].axes.at("seq"), testing::ElementsAre(128));
  EXPECT_THAT(suite.sweeps[0].axes.at("dim"), testing::ElementsAre(768));
  EXPECT_THAT(suite.sweeps[0].axes.at("hidden"), testing::ElementsAre(3072));
}

TEST(Flags, AreCheckedLikeASuite) {
  EXPECT_THROW(from_flags({"--batch=0"}), baselines::InputError);
  EXPECT_THROW(from_flags({"--implementation=magic"}), baselines::InputError);
  EXPECT_THROW(from_flags({"--no-such-flag"}), baselines::InputError);
}

// An operation of axes that the ladder lacks.
const kernels::OperationRegistration registered{
    {.name = "softmax_like",
     .axes = {"heads", "kv"},
     .outputs = [](const kernels::Problem& p) -> std::vector<kernels::TensorSpec> {
       return {{"y", {p.at("heads"), p.at("kv")}}};
     },
     .host_reference = [](auto&&...) {}}};

json of_both() {
  json suite = valid();
  suite["sweeps"].push_back({{"operations", {"softmax_like"}},
                             {"heads", {8, 16}},
                             {"kv", {4096}},
                             {"dtype", {"fp8_e4m3"}}});
  return suite;
}

using Axes = std::map<std::string, std::vector<AxisValue>>;

TEST(Suite, TakesTheAxesOfAnyOperation) {
  const Suite suite = parse_suite(of_both(), "mine.json");
  EXPECT_EQ(suite.sweeps[1].axes, (Axes{{"heads", {8, 16}}, {"kv", {4096}}}));
  EXPECT_THAT(suite.sweeps[1].dtype, testing::ElementsAre(kernels::Dtype::kFp8E4m3));
}

TEST(Suite, WithoutOperationsTakesThoseThatFindTheirAxes) {
  json suite = of_both();
  suite["sweeps"][1].erase("operations");
  const Sweep sweep = parse_suite(suite, "mine.json").sweeps[1];
  const auto operations = operations_of(sweep.operations, sweep.axes);
  ASSERT_EQ(operations.size(), 1u);
  EXPECT_EQ(operations[0]->name, "softmax_like");
  suite["sweeps"][1].erase("kv");
  EXPECT_THAT(error_of(suite), HasSubstr("sweeps[1].heads: no operation of the sweep has this "
                                         "axis; no operation finds all of its axes"));
}

TEST(Flags, OfAnyAxisGoWhereAnOperationHasIt) {
  const Suite suite = from_flags({"--suite=smoke", "--axis", "kv=64,128", "--batch=2"}, of_both());
  EXPECT_EQ(suite.sweeps[1].axes, (Axes{{"heads", {8, 16}}, {"kv", {64, 128}}}));
  EXPECT_EQ(suite.sweeps[0].axes.at("batch"), (std::vector<AxisValue>{2}));
  const Suite joined = from_flags({"--axis=heads=4", "--axis", "heads=5", "--axis=kv=9"});
  ASSERT_EQ(joined.sweeps.size(), 1u);
  EXPECT_EQ(joined.sweeps[0].axes, (Axes{{"heads", {4, 5}}, {"kv", {9}}}));
  EXPECT_THAT(joined.sweeps[0].operations, testing::ElementsAre("softmax_like"));
  EXPECT_EQ(from_flags({"--problem=heads:3/kv:7"}).sweeps[0].axes,
            (Axes{{"heads", {3}}, {"kv", {7}}}));
}

TEST(Flags, OfAnOperationTakeTheSweepsThatHaveItsAxes) {
  const Suite suite = from_flags({"--suite=smoke", "--operation=softmax_like"}, of_both());
  ASSERT_EQ(suite.sweeps.size(), 1u);
  EXPECT_EQ(suite.sweeps[0].axes.at("kv"), (std::vector<AxisValue>{4096}));
  const Suite both = from_flags({"--suite=smoke", "--operation=softmax_like,linear"}, of_both());
  ASSERT_EQ(both.sweeps.size(), 2u);
  EXPECT_THAT(both.sweeps[0].operations, testing::ElementsAre("linear"));
}

TEST(Flags, ThatCannotBeUsedAreRefused) {
  const auto error_with = [](const std::vector<const char*>& flags, const json& suite) {
    return message_of([&] { from_flags(flags, suite); });
  };
  EXPECT_THAT(error_with({"--suite=smoke", "--axis=rows=3"}, of_both()),
              HasSubstr("--axis rows: no measured operation has this axis"));
  EXPECT_THAT(error_with({"--suite=smoke", "--operation=geglu,softmax_like"}, valid()),
              HasSubstr("--operation: 'softmax_like': no sweep has all of its axes, heads"));
  EXPECT_THAT(error_with({"--suite=smoke", "--operation=softmax_like"}, valid()),
              HasSubstr("heads: is missing; operation 'softmax_like' has heads, kv"));
  EXPECT_THAT(error_with({"--axis=heads=3"}, valid()), HasSubstr("kv: is missing; operation"));
  EXPECT_THAT(error_with({"--axis=heads"}, valid()),
              HasSubstr("--axis: 'heads': expected NAME=VALUE"));
  EXPECT_THAT(error_with({"--axis=dtype=3"}, valid()),
              HasSubstr("--axis: 'dtype=3': expected NAME=VALUE"));
  EXPECT_THAT(error_with({"--axis=heads=x", "--axis=kv=1"}, valid()),
              HasSubstr("heads[0]: must be"));
  EXPECT_THAT(error_with({"--axis=heads=16777217", "--axis=kv=1"}, valid()),
              HasSubstr("heads[0]: must be a whole number from 1 to 16777216"));
  EXPECT_THAT(error_with({"--problem=heads:3", "--axis=kv=1"}, valid()),
              HasSubstr("--problem: cannot be used with --kv"));
  EXPECT_THAT(error_with({"--problem=heads:3/heads:4"}, valid()), HasSubstr("or AXIS:VALUE/"));
}

TEST(Flags, MeasureTheOnlySuiteWhereNoneIsNamed) {
  const baselines::ScratchFolder folder;
  folder.write("kernels.json", valid().dump());
  EXPECT_EQ(from_flags({}, folder.path()).name, "mine");
  folder.write("other.json", valid().dump());
  EXPECT_THAT([&] { from_flags({}, folder.path()); },
              testing::ThrowsMessage<baselines::InputError>(HasSubstr("expected kernels, other")));
}

// Of a program of one's own kernels.
TEST(Flags, HelpNamesTheProgramAndTheSuitesBesideIt) {
  const baselines::ScratchFolder folder;
  folder.write("kernels.json", valid().dump());
  const std::string help = *options_of({"--help"}, "build/demo_bench", folder.path()).help;
  EXPECT_THAT(help, HasSubstr("demo_bench [OPTIONS]"));
  EXPECT_THAT(help, HasSubstr("The suite to measure: kernels, or a .json file"));
  EXPECT_THAT(help, HasSubstr("Example:\n  demo_bench --suite=kernels --out=1.json\n"));
  EXPECT_THAT(help, testing::Not(HasSubstr("fusegate_bench")));
  EXPECT_THAT(help, testing::Not(HasSubstr("nightly")));
}

TEST(Flags, HelpNamesTheNumberFormatsThatKernelsHave) {
  std::set<std::string> taken;
  for (const auto& implementation : kernels::implementations()) {
    for (const auto dtype : implementation.dtypes) taken.insert(std::string(dtype_name(dtype)));
  }
  const std::string help = *options_of({"--help"}).help;
  const std::string named = help.substr(help.find("Number formats: "), 60);
  for (const kernels::Dtype dtype : kernels::all_dtypes()) {
    const std::string name(dtype_name(dtype));
    EXPECT_EQ(named.find(name) != named.npos, taken.contains(name)) << named;
  }
}

TEST(Flags, HaveFormerNamesThatHelpDoesNotShow) {
  const Options options =
      options_of({"--invocation", "3", "--places=2", "--keep-choices=a", "--keep-strictly"});
  EXPECT_EQ(options.process, 3);
  EXPECT_EQ(options.protocol, json({{"layouts", 2}}));
  EXPECT_THAT(options.pin_choices, testing::ElementsAre("a"));
  EXPECT_TRUE(options.pin_strictly);
  const std::string help = *options_of({"--help"}).help;
  for (const char* former : {"--invocation", "--places", "--keep-"}) {
    EXPECT_THAT(help, testing::Not(HasSubstr(former)));
  }
}

TEST(Flags, ReplaceTheFormerNamesOfASuite) {
  json suite = valid();
  suite["protocol"] = {{"samples", 16}, {"places", 4}};
  EXPECT_EQ(from_flags({"--suite=smoke"}, suite).protocol.layouts, 4);
  EXPECT_EQ(from_flags({"--suite=smoke", "--layouts=2"}, suite).protocol.layouts, 2);
  suite["protocol"]["places"] = 0;
  EXPECT_THAT(error_of(suite), HasSubstr("protocol.places: must be a whole number from 1"));
}

TEST(Flags, PassGoogleBenchmarksOwn) {
  const Options options = options_of({"--benchmark_filter=geglu", "--seed=7"});
  EXPECT_THAT(options.benchmark_flags, testing::ElementsAre("--benchmark_filter=geglu"));
  EXPECT_EQ(options.seed, 7u);
}

TEST(Flags, OfGoogleBenchmarkThatSetTheProtocolBecomeTheProtocols) {
  const Suite suite =
      from_flags({"--batch=1", "--benchmark_repetitions=4", "--benchmark_min_time=0.25s",
                  "--benchmark_enable_random_interleaving=false"});
  EXPECT_EQ(suite.protocol.layouts, 4);
  EXPECT_EQ(suite.protocol.batch, std::chrono::milliseconds(250));
  EXPECT_EQ(suite.protocol.order, Order::kContiguous);
  EXPECT_EQ(from_flags({"--batch=1", "--benchmark_enable_random_interleaving"}).protocol.order,
            Order::kInterleaved);
  for (const char* bad : {"--benchmark_repetitions=0", "--benchmark_repetitions",
                          "--benchmark_min_time=10x", "--benchmark_min_time=nan",
                          "--benchmark_min_time=-1", "--benchmark_enable_random_interleaving=x"}) {
    EXPECT_ANY_THROW(from_flags({"--batch=1", bad})) << bad;
  }
}

}  // namespace
}  // namespace fusegate::bench
