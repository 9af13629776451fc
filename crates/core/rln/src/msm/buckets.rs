//! Bucket sums: filling the buckets by affine additions that share inversions, and adding them up.

use ark_ec::short_weierstrass::{Affine, Projective};
use ark_ff::{AdditiveGroup, Field};

use super::{BucketEntry, MsmGroup, Point};

/// Number of additions that share one inversion. Their operands fit the second-level cache.
const BATCH: usize = 1024;

pub(super) struct Buckets<F> {
    /// Sum of each bucket's points.
    pub(super) sums: Vec<Point<F>>,
}

impl<F: Field> Buckets<F> {
    /// Adds each entry's point to the entry's bucket. There are `count` buckets.
    pub(super) fn fill(
        points: &[Point<F>],
        endomorphism: Option<F>,
        entries: &[BucketEntry],
        count: usize,
    ) -> Self {
        let (sorted, starts) = sort(entries, count);
        let mut lengths: Vec<u32> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mut work = vec![Point::INFINITY; sorted.len()];
        let mut batch = AdditionBatch::new();
        let mut odd = Vec::new();
        let mut from_table = true;
        // Each round adds neighbouring points of a bucket in pairs and moves up an odd last point.
        while from_table || lengths.iter().any(|length| *length > 1) {
            for (start, length) in starts.iter().zip(&mut lengths) {
                let (start, pairs) = (*start as usize, *length as usize / 2);
                for pair in 0..pairs {
                    let at = start + 2 * pair;
                    match from_table {
                        true => batch.push_entries(points, [sorted[at], sorted[at + 1]]),
                        false => batch.pairs.push([work[at], work[at + 1]]),
                    }
                    batch.to.push(start + pair);
                    if batch.to.len() == BATCH {
                        batch.flush(endomorphism, &mut work);
                    }
                }
                if *length % 2 == 1 {
                    odd.push((start + *length as usize - 1, start + pairs));
                }
                *length -= pairs as u32;
            }
            batch.flush(endomorphism, &mut work);
            for (from, to) in odd.drain(..) {
                work[to] = match from_table {
                    true => sorted[from].applied(points[sorted[from].index()], endomorphism),
                    false => work[from],
                };
            }
            from_table = false;
        }
        let sums = starts
            .iter()
            .zip(&lengths)
            .map(|(start, length)| match length {
                0 => Point::INFINITY,
                _ => work[*start as usize],
            });
        Self {
            sums: sums.collect(),
        }
    }

    /// Computes the weighted sum `Σ (k + 1) * sums[k]`.
    ///
    /// With k + 1 = 64 h + l this is `64 Σ h * row(h) + Σ l * column(l)`: the rows' and columns' sums
    /// again use affine additions, and the running sums at the end are short.
    pub(super) fn weighted<G: MsmGroup<BaseField = F>>(sums: &[Point<F>]) -> Projective<G> {
        const COLUMNS: usize = 64;
        let rows = sums.len() / COLUMNS + 1;
        let mut entries = Vec::with_capacity(2 * sums.len());
        for (k, sum) in sums.iter().enumerate() {
            if !sum.is_infinity() {
                let (row, column) = ((k + 1) / COLUMNS, (k + 1) % COLUMNS);
                entries.push(BucketEntry::new(row, k, false, false));
                entries.push(BucketEntry::new(rows + column, k, false, false));
            }
        }
        let lines = Self::fill(sums, None, &entries, rows + COLUMNS).sums;
        let (rows, columns) = lines.split_at(rows);
        let mut sum = running::<G>(&rows[1..]);
        for _ in 0..COLUMNS.ilog2() {
            sum.double_in_place();
        }
        sum + running::<G>(&columns[1..])
    }
}

/// Computes `Σ (k + 1) * points[k]` by adding up the sums of all tails.
fn running<G: MsmGroup>(points: &[Point<G::BaseField>]) -> Projective<G> {
    let mut tail = Projective::<G>::ZERO;
    let mut sum = Projective::<G>::ZERO;
    for point in points.iter().rev() {
        tail += point.to_affine::<G>();
        sum += tail;
    }
    sum
}

/// Sorts the entries by bucket; also returns each bucket's start, followed by the end.
fn sort(entries: &[BucketEntry], count: usize) -> (Vec<BucketEntry>, Vec<u32>) {
    let mut starts = vec![0u32; count + 1];
    for entry in entries {
        starts[entry.bucket as usize + 1] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let mut next = starts.clone();
    let mut sorted = entries.to_vec();
    for entry in entries {
        let slot = &mut next[entry.bucket as usize];
        sorted[*slot as usize] = *entry;
        *slot += 1;
    }
    (sorted, starts)
}

/// Pending additions. Operands are copied when an addition is added, so later writes to their sources
/// have no effect.
struct AdditionBatch<F> {
    pairs: Vec<[Point<F>; 2]>,
    /// Entries of the pairs that were copied from the table and are not yet negated or mapped.
    entries: Vec<[BucketEntry; 2]>,
    /// Index in the work area at which each sum is stored.
    to: Vec<usize>,
    denominators: Vec<F>,
    products: Vec<F>,
}

impl<F: Field> AdditionBatch<F> {
    fn new() -> Self {
        Self {
            pairs: Vec::with_capacity(BATCH),
            entries: Vec::with_capacity(BATCH),
            to: Vec::with_capacity(BATCH),
            denominators: Vec::with_capacity(BATCH),
            products: Vec::with_capacity(BATCH),
        }
    }

    /// Adds a pair from the table. Only copies, so that many cache misses can overlap.
    fn push_entries(&mut self, points: &[Point<F>], pair: [BucketEntry; 2]) {
        self.pairs.push(pair.map(|entry| points[entry.index()]));
        self.entries.push(pair);
    }

    /// Computes the pending sums and writes them to their places in `work`.
    fn flush(&mut self, endomorphism: Option<F>, work: &mut [Point<F>]) {
        for (pair, entries) in self.pairs.iter_mut().zip(&self.entries) {
            for (point, entry) in pair.iter_mut().zip(entries) {
                *point = entry.applied(*point, endomorphism);
            }
        }
        // The products of every second denominator: two independent chains of multiplications.
        let mut products = [F::ONE; 2];
        for (k, pair) in self.pairs.iter().enumerate() {
            let denominator = denominator(&pair[0], &pair[1]);
            let product = &mut products[k % 2];
            self.products.push(*product);
            *product *= denominator;
            self.denominators.push(denominator);
        }
        let inverse = (products[0] * products[1])
            .inverse()
            .expect("no denominator is 0, so neither is their product");
        let mut inverses = [inverse * products[1], inverse * products[0]];
        for (k, pair) in self.pairs.iter().enumerate().rev() {
            let inverse = &mut inverses[k % 2];
            let own = *inverse * self.products[k];
            *inverse *= self.denominators[k];
            work[self.to[k]] = add(&pair[0], &pair[1], own);
        }
        self.pairs.clear();
        self.entries.clear();
        self.to.clear();
        self.denominators.clear();
        self.products.clear();
    }
}

/// Denominator of the slope through two points; 1 where no slope is needed.
fn denominator<F: Field>(a: &Point<F>, b: &Point<F>) -> F {
    let run = b.x - a.x;
    if !run.is_zero() {
        // If one point is infinity this is also right: add() does not use the inverse then.
        return run;
    }
    match a.y == b.y && !a.y.is_zero() {
        true => a.y.double(),
        false => F::ONE,
    }
}

/// Adds two points, given the inverse of their denominator.
fn add<F: Field>(a: &Point<F>, b: &Point<F>, inverse: F) -> Point<F> {
    if a.is_infinity() {
        return *b;
    }
    if b.is_infinity() {
        return *a;
    }
    let slope = if a.x != b.x {
        (b.y - a.y) * inverse
    } else if a.y == b.y {
        let square = a.x.square();
        (square.double() + square) * inverse
    } else {
        return Point::INFINITY;
    };
    let x = slope.square() - a.x - b.x;
    let y = slope * (a.x - x) - a.y;
    Point { x, y }
}

/// Converts points to affine form with a shared inversion, for tables.
pub(super) fn to_points<G: MsmGroup>(points: &[Projective<G>]) -> Vec<Point<G::BaseField>> {
    let affine: Vec<Affine<G>> = ark_ec::CurveGroup::normalize_batch(points);
    affine.iter().map(Point::of).collect()
}
