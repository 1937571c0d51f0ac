use std::path::PathBuf;

use super::listing::show;
use crate::app::Startup;
use crate::config::{Assignment, BaseUrl, edit, profile_name, whole_path};
use crate::model::retention::Retention;
use crate::model::shell;
use crate::outcome::{Error, Exit, Result};

/// Add a profile
///
/// To use it, pass --profile NAME, or make it the default with `bookctl profile use NAME`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl profile add staging --base-url https://staging.example.com\n  \
    bookctl profile add audit --base-url https://api.example.com --read-only\n  \
    bookctl profile add local --base-url http://127.0.0.1:8080 \\\n    \
      --dialect otp_field=pin")]
pub(crate) struct Args {
    /// Name of the profile: ASCII characters without spaces
    #[arg(value_parser = profile_name)]
    name: String,
    /// Address of the service: https, or http on this computer
    #[arg(long, value_name = "URL")]
    base_url: String,
    /// PEM file with the certificate authorities to trust for this service
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// How long to keep guests on this computer; 0 keeps none once the outcome is known [default: 90d]
    #[arg(long, value_name = "DURATION", value_parser = Retention::parse)]
    retention: Option<Retention>,
    /// Refuse all requests that would change something
    #[arg(long)]
    read_only: bool,
    /// Header, field or provider name of this service; `bookctl help dialect` lists the keys
    #[arg(long, value_name = "KEY=VALUE", value_parser = Assignment::of_dialect)]
    dialect: Vec<Assignment>,
}

pub(super) fn run(setup: &Startup, args: &Args) -> Result<Exit> {
    let name = args.name.as_str();
    let base_url = BaseUrl::parse(&args.base_url, "--base-url")?;
    let ca_file = args.ca_file.as_deref();
    let ca_file = ca_file
        .map(|file| whole_path(file, "--ca-file"))
        .transpose()?;
    edit(&setup.paths.config_file, |draft| {
        if draft.before.profiles.contains_key(name) {
            return Err(
                Error::config(format!("profile {name} already exists")).hint(format!(
                    "show it with `bookctl profile show {}`, or choose another name",
                    shell::word(name)
                )),
            );
        }
        draft.set(name, "base_url", base_url.join(""))?;
        if let Some(ca_file) = &ca_file {
            draft.set(name, "ca_file", ca_file.as_str())?;
        }
        if let Some(retention) = args.retention {
            draft.set(name, "retention", retention.to_string())?;
        }
        if args.read_only {
            draft.set(name, "read_only", true)?;
        }
        for assignment in &args.dialect {
            assignment.set(draft, name)?;
        }
        Ok(())
    })?;
    show(setup, name)
}
