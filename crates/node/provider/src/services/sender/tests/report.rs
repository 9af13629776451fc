use super::*;

fn event(id: u64, kind: SendEventKind) -> SendEvent {
    SendEvent {
        id: SendId(id),
        kind,
        hash: None,
    }
}

#[test]
fn every_step_has_a_number_of_its_own() {
    for (place, step) in STEPS.into_iter().enumerate() {
        assert_eq!(usize::from(step.number()), place);
        assert_eq!(SendStep::from_number(step.number()), Some(step));
        assert_eq!(
            step.reason().is_some(),
            step.is_end() && step != SendStep::Stored
        );
    }
    assert_eq!(SendStep::from_number(200), None);
}

#[test]
fn reports_are_kept_until_they_are_fetched_and_numbers_grow() {
    let mut reports = SendReports::default();
    let (first, _) = reports.note(&event(1, SendEventKind::Queued), 1_000);
    let (second, _) = reports.note(&event(2, SendEventKind::Queued), 900);
    let (third, _) = reports.note(&event(1, SendEventKind::Stored), 950);
    assert!(first.number < second.number && second.number < third.number);
    assert_eq!(reports.of(Some(SendId(1))), [first, third]);
    let forgotten = reports.forget(&[first, third]);
    assert_eq!(forgotten, [first.number, third.number]);
    assert_eq!(reports.of(None), [second]);
    let mut restored = SendReports::restored(vec![second]);
    let (next, _) = restored.note(&event(2, SendEventKind::Stored), 10);
    assert!(next.number > second.number);
}

#[test]
fn the_oldest_reports_give_way() {
    let mut reports = SendReports::default();
    let (first, _) = reports.note(&event(0, SendEventKind::Queued), 1);
    for id in 1..KEPT_MAX as u64 {
        reports.note(&event(id, SendEventKind::Queued), 1);
    }
    let (_, old) = reports.note(&event(9, SendEventKind::Queued), 1);
    assert_eq!(old, [first.number]);
    assert_eq!(reports.of(None).len(), KEPT_MAX);
}
