# Writes OUTPUT, a source that registers what a benchmark program is built from: the commit of SOURCE's
# repository and TOOLCHAIN. Run at every build, and touching the file only when it changes: a commit read when
# CMake configures would soon be another's.
execute_process(COMMAND git rev-parse HEAD WORKING_DIRECTORY ${SOURCE}
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND git status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE}
                OUTPUT_VARIABLE changes ERROR_QUIET)
if(changes)
  set(dirty true)
else()
  set(dirty false)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
// What this program is built from; no commit outside a git checkout.
#include <fusegate/origin.h>

namespace {
const fusegate::bench::OriginRegistration registered{{
    .commit = "@commit@",
    .dirty = @dirty@,
    .toolchain = R"(@TOOLCHAIN@)",
}};
}  // namespace
]])
