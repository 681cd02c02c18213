"""A build's bill of materials (SBOM), as CycloneDX 1.6 JSON: what the compiler read and the linker took.

    sbom.py --build build/release --version 1.0.0 --out build/release/sbom.cdx.json PROGRAM ...

Nobody keeps a list. Ninja knows which objects a program is made of and which files each object included, and ldd
which libraries it loads. A file's package is the one that dpkg says; what CMake fetched is told by cmake/Dependencies.cmake;
a CUDA toolkit that no package holds is one component. A file of no owner is a component of its own, with its hash.
What a program opens by name while it runs (NVML, CUPTI) is not linked and not in it.
"""

import argparse
import hashlib
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = re.compile(r"\.(so(\.\d+)*|a)$")


def output_of(*command):
    """What it says, also where it fails for some of what it was asked."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def included_files(build, programs):
    """By the objects of these programs, the files of others alone."""
    inputs = set(output_of("ninja", "-C", str(build), "-t", "inputs", *programs).split("\n"))
    files, is_ours = set(), False
    for line in output_of("ninja", "-C", str(build), "-t", "deps").split("\n"):
        if line.startswith("    "):
            if is_ours:
                files.add((build / line.strip()).resolve())
        else:
            is_ours = line.partition(":")[0] in inputs
    return {file for file in files if not is_own(file, build)}


def is_own(file, build):
    return file.is_relative_to(ROOT) and not file.is_relative_to(build / "_deps") and not file.is_relative_to(ROOT / "build" / "cuda")


def linked_files(build, programs):
    found = set()
    for program in programs:
        for path in re.findall(r"(/\S+) \(0x", output_of("ldd", str(build / program))):
            found.add(pathlib.Path(path).resolve())
    archives = output_of("ninja", "-C", str(build), "-t", "inputs", *programs).split("\n")
    found |= {(build / path).resolve() for path in archives if LIBRARY.search(path)}
    return {file for file in found if not is_own(file, build)}


def packages_of(files):
    """By file, the Debian package that holds it. /lib is a link to /usr/lib, and dpkg knows a file by one of the two."""
    names = {str(file): file for file in files}
    names |= {"/" + str(file.relative_to("/usr")): file for file in files if file.is_relative_to("/usr")}
    found, waiting = {}, set(files)
    while waiting:
        file = waiting.pop()
        package = package_of([name for name, named in names.items() if named == file])
        if not package and not str(file).startswith(("/usr/include/", "/usr/lib")):
            waiting -= {other for other in waiting if other.parent == file.parent}  # a toolkit's, say
        # Asking for all that it holds is quicker than asking for its other files.
        held = output_of("dpkg-query", "--listfiles", package).split("\n") if package else []
        for other in {names[name] for name in held if name in names} | ({file} if package else set()):
            found[other] = package
            waiting.discard(other)
    return found


def package_of(names):
    first, separator, _ = output_of("dpkg-query", "--search", *names).partition(": ")
    return first.partition(",")[0] if separator else None


def debian_component(package):
    fields = "${Package}\t${Version}\t${Architecture}\t${source:Package}\t${Homepage}"
    name, version, architecture, source, homepage = output_of(
        "dpkg-query", "--show", f"--showformat={fields}", package).split("\t")
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)', pathlib.Path("/etc/os-release").read_text(), re.MULTILINE))
    component = {"type": "library", "name": name, "version": version,
                 "purl": f"pkg:deb/{release['ID']}/{name}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={architecture}"
                         f"&distro={release['ID']}-{release['VERSION_ID']}",
                 "properties": [{"name": "source package", "value": source}]}
    if homepage:
        component["externalReferences"] = [{"type": "website", "url": homepage}]
    return component


def fetched_component(name, dependencies):
    """Of build/_deps/NAME-src."""
    for fetched, repository, tag, sha256 in re.findall(r"fusegate_fetch\((\S+) (\S+) (\S+)\s+([0-9a-f]{64})\)", dependencies):
        if fetched.lower() == name:
            url = f"https://github.com/{repository}/archive/refs/tags/{tag}.tar.gz"
            return {"type": "library", "name": repository, "version": tag, "purl": f"pkg:github/{repository}@{tag}",
                    "externalReferences": [{"type": "distribution", "url": url,
                                            "hashes": [{"alg": "SHA-256", "content": sha256}]}]}
    raise ValueError(f"cmake/Dependencies.cmake fetches no {name}")


def cuda_component(build):
    for file in build.glob("CMakeFiles/*/CMakeCUDACompiler.cmake"):
        version = re.search(r'CMAKE_CUDA_COMPILER_TOOLKIT_VERSION "([^"]*)"|CMAKE_CUDA_COMPILER_VERSION "([^"]*)"', file.read_text())
        return {"type": "framework", "name": "CUDA toolkit", "version": version[1] or version[2]}
    raise ValueError(f"{build} was not configured for CUDA")


def components_of(build, files, dependencies):
    owners = packages_of(files)
    components, of_package = [], {}
    for file in sorted(files):
        if file in owners:
            key, make = owners[file], lambda: debian_component(owners[file])
        elif file.is_relative_to(build / "_deps"):
            name = re.sub("-(src|build)$", "", file.relative_to(build / "_deps").parts[0])
            key, make = f"fetched {name}", lambda: fetched_component(name, dependencies)
        elif "cuda" in str(file.parent).lower():
            key, make = "CUDA", lambda: cuda_component(build)
        else:
            key, make = str(file), lambda: {"type": "file", "name": str(file)}
        if key not in of_package:
            of_package[key] = make()
            components.append(of_package[key])
        if LIBRARY.search(file.name) or key == str(file):
            of_package[key].setdefault("components", []).append(hashed(file))
    return components


def hashed(file):
    content = hashlib.sha256(file.read_bytes()).hexdigest()
    return {"type": "file", "name": str(file), "hashes": [{"alg": "SHA-256", "content": content}]}


def compiler_of(build):
    for file in build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake"):
        values = dict(re.findall(r'set\((CMAKE_CXX_COMPILER_ID|CMAKE_CXX_COMPILER_VERSION) "([^"]*)"\)', file.read_text()))
        return {"type": "application", "name": values["CMAKE_CXX_COMPILER_ID"], "version": values["CMAKE_CXX_COMPILER_VERSION"]}
    raise ValueError(f"{build} is no folder that CMake configured for Ninja")


def bill(build, version, programs):
    dependencies = (ROOT / "cmake" / "Dependencies.cmake").read_text()
    files = included_files(build, programs) | linked_files(build, programs)
    commit = output_of("git", "-C", str(ROOT), "rev-parse", "HEAD").strip()
    subject = {"type": "application", "name": "fusegate", "version": version,
               "properties": [{"name": "commit", "value": commit}] if commit else [],
               "components": [hashed(build / program) for program in programs]}
    return {"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6",
            "version": 1, "metadata": {"component": subject, "tools": {"components": [compiler_of(build)]}},
            "components": components_of(build, files, dependencies)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("programs", nargs="+", help="relative to the build's folder")
    options = parser.parse_args()
    text = json.dumps(bill(options.build.resolve(), options.version, options.programs), indent=1)
    options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
