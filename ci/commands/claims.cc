#include <string>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/record/baseline.h"
#include "ci/claims/text.h"
#include "ci/commands/command_line.h"
#include "ci/console/layout.h"
#include "ci/console/output_files.h"
#include "ci/figures/peer_match.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPublished = "published/nvidia-a100-sxm4-80gb.json";

std::optional<baselines::Run> read_published(const ClaimsRequest& request) {
  std::optional<fs::path> path = request.published;
  for (const fs::path& store : request.stores) {
    if (!path && fs::exists(store / kPublished)) path = store / kPublished;
  }
  if (!path) return std::nullopt;
  baselines::Baseline baseline = baselines::read_baseline(*path);
  if (!baseline.published) {
    throw baselines::InputError(path->string(), "published", "must be true for published figures");
  }
  return std::move(baseline.run);
}

ClaimsInput read_input(const ClaimsRequest& request) {
  ClaimsInput input{read_measured_run(request.candidate)};
  if (!request.peers.empty()) {
    input.peers = read_measured_run(request.peers);
    check_peer_environment(input.ours.run, input.peers->run, request.allow_environment_differences);
  }
  if (request.traces) input.traces = read_traces(*request.traces);
  if (!request.allow_environment_differences) check_trace_devices(input);
  input.published = read_published(request);
  return input;
}

// As it was given, but for where the page goes.
std::string command_text(const ClaimsRequest& request) {
  std::string text = "fusegate claims";
  const auto add = [&](const std::string& flag, const fs::path& path) {
    text += ' ' + flag + ' ' + path.string();
  };
  for (const fs::path& path : request.candidate) add("--candidate", path);
  for (const fs::path& path : request.peers) add("--peers", path);
  if (request.traces) add("--traces", *request.traces);
  if (request.published) add("--published", *request.published);
  if (request.claims) add("--claims", *request.claims);
  return text;
}

}  // namespace

void add_claims(CommandLine& line) {
  auto [app, request] =
      line.add("claims", "Check the statements of \"Profiling in PyTorch, part 2\" with a run",
               "fusegate claims --candidate run --peers run-peers --out claims.md", claims_command);
  request.stores = default_stores(fs::current_path());
  app.add_option("--candidate", request.candidate,
                 "Run folders or run files that together make one run. The suite claims measures "
                 "all that is needed")
      ->type_name("PATH")
      ->required();
  app.add_option("--peers", request.peers, "Run folders or run files of peers (run --peers)")
      ->type_name("PATH");
  app.add_option("--traces", request.traces,
                 "Folder of traces by torch.profiler (bench/peers/record_trace.py writes them)")
      ->type_name("FOLDER");
  app.add_option("--published", request.published,
                 "Published figures; by default a store's published/nvidia-a100-sxm4-80gb.json")
      ->type_name("FILE");
  app.add_option("--claims", request.claims,
                 "File of other statements than the series' (ci/claims/check.h has the format)")
      ->type_name("FILE");
  app.add_option("--out", request.out, "Write the page to this Markdown file")->type_name("FILE");
  app.add_flag("--allow-environment-difference", request.allow_environment_differences,
               "Accept peers and traces whose driver, clocks or the like differ");
}

baselines::ExitCode claims_command(const ClaimsRequest& request, Console& console) {
  const ClaimsInput input = read_input(request);
  const fs::path path = request.claims.value_or(series_claims());
  const nlohmann::json file = baselines::parse_json(baselines::read_file(path), path.string());
  const CheckedClaims checked = check_claims(baselines::JsonField(file, path.string(), ""), input);
  const std::vector<std::string> notes =
      input.peers ? peer_notes(input.ours.run, input.peers->run) : std::vector<std::string>{};
  const std::string page = claims_page(checked, input, command_text(request), notes);
  write_output_files({{request.out, [&] { return page; }}}, [&](const fs::path& out) {
    console.out.print("{}\nwrote {}\n", claims_headline(checked.claims), out.string());
  });
  if (!request.out) console.out.lines(page);
  return baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
