//! Accepts connections on loopback until it is dropped.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, spawn};

pub(super) struct Accepting {
    pub(super) address: SocketAddr,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Accepting {
    /// Serves one connection after another at this port, or at a free one for 0.
    pub(super) fn one_by_one(port: u16, mut serve: impl FnMut(TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let address = listener.local_addr().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let ends = over.clone();
        let thread = spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                serve(stream.unwrap());
            }
        });
        let thread = Some(thread);
        Accepting { address, over, thread }
    }

    /// Serves each connection in a thread of its own.
    pub(super) fn at_once(port: u16, serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let serve = Arc::new(serve);
        Accepting::one_by_one(port, move |stream| {
            let serve = serve.clone();
            spawn(move || serve(stream));
        })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Accepting {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            assert!(matches!(ended, Some(Ok(()))), "what served a connection panicked");
        }
    }
}
