//! Formatting of numbers beside an axis.

/// Value from which on, and below whose reciprocal, numbers are written with a power of ten.
const POWERS_FROM: f64 = 1e7;

/// Formats a value on a linear axis with ticks `step` apart, the largest of which is `largest`.
pub(super) fn on_linear(value: f64, step: f64, largest: f64) -> String {
    if largest >= POWERS_FROM || step < 1.0 / POWERS_FROM {
        return with_power(value);
    }
    let decimals = (-step.log10() - 1e-9).ceil().clamp(0.0, 9.0) as usize;
    grouped(&format!("{value:.decimals$}"))
}

/// Formats a value on a logarithmic axis from `smallest` to `largest`: 1, 2 or 5 times a power of ten.
pub(super) fn on_log(value: f64, smallest: f64, largest: f64) -> String {
    if largest >= POWERS_FROM || smallest < 1e-4 {
        return with_power(value);
    }
    let decimals = (-value.log10() - 1e-9).ceil().clamp(0.0, 9.0) as usize;
    grouped(&format!("{value:.decimals$}"))
}

/// Formats any value for the text description.
pub(super) fn plain(value: f64) -> String {
    match value.abs() {
        size if size >= POWERS_FROM || (size > 0.0 && size < 1e-4) => with_power(value),
        _ => grouped(&undertone_lab::record::short(value)),
    }
}

/// Formats a number with a true minus sign, none before 0, and thin spaces between thousands
/// from five digits on.
pub(in super::super) fn grouped(text: &str) -> String {
    let (minus, digits) = match text.strip_prefix('-') {
        Some(digits) if digits.contains(|c: char| c.is_ascii_digit() && c != '0') => ("−", digits),
        Some(digits) => ("", digits),
        None => ("", text),
    };
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut grouped = minus.to_owned();
    for (place, c) in digits.chars().enumerate() {
        let left = whole.saturating_sub(place);
        if whole >= 5 && place > 0 && left > 0 && left % 3 == 0 {
            grouped.push('\u{202f}');
        }
        grouped.push(c);
    }
    grouped
}

fn with_power(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = format!("{value:.1e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = mantissa.trim_end_matches(".0").replace('-', "−");
    let power: String = exponent.chars().map(superscript).collect();
    match mantissa.as_str() {
        "1" => format!("10{power}"),
        mantissa => format!("{mantissa}×10{power}"),
    }
}

fn superscript(c: char) -> char {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize])
}
