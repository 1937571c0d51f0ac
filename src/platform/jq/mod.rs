//! jq expressions, evaluated with limits on memory and time.

mod child;
mod evaluate;
mod watched;
mod worker;

pub(crate) use child::{ENTRY, Trouble, filter_standard_input};
pub(crate) use worker::Worker;

/// An expression that compiles.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    source: String,
}

impl Expression {
    /// Compiles an expression. The error says why it does not compile.
    pub(crate) fn compile(source: &str) -> Result<Self, String> {
        evaluate::compile(source)?;
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
