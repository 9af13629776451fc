//! The generator of uniffi, of the version that the library is built with.

fn main() {
    uniffi::uniffi_bindgen_main();
}
