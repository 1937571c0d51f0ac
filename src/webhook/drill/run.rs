//! A drill at work: deliveries out, answers in.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::{Check, Delivery};
use crate::webhook::post::{NoReply, Poster, Reaction, Reply};

/// In how many pieces a slow client's body comes, and the pause between two of them.
const PIECES: usize = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// Makes one check: an answer for each delivery, in their order.
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
        return dribble(address, poster, header, &delivery.body).await;
    }
    poster.post(header.as_slice(), delivery.body).await
}

/// Posts a body a few bytes at a time.
async fn dribble(
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
        let status = status.ok_or_else(|| NoReply::Broken("the answer is no HTTP".to_owned()))?;
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
