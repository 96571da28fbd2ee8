//! Launches that are known from files: the host's source, a file of launches, a project file. Each test names the verdicts
//! of the entries, the launches that they speak of, and the place of what is wrong.

mod baseline;
mod baseline_file;
#[cfg(unix)]
mod compiler;
mod lines;
mod project;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod record;
mod support;

use support::{Entry, check, folder, gpuvcc_in, write};

/// The source of `tests/kernels/NAME.cu`, with a host program behind it.
fn with_host(name: &str, host: &str) -> String {
    let path = format!("tests/kernels/{name}.cu");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}")) + host
}

fn ptx(name: &str) -> String {
    let path = format!("tests/kernels/{name}.ptx");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

const HOST: &str = "
int main() {
    const int N = 100;
    dim3 block(16, 16), grid((N + 15) / 16, (N + 15) / 16);
    matmul_naive<<<grid, block>>>(N, a, b, c);
    matmul_naive<<<grid, block>>>(N, a, b, c);
    matmul_naive<<<1, dim3(32, 8)>>>(32, a, b, c);
}
";

/// With the PTX beside it no compiler is needed; equal launches are verified once.
#[test]
fn the_launches_of_the_source_are_those_of_the_ptx() {
    let folder = folder();
    write(&folder, "matmul_naive.cu", &with_host("matmul_naive", HOST));
    write(&folder, "matmul_naive.ptx", &ptx("matmul_naive"));
    let ran = gpuvcc_in(&folder, &["matmul_naive.cu", "matmul_naive.ptx"]);
    let from = ["matmul_naive.cu:21", "matmul_naive.cu:23"];
    let launches = [("16,16,1", "7,7,1", "n=100"), ("32,8,1", "1,1,1", "n=32")];
    let entry = |at: usize| Entry::new("verified", launches[at]).from(from[at]);
    check(&ran, 0, &[entry(0), entry(1)]);
}

#[test]
fn a_defect_of_the_real_launch_is_one() {
    let folder = folder();
    write(&folder, "matmul_naive_broken.cu", &with_host("matmul_naive_broken", HOST));
    write(&folder, "matmul_naive_broken.ptx", &ptx("matmul_naive_broken"));
    let ran = gpuvcc_in(&folder, &["matmul_naive_broken.cu", "matmul_naive_broken.ptx"]);
    let race = Entry::new("race", ("16,16,1", "7,7,1", "n=100")).from("matmul_naive_broken.cu:21").at(14);
    // A width of one tile needs no guard.
    let no_race = Entry::new("verified", ("32,8,1", "1,1,1", "n=32"));
    check(&ran, 1, &[race, no_race]);
}

/// What is not a constant leaves its side free, and the command line wins.
#[test]
fn the_command_line_wins_over_the_source() {
    let folder = folder();
    let host = "int main(int argc, char **argv) { saxpy<<<atoi(argv[1]), 64>>>(n, 2.0f, x, y); }\n";
    write(&folder, "saxpy.cu", &with_host("saxpy", host));
    write(&folder, "saxpy.ptx", &ptx("saxpy"));
    let ran = gpuvcc_in(&folder, &["saxpy.cu", "saxpy.ptx"]);
    check(&ran, 3, &[Entry::new("verified-when", ("64,1,1", "*,*,*", "")).from("saxpy.cu:10")]);
    let ran = gpuvcc_in(&folder, &["saxpy.cu", "saxpy.ptx", "--block", "256", "--grid", "4"]);
    check(&ran, 0, &[Entry::new("verified", ("256,1,1", "4,1,1", "")).of_no_file()]);
}
