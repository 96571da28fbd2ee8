#!/usr/bin/env python3
"""Compiles the kernels of this folder to PTX in the folder above, and those for the emulator to ../../races, one file a variant.

    python3 build.py              all kernels
    python3 build.py ring dma     only these

A source has `//@ verify: ARGUMENTS` of gpuvcc, or `//@ run: ARGUMENTS` of gpuvcc run, and for each way in which it is broken `//@ variant: NAME VERDICT [ARGUMENTS]`: the macro BROKEN_NAME is
then defined, and there are more arguments. `//@ symbolic: ARGUMENTS` and `//@ symbolic-when: ARGUMENTS` go to all of them. Lines that findings of a variant name end with `// HERE NAME ...`. Without a macro it is correct. `//@ stages: 2 3`
makes that many correct kernels, with STAGES defined. `//@ arch: sm_90a` is what it is compiled for.

NVRTC is that of ../../kernels/build.py; headers of CUDA come from PyPI, too.
"""
import importlib.util
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = ["nvidia-cuda-runtime-cu12==12.9.79", "nvidia-cuda-cccl-cu12==12.9.27"]


def kernels_build():
    path = HERE.parent.parent / "kernels/build.py"
    spec = importlib.util.spec_from_file_location("build", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    build = kernels_build()
    nvidia = build.toolchain()
    if not (nvidia / "cuda_runtime/include").exists() or not (nvidia / "cuda_cccl/include").exists():
        python = nvidia.parents[3] / "bin/python"
        subprocess.run([python, "-m", "pip", "-q", "install", *HEADERS], check=True)
    includes = [HERE, nvidia / "cuda_runtime/include", nvidia / "cuda_cccl/include"]
    usual = [*build.NVRTC_OPTIONS, *[f"--include-path={folder}" for folder in includes]]
    for path in sorted(HERE.glob("*.cu")):
        if len(sys.argv) > 1 and path.stem not in sys.argv[1:]:
            continue
        source = path.read_text()
        what, arguments = re.search(r"^//@ (verify|run): (.*)$", source, re.M).groups()
        correct, folder = ("verified", HERE.parent) if what == "verify" else ("no-defect", HERE.parent.parent / "races")
        architecture = re.search(r"^//@ arch: sm_(.*)$", source, re.M)
        stages = re.search(r"^//@ stages: (.*)$", source, re.M)
        stages = stages[1].split() if stages else [None]
        variants = re.findall(r"^//@ variant: (\S+) (\S+)(.*)$", source, re.M)
        about = re.search(r"^// (.*)$", source, re.M)[1]
        for stage in stages:
            for macro, verdict, more in [(None, correct, ""), *(variants if stage == stages[0] else [])]:
                options = [f"--gpu-architecture=compute_{architecture[1]}", *usual[1:]] if architecture else list(usual)
                options += [f"--define-macro={name}" for name in [macro and f"BROKEN_{macro}", stage and f"STAGES={stage}"] if name]
                build.NVRTC_OPTIONS[:] = options
                ptx = build.clean(build.nvrtc(nvidia)(path.name, source))
                marked = (line for line in enumerate(source.split("\n"), 1) if "// HERE" in line[1])
                at = [number for number, line in marked if macro and macro in line.split("// HERE")[1].split()]
                head = [f"//@ verdict: {verdict}", f"//@ {what}: {arguments}{more}"]
                head += re.findall(r"^//@ symbolic[^:]*: .*$", source, re.M)
                head += [f"//@ at: {' '.join(map(str, at))}"] if macro else []
                head += [f"// {about}", f"// tests/sync/cuda/{path.name}{', ' + macro if macro else ''}"]
                name = f"cuda_{path.stem}" + (f"_{stage}" if stage else "") + (f"_{macro}_broken" if macro else "")
                body = "\n".join(line for line in ptx.split("\n") if not line.startswith("//"))
                (folder / f"{name}.ptx").write_text("\n".join(head) + "\n" + body.lstrip("\n"))
                print(name, file=sys.stderr)


if __name__ == "__main__":
    main()
