use gpuvcc::kernel::{LowerOptions, lower};
use gpuvcc::verdict::replay::*;
fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    let dims = |s: &str| {
        let mut d = [Some(1u32); 3];
        for (i, x) in s.split(',').enumerate() {
            d[i] = if x == "*" { None } else { Some(x.parse().unwrap()) };
        }
        d
    };
    let text = std::fs::read_to_string(&a[0]).unwrap();
    let module = gpuvcc::ptx::parse(&text).unwrap();
    let entry = module.functions.iter().find(|f| f.is_entry).unwrap();
    let options = LowerOptions { block: dims(&a[1]), grid: dims(&a[2]), ..Default::default() };
    let cfg = gpuvcc::cfg::build(&module, entry).unwrap();
    let k = lower(&module, entry, &cfg, &options).unwrap();
    if a.len() > 3 && a[3] == "print" {
        println!("{}", gpuvcc::ivl::print(&k.program));
    }
    let mut c = std::collections::BTreeMap::new();
    for s in a.iter().skip(4) {
        let (n, v) = s.split_once('=').unwrap();
        c.insert(n.into(), v.parse().unwrap());
    }
    let t = |x| ThreadIds { tid: [x, 0, 0], ctaid: [0; 3] };
    let r = replay(
        &k.program,
        &Scenario {
            constants: c,
            threads: [t(0), t(std::env::var("T2").ok().and_then(|x| x.parse().ok()).unwrap_or(1))],
        },
        &Limits::default(),
    );
    println!("{} races {:?}", r.races.len(), r.stopped);
}
