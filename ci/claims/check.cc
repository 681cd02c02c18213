#include "ci/claims/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "baselines/launches/kernel_name_reader.h"
#include "baselines/record/benchmark_name.h"
#include "ci/claims/figures.h"
#include "ci/claims/kernels.h"
#include "ci/claims/ratio.h"
#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

using baselines::JsonField;

constexpr std::string_view kNeedsTwoProcesses =
    "a second process of each, or more of them where an interval spans the "
    "bound";
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Of "bf16/batch:1/...", as benchmarks' names end.
std::optional<baselines::BenchmarkName> parse_problem(const std::string& problem) {
  return baselines::parse_benchmark_name("any/any/" + problem);
}

void allow(const JsonField& field, std::initializer_list<std::string_view> names) {
  for (const auto& [name, value] : field.members()) {
    if (std::ranges::find(names, name) == names.end()) value.fail("is no field of this");
  }
}

bool is_set(const JsonField& field, std::string_view name) {
  const auto found = field.find(name);
  return found && found->boolean();
}

// What a comparison asks, read whole before anything is looked up: bad fields are told whatever was
// measured.
struct Comparison {
  Comparison(const JsonField& field, const Asked& asked)
      : of(field.at("of")),
        over(field.find("over")),
        to(field.find("to")),
        is(field.text_or_empty("is")),
        by(is == "within" ? field.at("by").positive_number() : 0) {
    const std::set<std::string> rules =
        over ? std::set<std::string>{"faster", "slower", "not faster", "below", "above", "within"}
             : std::set<std::string>{"equal", "more"};
    const bool is_shown_only = is.empty() && is_set(field, "beside");
    if (!is_shown_only && !rules.contains(is)) field.at("is").fail("is no rule");
    for (const auto& expression : {std::optional(of), over, to}) {
      if (!expression) continue;
      for (const BenchmarkReference& reference : references_of(*expression, asked)) {
        if (reference.problem.empty()) open.push_back(reference);
      }
    }
  }

  JsonField of;
  std::optional<JsonField> over, to;
  std::string is;
  double by;
  std::vector<BenchmarkReference> open{};  // benchmarks that are named without a problem
};

class Checker {
 public:
  Checker(const JsonField& file, const ClaimsInput& input)
      : input_(input),
        checked_{file.at("source").text(), file.at("card").text(),
                 file.at("confidence").positive_number(),
                 file.at("smallest_effect").positive_number()},
        problem_(file.at("problem").text()),
        patterns_(file.at("kernels")) {
    if (checked_.confidence >= 1) file.at("confidence").fail("must be below 1");
    if (!parse_problem(problem_)) file.at("problem").fail("is no end of a benchmark's name");
  }

  CheckedClaims check(const std::vector<JsonField>& claims) {
    for (const JsonField& field : claims) checked_.claims.push_back(claim(field));
    return std::move(checked_);
  }

 private:
  Claim claim(const JsonField& field) const {
    allow(field, {"id", "statement", "published", "beyond", "one_suffices", "findings"});
    field.at("id").text();
    Claim claim{field.at("statement").text(), published(field.at("published")),
                is_set(field, "beyond")};
    claim.any_suffices = is_set(field, "one_suffices");
    for (const JsonField& finding : field.at("findings").elements()) {
      for (const std::string& each : implementations(finding)) {
        claim.findings.push_back(finding.find("kernels") ? kernels_finding(finding)
                                                         : comparison_finding(finding, each));
        if (!is_set(finding, "beside")) continue;
        claim.findings.back().answer.reset();
        claim.findings.back().missing.clear();
      }
    }
    return claim;
  }

  std::string published(const JsonField& field) const {
    if (field.value().is_string()) return field.text();
    allow(field, {"of", "over"});
    const Figures of = figures_of(field.at("of"), {input_, problem_});
    const Figures over = figures_of(field.at("over"), {input_, problem_});
    if (of.values.empty() || over.values.empty())
      return of.missing.empty() ? over.missing : of.missing;
    return fmt::format("{} over {}: {:.3f}", format_time_ns(of.values[0]),
                       format_time_ns(over.values[0]), of.values[0] / over.values[0]);
  }

  // What <each> stands for; nothing where there is none, or nothing was measured.
  std::set<std::string> implementations(const JsonField& finding) const {
    const auto each = finding.find("each");
    if (!each) return {""};
    const std::string text = each->text();
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string run_name = text.substr(0, colon);
    if (run_name != "ours" && run_name != "peers") each->fail("is no RUN:OPERATION");
    const MeasuredRun* run = find_run(input_, run_name);
    std::set<std::string> names;
    for (const auto& series :
         run != nullptr ? run->run.benchmarks : std::vector<baselines::BenchmarkSeries>{}) {
      const auto name = baselines::parse_benchmark_name(series.name);
      if (name && ':' + name->operation == text.substr(colon)) names.insert(name->implementation);
    }
    return names.empty() ? std::set<std::string>{""} : names;
  }

  // Where a comparison is made; none where it cannot be, and* missing says why.
  std::vector<std::string> problems(const JsonField& field, const Comparison& comparison,
                                    std::string* missing) const {
    const std::string at = field.text_or_empty("at");
    const auto below = field.find("rows_below");
    const double most_rows = below ? below->positive_number() : kInfinity;
    if (at == "series" || (at.empty() && comparison.open.empty())) {
      return {at.empty() ? "" : problem_};
    }
    const bool is_end = (at == "fewest rows" || at == "most rows") && !comparison.open.empty();
    if (!at.empty() && !is_end) field.at("at").fail("is no place");
    std::vector<std::string> shared;
    for (const BenchmarkReference& reference : comparison.open) {
      const std::vector<std::string> its = problems_of(input_, reference);
      if (its.empty() && missing->empty()) *missing = reference_text(input_, reference);
      if (&reference == &comparison.open.front()) shared = its;
      std::erase_if(shared, [&](const std::string& problem) {
        const auto name = parse_problem(problem);
        return std::ranges::find(its, problem) == its.end() ||
               static_cast<double>(name->rows()) >= most_rows;
      });
    }
    if (shared.size() < (at.empty() ? 1 : 2) && missing->empty()) {
      *missing = fmt::format("{} at {}", reference_text(input_, comparison.open.front()),
                             at.empty() ? "a problem that is asked about" : "two problems");
    }
    if (!missing->empty()) return {};
    if (at.empty()) return shared;
    return {at == "fewest rows" ? shared.front() : shared.back()};
  }

  Finding comparison_finding(const JsonField& field, const std::string& each) const {
    allow(field, {"question", "of", "over", "is", "to", "by", "at", "some", "rows_below", "each",
                  "beside"});
    Asked asked{input_, problem_, each};
    Finding finding{text_of(field.at("question"), asked)};
    const Comparison comparison(field, asked);
    std::vector<Answer> answers;
    for (const std::string& problem : problems(field, comparison, &finding.missing)) {
      asked.problem = problem;
      answers.push_back(answer_at(comparison, asked, &finding));
    }
    finding.answer = is_set(field, "some") ? any_of(answers) : all_of(answers);
    if (finding.answer != Answer::kUnknown) {
      finding.missing.clear();
    } else if (finding.missing.empty()) {
      finding.missing = kNeedsTwoProcesses;
    }
    return finding;
  }

  Answer answer_at(const Comparison& comparison, const Asked& asked, Finding* finding) const {
    const auto look_up = [&](const std::optional<JsonField>& expression, double else_value) {
      if (!expression) return Figures{{else_value}};
      Figures figures = figures_of(*expression, asked);
      finding->seen.insert(finding->seen.end(), figures.seen.begin(), figures.seen.end());
      if (figures.values.empty() && finding->missing.empty()) finding->missing = figures.missing;
      return figures;
    };
    const Figures of = look_up(comparison.of, 0);
    const Figures over = look_up(comparison.over, 1);
    const Figures to = look_up(comparison.to, comparison.over ? 1 : 0);
    if (of.values.empty() || over.values.empty() || to.values.empty()) return Answer::kUnknown;
    const double bound = to.values.front();
    if (comparison.over) return by_ratio(comparison, asked, of, over, bound, finding);
    if (comparison.to)
      finding->seen.push_back(fmt::format("{:.12g}, held against {:.12g}", of.values[0], bound));
    return answer_of(std::ranges::all_of(of.values, [&](double value) {
      return comparison.is == "equal" ? value == bound : value > bound;
    }));
  }

  Answer by_ratio(const Comparison& comparison, const Asked& asked, const Figures& of,
                  const Figures& over, double bound, Finding* finding) const {
    if (std::min(std::ranges::min(of.values), std::ranges::min(over.values)) <= 0) {
      finding->seen.push_back("in some process it is not above zero");
      return Answer::kNo;
    }
    const Ratio time = *ratio_of(of.values, over.values, checked_.confidence);
    const bool has_cycles =
        of.cycles.size() == of.values.size() && over.cycles.size() == over.values.size();
    const auto cycles =
        has_cycles ? ratio_of(of.cycles, over.cycles, checked_.confidence) : std::nullopt;
    finding->seen.push_back(
        fmt::format("{}{} over {}, {}{}{}", label(asked.problem),
                    format_time_ns(typical(of.values)), format_time_ns(typical(over.values)),
                    ratio_text(time), cycles ? ", in cycles " + ratio_text(*cycles) : "",
                    comparison.to ? fmt::format(", held against {:.3f}", bound) : ""));
    return by_rule(comparison, time, cycles, bound);
  }

  static std::string label(const std::string& problem) {
    const auto name = parse_problem(problem);
    return name ? baselines::problem_text(*name) + ": " : "";
  }

  Answer by_rule(const Comparison& comparison, const Ratio& time,
                 const std::optional<Ratio>& cycles, double bound) const {
    const std::string& is = comparison.is;
    const bool is_effect = is == "faster" || is == "not faster" || is == "slower";
    const double margin = is == "within" ? comparison.by : is_effect ? checked_.smallest_effect : 0;
    const double low = is == "slower" || is == "above" ? bound * (1 + margin)
                       : is == "within"                ? bound * (1 - margin)
                                                       : 0;
    const double high = is == "slower" || is == "above" ? kInfinity
                        : is == "within"                ? bound * (1 + margin)
                                                        : bound * (1 - margin);
    std::vector<Answer> answers{is_within(time, low, high)};
    if (is_effect && cycles) answers.push_back(is_within(*cycles, low, high));
    return is == "not faster" ? not_of(all_of(answers)) : all_of(answers);
  }

  Finding kernels_finding(const JsonField& field) const {
    allow(field, {"question", "kernels", "only", "but", "are", "same_as", "quiet", "beside"});
    Finding finding{field.at("question").text()};
    const auto are = field.find("are");
    const std::vector<JsonField> patterns = are ? are->elements() : std::vector<JsonField>{};
    patterns_.are({}, patterns);
    Finding of_other;
    const auto same_as = field.find("same_as");
    const std::vector<KernelNames> other =
        same_as ? launched(*same_as, &of_other) : std::vector<KernelNames>{};
    std::vector<Answer> answers;
    for (const KernelNames& kernels : launched(field.at("kernels"), &finding)) {
      const KernelNames own = selected(field, kernels);
      answers.push_back(are              ? answer_of(patterns_.are(own, patterns))
                        : !other.empty() ? answer_of(are_same(own, selected(field, other.front())))
                                         : Answer::kUnknown);
    }
    finding.answer = all_of(answers);
    if (finding.answer == Answer::kUnknown) finding.missing += of_other.missing;
    if (is_set(field, "quiet")) finding.seen.clear();
    return finding;
  }

  static bool are_same(const KernelNames& kernels, const KernelNames& others) {
    return !kernels.empty() && std::ranges::equal(kernels, others, {}, &baselines::KernelName::name,
                                                  &baselines::KernelName::name);
  }

  KernelNames selected(const JsonField& field, const KernelNames& kernels) const {
    if (const auto only = field.find("only")) return patterns_.select(kernels, *only, true);
    if (const auto but = field.find("but")) return patterns_.select(kernels, *but, false);
    return kernels;
  }

  // Of a trace's steps, which launch the same, or of every process's profiled call.
  std::vector<KernelNames> launched(const JsonField& field, Finding* finding) const {
    const Asked asked{input_, problem_};
    const std::string source = field.text();
    constexpr std::string_view kTrace = "trace:";
    if (!source.starts_with(kTrace)) return profiled(reference_of(field, asked), finding);
    const ReadTrace* trace = find_trace(asked, source.substr(kTrace.size()), &finding->missing);
    if (trace == nullptr) return {};
    KernelNames names;
    for (const StepKernel& kernel : trace->steps.kernels) {
      names.push_back(baselines::read_kernel_name(kernel.name));
      finding->seen.push_back(kernel_line(kernel.name, kernel.duration_ns));
    }
    return {names};
  }

  std::vector<KernelNames> profiled(const BenchmarkReference& reference, Finding* finding) const {
    std::vector<KernelNames> calls;
    const MeasuredRun* run = find_run(input_, reference.run);
    const std::string name = fmt::format("{}/{}", reference.name,
                                         reference.problem.empty() ? problem_ : reference.problem);
    const baselines::BenchmarkSeries* series = run == nullptr ? nullptr : run->find(name);
    if (series == nullptr || !series->profile) {
      finding->missing = "a profile of " + reference_text(input_, reference);
      return calls;
    }
    for (const baselines::RunFile& process : run->processes) {
      for (const baselines::BenchmarkResult& result : process.benchmarks) {
        if (result.name != name || !result.profile) continue;
        KernelNames& names = calls.emplace_back();
        for (const baselines::ProfiledKernel& kernel : result.profile->kernels) {
          names.push_back(baselines::read_kernel_name(kernel.name));
        }
      }
    }
    for (const baselines::ProfiledKernel& kernel : series->profile->kernels) {
      finding->seen.push_back((kernel.stage.empty() ? "" : kernel.stage + ": ") +
                              kernel_line(kernel.name, kernel.duration_ns));
    }
    finding->seen.push_back(fmt::format(
        "{} of {} launched these, and {}", series->profile->gaps_ns.size(),
        format_count(static_cast<std::size_t>(series->profile->invocations), "profiled call"),
        format_count(static_cast<std::size_t>(series->profile->memory_operations),
                     "memory operation")));
    return calls;
  }

  const ClaimsInput& input_;
  CheckedClaims checked_;
  const std::string problem_;
  const KernelPatterns patterns_;
};

}  // namespace

CheckedClaims check_claims(const JsonField& file, const ClaimsInput& input) {
  allow(file, {"source", "card", "problem", "confidence", "smallest_effect", "kernels", "claims"});
  return Checker(file, input).check(file.at("claims").elements());
}

}  // namespace fusegate::ci
