use super::super::Outcome;
use super::verdict;

#[test]
fn an_advisory_fails_and_a_database_out_of_reach_is_told() {
    let advisory = "error[vulnerability]: a buffer overflow";
    assert!(matches!(verdict(advisory), Outcome::Failed(_)));
    let offline = "[ERROR] failed to fetch advisory database https://example.org: no route";
    assert!(matches!(verdict(offline), Outcome::PassedBut(_)));
}
