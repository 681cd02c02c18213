#include "baselines/io/file_io.h"
#include "baselines/record/baseline.h"
#include "ci/codes/codes_file.h"
#include "ci/codes/codes_text.h"
#include "ci/commands/reading/command_line.h"
#include "ci/console/output_files.h"

namespace fusegate::ci {
namespace {

constexpr std::size_t kLongestMarkdown = 20'000;  // a comment's 60,000 have a gate's too

}  // namespace

using baselines::ExitCode;

void add_codes(CommandLine& line) {
  auto [app, request] =
      line.add("codes",
               "Read every kernel's machine code out of built programs; needs no "
               "GPU, and runs nothing of them",
               "fusegate codes build/bin/my_bench --out codes.json", codes_command);
  app.add_option("program", request.programs,
                 "Programs, libraries, fat binaries, cubins, or folders with .cubin files, such as "
                 "Triton's cache")
      ->type_name("PATH")
      ->required();
  app.add_option("--out", request.out, "Write the codes there, for codes-diff")->type_name("FILE");
}

ExitCode codes_command(const CodesRequest& request, Console& console) {
  const ProgramCodes codes = read_codes(request.programs);
  write_output_files({{request.out, [&] { return codes_text(codes); }}});
  std::map<std::string, std::size_t> counts;
  for (const ProgramKernel& kernel : codes.kernels) ++counts[kernel.architecture];
  for (const auto& [architecture, count] : counts) {
    console.out.print("{}: {}\n", architecture, format_count(count, "kernel"));
  }
  for (const std::string& note : codes.notes) console.out.print("note: {}\n", note);
  return ExitCode::kNoRegression;
}

void add_codes_diff(CommandLine& line) {
  auto [app, request] = line.add(
      "codes-diff",
      "Compare two programs' kernels and host code, without a GPU: what changed, and which "
      "benchmarks that touches. 0: no GPU is needed, 1: one is, 2: could not compare",
      "fusegate codes-diff base.json build/bin/my_bench --baseline pr.json", codes_diff_command);
  app.add_option("base", request.base, "A file of fusegate codes, or what that reads")
      ->type_name("BASE")
      ->required();
  app.add_option("head", request.head, "The same of the change")->type_name("HEAD")->required();
  app.add_option("--baseline", request.baseline,
                 "A stored baseline of the base: names the benchmarks that launch what changed")
      ->type_name("FILE");
  app.add_option("--json", request.json, "Write the difference there")->type_name("FILE");
  app.add_option("--markdown", request.markdown, "Write it there as GitHub Markdown, for a comment")
      ->type_name("FILE");
}

ExitCode codes_diff_command(const CodesDiffRequest& request, Console& console) {
  const ProgramCodes base = load_codes(request.base);
  CodesDiff diff = diff_codes(base, load_codes(request.head));
  if (request.baseline) {
    add_benchmarks(diff, base, baselines::read_baseline(*request.baseline).run);
  }
  const Document document = codes_document(diff);
  write_output_files({{request.json,
                       [&] {
                         return codes_diff_json(diff).dump(
                                    1, ' ', false, nlohmann::json::error_handler_t::replace) +
                                "\n";
                       }},
                      {request.markdown, [&] { return markdown(document, kLongestMarkdown); }}});
  console.out.lines(terminal_text(document, console.out.style()));
  return codes_exit_code(diff);
}

}  // namespace fusegate::ci
