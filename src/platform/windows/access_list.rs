//! Access control lists of files: for the user, administrators and the system alone.
//!
//! Administrators and the system can take over any file, like root, and run the backups.

use std::fs::File;
use std::io;
use std::path::Path;

use windows_permissions::constants::{SeObjectType, SecurityInformation};
use windows_permissions::utilities::current_process_sid;
use windows_permissions::wrappers::{
    ConvertSidToStringSid, GetNamedSecurityInfo, LookupAccountSid, SetNamedSecurityInfo,
    SetSecurityInfo,
};
use windows_permissions::{LocalBox, SecurityDescriptor, Sid};

/// GENERIC_WRITE, READ_CONTROL and WRITE_DAC: to write a file and change its list.
pub(super) const WRITE_AND_CLOSE: u32 = 0x4000_0000 | 0x0002_0000 | 0x0004_0000;
/// The file has its own list, and inherits none from the folder above.
const OWN_LIST: SecurityInformation =
    SecurityInformation::from_bits_truncate(0x8000_0000 | 0x0000_0004);
/// The accounts that stand for a file's owner.
const OWNERS: [&str; 2] = ["CO", "OW"];

/// Closes a folder, and what will be created in it, to others.
pub(super) fn close_folder(folder: &Path) -> io::Result<()> {
    set(folder, &*list("OICI")?)
}

pub(super) fn close(path: &Path) -> io::Result<()> {
    set(path, &*list("")?)
}

pub(super) fn close_file(file: &mut File) -> io::Result<()> {
    let descriptor = list("")?;
    let kind = SeObjectType::SE_FILE_OBJECT;
    SetSecurityInfo(file, kind, OWN_LIST, None, None, descriptor.dacl(), None)
}

fn set(path: &Path, descriptor: &SecurityDescriptor) -> io::Result<()> {
    let kind = SeObjectType::SE_FILE_OBJECT;
    SetNamedSecurityInfo(path, kind, OWN_LIST, None, None, descriptor.dacl(), None)
}

/// The list for files that inherit as `flags` say, in the security descriptor definition language.
fn list(flags: &str) -> io::Result<LocalBox<SecurityDescriptor>> {
    let user = name(&*current_process_sid()?)?;
    let entry = |account: &str| format!("(A;{flags};FA;;;{account})");
    format!("D:P{}{}{}", entry(&user), entry("SY"), entry("BA")).parse()
}

/// The name of this process's account, without its domain.
pub(super) fn user_name() -> io::Result<String> {
    let account = current_process_sid()?;
    match LookupAccountSid(&*account) {
        Ok((name, _)) => Ok(name.to_string_lossy().into_owned()),
        // The computer of the domain may not be reached.
        Err(_) => name(&*account),
    }
}

fn name(account: &Sid) -> io::Result<String> {
    Ok(ConvertSidToStringSid(account)?.to_string_lossy().into_owned())
}

/// Whether others than the user, administrators and the system may do anything with a file.
pub(super) fn is_open_to_others(path: &Path) -> io::Result<bool> {
    let found = written(&*GetNamedSecurityInfo(
        path,
        SeObjectType::SE_FILE_OBJECT,
        SecurityInformation::Dacl,
    )?)?;
    let ours = written(&*list("")?)?;
    let trusted: Vec<&str> = accounts(&ours).chain(OWNERS).collect();
    // Without entries, all is forbidden; without a list, all is allowed.
    let is_list = found.contains("D:") && !found.contains("NO_ACCESS_CONTROL");
    Ok(!is_list || accounts(&found).any(|account| !trusted.contains(&account)))
}

/// A descriptor in the definition language, where every account has one spelling.
fn written(descriptor: &SecurityDescriptor) -> io::Result<String> {
    Ok(descriptor.as_sddl()?.to_string_lossy().into_owned())
}

/// The accounts that a list (SDDL) allows something: of `(A;OICI;FA;;;SY)`, `SY`.
fn accounts(list: &str) -> impl Iterator<Item = &str> {
    list.split('(').skip(1).filter_map(|entry| {
        let mut fields = entry.split(')').next()?.split(';');
        let (kind, flags, account) = (fields.next()?, fields.next()?, fields.nth(3)?);
        // What is only passed on to new files does not count here.
        (matches!(kind, "A" | "OA" | "XA") && !flags.contains("IO")).then_some(account)
    })
}

/// Who owns a file, if it is another account of a person: `S-1-5-21-…` of a computer or domain,
/// `S-1-12-1-…` of a cloud.
pub(super) fn other_owner(path: &Path) -> Option<String> {
    let descriptor =
        GetNamedSecurityInfo(path, SeObjectType::SE_FILE_OBJECT, SecurityInformation::Owner)
            .ok()?;
    let account = descriptor.owner()?;
    let owner = name(account).ok()?;
    let user = name(&*current_process_sid().ok()?).ok()?;
    let is_person = owner.starts_with("S-1-5-21-") || owner.starts_with("S-1-12-1-");
    (is_person && owner != user).then(|| match LookupAccountSid(account) {
        Ok((account, domain)) => format!(r"{}\{}", domain.display(), account.display()),
        Err(_) => owner,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_that_everybody_may_read_is_closed_to_all_but_the_user() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "x").unwrap();
        let everybody: LocalBox<SecurityDescriptor> = "D:P(A;;FA;;;WD)".parse().unwrap();
        set(&path, &everybody).unwrap();
        assert!(is_open_to_others(&path).unwrap());
        close(&path).unwrap();
        assert!(!is_open_to_others(&path).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "x");
    }

    #[test]
    fn a_file_of_the_user_belongs_to_nobody_else() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(other_owner(folder.path()), None);
    }
}
