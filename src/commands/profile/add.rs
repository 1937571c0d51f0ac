use std::path::PathBuf;

use super::listing::show;
use crate::app::Startup;
use crate::config::{Assignment, BaseUrl, ProfileName, edit, whole_path};
use crate::model::retention::Retention;
use crate::model::shell;
use crate::outcome::{Error, Exit, Result};

/// Add a profile
///
/// It is used once it is named, or after `bookctl profile use NAME`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl profile add staging --base-url https://staging.example.com\n  \
    bookctl profile add audit --base-url https://api.example.com --read-only\n  \
    bookctl profile add local --base-url http://127.0.0.1:8080 --dialect otp_field=pin")]
pub(crate) struct Args {
    /// Name: visible ASCII characters without blanks
    #[arg(value_parser = ProfileName::parse)]
    name: ProfileName,
    /// Address of the service: https, or http on this machine
    #[arg(long, value_name = "URL")]
    base_url: String,
    /// PEM file with the authorities that sign the service's certificate
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// How long guests' data is kept on this machine, such as 90d; 0 keeps nothing once the outcome is known
    #[arg(long, value_name = "DURATION", value_parser = Retention::parse)]
    retention: Option<Retention>,
    /// Refuse every call that would change something
    #[arg(long)]
    read_only: bool,
    /// A name that the service has chosen otherwise; `bookctl help dialect` lists them
    #[arg(long, value_name = "KEY=VALUE", value_parser = Assignment::of_dialect)]
    dialect: Vec<Assignment>,
}

pub(super) fn run(setup: &Startup, args: &Args) -> Result<Exit> {
    let name = args.name.as_str();
    let base_url = BaseUrl::parse(&args.base_url, "--base-url")?;
    let ca_file = args
        .ca_file
        .as_ref()
        .map(|file| whole_path(file, "--ca-file"))
        .transpose()?;
    edit(&setup.paths.config_file, |draft| {
        if draft.before.profiles.contains_key(name) {
            return Err(
                Error::config(format!("profile {name} exists already")).hint(format!(
                    "see it with `bookctl profile show {}`, or remove it first",
                    shell::word(name)
                )),
            );
        }
        draft.add(&args.name, &base_url)?;
        if let Some(ca_file) = &ca_file {
            draft.set(name, "ca_file", ca_file.as_str())?;
        }
        if let Some(retention) = args.retention {
            draft.set(name, "retention", retention.to_string())?;
        }
        if args.read_only {
            draft.set(name, "read_only", true)?;
        }
        for Assignment { setting, value } in &args.dialect {
            setting.set(draft, name, value)?;
        }
        Ok(())
    })?;
    show(setup, name)
}
