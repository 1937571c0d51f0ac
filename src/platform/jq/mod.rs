//! jq expressions, evaluated with limits on memory and time.

mod child;
mod evaluate;

pub(crate) use child::{ENTRY, Trouble, filter_standard_input};

/// An expression that compiles.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    source: String,
}

impl Expression {
    /// Compiles an expression. The error says why it does not compile.
    pub(crate) fn compile(source: &str) -> Result<Self, String> {
        compiles(source)?;
        Ok(Expression {
            source: source.to_owned(),
        })
    }

    /// The expression as it was written.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Evaluates the expression on a JSON text. Returns its outputs as JSON, one per line.
    pub(crate) fn run(&self, document: &str) -> Result<String, Trouble> {
        child::run(&self.source, document)
    }
}

/// The longest expression that is compiled where it is read. The compiler recurses, so a longer one gets a large stack.
const SHORT: usize = 200;
/// In bytes.
const LONGEST: usize = 64 * 1024;
/// In bytes; only what is used of it takes memory.
const STACK: usize = 512 * 1024 * 1024;

fn compiles(source: &str) -> Result<(), String> {
    if source.len() <= SHORT {
        return evaluate::compile(source).map(drop);
    }
    if source.len() > LONGEST {
        return Err(format!("is longer than {} KB", LONGEST / 1024));
    }
    let source = source.to_owned();
    let compile = move || evaluate::compile(&source).map(drop);
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(compile);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(compiled)) => compiled,
        _ => Err("cannot be compiled".to_owned()),
    }
}
