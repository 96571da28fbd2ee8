fn main() {
    for text in [gpuvcc::twothread::prelude::WATCHED_BYTE, gpuvcc::twothread::prelude::LOGGING_SETS] {
        println!("{:?}", gpuvcc::twothread::prelude::load(text).map(|_| ()));
    }
    for path in std::env::args().skip(1).filter(|a| a.ends_with(".ivl")) {
        let text = std::fs::read_to_string(path).unwrap();
        let program = gpuvcc::ivl::parse(&text).unwrap();
        let predicated = gpuvcc::predicate::run(&program).unwrap();
        println!("{}\n{}", gpuvcc::predicate::order_text(&predicated), gpuvcc::ivl::print(&predicated.program));
        gpuvcc::ivl::check(&predicated.program).unwrap();
        let prelude = gpuvcc::twothread::prelude::load(gpuvcc::twothread::prelude::WATCHED_BYTE).unwrap();
        let two =
            gpuvcc::twothread::run(&predicated, &prelude, gpuvcc::twothread::Pair::SameBlock, &Default::default())
                .unwrap();
        println!("{}", gpuvcc::ivl::print(&two.program));
        gpuvcc::ivl::check(&two.program).unwrap();
    }
}
