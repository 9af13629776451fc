//! Content topics (RFC 23): the subject of a message, and the input of autosharding.

use std::fmt;

use thiserror::Error;

#[cfg(test)]
#[path = "tests/content_topic.rs"]
mod tests;

/// A parsed `/<application>/<version>/<name>/<encoding>`, with an optional leading
/// `/<generation>`; borrows the text it was parsed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentTopic<'a> {
    /// Whether the text names its generation, which can only be 0.
    pub explicit_generation: bool,
    /// Name of the application; with `version`, it determines the shard.
    pub application: &'a str,
    /// Version of the application's protocol.
    pub version: &'a str,
    /// Name of the subject within the application.
    pub name: &'a str,
    /// Encoding of the payloads, e.g. `proto`.
    pub encoding: &'a str,
}

/// Error of a text that is not a content topic; worded as in nwaku, because REST clients see it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ContentTopicError {
    /// The first character is not a slash.
    #[error("invalid format: content-topic '{topic}' must start with slash")]
    NoLeadingSlash {
        /// The text that was parsed.
        topic: String,
    },
    /// The number of parts is neither four nor five.
    #[error(
        "invalid format: Invalid content topic structure. Expected either \
         /<application>/<version>/<topic-name>/<encoding> or \
         /<gen>/<application>/<version>/<topic-name>/<encoding>"
    )]
    PartCount {
        /// Number of parts in the text.
        found: usize,
    },
    /// A part of the topic is empty.
    #[error("missing part: {part}")]
    EmptyPart {
        /// Name of the empty part.
        part: &'static str,
    },
    /// The generation has characters other than digits.
    #[error("invalid format: generation should be a numeric value")]
    GenerationNotNumeric,
    /// The generation is above 0, which no network uses yet.
    #[error("Generation > 0 are not supported yet")]
    GenerationUnsupported,
}

impl<'a> ContentTopic<'a> {
    /// Parses a content topic with or without its generation, which can only be 0.
    ///
    /// # Errors
    /// [`ContentTopicError`] when the text is not a content topic.
    pub fn parse(topic: &'a str) -> Result<Self, ContentTopicError> {
        let rest = topic
            .strip_prefix('/')
            .ok_or_else(|| ContentTopicError::NoLeadingSlash {
                topic: topic.to_owned(),
            })?;
        let mut parts = [""; 5];
        let mut found = 0;
        for part in rest.split('/') {
            if let Some(slot) = parts.get_mut(found) {
                *slot = part;
            }
            found += 1;
        }
        let (explicit_generation, parts) = match found {
            4 => (false, &parts[..4]),
            5 => {
                check_generation(parts[0])?;
                (true, &parts[1..])
            }
            _ => return Err(ContentTopicError::PartCount { found }),
        };
        Ok(Self {
            explicit_generation,
            application: non_empty(parts[0], "application")?,
            version: non_empty(parts[1], "version")?,
            name: non_empty(parts[2], "topic-name")?,
            encoding: non_empty(parts[3], "encoding")?,
        })
    }
}

fn check_generation(text: &str) -> Result<(), ContentTopicError> {
    let text = non_empty(text, "generation")?;
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ContentTopicError::GenerationNotNumeric);
    }
    if text.bytes().any(|byte| byte != b'0') {
        return Err(ContentTopicError::GenerationUnsupported);
    }
    Ok(())
}

fn non_empty<'a>(text: &'a str, part: &'static str) -> Result<&'a str, ContentTopicError> {
    if text.is_empty() {
        Err(ContentTopicError::EmptyPart { part })
    } else {
        Ok(text)
    }
}

impl fmt::Display for ContentTopic<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.explicit_generation {
            f.write_str("/0")?;
        }
        write!(
            f,
            "/{}/{}/{}/{}",
            self.application, self.version, self.name, self.encoding
        )
    }
}
