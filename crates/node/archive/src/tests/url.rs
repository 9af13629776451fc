use super::*;

fn shown(text: &str) -> String {
    text.parse::<ArchiveUrl>().unwrap().to_string()
}

fn error(text: &str) -> ArchiveUrlError {
    text.parse::<ArchiveUrl>().unwrap_err()
}

#[test]
fn a_path_is_an_archive_in_sqlite() {
    assert_eq!(
        shown("sqlite:///var/lib/undertone/archive"),
        "/var/lib/undertone/archive"
    );
    assert_eq!(shown("sqlite://archive"), "archive");
    assert_eq!(shown("./archive"), "./archive");
    assert_eq!(error("sqlite://"), ArchiveUrlError::NoPath);
    assert_eq!(error(""), ArchiveUrlError::NoPath);
    assert_eq!(error("mysql://localhost/waku"), ArchiveUrlError::Scheme);
}

#[cfg(feature = "postgres")]
#[test]
fn a_server_is_shown_without_its_password() {
    let url = "postgres://waku:s3cret@db.example:5433/store";
    assert_eq!(shown(url), "postgres://waku@db.example:5433/store");
    let url: ArchiveUrl = url.parse().unwrap();
    assert!(!format!("{url:?}").contains("s3cret"));
    assert_eq!(
        shown("postgresql://waku:s3cret@%2Frun%2Fpostgresql/store"),
        "postgres://waku@/run/postgresql:5432/store"
    );
}

#[cfg(feature = "postgres")]
#[test]
fn a_password_that_is_not_encoded_is_refused_rather_than_shown() {
    for password in ["p@zq", "p:zq@x", "p/zq@x", "p?zq@x", "p#zq@x"] {
        let url = format!("postgres://waku:{password}@db.example/store");
        match url.parse::<ArchiveUrl>() {
            Ok(url) => assert_eq!(url.to_string(), "postgres://waku@db.example:5432/store"),
            Err(error) => assert!(!error.to_string().contains("zq")),
        }
    }
}

#[cfg(feature = "postgres")]
#[test]
fn what_a_server_needs_is_asked_for() {
    assert_eq!(
        error("postgres://waku:s3cret@db.example"),
        ArchiveUrlError::NoDatabase
    );
    assert_eq!(
        error("postgres://waku:s3cret@db.example:x/store"),
        ArchiveUrlError::Postgres
    );
    assert_eq!(
        error("postgres://h/store?sslmode=require"),
        ArchiveUrlError::Tls
    );
}
