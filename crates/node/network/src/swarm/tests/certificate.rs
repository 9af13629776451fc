use std::io::Write as _;

use super::*;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn files(&self) -> CertificateFiles {
        CertificateFiles {
            chain: self.0.path().join("fullchain.pem"),
            key: self.0.path().join("privkey.pem"),
        }
    }

    /// Writes a new certificate and its key.
    fn renew(&self) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a name");
        let files = self.files();
        fs::write(files.chain, made.cert.pem()).expect("space");
        fs::write(files.key, made.key_pair.serialize_pem()).expect("space");
    }

    fn error(&self) -> String {
        let error = self.files().read().err().expect("it cannot be used");
        error.to_string()
    }
}

#[test]
fn each_bad_file_is_refused_with_its_path_and_a_remedy() {
    let folder = Folder::new();
    let files = folder.files();
    let names = |error: &str, path: &Path, remedy: &str| {
        let path = path.display().to_string();
        assert!(error.contains(&path) && error.contains(remedy), "{error}");
    };
    names(&folder.error(), &files.chain, "check the path");
    folder.renew();
    fs::write(&files.chain, "no certificate").expect("space");
    names(&folder.error(), &files.chain, "fullchain.pem");
    folder.renew();
    fs::write(&files.key, "no key").expect("space");
    names(&folder.error(), &files.key, "privkey.pem");
    let foreign = Folder::new();
    foreign.renew();
    folder.renew();
    fs::copy(foreign.files().key, &files.key).expect("space");
    names(&folder.error(), &files.key, "its own key");
    let mut long = fs::File::create(&files.chain).expect("space");
    long.set_len(FILE_BYTES_MAX + 1).expect("a sparse file");
    long.write_all(b"-").expect("space");
    names(&folder.error(), &files.chain, "longer than");
}

#[test]
fn the_transport_gets_a_certificate_when_the_files_change_and_only_one_that_can_be_used() {
    let folder = Folder::new();
    folder.renew();
    let mut watch = CertificateWatch::open(folder.files()).expect("a certificate");
    let renewed = watch.renewed();
    assert!(renewed.take().is_some(), "the first one");
    watch.check(false);
    assert!(renewed.take().is_none(), "nothing has changed");
    watch.check(true);
    assert!(renewed.take().is_some(), "the operator asked");
    fs::write(folder.files().key, "half").expect("space");
    watch.check(false);
    assert!(renewed.take().is_none(), "half a key is none");
    folder.renew();
    watch.check(false);
    assert!(renewed.take().is_some(), "both files are there now");
}

#[test]
fn the_end_of_a_certificate_is_known_and_followed() {
    let folder = Folder::new();
    let write = |year: i32| {
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut wanted = rcgen::CertificateParams::new(["localhost".to_owned()]).expect("a name");
        wanted.not_before = rcgen::date_time_ymd(2001, 1, 1);
        wanted.not_after = rcgen::date_time_ymd(year, 1, 1);
        let made = wanted.self_signed(&key).expect("it can be signed");
        let files = folder.files();
        fs::write(files.chain, made.pem()).expect("space");
        fs::write(files.key, key.serialize_pem()).expect("space");
    };
    write(2002);
    let read = folder.files().read().expect("it can be used");
    assert_eq!(read.remaining(), None, "it has expired");
    let mut watch = CertificateWatch::open(folder.files()).expect("it can be used");
    assert_eq!(watch.expires_unix_s(), 1_009_843_200);
    write(2400);
    watch.check(true);
    assert_eq!(watch.expires_unix_s(), 13_569_465_600);
    let read = folder.files().read().expect("it can be used");
    assert!(read.remaining() > Some(RENEWAL));
}
