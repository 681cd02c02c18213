// For tests of commands: a request, and what the command prints and says of it.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "ci/commands/commands.h"

namespace fusegate::ci {

template <typename Request, baselines::ExitCode (*kCommand)(const Request&, Console&)>
class CommandTest : public ::testing::Test {
 protected:
  baselines::ExitCode run() {
    Console console{out_, err_};
    return kCommand(request_, console);
  }
  // What the command throws as bad input.
  std::string problem() {
    try {
      run();
    } catch (const baselines::InputError& error) {
      return error.what();
    }
    return "none";
  }

  baselines::ScratchFolder folder_;
  Request request_;
  std::ostringstream out_;
  std::ostringstream err_;
};

}  // namespace fusegate::ci
