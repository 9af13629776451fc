use proptest::prelude::*;

use super::look::looks;
use super::marks::place;
use super::number::{grouped, on_linear, on_log};
use super::scale::{AxisScale, Tick};
use super::{Drawing, LETTER, WIDTH};
use undertone_lab::record::{Axis, Chart, Role, Shape};

fn draw(chart: &Chart) -> String {
    Drawing { chart, id: "c" }.to_string()
}

fn labels(scale: &AxisScale, wanted: usize) -> Vec<String> {
    let ticks = scale.ticks(wanted, |_| true);
    ticks.into_iter().map(|tick| tick.label).collect()
}

/// Returns the path data of the first element of a class.
fn path<'a>(svg: &'a str, class: &str) -> &'a str {
    let after = svg.split("</ul>").nth(1).unwrap();
    let start = format!("class=\"{class}\" d=\"");
    let from = after
        .find(&start)
        .unwrap_or_else(|| panic!("{class} in {svg}"));
    after[from + start.len()..].split('"').next().unwrap()
}

#[test]
fn ticks_are_round() {
    let linear = |low, high| labels(&AxisScale::new((low, high), false).rounded(6), 6);
    assert_eq!(linear(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    assert_eq!(
        linear(3.0, 97.0),
        ["0", "20", "40", "60", "80", "100"],
        "the range is widened"
    );
    assert_eq!(
        linear(-2.0, 1.0),
        ["−2.0", "−1.5", "−1.0", "−0.5", "0.0", "0.5", "1.0"]
    );
    let log = |low, high| labels(&AxisScale::new((low, high), true).rounded(8), 8);
    assert_eq!(log(21.0, 900.0), ["20", "50", "100", "200", "500", "1000"]);
    assert_eq!(
        log(1.0, 1e6),
        [
            "1",
            "10",
            "100",
            "1000",
            "10\u{202f}000",
            "100\u{202f}000",
            "1\u{202f}000\u{202f}000"
        ]
    );
    assert_eq!(log(1e3, 1e9).last().unwrap(), "10⁹");
    assert_eq!(log(0.05, 0.2), ["0.05", "0.1", "0.2"]);
}

#[test]
fn labels_that_do_not_fit_are_thinned_out() {
    let scale = AxisScale::new((0.0, 100.0), false);
    let at_most = |n: usize| scale.ticks(8, move |ticks: &[Tick]| ticks.len() <= n).len();
    assert_eq!((at_most(20), at_most(6), at_most(3)), (6, 6, 3));
}

#[test]
fn numbers_are_written_for_people() {
    assert_eq!(grouped("1234"), "1234");
    assert_eq!(grouped("-1234567.5"), "−1\u{202f}234\u{202f}567.5");
    assert_eq!(grouped("-0.00"), "0.00");
    assert_eq!(on_linear(2.5e9, 5e8, 2.5e9), "2.5×10⁹");
    assert_eq!(on_linear(-1e9, 5e8, 2.5e9), "−10⁹".replace("−10", "−1×10"));
    assert_eq!(on_linear(0.0, 5e8, 2.5e9), "0");
    assert_eq!(on_log(1e-7, 1e-7, 1.0), "10⁻⁷");
}

#[test]
fn a_step_holds_until_the_next_and_the_last_until_the_end() {
    let steps = Shape::Steps(vec![[0.0, 0.0], [5.0, 1.0], [10.0, 0.5]]);
    let chart = Chart::new("t", Axis::linear("x"), Axis::linear("y")).with("a", Role::Ours, steps);
    let svg = draw(&chart);
    let numbers = path(&svg, "s ours h0 line");
    assert_eq!(numbers, "M44.0 286.0H303.0V36.0H562.0V161.0H562.0");
}

#[test]
fn bars_that_touch_share_an_outline_and_others_do_not() {
    let bars = |from| Shape::Bars(vec![[0.0, 1.0, 2.0], [from, 4.0, 1.0]]);
    let outline = |from| {
        let chart = Chart::new("t", Axis::linear("x"), Axis::linear("y"));
        let svg = draw(&chart.with("a", Role::Published, bars(from)));
        path(&svg, "s published h0 line").matches('M').count()
    };
    assert_eq!((outline(1.0), outline(2.0)), (1, 2));
}

#[test]
fn a_band_over_words_has_whiskers_and_no_area() {
    let band = Shape::Band(vec![[0.0, 2.0, 1.0, 3.0], [1.0, 2.0, 1.0, 3.0]]);
    let draw_over = |x| {
        let chart = Chart::new("t", x, Axis::linear("y"));
        draw(&chart.with("a", Role::Ours, band.clone()))
    };
    let over_words = draw_over(Axis::words("x", &["one", "two"]));
    assert_eq!(
        path(&over_words, "s ours h0 whisker").matches('V').count(),
        2
    );
    let drawing = over_words.split("</ul>").nth(1).unwrap();
    assert!(!drawing.contains(" area\""), "{drawing}");
    let over_numbers = draw_over(Axis::linear("x"));
    assert!(path(&over_numbers, "s ours h0 area").ends_with('Z'));
}

#[test]
fn values_without_a_place_are_left_out() {
    let points = vec![
        [0.0, 1.0],
        [1.0, 0.0],
        [2.0, f64::NAN],
        [3.0, 1e308],
        [4.0, 10.0],
    ];
    let chart = Chart::new("t", Axis::linear("x"), Axis::log("y"));
    let svg = draw(
        &chart
            .with("a", Role::Model, Shape::Line(points))
            .mark(f64::NAN, "m"),
    );
    assert_eq!(
        path(&svg, "s model h0 line").matches('L').count(),
        1,
        "{svg}"
    );
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

#[test]
fn a_chart_without_values_says_so() {
    let chart = Chart::new("t", Axis::log("x"), Axis::linear("y"));
    assert!(draw(&chart).contains(">no values</text>"));
    let named = chart.with("gone", Role::Published, Shape::Line(Vec::new()));
    assert!(draw(&named).contains("gone, published: no values."));
}

#[test]
fn series_of_one_source_differ_in_mark_and_hue() {
    let point = || Shape::Points(vec![[1.0, 1.0]]);
    let mut chart = Chart::new("t", Axis::linear("x"), Axis::linear("y"));
    for role in [
        Role::Ours,
        Role::Published,
        Role::Ours,
        Role::Model,
        Role::Ours,
    ] {
        chart = chart.with("s", role, point());
    }
    let looks = looks(&chart.series);
    let classes: Vec<String> = looks.iter().map(|look| look.classes()).collect();
    assert_eq!(
        classes,
        [
            "s ours h0",
            "s published h0",
            "s ours h1",
            "s model h0",
            "s ours h2"
        ]
    );
    assert_ne!(looks[0].mark(0.0, 0.0), looks[2].mark(0.0, 0.0));
}

#[test]
fn words_stand_upright_while_they_fit() {
    let slanted = |words: &[&str]| {
        let chart = Chart::new("t", Axis::words("x", words), Axis::linear("y"));
        draw(&chart).contains("rotate(-35)")
    };
    assert!(!slanted(&[
        "Desktop, Ryzen 9",
        "Laptop M2",
        "Raspberry Pi 4"
    ]));
    assert!(slanted(&["Incomprehensibly"; 5]));
    assert!(slanted(&["word"; 40]));
}

#[test]
fn words_that_are_too_long_for_the_axis_are_whole_below_it() {
    let words = [
        "Bare Metal 256GB AMD EPYC 7502P 32-Core",
        "Raspberry Pi 4B 4GB",
    ];
    let crowd = [words[0], words[1], "a", "b", "c", "d"];
    let chart = |words: &[&str]| draw(&Chart::new("t", Axis::words("x", words), Axis::linear("y")));
    let listed = chart(&crowd);
    let list = listed.split("<ol class=\"words-below\">").nth(1).unwrap();
    for word in crowd {
        assert!(list.contains(&format!("<li>{word}</li>")), "{list}");
    }
    assert!(
        listed.contains(">6</text>") && !listed.contains('…'),
        "{listed}"
    );
    assert!(!listed.contains("rotate(-35)"));
    // Two have room for their lines.
    let upright = chart(&words);
    assert!(upright.contains("7502P 32-Core</text>") && !upright.contains("words-below"));
}

proptest! {
    #[test]
    fn ticks_ascend_inside_the_range(low in -1e6..1e6_f64, width in 1e-3..1e6_f64, log: bool) {
        let low = if log { low.abs() + 1e-3 } else { low };
        let scale = AxisScale::new((low, low + width), log).rounded(6).placed(0.0, 100.0);
        let ticks = scale.ticks(6, |_| true);
        prop_assert!((2..=13).contains(&ticks.len()), "{ticks:?}");
        let places: Vec<f64> = ticks.iter().map(|t| scale.place(t.value).unwrap()).collect();
        prop_assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
        prop_assert!(places.iter().all(|p| (-1e-6..100.0 + 1e-6).contains(p)), "{places:?}");
        let words: Vec<&str> = ticks.iter().map(|tick| tick.label.as_str()).collect();
        prop_assert!(words.windows(2).all(|pair| pair[0] != pair[1]), "{words:?}");
    }

    #[test]
    fn words_of_marks_never_touch(marks in prop::collection::vec((50.0..600.0_f64, "[a-z]{1,60}"), 0..8)) {
        let given: Vec<(f64, &str)> = marks.iter().map(|(x, word)| (*x, word.as_str())).collect();
        let placed = place(&given, 50.0, WIDTH);
        prop_assert_eq!(placed.len(), marks.len());
        let ends = |mark: &super::marks::Placed| {
            let half = mark.label.chars().count() as f64 * LETTER / 2.0;
            (mark.middle - half, mark.middle + half)
        };
        for (number, one) in placed.iter().enumerate() {
            let (left, right) = ends(one);
            prop_assert!(left >= 50.0 - 1e-9 && right <= WIDTH + 1e-9);
            for other in placed[number + 1..].iter().filter(|other| other.row == one.row) {
                let (others_left, others_right) = ends(other);
                prop_assert!(right < others_left || others_right < left);
            }
        }
    }

    /// A record file may hold any values.
    #[test]
    fn any_values_make_a_picture(
        points in prop::collection::vec([any::<f64>(), any::<f64>(), any::<f64>(), any::<f64>()], 0..6),
        words in prop::collection::vec(any::<String>(), 0..4),
        log: (bool, bool),
        shape in 0..5,
    ) {
        let shape = match shape {
            0 => Shape::Line(points.iter().map(|p| [p[0], p[1]]).collect()),
            1 => Shape::Band(points.clone()),
            2 => Shape::Steps(points.iter().map(|p| [p[0], p[1]]).collect()),
            3 => Shape::Bars(points.iter().map(|p| [p[0], p[1], p[2]]).collect()),
            _ => Shape::Points(points.iter().map(|p| [p[0], p[1]]).collect()),
        };
        let axis = |log| if log { Axis::log("a") } else { Axis::linear("a") };
        let x = Axis { categories: words, ..axis(log.0) };
        let svg = draw(&Chart::new("t", x, axis(log.1)).with("s", Role::Ours, shape));
        prop_assert!(svg.ends_with("</figure>\n"));
        prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
