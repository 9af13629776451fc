//! Status codes of responses.

/// Defines the status code of a protocol's responses: `status!` takes the documentation, the name and the named codes.
/// Other codes are valid statuses too, since other implementations use more.
macro_rules! status {
    ($(#[$about:meta])* $name:ident { $($(#[$about_code:meta])* $code_name:ident = $code:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            $($(#[$about_code])* pub const $code_name: Self = Self($code);)+
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

pub(crate) use status;
