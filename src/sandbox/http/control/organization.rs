//! `/sandbox/organization`: what the service's dashboard would set.

use super::super::call::Call;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::rules::refusal::Refusal;
use crate::sandbox::store::Ledger;

pub(super) fn show(ledger: &Ledger<'_>, call: &Call) -> Outcome {
    Reply::ok(&find(ledger, call)?)
}

/// Puts the body's settings in the place of the organization's.
pub(super) fn merge(ledger: &Ledger<'_>, call: &Call) -> Outcome {
    let organization = find(ledger, call)?.merge(&call.fields()?)?;
    ledger.save_organization(&organization)?;
    Reply::ok(&organization)
}

/// The organization that `?organization=` names, else the one that the sandbox is about.
fn find(ledger: &Ledger<'_>, call: &Call) -> Result<Organization, Refusal> {
    let id = match call.query("organization") {
        None => Organization::MAIN,
        Some(name) => Organization::named(&name).ok_or(Refusal::OrganizationUnknown)?,
    };
    Ok(ledger.organization(id)?)
}
