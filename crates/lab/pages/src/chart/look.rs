//! Look of series. They differ in colour and, for readers who cannot see colours, in dashes and
//! marks.

use undertone_lab::record::{Role, Series};

/// Look of one series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SeriesLook {
    /// Origin of the figures; determines colour family and dashes.
    pub(super) role: Role,
    /// Index among the series of the same role; determines hue and mark.
    pub(super) number: usize,
}

/// Number of hues in `style.css` and of marks; further series repeat them.
const HUES: usize = 6;

/// Assigns a look to each series.
pub(super) fn looks(series: &[Series]) -> Vec<SeriesLook> {
    let mut counts = [0; 3];
    let look = |series: &Series| {
        let count = &mut counts[series.role as usize];
        *count += 1;
        SeriesLook {
            role: series.role,
            number: *count - 1,
        }
    };
    series.iter().map(look).collect()
}

/// Name of a role, in words.
pub(super) fn whose(role: Role) -> &'static str {
    match role {
        Role::Ours => "ours",
        Role::Published => "published",
        Role::Model => "model",
    }
}

impl SeriesLook {
    /// CSS classes of everything drawn in this look.
    pub(super) fn classes(self) -> String {
        format!("s {} h{}", whose(self.role), self.number % HUES)
    }

    /// A mark around a point, as path data.
    pub(super) fn mark(self, x: f64, y: f64) -> String {
        let polygon = |corners: &[(f64, f64)]| {
            let mut path = String::new();
            for (number, (dx, dy)) in corners.iter().enumerate() {
                let letter = if number == 0 { 'M' } else { 'L' };
                path += &format!("{letter}{:.1} {:.1}", x + dx, y + dy);
            }
            path + "Z"
        };
        match self.number % HUES {
            0 => format!("M{:.1} {y:.1}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z", x - 4.0),
            1 => polygon(&[(-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)]),
            2 => polygon(&[(0.0, -5.0), (4.6, 3.6), (-4.6, 3.6)]),
            3 => polygon(&[(0.0, -5.2), (5.2, 0.0), (0.0, 5.2), (-5.2, 0.0)]),
            4 => polygon(&[(0.0, 5.0), (4.6, -3.6), (-4.6, -3.6)]),
            _ => polygon(&[(-5.0, -1.8), (5.0, -1.8), (5.0, 1.8), (-5.0, 1.8)]),
        }
    }
}
