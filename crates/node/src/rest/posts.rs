//! The route `/relay/v1/posts`: states of messages posted by content topic. nwaku has no such route.

use axum::{
    Json,
    extract::{Path, State},
};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    App,
    errors::{ApiError, NodeStopped},
};
use crate::command::{Post, PostState};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(all))
        .routes(routes!(single))
}

/// JSON form of one post; fields without a value are omitted.
#[derive(Serialize, ToSchema)]
#[schema(as = Post)]
#[serde(rename_all = "camelCase")]
struct PostBody {
    id: u64,
    pubsub_topic: String,
    content_topic: String,
    /// `waiting`, `sending`, `sent`, `expired` or `failed`.
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

/// States of messages posted by content topic
///
/// The newest 256.
#[utoipa::path(
    get,
    path = "/relay/v1/posts",
    operation_id = "posts",
    tag = "relay",
    responses(
        (status = 200, description = "States", body = Vec<PostBody>),
        NodeStopped,
    ),
)]
async fn all(State(app): State<App>) -> Result<Json<Vec<PostBody>>, ApiError> {
    let posts = app.handle.posts().await?;
    Ok(Json(posts.into_iter().map(PostBody::from).collect()))
}

/// State of one message posted by content topic
#[utoipa::path(
    get,
    path = "/relay/v1/posts/{id}",
    operation_id = "post",
    tag = "relay",
    params(
        ("id" = u64, Path, description = "The answer's header x-post-id"),
    ),
    responses(
        (status = 200, description = "State", body = PostBody),
        (status = 400, description = "`Invalid post id: …`", content_type = "text/plain", body = String),
        (status = 404, description = "`Post … is not among the newest of this run`", content_type = "text/plain", body = String),
        NodeStopped,
    ),
)]
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
