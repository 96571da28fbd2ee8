//! Tensor maps as arguments of a launch, and their text.
//!
//! Input: what follows `tensor:`, such as `f16:64x32:box=64x8,swizzle=128,data=ramp`. Output: a [`TensorArgument`]; its text, which
//! reads as the same argument. Establishes: what is wrong is told by the part that is. Relies on: [`super::tensor`] for the rules
//! of maps. Reference: CUDA driver, `cuTensorMapEncodeTiled`.

use super::tensor::{LARGEST_SIZE, LARGEST_STEP, LARGEST_STRIDE, LONGEST, RANKS, TYPES, TensorMap};
use crate::ptx::words::{scalar_type, type_name};
use std::fmt;

/// A tensor map as an argument: the map without its address, and what the tensor is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorArgument {
    pub(crate) map: TensorMap,
    pub(crate) data: TensorData,
}

/// Where a tensor is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TensorData {
    /// In a new array, filled like the arguments of this name.
    New(NewData),
    /// In the array of an earlier parameter, so many bytes behind its start.
    Of { other: String, distance: i64 },
}

/// What a new array holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewData {
    Zeros,
    Ramp,
    Random,
}

impl NewData {
    const ALL: [(&'static str, NewData); 3] =
        [("zeros", NewData::Zeros), ("ramp", NewData::Ramp), ("random", NewData::Random)];
}

/// `64x32`: numbers from 1 to a limit.
fn numbers(text: &str, what: &str, limit: u64) -> Result<Vec<u64>, String> {
    let number = |word: &str| match word.parse() {
        Ok(number) if (1..=limit).contains(&number) => Ok(number),
        _ => Err(format!("tensor: `{word}` in {what} is no number from 1 to {limit}")),
    };
    text.split('x').map(number).collect()
}

impl TensorArgument {
    /// Reads what follows `tensor:`.
    ///
    /// # Errors
    /// The part that is wrong.
    pub(crate) fn parse(text: &str) -> Result<TensorArgument, String> {
        let mut words = text.splitn(3, ':');
        let (name, sizes) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let ty = scalar_type(name).filter(|_| TYPES.contains(&name));
        let ty = ty.ok_or_else(|| format!("tensor: `{name}` is no element type; there are {}", TYPES.join(", ")))?;
        let sizes = numbers(sizes, "the sizes", LARGEST_SIZE)?;
        if sizes.len() > RANKS {
            return Err(format!("tensor: {} sizes; a tensor has at most {RANKS} dimensions", sizes.len()));
        }
        let mut strides = vec![u64::from(ty.bytes())];
        for dimension in 1..sizes.len() {
            strides.push(strides[dimension - 1].saturating_mul(sizes[dimension - 1]));
        }
        let (span, steps) = (Vec::new(), vec![1; sizes.len()]);
        let map = TensorMap { address: 0, ty, sizes, strides, span, steps, swizzle: 0, fills_with_nan: false };
        let mut argument = TensorArgument { map, data: TensorData::New(NewData::Zeros) };
        for option in words.next().unwrap_or_default().split(',').filter(|option| !option.is_empty()) {
            argument.set(option)?;
        }
        argument.map.check()?;
        Ok(argument)
    }

    /// Takes an option.
    fn set(&mut self, option: &str) -> Result<(), String> {
        let (key, value) =
            option.split_once('=').ok_or_else(|| format!("tensor: `{option}` is not KEY=VALUE, as in box=64x8"))?;
        let map = &mut self.map;
        let rank = map.rank();
        let of_rank = |what: &str, limit, wanted: usize| {
            let all = numbers(value, what, limit)?;
            match all.len() == wanted {
                true => Ok(all),
                false => Err(format!("tensor: {what} has {} numbers, not {wanted}", all.len())),
            }
        };
        match key {
            "box" => map.span = of_rank("box", LONGEST, rank)?,
            "steps" => map.steps = of_rank("steps", LARGEST_STEP, rank)?,
            "strides" if rank == 1 => return Err("tensor: strides: one dimension has none".to_string()),
            "strides" => {
                let all = of_rank("strides", LARGEST_STRIDE - 1, rank - 1)?;
                map.strides.splice(1.., all);
            }
            "swizzle" => {
                map.swizzle = match value {
                    "none" => 0,
                    "32" => 32,
                    "64" => 64,
                    "128" => 128,
                    _ => return Err(format!("tensor: swizzle `{value}`; there are none, 32, 64 and 128")),
                };
            }
            "fill" => {
                map.fills_with_nan = match value {
                    "zeros" => false,
                    "nan" if map.ty.is_float() => true,
                    "nan" => return Err("tensor: fill: only floating-point elements are no numbers".to_string()),
                    _ => return Err(format!("tensor: fill `{value}`; there are zeros and nan")),
                };
            }
            "data" => {
                let found = NewData::ALL.iter().find(|(name, _)| *name == value);
                let found = found.ok_or_else(|| format!("tensor: data `{value}`; there are zeros, ramp and random"))?;
                self.data = TensorData::New(found.1);
            }
            "of" => {
                let (other, distance) = value.find(['+', '-']).map_or((value, "0"), |at| value.split_at(at));
                let distance =
                    distance.parse().map_err(|_| format!("tensor: of: `{distance}` is no number of bytes"))?;
                self.data = TensorData::Of { other: other.to_string(), distance };
            }
            _ => {
                return Err(format!(
                    "tensor: unknown `{key}`; there are box, strides, steps, swizzle, fill, of and data"
                ));
            }
        }
        Ok(())
    }
}

impl fmt::Display for TensorArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |all: &[u64]| all.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        let TensorMap { ty, sizes, strides, span, steps, swizzle, fills_with_nan, .. } = &self.map;
        write!(f, "tensor:{}:{}:box={}", type_name(*ty), list(sizes), list(span))?;
        if strides.len() > 1 {
            write!(f, ",strides={}", list(&strides[1..]))?;
        }
        if steps.iter().any(|step| *step != 1) {
            write!(f, ",steps={}", list(steps))?;
        }
        if *swizzle > 0 {
            write!(f, ",swizzle={swizzle}")?;
        }
        if *fills_with_nan {
            write!(f, ",fill=nan")?;
        }
        match &self.data {
            TensorData::New(NewData::Zeros) => Ok(()),
            TensorData::New(data) => match NewData::ALL.iter().find(|(_, known)| known == data) {
                Some((name, _)) => write!(f, ",data={name}"),
                None => Ok(()),
            },
            TensorData::Of { other, distance: 0 } => write!(f, ",of={other}"),
            TensorData::Of { other, distance } => write!(f, ",of={other}{distance:+}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::tensor::BYTES;

    #[test]
    fn maps_are_read_and_written() {
        for text in [
            "f16:64x32:box=64x8,strides=128",
            "u8:1000:box=16",
            "f32:7x5x3x2x2:box=4x2x1x1x1,strides=32x160x480x960,steps=1x2x1x1x1,fill=nan,data=ramp",
            "bf16:64x4:box=64x4,strides=128,swizzle=128,of=p-32",
        ] {
            let argument = TensorArgument::parse(text).expect("a map");
            assert_eq!(argument.to_string(), format!("tensor:{text}"));
            assert_eq!(TensorMap::decoded(&argument.map.encoded()), Some(argument.map));
        }
        assert_eq!(TensorMap::decoded(&[0; BYTES]), None);
        for (wrong, part) in [
            ("f8:4:box=16", "f8"),
            ("f32:0x4:box=4x1", "sizes"),
            ("f32:4x4x4x4x4x4:box=4", "dimensions"),
            ("f32:4x4", "box is missing"),
            ("f32:4x4:box=4", "box has 1 numbers"),
            ("f32:4x4:box=3x1", "12 bytes"),
            ("f32:4x300:box=4x257", "257"),
            ("f32:5x4:box=4x1", "strides: 20"),
            ("f32:4x4:box=4x1,strides=20", "strides: 20"),
            ("f32:4:box=4,strides=16", "one dimension"),
            ("f32:4x4:box=4x1,steps=2x1", "innermost"),
            ("f32:4x4:box=4x1,swizzle=16", "swizzle `16`"),
            ("f32:4x4:box=4x1,swizzle=32", "only those of 32"),
            ("u32:4x4:box=4x1,fill=nan", "fill"),
            ("u32:4x4:box=4x1,colour=red", "colour"),
            ("u32:4x4:box=4x1,data=ones", "ones"),
            ("u32:4x4:box=4x1,of=p+x", "+x"),
            ("u32:4294967296x4294967296:box=4x1", "strides"),
            ("u32:4x4294967296:box=4x1,strides=1099511627760", "spans"),
            ("u32:4x4:box", "KEY=VALUE"),
        ] {
            let error = TensorArgument::parse(wrong).expect_err(wrong);
            assert!(error.contains(part), "{wrong}: {error}");
        }
    }
}
