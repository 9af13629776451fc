use super::*;

const REPORT: &str = "==1== Callgrind, a call-graph generating cache profiler\n==1== Events    : Ir\n\
    ==1== Collected : 13013\n==1==\n==1== I   refs:      13,013\n";

#[test]
fn one_unit_is_what_was_collected_by_the_times_it_was_done() {
    assert_eq!(per_unit(REPORT, "a line\ntimes: 13\n"), Some(1001));
    assert_eq!(per_unit(REPORT, "times: 0"), None);
    assert_eq!(per_unit(REPORT, "13"), None);
    assert_eq!(per_unit("==1== Events    : Ir", "times: 13"), None);
    let nothing = "==1== Collected : 0";
    assert_eq!(per_unit(nothing, "times: 13"), None);
}

#[test]
fn a_machine_that_cannot_count_says_so_with_a_remedy() {
    let error = CannotCount::Valgrind(io::Error::from(io::ErrorKind::NotFound));
    let text = error.to_string();
    assert!(text.contains("cannot count"), "{text}");
    assert!(text.contains("install"), "{text}");
}
