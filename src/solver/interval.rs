//! Intervals of integers, used to see where machine arithmetic cannot wrap.

/// An interval; `None` is unbounded on that side. Overflow of `i128` widens to unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    /// Least value.
    pub(crate) low: Option<i128>,
    /// Greatest value.
    pub(crate) high: Option<i128>,
}

impl Interval {
    /// All integers.
    pub(crate) const ALL: Interval = Interval { low: None, high: None };

    /// `low ..= high`
    pub(crate) fn new(low: i128, high: i128) -> Interval {
        Interval { low: Some(low), high: Some(high) }
    }

    /// One value.
    pub(crate) fn point(value: i128) -> Interval {
        Interval::new(value, value)
    }

    /// Sums of members.
    pub(crate) fn plus(self, other: Interval) -> Interval {
        let add = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
        Interval { low: add(self.low, other.low), high: add(self.high, other.high) }
    }

    /// Multiples of members.
    pub(crate) fn times_constant(self, factor: i128) -> Interval {
        let scale = |a: Option<i128>| a?.checked_mul(factor);
        match factor {
            0 => Interval::point(0),
            f if f > 0 => Interval { low: scale(self.low), high: scale(self.high) },
            _ => Interval { low: scale(self.high), high: scale(self.low) },
        }
    }

    /// Products of members; unbounded unless all four corners are finite.
    pub(crate) fn times(self, other: Interval) -> Interval {
        let corner = |a: Option<i128>, b: Option<i128>| a?.checked_mul(b?);
        let corners = [
            corner(self.low, other.low),
            corner(self.low, other.high),
            corner(self.high, other.low),
            corner(self.high, other.high),
        ];
        if let [Some(a), Some(b), Some(c), Some(d)] = corners {
            return Interval::new(a.min(b).min(c).min(d), a.max(b).max(c).max(d));
        }
        let positive = |i: Interval| i.low.is_some_and(|l| l >= 0);
        if positive(self) && positive(other) {
            return Interval { low: corner(self.low, other.low), high: None };
        }
        Interval::ALL
    }

    /// The smallest interval that holds both.
    pub(crate) fn union(self, other: Interval) -> Interval {
        let both = |a: Option<i128>, b: Option<i128>, f: fn(i128, i128) -> i128| Some(f(a?, b?));
        Interval { low: both(self.low, other.low, Ord::min), high: both(self.high, other.high, Ord::max) }
    }

    /// What is in both.
    pub(crate) fn and(self, other: Interval) -> Interval {
        let both = |a: Option<i128>, b: Option<i128>, f: fn(i128, i128) -> i128| match (a, b) {
            (Some(a), Some(b)) => Some(f(a, b)),
            _ => a.or(b),
        };
        Interval { low: both(self.low, other.low, Ord::max), high: both(self.high, other.high, Ord::min) }
    }

    /// Whether it has no member.
    pub(crate) fn is_empty(self) -> bool {
        self.low.zip(self.high).is_some_and(|(low, high)| low > high)
    }

    /// Quotients, rounded down, by a positive constant.
    pub(crate) fn divided_by(self, divisor: i128) -> Interval {
        let div = |a: Option<i128>| Some(a?.div_euclid(divisor));
        Interval { low: div(self.low), high: div(self.high) }
    }

    /// True when every member lies in `low ..= high`.
    pub(crate) fn within(self, low: i128, high: i128) -> bool {
        self.low.is_some_and(|l| l >= low) && self.high.is_some_and(|h| h <= high)
    }

    /// True when some member may lie in `low ..= high`.
    pub(crate) fn meets(self, low: i128, high: i128) -> bool {
        self.low.is_none_or(|l| l <= high) && self.high.is_none_or(|h| h >= low)
    }

    /// The multiples `q*size` in the interval, as the range of `q`; empty when the first exceeds the last.
    pub(crate) fn multiples(self, size: i128) -> Option<(i128, i128)> {
        let (low, high) = (self.low?, self.high?);
        let rounded_up = low.div_euclid(size) + i128::from(low.rem_euclid(size) != 0);
        Some((rounded_up, high.div_euclid(size)))
    }

    /// The windows `[q*size, (q+1)*size)` that the interval meets, as the range of `q`.
    pub(crate) fn windows(self, size: i128) -> Option<(i128, i128)> {
        Some((self.low?.div_euclid(size), self.high?.div_euclid(size)))
    }
}
