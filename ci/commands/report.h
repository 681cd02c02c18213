// `fusegate report`: a run as Markdown and as one self-contained HTML page, compared with a
// baseline where there is one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ci/console/console.h"
#include "ci/judging/judging.h"

namespace fusegate::ci {

struct ReportRequest {
  JudgingRequest judging;
  std::string title;
  std::optional<std::filesystem::path> markdown;  // none of the three: Markdown goes to out
  std::optional<std::filesystem::path> html;
  std::optional<std::filesystem::path> svg{};  // one picture: where fusion wins
  // Run folders or run files of peers, together one run; empty where there are none. The judging's
  // allow_environment_differences goes for them too.
  std::vector<std::filesystem::path> peers{};
};

// 0 where the report was written, whatever it says. Throws InputError, also where Python or one of
// its packages is missing.
baselines::ExitCode report_command(const ReportRequest& request, Console& console);

}  // namespace fusegate::ci
