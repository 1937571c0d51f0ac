//! Sending the deliveries of a check.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::check::{Check, Delivery};
use crate::webhook::post::{NoReply, Poster, Reaction, Reply};

/// The number of pieces of a slow client's body, and the pause between them.
const PIECES: usize = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// Sends the deliveries of a check; returns their answers in the same order.
pub(crate) async fn run(check: &Check, poster: &Poster, header: &str) -> Vec<Reaction> {
    if !check.at_once {
        let mut reactions = Vec::new();
        for delivery in &check.deliveries {
            reactions.push(deliver(delivery.clone(), poster, header).await);
        }
        return reactions;
    }
    let mut under_way = JoinSet::new();
    for (place, delivery) in check.deliveries.iter().cloned().enumerate() {
        let (poster, header) = (poster.clone(), header.to_owned());
        under_way.spawn(async move { (place, deliver(delivery, &poster, &header).await) });
    }
    let mut reactions = under_way.join_all().await;
    reactions.sort_by_key(|(place, _)| *place);
    reactions
        .into_iter()
        .map(|(_, reaction)| reaction)
        .collect()
}

async fn deliver(delivery: Delivery, poster: &Poster, header: &str) -> Reaction {
    let header = delivery.signature.map(|value| (header.to_owned(), value));
    if delivery.slowly
        && let Some(address) = poster.endpoint.plain()
    {
        return post_slowly(address, poster, header, &delivery.body).await;
    }
    poster.post(header.as_slice(), delivery.body).await
}

/// Posts a body in pieces with pauses, over plain TCP.
async fn post_slowly(
    address: (&str, u16),
    poster: &Poster,
    header: Option<(String, String)>,
    body: &[u8],
) -> Reaction {
    let started = Instant::now();
    let exchange = async {
        let broken = |error: std::io::Error| NoReply::Broken(crate::outcome::reason(&error));
        let stream = TcpStream::connect(address).await;
        let mut stream =
            stream.map_err(|error| NoReply::NotReached(crate::outcome::reason(&error)))?;
        let (host, port) = address;
        let header = header.map(|(name, value)| format!("{name}: {value}\r\n"));
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n{}\r\n",
            poster.endpoint.target(),
            body.len(),
            header.unwrap_or_default(),
        );
        stream.write_all(head.as_bytes()).await.map_err(broken)?;
        for piece in body.chunks(body.len().div_ceil(PIECES).max(1)) {
            tokio::time::sleep(PAUSE).await;
            stream.write_all(piece).await.map_err(broken)?;
        }
        let mut answer = Vec::new();
        stream
            .take(64 * 1024)
            .read_to_end(&mut answer)
            .await
            .map_err(broken)?;
        let answer = String::from_utf8_lossy(&answer);
        let status = answer.split(' ').nth(1).and_then(|it| it.parse().ok());
        let status = status.ok_or_else(|| NoReply::Broken("the answer is not HTTP".to_owned()))?;
        Ok(Reply {
            status,
            body: String::new(),
        })
    };
    let outcome = tokio::time::timeout(poster.deadline, exchange)
        .await
        .unwrap_or(Err(NoReply::TooLate));
    Reaction {
        outcome,
        elapsed: started.elapsed(),
    }
}
