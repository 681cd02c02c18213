#include "ci/claims/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

constexpr std::string_view kDtype = "bf16";  // the series'

auto by_size(const MeasuredProblem& problem) {
  const baselines::BenchmarkName& name = problem.name;
  return std::tuple(name.rows(), name.dim, name.hidden, name.batch);
}

// Which of the two was not measured where it is asked for.
std::string missing_side(const Question& question, const Side& a, const Side& b) {
  if (problems_of(a, question.operation).empty()) return needs(a, question.operation);
  if (problems_of(b, question.operation).empty()) return needs(b, question.operation);
  return fmt::format("{} and {} at {}", needs(a, question.operation), needs(b, question.operation),
                     question.only.empty() ? "the same problem" : question.only);
}

}  // namespace

std::string Side::benchmark(std::string_view operation, std::string_view problem) const {
  return fmt::format("{}/{}/{}", operation, implementation, problem);
}

Side our_side(const ClaimsInput& input, std::string_view implementation) {
  return {&input.ours, "our run", implementation};
}

Side peer_side(const ClaimsInput& input, std::string_view implementation) {
  return {input.peers ? &*input.peers : nullptr, "the peers' run", implementation};
}

std::vector<MeasuredProblem> problems_of(const Side& side, std::string_view operation) {
  std::vector<MeasuredProblem> problems;
  if (side.run == nullptr) return problems;
  for (const baselines::BenchmarkSeries& series : side.run->run.benchmarks) {
    const auto name = baselines::parse_benchmark_name(series.name);
    const bool wanted = name && name->operation == operation && name->dtype == kDtype &&
                        name->implementation == side.implementation && !series.invocations.empty();
    if (!wanted) continue;
    const std::size_t before = operation.size() + side.implementation.size() + 2;
    problems.push_back({*name, series.name.substr(before)});
  }
  std::ranges::stable_sort(problems, {}, by_size);
  return problems;
}

std::vector<MeasuredProblem> shared_problems(const Side& a, const Side& b,
                                             const Question& question) {
  std::vector<MeasuredProblem> shared = problems_of(a, question.operation);
  std::erase_if(shared, [&](const MeasuredProblem& problem) {
    const bool asked = (question.only.empty() || problem.problem == question.only) &&
                       problem.name.rows() <= question.most_rows;
    return !asked || b.run == nullptr ||
           b.run->times_ns(b.benchmark(question.operation, problem.problem)).empty();
  });
  return shared;
}

Finding over_problems(const Question& question, const Side& a, const Side& b, Join join,
                      const std::function<Judged(const MeasuredProblem&)>& judge) {
  Finding finding{question.text};
  std::vector<Answer> answers;
  for (const MeasuredProblem& problem : shared_problems(a, b, question)) {
    Judged judged = judge(problem);
    answers.push_back(judged.answer);
    finding.seen.push_back(std::move(judged.seen));
  }
  finding.answer = join(answers);
  if (finding.answer != Answer::kUnknown) return finding;
  finding.missing = answers.empty() ? missing_side(question, a, b) : kNeedsTwoProcesses;
  return finding;
}

Finding time_finding(const Question& question, const Side& a, const Side& b,
                     Answer (*rule)(const TimeRatio&), Join join) {
  return over_problems(question, a, b, join, [&](const MeasuredProblem& problem) {
    const std::string above = a.benchmark(question.operation, problem.problem);
    const std::string below = b.benchmark(question.operation, problem.problem);
    const auto ratio = time_ratio(*a.run, above, *b.run, below);
    if (!ratio) return Judged{Answer::kUnknown, baselines::problem_text(problem.name)};
    return Judged{rule(*ratio), time_line(baselines::problem_text(problem.name),
                                          a.run->times_ns(above), b.run->times_ns(below), *ratio)};
  });
}

std::string time_line(std::string_view label, const std::vector<double>& a_ns,
                      const std::vector<double>& b_ns, const TimeRatio& ratio) {
  std::string line = fmt::format("{}: {} over {}, {}", label, format_time_ns(typical(a_ns)),
                                 format_time_ns(typical(b_ns)), ratio_text(ratio.time));
  if (ratio.cycles) line += ", in cycles " + ratio_text(*ratio.cycles);
  return line;
}

double typical(const std::vector<double>& values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

std::string needs(const Side& side, std::string_view operation) {
  const std::string what = fmt::format("`{}/{}` in {}", operation, side.implementation, side.whose);
  return side.run == nullptr ? fmt::format("{} (--peers was not given)", what) : what;
}

std::string needs_trace(std::string_view name) {
  return fmt::format("the trace `{}.json` of {}, with torch.profiler's steps", name,
                     kReferenceProblem);
}

}  // namespace fusegate::ci
