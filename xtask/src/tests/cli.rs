use super::*;

fn chosen(words: &str) -> Vec<&'static str> {
    let words = words.split_whitespace();
    let cli = Cli::try_parse_from(["cargo xtask", "test"].into_iter().chain(words)).unwrap();
    match cli.task {
        Task::Test(args) => args.steps().iter().map(|step| step.name).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn tiers_and_names_choose_the_steps() {
    assert!(chosen("").contains(&"unit") && !chosen("").contains(&"hostile"));
    assert_eq!(chosen("--all").len(), STEPS.len());
    assert_eq!(
        chosen("--only hostile,fmt --only tidy"),
        ["fmt", "tidy", "hostile"]
    );
    assert_eq!(chosen("--only hostile,fmt --skip fmt"), ["hostile"]);
    assert_eq!(chosen("--all --skip mpi,python").len(), STEPS.len() - 2);
}

#[test]
fn an_unknown_name_is_an_error_that_lists_the_known_ones() {
    for words in [
        ["test", "--only", "unti"],
        ["test", "--skip", "unti"],
        ["campaign", "--only", "unti"],
    ] {
        let error = Cli::try_parse_from(["cargo xtask"].into_iter().chain(words)).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("'unti'") && text.contains("hostile"),
            "{text}"
        );
        assert_eq!(error.exit_code(), 2);
    }
}

#[test]
fn arguments_of_a_campaign_follow_two_dashes() {
    let words = [
        "cargo xtask",
        "campaign",
        "--only",
        "hostile",
        "--",
        "--list",
    ];
    match Cli::try_parse_from(words).unwrap().task {
        Task::Campaign(args) => assert_eq!(
            (args.list, &*args.arguments),
            (false, &["--list".to_owned()][..])
        ),
        other => panic!("{other:?}"),
    }
    assert!(Cli::try_parse_from(["cargo xtask", "campaign", "hostile"]).is_err());
}
