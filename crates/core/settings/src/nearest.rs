//! Suggestion of the known name that a misspelt one probably meant.

/// Returns the candidate whose spelling is closest to `wanted`, if it is close enough: at most a
/// third of the letters differ (or two), or only the unit is missing.
pub fn nearest<'a>(wanted: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let most = (wanted.chars().count() / 3).max(2);
    candidates
        .map(|candidate| {
            let slips = strsim::damerau_levenshtein(wanted, candidate);
            let without_unit = candidate
                .strip_prefix(wanted)
                .is_some_and(|rest| rest.starts_with('_'));
            (if without_unit { 1 } else { slips }, candidate)
        })
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.to_owned())
}
