//! Small programs at random, and the same as text.

/// Semantics of accesses and fences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Semantics {
    Weak,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    Sc,
}

/// Scopes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    Block,
    Gpu,
    System,
}

/// Proxies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proxy {
    Generic,
    Texture,
    Asynchronous,
}

/// What a store stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stored {
    Constant(u32),
    /// What the thread loaded last.
    LastLoaded,
}

/// Atomic operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Atomic {
    Add(u32),
    Exchange(u32),
    Swap(u32, u32),
}

impl Atomic {
    pub fn writes(self, old: u32) -> bool {
        if let Atomic::Swap(expected, _) = self { old == expected } else { true }
    }

    pub fn result(self, old: u32) -> u32 {
        match self {
            Atomic::Add(value) => old.wrapping_add(value),
            Atomic::Exchange(value) | Atomic::Swap(_, value) => value,
        }
    }
}

/// Instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instruction {
    Load {
        location: usize,
        aliased: bool,
        proxy: Proxy,
        semantics: Semantics,
        scope: Scope,
    },
    Store {
        location: usize,
        aliased: bool,
        semantics: Semantics,
        scope: Scope,
        stored: Stored,
    },
    Atomic {
        location: usize,
        semantics: Semantics,
        scope: Scope,
        operation: Atomic,
    },
    Fence {
        semantics: Semantics,
        scope: Scope,
    },
    /// `None`: of aliases.
    ProxyFence(Option<Proxy>),
    Barrier,
}

/// Where a thread runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub block: u32,
    pub gpu: u32,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    pub locations: usize,
    pub threads: Vec<(Place, Vec<Instruction>)>,
}

/// Numbers that repeat (a linear congruential generator; its high bits).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D);
        random.below(2);
        random
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(limit)) as u32
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }
}

const LOCATIONS: [&str; 2] = ["x", "y"];

impl Program {
    /// Two to four threads with few instructions; `with_proxies` has other ways into memory, too.
    pub fn random(random: &mut Random, with_proxies: bool) -> Program {
        let count = random.pick(&[2, 2, 2, 3, 3, 4]);
        let longest = match count {
            2 => 4,
            3 => 3,
            _ => 2,
        };
        let narrow = random.below(3) == 0;
        let mut value = 0;
        let threads = (0..count).map(|_| {
            let place = Place { block: random.below(2), gpu: if narrow { 0 } else { random.pick(&[0, 0, 0, 1]) } };
            let length = 1 + random.below(longest);
            let code = (0..length).map(|_| instruction(random, with_proxies, &mut value)).collect();
            (place, code)
        });
        let mut program = Program { locations: LOCATIONS.len(), threads: threads.collect() };
        program.limit_writes();
        program
    }

    /// Orders of more than three writes of a location are too many.
    fn limit_writes(&mut self) {
        let mut writes = [0; LOCATIONS.len()];
        let mut fences = 0;
        for (_, code) in &mut self.threads {
            code.retain(|instruction| match instruction {
                Instruction::Store { location, .. } | Instruction::Atomic { location, .. } => {
                    writes[*location] += 1;
                    writes[*location] <= 3
                }
                Instruction::Fence { semantics: Semantics::Sc, .. } => {
                    fences += 1;
                    fences <= 3
                }
                _ => true,
            });
        }
    }

    /// The text of a test that asks whether the program can end so.
    pub fn text(&self, name: &str, (loads, memory): &(Vec<Vec<u32>>, Vec<u32>)) -> String {
        let aliases = "ax aliases x; tx @ texture aliases x; cx @ async aliases x; ay aliases y; ty @ texture aliases y; cy @ async aliases y;";
        let mut text = format!("PTX {name}\n{{ x = 0; y = 0; {aliases} }}\n");
        let headers: Vec<String> = self
            .threads
            .iter()
            .enumerate()
            .map(|(number, (place, _))| format!("P{number}@cta {},gpu {}", place.block, place.gpu))
            .collect();
        text += &format!(" {} ;\n", headers.join(" | "));
        let columns: Vec<Vec<String>> = self.threads.iter().map(|(_, code)| lines(code)).collect();
        for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
            let cells: Vec<&str> = columns.iter().map(|column| column.get(row).map_or("", String::as_str)).collect();
            text += &format!(" {} ;\n", cells.join(" | "));
        }
        let registers = loads.iter().enumerate().flat_map(|(thread, values)| {
            values.iter().enumerate().map(move |(number, value)| format!("P{thread}:r{number} == {value}"))
        });
        let memory = LOCATIONS.iter().zip(memory).map(|(name, value)| format!("{name} == {value}"));
        let parts: Vec<String> = registers.chain(memory).collect();
        text + &format!("exists ({})\n", parts.join(" /\\ "))
    }
}

fn instruction(random: &mut Random, with_proxies: bool, value: &mut u32) -> Instruction {
    use Semantics::*;
    let location = random.below(2) as usize;
    let scope = random.pick(&[Scope::Block, Scope::Gpu, Scope::Gpu, Scope::System]);
    let aliased = with_proxies && random.below(4) == 0;
    match random.below(if with_proxies { 14 } else { 11 }) {
        0..3 => {
            let proxy = if with_proxies {
                random.pick(&[Proxy::Generic, Proxy::Generic, Proxy::Texture, Proxy::Asynchronous])
            } else {
                Proxy::Generic
            };
            let semantics = random.pick(&[Weak, Weak, Relaxed, Acquire, Acquire]);
            match proxy {
                Proxy::Generic => Instruction::Load { location, aliased, proxy, semantics, scope },
                _ => Instruction::Load { location, aliased: false, proxy, semantics: Weak, scope: Scope::Block },
            }
        }
        3..6 => {
            *value += 1;
            let stored = random.pick(&[Stored::Constant(*value), Stored::Constant(1), Stored::LastLoaded]);
            let semantics = random.pick(&[Weak, Weak, Relaxed, Release, Release]);
            Instruction::Store { location, aliased, semantics, scope, stored }
        }
        6..8 => {
            let operation = random.pick(&[Atomic::Add(1), Atomic::Exchange(2), Atomic::Swap(0, 1), Atomic::Swap(1, 2)]);
            Instruction::Atomic {
                location,
                semantics: random.pick(&[Relaxed, Acquire, Release, AcqRel]),
                scope,
                operation,
            }
        }
        8..10 => Instruction::Fence { semantics: random.pick(&[AcqRel, AcqRel, Sc, Sc, Acquire, Release]), scope },
        10 => Instruction::Barrier,
        11 => Instruction::ProxyFence(None),
        _ => Instruction::ProxyFence(random.pick(&[Some(Proxy::Texture), Some(Proxy::Asynchronous)])),
    }
}

/// The code of a thread; each load has a register of its own.
fn lines(code: &[Instruction]) -> Vec<String> {
    let mut loads = 0;
    let mut lines = Vec::new();
    for instruction in code {
        let register = format!("r{loads}");
        let name = |location: usize, prefix: &str| format!("{prefix}{}", LOCATIONS[location]);
        lines.push(match *instruction {
            Instruction::Load { location, aliased, proxy, semantics, scope } => {
                loads += 1;
                let prefix = match proxy {
                    Proxy::Generic if aliased => "a",
                    Proxy::Generic => "",
                    Proxy::Texture => "t",
                    Proxy::Asynchronous => "c",
                };
                format!("ld{} {register}, {}", suffix(semantics, scope), name(location, prefix))
            }
            Instruction::Store { location, aliased, semantics, scope, stored } => {
                let value = match stored {
                    Stored::Constant(value) => value.to_string(),
                    Stored::LastLoaded if loads == 0 => "0".to_string(),
                    Stored::LastLoaded => format!("r{}", loads - 1),
                };
                format!("st{} {}, {value}", suffix(semantics, scope), name(location, if aliased { "a" } else { "" }))
            }
            Instruction::Atomic { location, semantics, scope, operation } => {
                loads += 1;
                let (word, values) = match operation {
                    Atomic::Add(value) => ("add", value.to_string()),
                    Atomic::Exchange(value) => ("exch", value.to_string()),
                    Atomic::Swap(expected, value) => ("cas", format!("{expected}, {value}")),
                };
                format!("atom{}.{word} {register}, {}, {values}", suffix(semantics, scope), LOCATIONS[location])
            }
            Instruction::Fence { semantics, scope } => format!("fence{}", suffix(semantics, scope)),
            Instruction::ProxyFence(None) => "fence.proxy.alias".to_string(),
            Instruction::ProxyFence(Some(Proxy::Texture)) => "fence.proxy.texture".to_string(),
            Instruction::ProxyFence(Some(_)) => "fence.proxy.async".to_string(),
            Instruction::Barrier => "bar.sync 0".to_string(),
        });
    }
    lines
}

/// `.acquire.gpu`
pub fn suffix(semantics: Semantics, scope: Scope) -> String {
    let word = match semantics {
        Semantics::Weak => return ".weak".to_string(),
        Semantics::Relaxed => "relaxed",
        Semantics::Acquire => "acquire",
        Semantics::Release => "release",
        Semantics::AcqRel => "acq_rel",
        Semantics::Sc => "sc",
    };
    let scope = match scope {
        Scope::Block => "cta",
        Scope::Gpu => "gpu",
        Scope::System => "sys",
    };
    format!(".{word}.{scope}")
}
