#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "ci/claims/check.h"
#include "ci/claims/figures.h"
#include "ci/claims/test_input.h"

namespace fusegate::ci {
namespace {

const std::string kWide = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn";
const std::string kDeep = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn";
const std::string kGelu = "void at::native::vectorized_elementwise_kernel<4, GeluCUDAKernelImpl>";
const std::string kMul = "void at::native::vectorized_elementwise_kernel<4, MulFunctor<float> >";
const std::string kQuery = "cudaOccupancyMaxActiveBlocksPerMultiprocessor";
const std::string kFused = "triton_poi_fused__unsafe_view_gelu_mul_0";
constexpr const char* kOneRow = "/bf16/batch:1/seq:1/dim:768/hidden:3072";

using enum Answer;
using Measured = std::vector<TestMeasured>;
using Step = std::vector<TestOperator>;

// The A100 of the series, as far as it is published; the rest is made up.
struct Card {
  Card() {
    const auto name = [](const char* operation, const char* implementation) {
      return reference_benchmark(operation, implementation);
    };
    const std::vector<baselines::TestLaunch> mlp{{kWide, "gate_proj", 190e3},
                                                 {kWide, "up_proj", 190e3},
                                                 {"my_gelu_kernel", "gelu", 60e3},
                                                 {"my_mul_kernel", "mul", 90e3},
                                                 {kDeep, "down_proj", 170e3}};
    ours = {{name("linear", "addmm"), 190e3, 5e3, 0, {{kWide, "addmm", 190e3}}},
            {name("geglu", "unfused"), 150e3, 5e3, 251658240},
            {name("geglu", "fused"), 90e3, 5e3, 150994944},
            {name("geglu", "fused_specialized"), 87e3},
            {"control_copy/memcpy/bf16/batch:64/seq:128/dim:768/hidden:4608", 90e3, 5e3, 150994944},
            {name("geglu_mlp", "unfused"), 700e3, 30e3, 0, mlp},
            {name("geglu_mlp", "fused_pointwise"), 640e3},
            {name("geglu_mlp", "fused_epilogue"), 550e3},
            {std::string("geglu_mlp/unfused") + kOneRow, 14e3, 30e3},
            {std::string("geglu_mlp/fused_pointwise") + kOneRow, 15e3},
            {std::string("geglu_mlp/fused_epilogue") + kOneRow, 5e3}};
    peers = {{name("linear", "torch_eager"), 190e3, 16e3},
             {name("linear", "torch_compile"), 190e3, 60e3},
             {name("geglu", "torch_eager"), 150e3, 16e3, 251658240},
             {name("geglu", "torch_compile"), 89.4e3, 60e3, 150994944},
             {name("geglu", "liger"), 92.8e3, 60e3, 150994944},
             {name("geglu_mlp", "torch_eager"), 700e3, 60e3},
             {name("geglu_mlp", "torch_compile"), 640e3, 80e3},
             {std::string("geglu_mlp/torch_eager") + kOneRow, 14e3, 60e3},
             {std::string("geglu_mlp/torch_compile") + kOneRow, 16e3, 80e3}};
    const Step linear{{"aten::t"}, {"aten::addmm", kWide}};
    const TestOperator wide{"aten::mm", kWide, kQuery};
    const TestOperator deep{"aten::mm", kDeep, kQuery};
    traces = {{{"linear", "torch_eager"}, linear},
              {{"linear", "torch_compile"}, {{"TorchDynamo Cache Lookup"}, {"aten::addmm", kWide}}},
              {{"geglu_mlp", "torch_eager"},
               {{"aten::t"}, wide, wide, {"aten::gelu", kGelu}, {"aten::mul", kMul}, deep}},
              {{"geglu_mlp", "torch_compile"},
               {{"TorchDynamo Cache Lookup"}, wide, wide, {"triton", kFused}, deep}},
              {{"geglu_mlp", "liger"},
               {wide, wide, {"LigerGELUMulFunction", "_geglu_tanh_forward_kernel"}, deep}}};
  }

  TestMeasured& our(const char* operation, const char* implementation) {
    return of(ours, reference_benchmark(operation, implementation));
  }
  TestMeasured& peer(const char* operation, const char* implementation) {
    return of(peers, reference_benchmark(operation, implementation));
  }
  static TestMeasured& of(Measured& all, const std::string& name) {
    return *std::ranges::find(all, name, &TestMeasured::name);
  }
  static void drop(Measured& all, const std::string& part) {
    std::erase_if(
        all, [&](const TestMeasured& one) { return one.name.find(part) != std::string::npos; });
  }
  Step& step(const char* operation, const char* implementation) {
    return traces[{operation, implementation}];
  }

  ClaimsInput input() const {
    ClaimsInput input{test_measured(ours, processes), test_measured(peers, processes)};
    for (const auto& [name, step] : traces) set_trace(&input, name.first, name.second, step);
    if (published) {
      const std::string stage = reference_benchmark("geglu_mlp", "torch_eager") + "/stage:";
      input.published = baselines::test_run({baselines::test_series(stage + "down_proj", {170e3}),
                                             baselines::test_series(stage + "gate_proj", {190e3})});
    }
    return input;
  }

  Measured ours, peers;
  std::map<std::pair<std::string, std::string>, Step> traces;
  int processes = 3;
  bool published = true;
};

struct Case {
  const char* part;  // of the statement
  std::function<void(Card&)> refute;
  std::function<void(Card&)> lose;  // what it takes
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.part; }

// One process alone has no interval.
void one_process(Card& card) { card.processes = 1; }

std::function<void(Card&)> no_trace(const char* operation, const char* implementation) {
  return [=](Card& card) { card.traces.erase({operation, implementation}); };
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"is one kernel",
       [](Card& card) {
         card.our("linear", "addmm").launches.push_back({"add", "addmm", 9e3});
       },
       [](Card& card) { card.our("linear", "addmm").launches.clear(); }},
      {"transpose launches nothing",
       [](Card& card) { card.step("linear", "torch_eager").front().kernel = "transpose_kernel"; },
       no_trace("geglu_mlp", "torch_eager")},
      {"layout `tn`",
       [](Card& card) {
         card.step("linear", "torch_eager")[1].kernel =
             "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn";
       },
       no_trace("linear", "torch_eager")},
      {"does not help a single Linear",
       [](Card& card) { card.peer("linear", "torch_compile").time_ns = 150e3; }, one_process},
      {"takes the dispatch of `aten::t` off",
       [](Card& card) { card.step("linear", "torch_compile").push_back({"aten::t"}); },
       no_trace("linear", "torch_eager")},
      {"costs host time", [](Card& card) { card.peer("linear", "torch_compile").host_ns = 10e3; },
       [](Card& card) { Card::drop(card.peers, "linear/torch_eager"); }},
      {"is five kernels", [](Card& card) { card.step("geglu_mlp", "torch_eager").pop_back(); },
       [](Card& card) { card.our("geglu_mlp", "unfused").launches.clear(); }},
      {"These are the kernels",
       [](Card& card) {
         card.step("geglu_mlp", "torch_eager").back().kernel =
             "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_TNT";
       },
       no_trace("geglu_mlp", "torch_eager")},
      {"occupancy query",
       [](Card& card) { card.step("geglu_mlp", "torch_eager").back().query.clear(); },
       no_trace("geglu_mlp", "torch_eager")},
      {"share one tile shape",
       [](Card& card) { card.our("geglu_mlp", "unfused").launches[4].name = kWide; },
       [](Card& card) { card.our("geglu_mlp", "unfused").launches.clear(); }},
      {"by about a tenth",
       [](Card& card) { card.our("geglu_mlp", "unfused").launches[4].duration_ns = 90e3; },
       [](Card& card) { card.published = false; }},
      {"very kernels of the eager one",
       [](Card& card) { card.step("geglu_mlp", "liger").back().kernel = kWide; },
       no_trace("geglu_mlp", "liger")},
      {"one Triton kernel",
       [](Card& card) { card.step("geglu_mlp", "torch_compile")[3].kernel = kGelu; },
       no_trace("geglu_mlp", "torch_compile")},
      {"without the compiler's work",
       [](Card& card) { card.step("geglu_mlp", "liger").push_back({"TorchDynamo Cache Lookup"}); },
       no_trace("geglu_mlp", "liger")},
      {"round trip of the intermediate: ours",
       [](Card& card) { card.our("geglu", "unfused").time_ns = 105e3; },
       [](Card& card) { Card::drop(card.ours, "control_copy"); }},
      {"The same of Inductor's",
       [](Card& card) { card.peer("geglu", "torch_compile").time_ns = 160e3; },
       [](Card& card) { Card::drop(card.peers, "geglu/torch_compile"); }},
      {"specialised for one shape (Inductor's)",
       [](Card& card) { card.peer("geglu", "torch_compile").time_ns = 92.5e3; },
       [](Card& card) { Card::drop(card.peers, "geglu/liger"); }},
      {"compiled for a single shape",
       [](Card& card) { card.our("geglu", "fused_specialized").time_ns = 90e3; }, one_process},
      {"gelu and mul loses, on the GPU: ours",
       [](Card& card) {
         Card::of(card.ours, std::string("geglu_mlp/fused_pointwise") + kOneRow).time_ns = 13e3;
         card.ours.push_back({"geglu/unfused/bf16/batch:1/seq:8/dim:768/hidden:3072", 3e3});
         card.ours.push_back({"geglu/fused/bf16/batch:1/seq:8/dim:768/hidden:3072", 2e3});
       },
       [](Card& card) { Card::drop(card.ours, kOneRow); }},
      {"gelu and mul loses, on the GPU: PyTorch's",
       [](Card& card) {
         Card::of(card.peers, std::string("geglu_mlp/torch_compile") + kOneRow).time_ns = 13e3;
         card.peers.push_back({std::string("geglu_mlp/liger") + kOneRow, 14e3});
       },
       [](Card& card) { Card::drop(card.peers, kOneRow); }},
      {"a rung above", [](Card& card) { card.our("geglu_mlp", "fused_epilogue").time_ns = 639e3; },
       [](Card& card) { Card::drop(card.ours, "fused_pointwise"); }},
      {"faster than every peer",
       [](Card& card) { card.peer("geglu_mlp", "torch_compile").time_ns = 500e3; },
       [](Card& card) { Card::drop(card.peers, "geglu_mlp"); }},
      {"is launch-bound",
       [](Card& card) {
         Card::of(card.ours, std::string("geglu_mlp/unfused") + kOneRow).host_ns = 9e3;
       },
       one_process},
  };
  return all;
}

nlohmann::json series_json() {
  const std::string path = std::string(FUSEGATE_SOURCE) + "/ci/claims/series.json";
  return baselines::parse_json(baselines::read_file(path), path);
}

std::vector<Claim> checked(const ClaimsInput& input, const nlohmann::json& file = series_json()) {
  return check_claims(baselines::JsonField(file, "claims.json", ""), input).claims;
}

Claim find_claim(const ClaimsInput& input, const std::string& part) {
  std::vector<Claim> found;
  for (Claim& claim : checked(input)) {
    if (claim.statement.find(part) != std::string::npos) found.push_back(std::move(claim));
  }
  EXPECT_EQ(found.size(), 1u) << part;
  return found.empty() ? Claim{} : found.front();
}

std::vector<std::string> unmet(const Claim& claim) {
  std::vector<std::string> questions;
  for (const Finding& finding : claim.findings) {
    if (finding.answer && *finding.answer != Answer::kYes)
      questions.push_back(finding.question + ": " + finding.missing);
  }
  return questions;
}

class EveryClaim : public testing::TestWithParam<Case> {};

TEST_P(EveryClaim, HoldsWhereAllFindingsSaySo) {
  const Claim claim = find_claim(Card().input(), GetParam().part);
  EXPECT_EQ(verdict_of(claim), Answer::kYes) << testing::PrintToString(unmet(claim));
  EXPECT_NE(claim.published, "");
}

TEST_P(EveryClaim, DoesNotHoldWhereOneIsRefuted) {
  Card card;
  GetParam().refute(card);
  EXPECT_EQ(verdict_of(find_claim(card.input(), GetParam().part)), Answer::kNo);
}

TEST_P(EveryClaim, CannotBeToldWithoutWhatItTakesAndSaysSo) {
  Card card;
  GetParam().lose(card);
  const Claim claim = find_claim(card.input(), GetParam().part);
  EXPECT_EQ(verdict_of(claim), Answer::kUnknown);
  EXPECT_TRUE(std::ranges::any_of(claim.findings,
                                  [](const Finding& finding) { return !finding.missing.empty(); }));
}

INSTANTIATE_TEST_SUITE_P(Claims, EveryClaim, testing::ValuesIn(cases()));

TEST(CheckClaims, HasACaseHereForEach) {
  EXPECT_EQ(checked(Card().input()).size(), cases().size());
}

TEST(CheckClaims, LosesNoneWithoutAnyInputAndTellsWhatEachTakes) {
  const std::vector<Claim> claims = checked({});
  EXPECT_EQ(claims.size(), cases().size());
  for (const Claim& claim : claims) {
    EXPECT_EQ(verdict_of(claim), Answer::kUnknown) << claim.statement;
    for (const Finding& finding : claim.findings) {
      EXPECT_EQ(finding.answer == Answer::kUnknown, !finding.missing.empty()) << finding.question;
    }
  }
}

TEST(CheckClaims, PassesOverTracesOfAnotherProblem) {
  ClaimsInput input = Card().input();
  const baselines::Trace other =
      steps_trace("linear/torch_eager/bf16/batch:1/seq:1/dim:768/hidden:3072",
                  {{"aten::t"}, {"aten::addmm", kWide}});
  input.traces["linear-torch_eager"] = {baselines::summarize(other), trace_steps(other)};
  EXPECT_EQ(verdict_of(find_claim(input, "is one kernel")), Answer::kUnknown);
}

// By the traces that PyTorch wrote on an H200, as docs/claims-h200.md has it.
TEST(CheckClaims, TellsOfPyTorchsOwnTracesWhatThePageOfTheH200Says) {
  ClaimsInput input;
  const std::string folder = std::string(FUSEGATE_SOURCE) + "/baselines/traces/testdata/h200";
  input.traces = read_traces(folder);
  const std::map<std::string, std::vector<Answer>> wanted{
      {"is one kernel", {kYes, kYes}},
      {"transpose launches nothing", {kYes, kYes}},
      {"layout `tn`", {kYes}},
      {"does not help a single Linear", {kYes}},
      {"takes the dispatch of `aten::t` off", {kYes, kYes}},
      {"is five kernels", {kYes}},
      {"These are the kernels", {kNo, kNo, kYes, kNo}},
      {"occupancy query", {kNo}},
      {"share one tile shape", {kYes}},
      {"very kernels of the eager one", {kYes, kYes}},
      {"one Triton kernel", {kYes}},
      {"without the compiler's work", {kYes, kYes, kYes}}};
  for (const auto& [part, answers] : wanted) {
    std::vector<Answer> told;
    for (const Finding& finding : find_claim(input, part).findings) {
      if (finding.answer && finding.answer != kUnknown) told.push_back(*finding.answer);
    }
    EXPECT_EQ(told, answers) << part;
  }
}

// A crossover of another operation, in a file of somebody's own.
nlohmann::json own_file(nlohmann::json finding) {
  nlohmann::json file = series_json();
  finding["question"] = "?";
  file["claims"] = {
      {{"id", "own"}, {"statement", "own"}, {"published", "-"}, {"findings", {finding}}}};
  return file;
}

TEST(CheckClaims, TakesOtherOperationsByTheirNames) {
  const nlohmann::json slower{{"of", {"time", "ours:swiglu_mlp/fused_pointwise"}},
                              {"over", {"time", "ours:swiglu_mlp/unfused"}},
                              {"is", "slower"},
                              {"some", true},
                              {"rows_below", 100}};
  const auto verdict = [&](double fused_ns) {
    const std::string unfused = std::string("swiglu_mlp/unfused") + kOneRow;
    return verdict_of(
        checked({test_measured({{std::string("swiglu_mlp/fused_pointwise") + kOneRow, fused_ns},
                                {unfused, 14e3}})},
                own_file(slower))
            .front());
  };
  EXPECT_EQ(verdict(15e3), kYes);
  EXPECT_EQ(verdict(13e3), kNo);
}

// One benchmark's time over another's by a rule, in three processes that differ by 0.1 %.
Answer by_rule(double ratio, nlohmann::json rule) {
  const std::string linear = "linear/addmm", other = "linear/matmul_add";
  rule["of"] = {"time", "ours:" + linear};
  rule["over"] = {"time", "ours:" + other};
  return verdict_of(
      checked({test_measured({{linear + kOneRow, ratio * 1e4}, {other + kOneRow, 1e4}})},
              own_file(rule))
          .front());
}

TEST(EveryRule, HoldsTheWholeIntervalAgainstItsBound) {
  const nlohmann::json faster{{"is", "faster"}}, slower{{"is", "slower"}},
      not_faster{{"is", "not faster"}}, above{{"is", "above"}, {"to", 2}},
      below{{"is", "below"}, {"to", 2}}, within{{"is", "within"}, {"by", 0.25}, {"to", 2}};
  EXPECT_EQ(by_rule(0.97, faster), kYes);
  EXPECT_EQ(by_rule(0.99, faster), kUnknown);
  EXPECT_EQ(by_rule(0.998, faster), kNo) << "by less than the smallest effect";
  EXPECT_EQ(by_rule(0.998, not_faster), kYes);
  EXPECT_EQ(by_rule(0.99, not_faster), kUnknown);
  EXPECT_EQ(by_rule(0.97, not_faster), kNo);
  EXPECT_EQ(by_rule(1.03, slower), kYes);
  EXPECT_EQ(by_rule(1.002, slower), kNo);
  EXPECT_EQ(by_rule(2.1, above), kYes);
  EXPECT_EQ(by_rule(1.9, above), kNo);
  EXPECT_EQ(by_rule(2.0, above), kUnknown);
  EXPECT_EQ(by_rule(1.9, below), kYes);
  EXPECT_EQ(by_rule(2.1, below), kNo);
  EXPECT_EQ(by_rule(2.4, within), kYes);
  EXPECT_EQ(by_rule(2.6, within), kNo);
  EXPECT_EQ(by_rule(1.4, within), kNo);
}

TEST(EveryRule, AsksTimeAndCyclesBoth) {
  const std::string linear = "linear/addmm", other = "linear/matmul_add";
  const nlohmann::json rule{
      {"of", {"time", "ours:" + linear}}, {"over", {"time", "ours:" + other}}, {"is", "faster"}};
  MeasuredRun run = test_measured({{linear + kOneRow, 9e3}, {other + kOneRow, 1e4}});
  EXPECT_EQ(verdict_of(checked({run}, own_file(rule)).front()), kYes);
  for (baselines::RunFile& process : run.processes) process.benchmarks[0].summary.cycles *= 1.12;
  EXPECT_EQ(verdict_of(checked({run}, own_file(rule)).front()), kNo);
  run.processes[0].benchmarks[0].summary.cycles = std::nan("");
  EXPECT_EQ(verdict_of(checked({run}, own_file(rule)).front()), kYes) << "no clock, no cycles";
}

TEST(Figures, AreJoinedProcessByProcess) {
  const std::string a = std::string("linear/addmm") + kOneRow;
  const std::string b = std::string("linear/matmul_add") + kOneRow;
  MeasuredRun run = test_measured({{a, 100}, {b, 300}});
  run.processes[1].benchmarks.pop_back();  // measured one of the two
  const ClaimsInput input{run};
  const nlohmann::json json = {"*", 2, {"-", {"time", "ours:" + b}, {"time", "ours:" + a}}};
  const Figures figures = figures_of(baselines::JsonField(json, "", ""), {input, ""});
  EXPECT_THAT(figures.values, testing::ElementsAre(testing::DoubleNear(400, 1e-9),
                                                   testing::DoubleNear(2 * 200 * 1.002, 1e-9)));
  EXPECT_EQ(figures.cycles.size(), 2u);
}

TEST(Figures, SumRowsByWildcardAStep) {
  ClaimsInput input;
  set_trace(&input, "linear", "a",
            {{"aten::t"}, {"aten::mm", "gemm"}, {"aten::mm", "gemm", "cudaOccupancyMax"}});
  const std::string series = "bf16/batch:64/seq:128/dim:768/hidden:3072";
  const auto value = [&](const nlohmann::json& json) {
    const Figures figures = figures_of(baselines::JsonField(json, "", ""), {input, series});
    return figures.values.empty() ? std::nan("") : figures.values[0];
  };
  EXPECT_EQ(value({"calls", "linear-a", "aten::*"}), 3);
  EXPECT_EQ(value({"calls", "linear-a", "cuda*"}), 3) << "two launches and a query";
  EXPECT_EQ(value({"calls", "linear-a", "none", "aten::t"}), 1);
  EXPECT_EQ(value({"gpu", "linear-a", "aten::t"}), 0);
  EXPECT_EQ(value({"gpu", "linear-a", "aten::mm"}), 3 * 80);
  EXPECT_TRUE(std::isnan(value({"gpu", "linear-a", "none"}))) << "nothing was looked at";
  EXPECT_EQ(value({"kernel", "linear-a", 1}), 40);
  EXPECT_TRUE(std::isnan(value({"kernel", "linear-a", 2})));
  EXPECT_TRUE(std::isnan(value({"calls", "linear-b", "aten::*"})));
}

TEST(CheckClaims, NamesTheFieldThatIsNoStatement) {
  const auto problem_of = [](const nlohmann::json& finding) -> std::string {
    try {
      checked({}, own_file(finding));
    } catch (const baselines::InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  const nlohmann::json time{"time", "ours:linear/addmm"};
  using testing::HasSubstr;
  EXPECT_EQ(problem_of({{"of", time}, {"over", time}, {"is", "faster"}}), "accepted");
  EXPECT_THAT(problem_of({{"of", time}, {"over", time}, {"is", "quick"}}),
              HasSubstr("claims.json: claims[0].findings[0].is: is no rule"));
  EXPECT_THAT(problem_of({{"of", time}, {"over", time}, {"is", "faster"}, {"odd", 1}}),
              HasSubstr("findings[0].odd: is no field"));
  EXPECT_THAT(problem_of({{"of", {"tame", "ours:linear/addmm"}}, {"is", "more"}}),
              HasSubstr("findings[0].of[0]: \"tame\" is no figure"));
  EXPECT_THAT(problem_of({{"of", {"time", "linear"}}, {"is", "more"}}),
              HasSubstr("findings[0].of[1]: \"linear\" is no benchmark"));
  EXPECT_THAT(problem_of({{"of", {"-", time, {"time", "peers:linear/liger"}}}, {"is", "more"}}),
              HasSubstr("joins benchmarks of two runs"));
  EXPECT_THAT(problem_of({{"kernels", "trace:none"}, {"are", {"gem"}}}),
              HasSubstr("findings[0].are[0]: is no pattern"));
  EXPECT_THAT(problem_of({{"kernels", "trace:none"}, {"are", {{{"color", "x"}}}}}),
              HasSubstr("are[0].color: is nothing that a kernel's name tells"));
  EXPECT_THAT(problem_of({{"of", {"copy", "mine"}}, {"is", "more"}}),
              HasSubstr("findings[0].of[1]: is neither"));
  EXPECT_THAT(problem_of({{"of", time}, {"over", time}, {"is", "faster"}, {"each", "linear"}}),
              HasSubstr("findings[0].each: is no RUN:OPERATION"));
  EXPECT_THAT(problem_of({{"of", {"calls", "a", "b"}}, {"is", "more"}, {"at", "most rows"}}),
              HasSubstr("findings[0].at: is no place"));
  EXPECT_THAT(problem_of({{"of", time}, {"over", time}, {"is", "within"}}),
              HasSubstr("findings[0].by: is missing"));
}

}  // namespace
}  // namespace fusegate::ci
