//! Store v3 (`/vac/waku/store-query/3.0.0`): its messages on the wire, the server, and paging for clients.
