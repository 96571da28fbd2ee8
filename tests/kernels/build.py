#!/usr/bin/env python3
"""Compiles every kernel of this folder, of ../plausible and of ../programs to the PTX file beside it.

    python3 build.py              all kernels
    python3 build.py saxpy scan*  only these
    python3 build.py --check      compile to memory, report what differs, run ptxas on every PTX file

The compilers are pinned: NVRTC and ptxas come from PyPI into a virtual environment under
the system's folder for temporary files, clang 19 from the system's packages.
"""
import ctypes
import fnmatch
import functools
import pathlib
import re
import subprocess
import sys
import tempfile
import venv

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = [HERE, HERE.parent / "plausible", HERE.parent / "programs"]
VERSION = "12.9.86"
PACKAGES = [f"nvidia-cuda-nvrtc-cu12=={VERSION}", f"nvidia-cuda-nvcc-cu12=={VERSION}"]
INCLUDE = HERE.parent.parent / "include"
NVRTC_OPTIONS = ["--gpu-architecture=compute_80", "--generate-line-info", f"--include-path={INCLUDE}"]
CLANG = "clang-19"
CLANG_VERSION = "19.1."
CLANG_OPTIONS = (
    "-x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -O2 -S "
    "-gline-tables-only -fdebug-compilation-dir=. -fno-ident -include cuda_min.h"
).split()


def toolchain():
    """The site-packages/nvidia folder of the pinned tools, installed on first use."""
    root = pathlib.Path(tempfile.gettempdir()) / f"gpuvcc-kernels-{VERSION}"
    if not (root / "ready").exists():
        venv.create(root, with_pip=True)
        subprocess.run([root / "bin/python", "-m", "pip", "-q", "install", *PACKAGES], check=True)
        (root / "ready").touch()
    return next(root.glob("lib/python*/site-packages/nvidia"))


def nvrtc(nvidia):
    """A function from (name, source) to PTX text."""
    library = nvidia / "cuda_nvrtc/lib/libnvrtc.so.12"
    lib = ctypes.CDLL(str(library))

    def text(get_size, get, program):
        size = ctypes.c_size_t()
        get_size(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        get(program, buffer)
        return buffer.value.decode()

    def compile_source(name, source):
        program = ctypes.c_void_p()
        lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
        options = (ctypes.c_char_p * len(NVRTC_OPTIONS))(*[o.encode() for o in NVRTC_OPTIONS])
        failed = lib.nvrtcCompileProgram(program, len(options), options)
        log = text(lib.nvrtcGetProgramLogSize, lib.nvrtcGetProgramLog, program).strip()
        if log:
            print(log, file=sys.stderr)
        if failed:
            sys.exit(f"{name}: NVRTC failed")
        ptx = text(lib.nvrtcGetPTXSize, lib.nvrtcGetPTX, program)
        lib.nvrtcDestroyProgram(ctypes.byref(program))
        return ptx

    return compile_source


def clang(name):
    run = subprocess.run([CLANG, *CLANG_OPTIONS, f"-I{INCLUDE}", name, "-o", "-"], cwd=HERE, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{name}: {run.stderr}")
    return run.stdout


@functools.cache
def warn_of_other_clang():
    """Asked only when a kernel wants clang: the others are built without it."""
    version = subprocess.run([CLANG, "--version"], capture_output=True, text=True).stdout
    if CLANG_VERSION not in version:
        print(f"warning: the committed PTX comes from clang {CLANG_VERSION}x", file=sys.stderr)


def clean(ptx):
    """No machine's paths in .file lines, no blanks at line ends, one newline at the end."""
    ptx = re.sub(r'(\.file\s+\d+\s+")[^"]*/([^"/]+")', r"\1\2", ptx)
    # NVRTC appends the time stamp and size of the source to .file.
    ptx = re.sub(r'(\.file\s+\d+\s+"[^"]*"),\s*\d+,\s*\d+', r"\1", ptx)
    lines = [line.rstrip() for line in ptx.replace("\r", "").split("\n")]
    return "\n".join(lines).strip() + "\n"


def main():
    check = "--check" in sys.argv
    wanted = [a for a in sys.argv[1:] if not a.startswith("-")] or ["*"]
    nvidia = toolchain()
    with_nvrtc = nvrtc(nvidia)
    different = []
    for path in sorted(path for folder in FOLDERS for path in folder.glob("*.cu")):
        if not any(fnmatch.fnmatch(path.stem, w) for w in wanted):
            continue
        source = path.read_text()
        by_clang = re.search(r"^//@ compiler: clang$", source, re.M)
        if by_clang:
            warn_of_other_clang()
        ptx = clean(clang(path.name) if by_clang else with_nvrtc(path.name, source))
        target = path.with_suffix(".ptx")
        if not target.exists() or target.read_text() != ptx:
            different.append(path.stem)
            if not check:
                target.write_text(ptx)
    print(f"{len(different)} PTX files {'differ' if check else 'written'}", *different)

    failed = []
    if check:
        ptxas = nvidia / "cuda_nvcc/bin/ptxas"
        for path in sorted(path for folder in FOLDERS for path in folder.glob("**/*.ptx")):
            run = subprocess.run([ptxas, "-arch=sm_90", path, "-o", "/dev/null"], capture_output=True, text=True)
            if run.returncode:
                failed.append(path.stem)
                print(run.stdout + run.stderr, file=sys.stderr)
        print(f"{len(failed)} PTX files refused by ptxas", *failed)
    sys.exit(1 if check and (different or failed) else 0)


if __name__ == "__main__":
    main()
