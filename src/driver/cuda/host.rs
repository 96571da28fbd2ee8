//! Launches in the source of a host program.
//!
//! Input: the text of a `.cu` file. Output: a [`KnownLaunch`] for each `kernel<<<grid, block, shared>>>(arguments)`, with
//! those values that are constants. Establishes: sizes that are not constants are free. Relies on: nothing, as the PTX
//! says which kernels there are. Reference: CUDA C++ Programming Guide, "Execution Configuration".

use super::constants::{Constants, Tokens};
use super::expressions::split;
use super::lexer::{Token, tokens};
use crate::driver::launches::{KnownLaunch, LARGEST_SHARED};
use crate::driver::values::ParameterSetting;
use crate::geometry::{Geometry, LARGEST, unlaunchable_block};

/// Sources larger than this are not looked through, in bytes.
const LARGEST_SOURCE: usize = 16 << 20;

/// Functions that launch kernels.
const LAUNCHING: [&str; 6] = [
    "cudaLaunchKernel",
    "cudaLaunchKernelEx",
    "cudaLaunchKernelExC",
    "cudaLaunchCooperativeKernel",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
];

/// The launches in the order of the text; `file` is the name that reports show.
pub(crate) fn launches(file: &str, text: &str) -> Vec<KnownLaunch> {
    if text.len() > LARGEST_SOURCE {
        return Vec::new();
    }
    let all = tokens(text);
    let mut constants = Constants::new(&all);
    let mut found = Vec::new();
    for at in 0..all.len() {
        constants.read(&all, at);
        let line = text[..all[at].1.start].matches('\n').count() + 1;
        let elsewhere = match all[at].0 {
            Token::Open => None,
            // What these launch is not followed, and no kernel has such a name.
            Token::Directive(directive) if directive.contains("<<<") => Some("a macro"),
            Token::Word(word) if LAUNCHING.contains(&word) => Some(word),
            _ => continue,
        };
        if let Some(what) = elsewhere {
            found.push(KnownLaunch::new(what, format!("{file}:{line}")));
            continue;
        }
        if let Some(kernel) = kernel_before(&all[..at], text, &constants) {
            let launch = KnownLaunch::new(kernel, format!("{file}:{line}"));
            found.push(configured(launch, &all[at + 1..], &constants));
        }
    }
    found
}

/// The kernel in front of `<<<`: `scan`, `n::scan`, `scan<float, 256>`; arguments of templates that are constants as
/// numbers.
fn kernel_before(before: Tokens, text: &str, constants: &Constants) -> Option<String> {
    let mut end = before.len();
    let mut arguments = String::new();
    if before.last()?.0 == Token::Sign('>') {
        let mut depth = 0;
        let open = before.iter().rposition(|(token, _)| {
            depth += i64::from(*token == Token::Sign('>')) - i64::from(*token == Token::Sign('<'));
            depth == 0
        })?;
        let parts = split(&before[open + 1..end - 1]).into_iter();
        let parts = parts.map(|part| match (constants.integer(part), part) {
            (Some(number), _) => number.to_string(),
            (None, [first, ..]) => text[first.1.start..part[part.len() - 1].1.end].to_string(),
            (None, []) => String::new(),
        });
        arguments = format!("<{}>", parts.collect::<Vec<_>>().join(", "));
        end = open;
    }
    let is_name = |(token, _): &(Token, _)| matches!(token, Token::Word(_) | Token::Scope);
    // Two words in a row are no name: `return k<<<...`.
    let mut start = end;
    while start > 0 && is_name(&before[start - 1]) {
        let two_words = |at: usize| matches!((before[at - 1].0, before[at].0), (Token::Word(_), Token::Word(_)));
        if start < end && two_words(start) {
            break;
        }
        start -= 1;
    }
    let words = before[start..end].iter().map(|(_, range)| &text[range.clone()]);
    let name = words.collect::<String>();
    let name = name.trim_start_matches("::");
    (!name.is_empty()).then(|| format!("{name}{arguments}"))
}

/// A launch with what stands behind `<<<`.
fn configured(mut launch: KnownLaunch, rest: Tokens, constants: &Constants) -> KnownLaunch {
    let Some(close) = rest.iter().position(|(token, _)| *token == Token::Close) else { return launch };
    let parts = split(&rest[..close]);
    let sizes = |index: usize| parts.get(index).and_then(|part| constants.value_as_sizes(part));
    launch.geometry = geometry(sizes(0), sizes(1));
    let shared = parts.get(2).map_or(Some(0), |part| constants.integer(part));
    launch.dynamic_shared = shared.and_then(|bytes| u32::try_from(bytes).ok()).filter(|bytes| *bytes <= LARGEST_SHARED);
    if let Some(arguments) = arguments(&rest[close + 1..]) {
        let fixed = arguments.iter().enumerate().filter_map(|(position, argument)| {
            let value = i128::from(constants.integer(argument)?);
            Some(ParameterSetting { name: position.to_string(), value })
        });
        launch.params = fixed.collect();
        launch.arguments = Some(arguments.len());
    }
    launch
}

/// The sizes that a GPU can launch; others are left free, since the host will not launch them.
fn geometry(grid: Option<[Option<i64>; 3]>, block: Option<[Option<i64>; 3]>) -> Geometry {
    let known = |sizes: Option<[Option<i64>; 3]>| {
        sizes.unwrap_or([None; 3]).map(|size| size.and_then(|size| u32::try_from(size).ok()).filter(|size| *size > 0))
    };
    let (block, mut grid) = (known(block), known(grid));
    for (size, largest) in grid.iter_mut().zip(LARGEST.grid) {
        *size = size.filter(|size| *size <= largest);
    }
    let block = if unlaunchable_block(block).is_some() { [None; 3] } else { block };
    let geometry = Geometry { block, grid };
    // More threads than a proof allows are no launch that a user would want an error for.
    if geometry.or_one().threads() >= 1 << 31 { Geometry { grid: [None; 3], ..geometry } } else { geometry }
}

/// The arguments between the brackets behind `>>>`.
fn arguments<'t, 's>(rest: Tokens<'t, 's>) -> Option<Vec<Tokens<'t, 's>>> {
    let [(Token::Sign('('), _), inside @ ..] = rest else { return None };
    let mut depth = 1;
    let end = inside.iter().position(|(token, _)| {
        depth += match token {
            Token::Sign('(' | '{' | '[') => 1,
            Token::Sign(')' | '}' | ']') => -1,
            _ => 0,
        };
        depth == 0
    })?;
    if end == 0 {
        return Some(Vec::new());
    }
    let parts = split(&inside[..end]);
    // A comma between the brackets of a template is no end of an argument, and not told apart from `a < b, c > d`.
    let has_angles = inside[..end].iter().any(|(token, _)| matches!(token, Token::Sign('<' | '>')));
    (!has_angles).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::launches;
    use crate::report::text::launch_text;

    /// The launches of a program as `kernel block .., grid ..`.
    fn read(text: &str) -> Vec<String> {
        let shown = launches("k.cu", text).into_iter().map(|launch| {
            let params = launch.params.iter().map(|param| format!(" {}={}", param.name, param.value));
            format!("{} {}{}", launch.kernel, launch_text(&launch.geometry), params.collect::<String>())
        });
        shown.collect()
    }

    #[test]
    fn constants_are_read() {
        let text = "
            #define N (1 << 10)
            #define TILE 8 + 8
            const int threads = 256, rows = 4;
            static constexpr unsigned int half{threads / 2};
            int main() {
                dim3 block(16, 16), grid = dim3((N + 15) / 16, N / block.y);
                a<<<N / threads, threads>>>(p, N);
                n::b<float, TILE><<<grid, block, 4 * sizeof(float)>>>();
                c<<<dim3(2, rows), {half}, 0, stream>>>(\"<<<\", f(x, N));
                int n = 1000, m = f();
                size_t size = n * sizeof(float);
                e<<<(n + threads - 1) / threads, threads>>>(x, n);
                return d<<<1, TILE>>>(x); // e<<<1, 1>>>()
            }";
        let expected = [
            "a block 256, grid 4 1=1024",
            "n::b<float, 16> block 16,16, grid 64,64",
            "c block 128, grid 2,4",
            "e block 256, grid 4 1=1000",
            "d block 16, grid 1",
        ];
        assert_eq!(read(text), expected);
    }

    #[test]
    fn no_value_is_taken_for_another_one() {
        let sources = include_str!("../../../tests/known/host_sources.txt").split("\n== ").skip(1);
        let mut looked_at = 0;
        for source in sources {
            let (title, text) = source.split_once('\n').unwrap_or((source, ""));
            let launch = launches("k.cu", text).pop().unwrap_or_else(|| panic!("{title}: no launch"));
            let is_wrong = match title.split_once(' ') {
                Some(("n", _)) => {
                    launch.params.iter().any(|param| param.name == "1" && ![16, 48].contains(&param.value))
                }
                Some(("block", _)) => launch.geometry.block[1] == Some(1),
                _ => panic!("{title}"),
            };
            assert!(!is_wrong, "{title}: {text}");
            looked_at += 1;
        }
        assert!(looked_at > 190, "{looked_at}");
    }

    /// Parameters of functions in front are no types.
    #[test]
    fn other_functions_do_not_matter() {
        let kernel =
            "extern \"C\" __global__ void k(int n, const float *a, dim3 b, float *c) { int m = 1; c[n] = a[m]; }";
        let host = "int main() { const int N = 100; dim3 block(16, 16), grid((N + 15) / 16); f(N); k<<<grid, block>>>(N, a); }";
        let last = "void f(int n, int m) { k<<<1, dim3(32, 8)>>>(32, a, b); }";
        let launches = read(&format!("{kernel}\n{host}\n{last}"));
        assert_eq!(launches, ["k block 16,16, grid 7 0=100", "k block 32,8, grid 1 0=32"]);
    }

    /// What other files may change or leave out.
    #[test]
    fn globals_are_constants_alone() {
        for (text, grid) in [
            ("int n = 4;", "*"),
            ("static int n = 4;", "4"),
            ("const int n = 4;", "4"),
            ("dim3 n(4, 4);", "*"),
            ("static dim3 n(4, 4);", "4,4"),
            ("#ifndef H\n#define H\nconst int n = 4;\n#endif", "4"),
            ("namespace a { const int n = 4; } namespace a { const int n = 5;", "*"),
            ("const int n = 4; void f(const int n = 5) {", "*"),
        ] {
            let program = format!("{text}\nint main() {{ k<<<n, 64>>>(p); }}");
            assert_eq!(read(&program), [format!("k block 64, grid {grid}")], "{program}");
        }
        // A number has one size, whatever its value is.
        for (grid, size) in [
            ("(n + 255) / 256", "*,1"),
            ("n", "*,1"),
            ("n + c.x", "*,1"),
            ("n + d.x", "*"),
            ("n + c", "*"),
            ("f(n)", "*"),
            ("m", "*"),
        ] {
            let program = format!("int main(int n) {{ dim3 c(2); dim3 grid({grid}); k<<<grid, 64>>>(p); }}");
            assert_eq!(read(&program), [format!("k block 64, grid {size}")], "{program}");
        }
    }

    /// A value is read only where it is the one.
    #[test]
    fn what_may_change_is_free() {
        for (declarations, grid) in [
            ("int n;", "n"),
            ("int n = 4; n = 5;", "n"),
            ("int n = 4; n += 5;", "n"),
            ("int n = 4; std::cin >> n;", "n"),
            ("int n = 4; scanf(f, &n);", "n"),
            ("int n = 4; read(n);", "n"),
            ("int n = 4; int &m = n; m = 5;", "n"),
            ("for (int n = 0; n < 4; n++) {", "n"),
            ("float n = 4;", "n"),
            ("const int n = argc;", "n"),
            ("const float n = 4;", "n"),
            ("dim3 n(4); n.x = 5;", "n"),
            ("dim3 n(4); { n = dim3(5); }", "n"),
            ("dim3 n(4); choose(m, n);", "n"),
            ("dim3 m(1), n(4); m.x = 2, n.x = 5;", "n"),
            ("void f(dim3 m, dim3 n) { n = dim3(5); }; dim3 n(4);", "n"),
            ("dim3 n;", "n"),
            ("{ const int n = 4; }", "n"),
            ("const int n = 4; { int n = f();", "n"),
            ("const int n = 4; void f(int n) {", "n"),
            ("const int n = 4; void f(int &n) {", "n"),
            ("const int n = 4; template <int n> void f() {", "n"),
            ("\n#define n 4\n#undef n\n", "n"),
            ("\n#define n 4\n#define n 5\n", "n"),
            ("\n#define n(x) 4\n", "n"),
            ("\n#define n 2 + 2\n", "2 * n"),
            ("int n = 4; n >>= 1;", "n"),
            ("int n = 4; n and_eq 1;", "n"),
            ("short int n = 4;", "n"),
            ("short const int n = 4;", "n"),
            ("volatile int n = 4;", "n"),
            ("extern const int n = 4;", "n"),
            ("int n = 4; R m{n};", "n"),
            ("int n = 4; R m(n);", "n"),
            ("int n = 4; R m = n;", "n"),
            ("int n = 4; auto&m{n};", "n"),
            ("int n = 4; (argc ? n : argc) = 5;", "n"),
            ("int n = 4; f<<<1, 1>>>(p, g(n));", "n"),
            ("int n = 4; auto f = [&]() -> int & { return n; };", "n"),
            ("int n = 4; auto s = R\"(\")\"; n = 5; auto t = R\"(\")\";", "n"),
            ("int n = 4; // \\\n n\n", "n + f(n)"),
            ("const int n = 4; { int *a, n = 5;", "n"),
            ("const int n = 4; { Id<int> n;", "n"),
            ("const int n = 4; { A<B<C<int>>> n;", "n"),
            ("const int n = 4; { decltype(a) n;", "n"),
            ("const int n = 4; { auto [m, n] = f();", "n"),
            ("const int n = 4; { enum { m, n };", "n"),
            ("const int n = 4; { auto f = [n = 5] {", "n"),
            ("const int n = 4; { using A::n;", "n"),
            ("const int n = 4; struct A { static const int n = 5; };", "n"),
            ("\n#define D(x) const int x = 5\n const int n = 4; { D(n);", "n"),
            ("\n#define S int n = 5;\n const int n = 4; { S", "n"),
            ("\n#define S n >>= 1\n int n = 4; S;", "n"),
            ("const int n = 4;\n#define m n + 0\n { const int n = 5;", "m"),
            ("\n#ifdef A\n#define n 4\n#endif\n", "n"),
            ("\n#ifndef n\n#define n 4\n#endif\n", "n"),
            ("\n#ifdef A\nconst int n = 4;\n#else\nconst int n = 5;\n#endif\n", "n"),
            ("\n#ifdef A\n{\n#endif\nconst int n = 4;", "n"),
            ("struct S { int n = 4; void f() {", "n"),
            ("struct alignas(8) S { int n = 4; void f() {", "n"),
            ("struct S { dim3 n = 4; void f() {", "n"),
            ("auto f = [](int n = 4) {", "n"),
            ("for (const int n = 4;;) break;", "n"),
            ("if (const int n = 4) {}", "n"),
            ("const int n = 4; { int (n) = 5;", "n"),
            ("const int n = 4; { if (argc) int (n) = 5;", "n"),
            ("dim3 n(4); (n.*p) = 5;", "n"),
            ("const int n = 4; { auto (n) = 5;", "n"),
            ("struct W {}; const int n = 4; { W (n);", "n"),
            ("const int n = 4; { W a, n;", "n"),
            ("const int n = 4; f(); } const int g() { } short m, n = 5; int h() {", "n"),
            ("int n = 4; [&m = n] { m = 5; }();", "n"),
            ("const int n = 4; { int [[x]] n;", "n"),
            ("\n#define C(a, b) a##b\n const int nn = 4; int n = 4; C(n, n) = 5;", "nn"),
            ("struct A {}; A &operator%(A &a, int &m); int n = 4; a % n;", "n"),
            ("auto m = make(); dim3 n(m);", "n"),
            ("dim3 n(f() + g());", "n"),
            ("dim3 n = dim3(4) + dim3(5);", "n"),
            ("typedef unsigned char uint; const uint n = 4;", "n"),
            ("dim3 n(make(4));", "n"),
            ("dim3 n((make(4)));", "n"),
            ("dim3 n(argc ? 1 : 2, a...);", "n"),
            ("dim3 m = make(), n(m);", "n"),
            ("\n#define M 4, 4\n dim3 n(M);", "n"),
            ("\n#define M 4, 4\n dim3 n(1, M);", "n"),
            ("dim3 n{int4{4, 4}};", "n"),
            ("", "0"),
            ("", "3 - 4"),
            ("", "1 / 0"),
            ("", "4.0"),
            ("", "65536 * 65536"),
            ("", "sizeof(int)"),
        ] {
            let text = format!("int main(int argc) {{ {declarations} k<<<{grid}, 64>>>(p); }}");
            let free = ["k block 64, grid *", "k block 64, grid *,1"];
            let last = read(&text).pop().unwrap_or_default();
            assert!(free.contains(&last.as_str()), "{text}: {:?}", read(&text));
            let is_one_number = ["int argc", "*", "-"].iter().any(|sign| grid.contains(sign));
            assert!(!declarations.contains("dim3 n") || is_one_number || last.ends_with('*'), "{text}: {last}");
        }
    }
}
