//! Store v3 messages as js-waku encodes them: hex from `tests/vectors/js_waku_store.mjs`, with the npm packages
//! `@waku/core` 0.0.40 and `@waku/proto` 0.0.15.

/// First page of a query by content, forward.
pub(crate) const FIRST_PAGE: &str = "\
    0a2438663366306231632d336631632d346635652d396138362d3161366434633762326531301001520f2f77616b752f\
    322f72732f36362f335a152f696e7465726f702f312f746573742f70726f746fa00301";

/// Later page of a query by content and times, 50 messages.
pub(crate) const TIMES_AND_CURSOR: &str = "\
    0a2438663366306231632d336631632d346635652d396138362d3161366434633762326531301001520f2f77616b752f\
    322f72732f36362f335a152f696e7465726f702f312f746573742f70726f746f608080d0e2c6bfce972f68808095ee8c\
    91d0972f9a0320ababababababababababababababababababababababababababababababababa00301a80332";

/// First page of a backward query: js-waku omits the direction.
pub(crate) const BACKWARD: &str = "\
    0a2438663366306231632d336631632d346635652d396138362d3161366434633762326531301001520f2f77616b752f\
    322f72732f36362f335a152f696e7465726f702f312f746573742f70726f746f";

/// Query by hashes, which also names the topic.
pub(crate) const HASHES: &str = "\
    0a2438663366306231632d336631632d346635652d396138362d3161366434633762326531301001520f2f77616b752f\
    322f72732f36362f33a20120ababababababababababababababababababababababababababababababababa20120cd\
    cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcda00301";

/// Response with a message, a bare hash and a cursor.
pub(crate) const RESPONSE_PAGE: &str = "\
    0a03722d3150c8015a024f4ba201600a20ababababababababababababababababababababababababababababababab\
    ab122b0a0301020312152f696e7465726f702f312f746573742f70726f746f1800508080d0e2c6bfce972ff801001a0f\
    2f77616b752f322f72732f36362f33a201220a20cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd\
    cdcdcdcd9a0320cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd";

/// Refusal of a request beyond the rate limit.
pub(crate) const RESPONSE_REFUSED: &str = "\
    0a034e2f4150ad035a11544f4f5f4d414e595f5245515545535453";
