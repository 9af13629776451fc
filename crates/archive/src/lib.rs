//! Archives of Waku messages: what a store node keeps of the past.
