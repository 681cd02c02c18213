#include "ci/commands/measuring/options.h"
#include "ci/console/layout.h"
#include "ci/starting/project.h"

namespace fusegate::ci {

void add_init(CommandLine& line) {
  auto [app, request] =
      line.add("init",
               "Write a project of your own kernels: an operation, kernels of it, a suite, and the "
               "workflows of GitHub that gate them",
               "fusegate init --python demo && demo/gate.sh", init_command);
  app.add_option("folder", request.folder, "A new folder, or an empty one; it names the project")
      ->type_name("FOLDER")
      ->required();
  app.add_flag(
      "--python", request.is_python,
      "Write a file of kernels in Triton, PyTorch and NumPy; by default C++ and CUDA sources");
}

baselines::ExitCode init_command(const InitRequest& request, Console& console) {
  const char* kind = request.is_python ? "python" : "cpp";
  const auto files = write_project(project_templates() / kind, request.folder);
  console.out.print("wrote {} into {}\n", format_count(files.size(), "file"),
                    request.folder.string());
  const std::filesystem::path gate = request.folder / "gate.sh";
  console.out.print("next: {} measures and gates; with --break it fails\n", gate.string());
  return baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
