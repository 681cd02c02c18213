#include "ci/claims/figures.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "baselines/record/benchmark_name.h"
#include "ci/console/format.h"
#include "ci/console/markdown_escape.h"
#include "ci/figures/benchmark_figures.h"
#include "ci/figures/yardstick.h"

namespace fusegate::ci {
namespace {

using baselines::BenchmarkResult;
using baselines::TraceCategory;
using baselines::TraceRow;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kDtype = "bf16";  // the series'

using Arguments = std::vector<baselines::JsonField>;  // the figure's name is the first

// An expression in one process.
struct Look {
  const Asked& asked;
  std::size_t process;
  bool in_cycles;
  Figures& figures;

  double unknown(std::string missing) const {
    figures.missing = std::move(missing);
    return kNan;
  }
  std::string text(const baselines::JsonField& field) const { return text_of(field, asked); }
  const ReadTrace* trace(const baselines::JsonField& field) const {
    return find_trace(asked, text(field), &figures.missing);
  }
  const BenchmarkResult* result(std::string_view run, const std::string& name) const {
    const MeasuredRun* measured = find_run(asked.input, run);
    if (measured == nullptr || process >= measured->processes.size()) return nullptr;
    const auto& all = measured->processes[process].benchmarks;
    const auto found = std::ranges::find(all, name, &BenchmarkResult::name);
    return found == all.end() || !found->failure.empty() ? nullptr : &*found;
  }
  template <typename Of>
  double of_benchmark(const baselines::JsonField& field, std::string_view what, Of of) const {
    const BenchmarkReference reference = reference_of(field, asked);
    const std::string& problem = reference.problem.empty() ? asked.problem : reference.problem;
    const BenchmarkResult* found = result(reference.run, reference.name + '/' + problem);
    const double value = found == nullptr ? kNan : of(*found);
    return std::isfinite(value) && value > 0
               ? value
               : unknown(fmt::format("{}{}", what, reference_text(asked.input, reference)));
  }
};

double counter(const BenchmarkResult& result, const std::string& name) {
  const auto found = result.counters.find(name);
  return found == result.counters.end() ? kNan : found->second;
}

double time(const Look& look, const Arguments& arguments) {
  return look.of_benchmark(arguments[1], "", [&](const BenchmarkResult& result) {
    return look.in_cycles ? result.summary.cycles : result.summary.time_ns;
  });
}

double host(const Look& look, const Arguments& arguments) {
  return look.of_benchmark(arguments[1], "`host_ns` of ", [&](const BenchmarkResult& result) {
    return look.in_cycles ? kNan : counter(result, "host_ns");
  });
}

double stage(const Look& look, const Arguments& arguments) {
  return look.of_benchmark(arguments[1], "a profile of ", [&](const BenchmarkResult& result) {
    if (look.in_cycles || !result.profile) return kNan;
    const auto& kernels = result.profile->kernels;
    const std::string stage = look.text(arguments[2]);
    const auto found = std::ranges::find(kernels, stage, &baselines::ProfiledKernel::stage);
    return found == kernels.end() ? kNan : found->duration_ns;
  });
}

double bytes(const Look& look, const Arguments& arguments) {
  return look.of_benchmark(arguments[1], "`min_bytes` of ", [](const BenchmarkResult& result) {
    return counter(result, "min_bytes");
  });
}

double copy(const Look& look, const Arguments& arguments) {
  const std::string name = look.text(arguments[1]);
  const MeasuredRun* run = find_run(look.asked.input, name);
  const auto rate =
      run == nullptr ? std::nullopt : measured_rates(benchmark_figures(run->run)).copy_gbps;
  const BenchmarkResult* result = rate ? look.result(name, rate->benchmark) : nullptr;
  if (result == nullptr) return look.unknown(fmt::format("`control_copy` in the run \"{}\"", name));
  return look.in_cycles ? kNan : result->summary.time_ns / counter(*result, "min_bytes");
}

double published(const Look& look, const Arguments& arguments) {
  const std::string name =
      fmt::format("{}/{}{}", look.text(arguments[1]), look.asked.series_problem,
                  arguments.size() > 2 ? "/stage:" + look.text(arguments[2]) : "");
  if (look.asked.input.published) {
    for (const auto& series : look.asked.input.published->benchmarks) {
      if (series.name == name && !series.invocations.empty())
        return series.invocations.front().time_ns;
    }
  }
  return look.unknown("a figure that --published does not have");
}

bool is_operator(const TraceRow& row) { return row.category == TraceCategory::kOperator; }

std::string row_text(const TraceRow& row) {
  const double cpu_ns = static_cast<double>(row.cpu_ns) / static_cast<double>(row.calls);
  return fmt::format("{}: {}, {} of the host's time each, {} of the GPU's", markdown_code(row.name),
                     format_count(row.calls, "call"), format_time_ns(cpu_ns),
                     format_time_ns(static_cast<double>(row.cuda_ns)));
}

// Of the rows that any of the names fits, the sum of what is asked for.
double sum_of_rows(const Look& look, const Arguments& arguments, bool needs_first,
                   double (*of)(const TraceRow&)) {
  const ReadTrace* trace = look.trace(arguments[1]);
  double sum = trace == nullptr ? kNan : 0;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const std::string wanted = look.text(arguments[i]);
    if (trace == nullptr) continue;
    const std::size_t before = look.figures.seen.size();
    for (const TraceRow& row : trace->summary.rows) {
      if (!is_operator(row) && !baselines::is_call(row.category)) continue;
      if (fnmatch(wanted.c_str(), row.name.c_str(), 0) != 0) continue;
      look.figures.seen.push_back(row_text(row));
      sum += of(row);
    }
    if (look.figures.seen.size() > before) continue;
    if (needs_first && i == 2) sum = look.unknown(markdown_code(wanted) + " in that trace");
    if (!needs_first) look.figures.seen.push_back("no " + markdown_code(wanted));
  }
  return sum;
}

double gpu(const Look& look, const Arguments& arguments) {
  return sum_of_rows(look, arguments, true,
                     [](const TraceRow& row) { return static_cast<double>(row.cuda_ns); });
}

double calls(const Look& look, const Arguments& arguments) {
  const double all = sum_of_rows(
      look, arguments, false, [](const TraceRow& row) { return static_cast<double>(row.calls); });
  const ReadTrace* trace = look.trace(arguments[1]);
  return trace == nullptr ? kNan : all / static_cast<double>(trace->steps.steps);
}

double own_operators(const Look& look, const Arguments& arguments) {
  const ReadTrace* trace = look.trace(arguments[1]);
  const ReadTrace* other = look.trace(arguments[2]);
  if (trace == nullptr || other == nullptr) return kNan;
  for (const TraceRow& row : trace->summary.rows) {
    const bool both = std::ranges::any_of(other->summary.rows, [&](const TraceRow& its) {
      return is_operator(its) && its.name == row.name;
    });
    if (is_operator(row) && !both) look.figures.seen.push_back(markdown_code(row.name));
  }
  return static_cast<double>(look.figures.seen.size());
}

double kernel(const Look& look, const Arguments& arguments) {
  const ReadTrace* trace = look.trace(arguments[1]);
  const auto number = static_cast<std::size_t>(arguments[2].number_from_zero());
  if (trace == nullptr) return kNan;
  if (number < trace->steps.kernels.size()) return trace->steps.kernels[number].duration_ns;
  return look.unknown(fmt::format("a kernel {} of that trace", number));
}

struct KnownFigure {
  double (*find)(const Look&, const Arguments&);
  std::size_t least = 2;  // elements of the array
  std::size_t most = 2;
  bool is_of_benchmark = false;
};

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
const std::map<std::string, KnownFigure, std::less<>> kFigures{
    {"time", {time, 2, 2, true}},
    {"host", {host, 2, 2, true}},
    {"stage", {stage, 3, 3, true}},
    {"bytes", {bytes, 2, 2, true}},
    {"copy", {copy}},
    {"published", {published, 2, 3}},
    {"calls", {calls, 3, kAny}},
    {"gpu", {gpu, 3, kAny}},
    {"own_operators", {own_operators, 3, 3}},
    {"kernel", {kernel, 3, 3}},
};

// Of the two that come first, and then of that and the next.
double apply(char operation, double a, double b) {
  return operation == '+' ? a + b : operation == '-' ? a - b : operation == '*' ? a * b : a / b;
}

// find: of a figure.
template <typename Find>
double evaluate(const baselines::JsonField& expression, const Find& find) {
  if (expression.value().is_number()) return expression.number();
  const Arguments elements = expression.elements();
  if (elements.size() < 2) expression.fail("is no expression");
  const std::string name = elements[0].text();
  if (name.size() == 1 && std::string_view("+-*/").find(name) != std::string_view::npos) {
    double value = evaluate(elements[1], find);
    for (std::size_t i = 2; i < elements.size(); ++i) {
      value = apply(name[0], value, evaluate(elements[i], find));
    }
    return value;
  }
  const auto known = kFigures.find(name);
  if (known == kFigures.end()) elements[0].fail(fmt::format("\"{}\" is no figure", name));
  if (elements.size() < known->second.least || elements.size() > known->second.most)
    expression.fail("names too much or too little for the figure");
  return find(known->second, elements);
}

}  // namespace

std::string text_of(const baselines::JsonField& field, const Asked& asked) {
  std::string text = field.text();
  constexpr std::string_view kEach = "<each>";
  for (std::size_t at = text.find(kEach); at != text.npos && !asked.each.empty();
       at = text.find(kEach, at + asked.each.size())) {
    text.replace(at, kEach.size(), asked.each);
  }
  return text;
}

BenchmarkReference reference_of(const baselines::JsonField& field, const Asked& asked) {
  const std::string text = text_of(field, asked);
  const std::size_t colon = text.find(':');
  const std::size_t first = text.find('/');
  const std::string run = text.substr(0, colon);
  if ((run != "ours" && run != "peers") || first == text.npos)
    field.fail(fmt::format("\"{}\" is no benchmark such as ours:linear/addmm", text));
  const std::size_t second = std::min(text.find('/', first + 1), text.size());
  return {run, text.substr(colon + 1, second - colon - 1),
          text.substr(std::min(second + 1, text.size()))};
}

std::string reference_text(const ClaimsInput& input, const BenchmarkReference& reference) {
  return fmt::format("`{}` in {}{}", reference.name,
                     reference.run == "ours" ? "our run" : "the peers' run",
                     find_run(input, reference.run) == nullptr ? " (--peers was not given)" : "");
}

const MeasuredRun* find_run(const ClaimsInput& input, std::string_view run) {
  if (run == "ours") return &input.ours;
  return run == "peers" && input.peers ? &*input.peers : nullptr;
}

std::vector<std::string> problems_of(const ClaimsInput& input,
                                     const BenchmarkReference& reference) {
  const MeasuredRun* run = find_run(input, reference.run);
  if (run == nullptr) return {};
  std::map<std::array<std::int64_t, 4>, std::string> sorted;
  for (const baselines::BenchmarkSeries& series : run->run.benchmarks) {
    const auto name = baselines::parse_benchmark_name(series.name);
    if (!name || name->rows() == 0 || name->dtype != kDtype || series.invocations.empty() ||
        fmt::format("{}/{}", name->operation, name->implementation) != reference.name)
      continue;
    sorted.emplace(
        std::array{name->rows(), name->axis("dim"), name->axis("hidden"), name->axis("batch")},
        series.name.substr(reference.name.size() + 1));
  }
  std::vector<std::string> problems;
  for (const auto& [size, problem] : sorted) problems.push_back(problem);
  return problems;
}

const ReadTrace* find_trace(const Asked& asked, std::string_view name, std::string* missing) {
  const auto found = asked.input.traces.find(name);
  const ReadTrace* trace = found == asked.input.traces.end() ? nullptr : &found->second;
  // bench/peers/record_trace.py calls each step's range as the benchmark is called.
  std::string benchmark(name);
  if (const std::size_t dash = benchmark.find('-'); dash != benchmark.npos) benchmark[dash] = '/';
  benchmark += '/' + asked.series_problem;
  const auto is_its_range = [&](const TraceRow& row) {
    return row.category == TraceCategory::kRange && row.name == benchmark;
  };
  if (trace == nullptr || trace->steps.steps == 0 ||
      std::ranges::none_of(trace->summary.rows, is_its_range)) {
    *missing = fmt::format("the trace `{}.json` of {}, with torch.profiler's steps", name,
                           asked.series_problem);
    return nullptr;
  }
  if (trace->steps.alike) return trace;
  *missing = fmt::format("a trace `{}.json` whose steps all launch the same kernels", name);
  return nullptr;
}

std::vector<BenchmarkReference> references_of(const baselines::JsonField& expression,
                                              const Asked& asked) {
  std::vector<BenchmarkReference> references;
  evaluate(expression, [&](const KnownFigure& figure, const Arguments& arguments) {
    if (figure.is_of_benchmark) references.push_back(reference_of(arguments[1], asked));
    if (figure.find == copy) {
      references.push_back({arguments[1].text(), "", "any"});
      if (references.back().run != "ours" && references.back().run != "peers")
        arguments[1].fail("is neither \"ours\" nor \"peers\"");
    }
    return 1.0;
  });
  for (const BenchmarkReference& reference : references) {
    if (reference.run != references.front().run)
      expression.fail("joins benchmarks of two runs, whose processes are no pairs");
  }
  return references;
}

Figures figures_of(const baselines::JsonField& expression, const Asked& asked) {
  const std::vector<BenchmarkReference> references = references_of(expression, asked);
  const MeasuredRun* run = find_run(asked.input, references.empty() ? "" : references.front().run);
  const std::size_t processes =
      run == nullptr ? 1 : std::max<std::size_t>(1, run->processes.size());
  Figures figures;
  Figures unheard;  // what every process tells alike; and that cycles are
                    // missing is no loss
  for (std::size_t process = 0; process < processes; ++process) {
    for (const bool in_cycles : {false, true}) {
      const Look look{asked, process, in_cycles, in_cycles || process > 0 ? unheard : figures};
      const double value =
          evaluate(expression, [&](const KnownFigure& figure, const Arguments& arguments) {
            return figure.find(look, arguments);
          });
      if (std::isfinite(value)) (in_cycles ? figures.cycles : figures.values).push_back(value);
    }
  }
  return figures;
}

}  // namespace fusegate::ci
