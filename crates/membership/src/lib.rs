//! Who may publish: the registry of RLN members.
