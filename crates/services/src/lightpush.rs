//! Lightpush v2 and v3: publishing on behalf of light clients.
