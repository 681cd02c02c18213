#include "baselines/record/run_blocks.h"

#include <nlohmann/json.hpp>

#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"

namespace fusegate::baselines {
namespace {

InvocationPlace place_of(const JsonField& entry) {
  InvocationPlace place;
  if (const auto block = entry.find("block")) {
    place.block = block->integer();
    if (place.block < 0) block->fail("must not be negative");
  }
  if (const auto extension = entry.find("extension")) place.extension = extension->boolean();
  return place;
}

}  // namespace

RunBlocks read_run_blocks(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "run.json";
  if (!std::filesystem::exists(path)) return {};
  const nlohmann::json json = parse_json(read_regular_file(path), path.string());
  const JsonField record(json, path.string(), "");
  RunBlocks blocks;
  blocks.session = record.text_or_empty("session");
  if (const auto finished = record.find("finished")) blocks.finished = finished->boolean();
  if (const auto invocations = record.find("invocations")) {
    for (const JsonField& entry : invocations->elements()) {
      blocks.by_file[entry.at("file").text()] = place_of(entry);
    }
  }
  return blocks;
}

}  // namespace fusegate::baselines
