#include "baselines/io/help_example.h"

#include <CLI/CLI.hpp>

namespace fusegate::baselines {

void add_example(CLI::App& app, const std::string& call) {
  const std::string footer = app.get_footer();
  app.footer(footer + (footer.empty() ? "" : "\n\n") + "Example:\n  " + call);
}

}  // namespace fusegate::baselines
