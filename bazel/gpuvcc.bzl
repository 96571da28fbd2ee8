"""Rules that verify PTX: one action a module, so that only what changed is verified again, on any machine of a build.

A WORKSPACE that has this folder (no rule downloads anything):

    local_repository(name = "gpuvcc", path = "/opt/gpuvcc/bazel")
    load("@gpuvcc//:gpuvcc.bzl", "gpuvcc_no_coverage", "gpuvcc_repository")
    gpuvcc_repository(name = "gpuvcc_program", path = "/opt/gpuvcc/bin/gpuvcc")
    gpuvcc_no_coverage()  # where Bazel has no network: it fetches tools for coverage before any test

A BUILD file:

    load("@gpuvcc//:gpuvcc.bzl", "gpuvcc_report", "gpuvcc_test")
    gpuvcc_test(name = "races", srcs = glob(["*.ptx", "*.cu"]), options = ["--block=256"], fail_on = "possible")
    gpuvcc_report(name = "report", srcs = glob(["*.ptx", "*.cu"]), options = ["--block=256"])

What else a module reads lies in `srcs`, too, under the module's name: its source (k.cu), annotations (k.ptx.gpuvcc),
Triton's launch (k.json) and facts (k.ttir). `data` is given to all modules: headers, a prelude.
"""

GpuvccInfo = provider(
    doc = "The program.",
    fields = {"program": "the program", "files": "depset of the program and its library"},
)

# Where a folder with a program has libz3, from the program.
_LIBRARIES = ["libz3.so.5.3", "../libz3.so.5.3", "../lib/libz3.so.5.3"]

_BUILD = """
load("@gpuvcc//:gpuvcc.bzl", "gpuvcc_program")
gpuvcc_program(name = "program", program = "bin/gpuvcc", data = {data}, visibility = ["//visibility:public"])
"""

def _repository_impl(context):
    path = context.attr.path or context.which("gpuvcc")
    if not path:
        fail("no gpuvcc on the PATH; give its path to gpuvcc_repository")
    program = context.path(path).realpath
    if not program.exists:
        fail("%s: no such file" % path)
    context.symlink(program, "bin/gpuvcc")
    data = []
    for place in _LIBRARIES:
        library = context.path("%s/%s" % (program.dirname, place))
        if library.exists:
            context.symlink(library, "bin/libz3.so.5.3")
            data = ["bin/libz3.so.5.3"]
            break
    context.file("BUILD.bazel", _BUILD.format(data = repr(data)))

gpuvcc_repository = repository_rule(
    implementation = _repository_impl,
    doc = "The program of this machine, as @NAME//:program. A part of the key of each action is what it and libz3 hold.",
    local = True,
    attrs = {"path": attr.string(doc = "The program; the first on the PATH unless given.")},
)

_NO_COVERAGE = """
load("@gpuvcc//:gpuvcc.bzl", "no_program")
no_program(name = "coverage_report_generator", visibility = ["//visibility:public"])
no_program(name = "lcov_merger", visibility = ["//visibility:public"])
"""

def _no_program_impl(ctx):
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(script, "#!/bin/sh\nexit 0\n", is_executable = True)
    return [DefaultInfo(executable = script)]

no_program = rule(implementation = _no_program_impl, executable = True, doc = "Does nothing; sh_binary needs more of Bazel.")

def _no_coverage_impl(context):
    context.file("BUILD.bazel", _NO_COVERAGE)

_no_coverage_repository = repository_rule(implementation = _no_coverage_impl, local = True)

def gpuvcc_no_coverage():
    """Bazel of that time fetches its tools for coverage for any test at all; these do nothing, and come from nowhere."""
    _no_coverage_repository(name = "remote_coverage_tools")

def _program_impl(ctx):
    files = depset([ctx.file.program] + ctx.files.data)
    return [GpuvccInfo(program = ctx.file.program, files = files), DefaultInfo(files = files)]

gpuvcc_program = rule(
    implementation = _program_impl,
    doc = "A program that lies in the workspace, with its libz3 beside it.",
    attrs = {
        "program": attr.label(allow_single_file = True, mandatory = True),
        "data": attr.label_list(allow_files = True),
    },
)

# Findings are an answer, and so is an error in a module; all else fails the action, and is kept nowhere. The text
# comes from the answers of the first run. Times differ in each run: without them equal answers are equal files.
_VERIFY = """
set -u
program=$1 json=$2 text=$3
shift 3
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
"$program" --format=json --cache="$cache" "$@" >"$cache/json" 2>"$cache/errors"
code=$?
case $code in
    0 | 1 | 3) ;;
    2) [ -s "$cache/json" ] || { cat "$cache/errors" >&2; exit 2; } ;;
    *) cat "$cache/errors" >&2; exit $code ;;
esac
sed 's/^\\( *"time_ms": \\)[0-9]*/\\10/' "$cache/json" >"$json"
"$program" --color=never --cache="$cache" "$@" 2>/dev/null | sed '/^  time: /d' >"$text"
grep -v '^note: [0-9]* of [0-9]* answers are from the cache$' "$cache/errors" >>"$text"
exit 0
"""

_MERGE = """
set -u
program=$1 json=$2 code=$3 text=$4
shift 4
"$program" merge "$@" >"$json"
echo $? >"$code"
[ -s "$json" ] || exit 4
for part in "$@"; do cat "${part%.json}.txt"; done >"$text"
"""

def _stem(file):
    return file.short_path[:-len(".ptx")]

def _verified(ctx):
    """The report of all modules, the exit code, and the text for people."""
    program = ctx.attr.program[GpuvccInfo]
    modules = [file for file in ctx.files.srcs if file.extension == "ptx"]
    beside = [file for file in ctx.files.srcs if file.extension != "ptx"]
    if not modules:
        fail("%s has no .ptx in its srcs" % ctx.label)
    for file in beside:
        if not [module for module in modules if file.short_path.startswith(_stem(module) + ".")]:
            fail("%s lies beside no module: no .ptx has its name; `data` is for all modules" % file.short_path)

    # The program looks for one in folders above, which are not declared.
    project = ctx.file.project
    if not project:
        project = ctx.actions.declare_file("%s.gpuvcc/gpuvcc.toml" % ctx.label.name)
        ctx.actions.write(project, "")
    own = ["--jobs=1", "--project=%s" % project.path]
    shared = ctx.files.data + [project]
    if ctx.attr.fail_on:
        own.append("--fail-on=%s" % ctx.attr.fail_on)
    parts = []
    texts = []
    for number, module in enumerate(modules):
        name = "%s.gpuvcc/%d-%s" % (ctx.label.name, number, module.basename)
        json = ctx.actions.declare_file(name + ".json")
        text = ctx.actions.declare_file(name + ".txt")
        ctx.actions.run_shell(
            command = _VERIFY,
            arguments = [program.program.path, json.path, text.path] + own + ctx.attr.options + ["--", module.path],
            inputs = depset(
                [module] + shared + [file for file in beside if file.short_path.startswith(_stem(module) + ".")],
            ),
            tools = program.files,
            outputs = [json, text],
            mnemonic = "Gpuvcc",
            progress_message = "Verifying %s" % module.short_path,
        )
        parts.append(json)
        texts.append(text)
    report = ctx.actions.declare_file(ctx.label.name + ".json")
    code = ctx.actions.declare_file(ctx.label.name + ".code")
    text = ctx.actions.declare_file(ctx.label.name + ".txt")
    ctx.actions.run_shell(
        command = _MERGE,
        arguments = [program.program.path, report.path, code.path, text.path] + [part.path for part in parts],
        inputs = parts + texts,
        tools = program.files,
        outputs = [report, code, text],
        mnemonic = "GpuvccMerge",
        progress_message = "Merging the reports of %s" % ctx.label,
    )
    return report, code, text

_ATTRS = {
    "srcs": attr.label_list(allow_files = True, mandatory = True, doc = "Modules (.ptx), and what lies beside each."),
    "data": attr.label_list(allow_files = True, doc = "Files that all modules read."),
    "options": attr.string_list(doc = "As on the command line, such as --block=256."),
    "project": attr.label(allow_single_file = [".toml"], doc = "gpuvcc.toml; none unless given."),
    "fail_on": attr.string(doc = "--fail-on: the verdicts that fail the test."),
    "program": attr.label(default = "@gpuvcc_program//:program", providers = [GpuvccInfo]),
}

def _report_impl(ctx):
    report, code, text = _verified(ctx)
    return [DefaultInfo(files = depset([report, text]))]

gpuvcc_report = rule(
    implementation = _report_impl,
    doc = "NAME.json is the report of all modules, NAME.txt the same for people. Findings do not fail the build.",
    attrs = _ATTRS,
)

def _test_impl(ctx):
    report, code, text = _verified(ctx)
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    lines = ["#!/bin/sh", "cat '%s'" % text.short_path, "exit \"$(cat '%s')\"" % code.short_path]
    ctx.actions.write(script, "\n".join(lines) + "\n", is_executable = True)
    return [DefaultInfo(executable = script, files = depset([report, text]), runfiles = ctx.runfiles([report, code, text]))]

gpuvcc_test = rule(
    implementation = _test_impl,
    doc = "Passes where gpuvcc exits with 0; otherwise it prints what was found.",
    attrs = _ATTRS,
    test = True,
)
