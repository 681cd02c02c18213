# Writes OUTPUT, a header with the commit that is being built. Run at every build, and touching the
# file only when it changes: a commit read when CMake configures would soon be another's.
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
// The commit that this build was made from; empty outside a git checkout.
#pragma once

namespace fusegate::bench {
inline constexpr const char* kCommit = "@commit@";
inline constexpr bool kCommitDirty = @dirty@;
}  // namespace fusegate::bench
]])
