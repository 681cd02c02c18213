// What becomes nights of a history: run folders with the replay that was measured beside each,
// stored baselines, and nights that were exported.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "baselines/history/history.h"
#include "baselines/io/settings.h"

namespace fusegate::ci {

// Read, so that nothing is added where something cannot be.
struct NightSource {
  std::string source;  // what it was read from, for messages
  std::int64_t measured_s =
      0;  // since 1970; of an exported night, never before the file's last one
  // By the clocks of what the history has by now; null: by its own.
  std::function<baselines::Night(const baselines::History*)> night{};
  bool dirty = false;          // measured with uncommitted changes
  baselines::Settings settings{};  // of the run's suite
};

struct NightSources {
  std::vector<NightSource> nights{};
  // Why there is none, of a file of a store: it is a calibration, or figures of a publication.
  std::string passed_over{};
};

// path: a run folder; the folder that `fusegate duet`, `replay` or `job` made for several; a run
// file; a stored baseline; or a file of exported nights. Of several folders that were measured
// together it is the one that was judged ("head", "second", else "first"), and "base" is its
// replay. checkout: the git checkout, of which the commit before the run's is asked. Throws
// InputError.
NightSources read_nights(const std::filesystem::path& path, const std::filesystem::path& checkout);

// Whether it is a file that holds no whole run: several of these make one.
bool is_run_file(const std::filesystem::path& path);

}  // namespace fusegate::ci
