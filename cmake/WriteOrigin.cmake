# Writes OUTPUT, a source that registers the origin of a benchmark program: the commit of SOURCE's repository, and
# TOOLCHAIN. Runs in every build, since a commit that was read by CMake would soon be out of date; changes the file only if
# necessary.
execute_process(COMMAND git rev-parse HEAD WORKING_DIRECTORY ${SOURCE}
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND git status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE}
                OUTPUT_VARIABLE changes ERROR_QUIET)
if(changes)
  set(dirty 1)
else()
  set(dirty 0)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
// What this program is built from; no commit outside a git checkout.
#include <fusegate/origin.h>

#include <string>

namespace {

// One text, with a digit for changes, which no machine code depends on: fusegate codes-diff passes over commits.
fusegate::bench::ProgramOrigin origin() {
  const char* text = "@commit@@dirty@";
  asm("" : "+r"(text));
  const std::string commit(text);
  return {.commit = commit.substr(0, commit.size() - 1),
          .dirty = commit.back() == '1',
          .toolchain = R"(@TOOLCHAIN@)"};
}

const fusegate::bench::OriginRegistration registered{origin()};

}  // namespace
]])
