#include "ci/report/trace_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ci/console/test_table.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum baselines::TraceCategory;

// Two steps of a product and what launched it, and an operator that launches nothing.
baselines::TraceSummary example_trace() {
  baselines::TraceSummary summary;
  summary.rows = {{"aten::linear", kOperator, 2, 10'000, 50'000, 0, 90'000},
                  {"aten::addmm", kOperator, 2, 30'000, 40'000, 90'000, 90'000},
                  {"aten::t", kOperator, 4, 4'000, 4'000, 0, 0},
                  {"gemm", kKernel, 2, 0, 0, 90'000, 90'000},
                  {"Memset (Device)", kMemset, 1, 0, 0, 10'000, 10'000}};
  summary.cuda_ns = 100'000;
  summary.cpu_ns = 44'000;
  summary.kernels = 2;
  summary.memory_operations = 1;
  return summary;
}

std::vector<std::string> names(std::string_view order) {
  baselines::TraceSummary summary = example_trace();
  sort_rows(summary.rows, order);
  std::vector<std::string> names;
  for (const baselines::TraceRow& row : summary.rows) names.push_back(row.name);
  return names;
}

TEST(TraceTable, ShowsRowsAsTorchDoes) {
  const Table table = trace_table(example_trace(), 0);
  EXPECT_THAT(headers(table),
              ElementsAre("name", "kind", "calls", "self CPU", "CPU total", "CPU average",
                          "self CUDA", "share", "CUDA total", "share", "CUDA average"));
  EXPECT_THAT(table.rows()[0],
              ElementsAre("aten::linear", "operator", "2", "10.00 us", "50.00 us", "25.00 us",
                          "0 ns", "0.0 %", "90.00 us", "90.0 %", "45.00 us"));
  EXPECT_THAT(table.rows()[4],
              ElementsAre("Memset (Device)", "memory operation", "1", "0 ns", "0 ns", "0 ns",
                          "10.00 us", "10.0 %", "10.00 us", "10.0 %", "10.00 us"));
}

TEST(TraceTable, KeepsRowsThatLaunchNothing) {
  EXPECT_THAT(trace_table(example_trace(), 0).rows()[2],
              ElementsAre("aten::t", "operator", "4", "4.000 us", "4.000 us", "1.000 us", "0 ns",
                          "0.0 %", "0 ns", "0.0 %", "0 ns"));
}

TEST(TraceTable, HasNoShareOfNothing) {
  baselines::TraceSummary summary;
  summary.rows = {{"aten::t", kOperator, 1, 4'000, 4'000, 0, 0}};
  EXPECT_EQ(trace_table(summary, 0).rows()[0][7], "-");
  EXPECT_TRUE(trace_json(summary)["rows"][0]["cuda_share"].is_null());
}

TEST(TraceTable, SortsByWhatIsAskedFor) {
  EXPECT_THAT(names("cuda"),
              ElementsAre("aten::linear", "aten::addmm", "gemm", "Memset (Device)", "aten::t"));
  EXPECT_THAT(names("self-cuda"),
              ElementsAre("aten::addmm", "gemm", "Memset (Device)", "aten::linear", "aten::t"));
  EXPECT_THAT(names("cpu"),
              ElementsAre("aten::linear", "aten::addmm", "aten::t", "gemm", "Memset (Device)"));
  EXPECT_THAT(names("self-cpu"),
              ElementsAre("aten::addmm", "aten::linear", "aten::t", "gemm", "Memset (Device)"));
  EXPECT_THAT(names("calls"),
              ElementsAre("aten::t", "aten::linear", "aten::addmm", "gemm", "Memset (Device)"));
  EXPECT_THAT(names("name"),
              ElementsAre("Memset (Device)", "aten::addmm", "aten::linear", "aten::t", "gemm"));
  EXPECT_EQ(names("cuda-average")[3], "Memset (Device)");
  EXPECT_EQ(names("cpu-average")[2], "aten::t");
}

TEST(TraceTable, ShortensNamesInTheMiddle) {
  EXPECT_EQ(short_name("aten::addmm", 11), "aten::addmm");
  EXPECT_EQ(short_name("void vectorized_kernel<4>", 13), "void ...el<4>");
  EXPECT_EQ(short_name("void vectorized_kernel<4>", 0), "void vectorized_kernel<4>");
  EXPECT_EQ(short_name("\u00b5\u00b5\u00b5\u00b5\u00b5\u00b5", 8), "\u00b5...\u00b5");
}

TEST(TraceTable, IsWholeAsJson) {
  const nlohmann::json json = trace_json(example_trace());
  EXPECT_EQ(json["cuda_ns"], 100'000);
  ASSERT_EQ(json["rows"].size(), 5U);
  EXPECT_EQ(json["rows"][1], nlohmann::json({{"name", "aten::addmm"},
                                             {"category", "cpu_op"},
                                             {"calls", 2},
                                             {"self_cpu_ns", 30'000},
                                             {"cpu_ns", 40'000},
                                             {"cpu_average_ns", 20'000.0},
                                             {"self_cuda_ns", 90'000},
                                             {"self_cuda_share", 0.9},
                                             {"cuda_ns", 90'000},
                                             {"cuda_share", 0.9},
                                             {"cuda_average_ns", 45'000.0}}));
}

TEST(TraceNotes, NameWhatIsLeftOut) {
  EXPECT_THAT(loss_notes({}), IsEmpty());
  EXPECT_THAT(loss_notes({.events = 1, .first = "traceEvents[3].dur: must not be negative (k)"}),
              ElementsAre("1 event left out, traceEvents[3].dur: must not be negative (k)"));
  EXPECT_THAT(loss_notes({.events = 2, .first = "traceEvents[3].ts: is missing", .bytes = 3}),
              ElementsAre("2 events left out, the first: traceEvents[3].ts: is missing",
                          "3 bytes are no UTF-8 and shown as \\x.."));
}

TEST(TraceNotes, DoubtADurationThatEnclosesOtherWork) {
  baselines::TraceSummary summary;
  summary.enclosing = {.name = "gemm", .duration_ns = 3'400'000'000, .enclosed = 5};
  EXPECT_THAT(
      trace_notes(summary),
      ElementsAre("gemm takes 3.400 s, in which 5 other operations of its stream began and "
                  "ended: its duration is wrong, unless they are branches of a CUDA graph"));
}

}  // namespace
}  // namespace fusegate::ci
