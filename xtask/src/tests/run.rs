use super::*;

const ABSENT: Need = Need {
    what: "anything",
    check: "false",
    get: Get::ByHand("make it"),
};
const FETCHED: Need = Need {
    what: "a file",
    check: "test -e {target}/file",
    get: Get::Install("mkdir -p {target} && touch {target}/file"),
};

fn place(folder: &Path, install: bool) -> Place {
    Place {
        root: folder.to_owned(),
        target: folder.join("it's a target"),
        install,
    }
}

fn step(needs: &'static [Need], commands: &'static [crate::steps::Command]) -> &'static Step {
    Box::leak(Box::new(Step {
        name: "trial",
        about: "nothing",
        tier: crate::steps::Tier::All,
        needs,
        commands,
    }))
}

fn outcome(place: &Place, step: &'static Step) -> Outcome {
    place.steps(&[step]).unwrap().remove(0).outcome
}

#[test]
fn a_step_that_lacks_something_is_skipped_or_with_install_fails() {
    let folder = tempfile::tempdir().unwrap();
    let absent = step(&[ABSENT], &[]);
    let skipped = Outcome::Skipped("missing: anything; make it".to_owned());
    assert_eq!(outcome(&place(folder.path(), false), absent), skipped);
    match outcome(&place(folder.path(), true), absent) {
        Outcome::Failed { error, .. } => {
            assert!(error.contains("make it") && error.contains("--skip trial"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_with_install_is_something_installed() {
    let folder = tempfile::tempdir().unwrap();
    let fetched = step(&[FETCHED], &[]);
    match outcome(&place(folder.path(), false), fetched) {
        Outcome::Skipped(reason) => assert!(reason.contains("--install gets it"), "{reason}"),
        other => panic!("{other:?}"),
    }
    let passed = Outcome::Passed {
        without: Vec::new(),
    };
    assert_eq!(outcome(&place(folder.path(), true), fetched), passed);
    assert_eq!(outcome(&place(folder.path(), false), fetched), passed);
}

#[test]
fn the_first_command_that_fails_ends_the_step_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = |line| crate::steps::Command { line, needs: &[] };
    let commands = vec![
        run("echo one"),
        run("echo two >&2; exit 3"),
        run("echo three"),
    ];
    match outcome(&place(folder.path(), false), step(&[], Vec::leak(commands))) {
        Outcome::Failed { error, log } => {
            assert_eq!(error, "echo two >&2; exit 3\n    exit status: 3");
            let log = fs::read_to_string(log).unwrap();
            assert_eq!(log, "$ echo one\none\n$ echo two >&2; exit 3\ntwo\n");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_command_that_lacks_something_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let command = crate::steps::Command {
        line: "false",
        needs: &[ABSENT],
    };
    let without = vec!["missing: anything; make it".to_owned()];
    assert_eq!(
        outcome(
            &place(folder.path(), false),
            step(&[], Vec::leak(vec![command]))
        ),
        Outcome::Passed { without }
    );
}

#[test]
fn a_process_that_is_left_behind_does_not_hold_up_the_step() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path(), false);
    let mut log = File::create(folder.path().join("log")).unwrap();
    let began = Instant::now();
    place
        .run("sleep 30 & echo $! >left", Some(&mut log))
        .unwrap();
    assert!(began.elapsed() < Duration::from_secs(20));
    place.run("kill $(cat left)", None).unwrap();
}
