//! The route `/relay/v1/posts`: states of messages posted by content topic. nwaku has no such route.

use axum::{
    Json, Router,
    extract::{Path, State},
    routing::get,
};
use serde::Serialize;

use super::{App, errors::ApiError};
use crate::command::{Post, PostState};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/relay/v1/posts", get(all))
        .route("/relay/v1/posts/{id}", get(single))
}

/// JSON form of one post; fields without a value are omitted.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PostBody {
    id: u64,
    pubsub_topic: String,
    content_topic: String,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    peers: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl From<Post> for PostBody {
    fn from(post: Post) -> Self {
        let (state, peers, message_hash, reason) = match post.state {
            PostState::Waiting => ("waiting", None, None, None),
            PostState::Sending => ("sending", None, None, None),
            PostState::Sent { peers, hash } => ("sent", Some(peers), Some(hash.to_string()), None),
            PostState::Expired => ("expired", None, None, None),
            PostState::Failed { reason } => ("failed", None, None, Some(reason.to_string())),
        };
        Self {
            id: post.id,
            pubsub_topic: post.pubsub_topic.to_string(),
            content_topic: post.content_topic,
            state,
            peers,
            message_hash,
            reason,
        }
    }
}

async fn all(State(app): State<App>) -> Result<Json<Vec<PostBody>>, ApiError> {
    let posts = app.handle.posts().await?;
    Ok(Json(posts.into_iter().map(PostBody::from).collect()))
}

async fn single(
    State(app): State<App>,
    Path(text): Path<String>,
) -> Result<Json<PostBody>, ApiError> {
    let id: u64 = text
        .parse()
        .map_err(|e| ApiError::BadRequest(format!("Invalid post id: {e}")))?;
    let posts = app.handle.posts().await?;
    let found = posts.into_iter().find(|post| post.id == id);
    let missing = || ApiError::NotFound(format!("Post {id} is not among the newest of this run"));
    found.map(|post| Json(post.into())).ok_or_else(missing)
}
