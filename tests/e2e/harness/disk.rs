//! A disk as a power cut leaves it: what was synced is there, what was not is there, half there, or
//! not at all.
//!
//! The model is the strictest that POSIX allows. Syncing a file keeps its content, syncing a folder
//! keeps the names in it, and nothing else keeps anything; what is not synced may arrive in any
//! order, and in parts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Home;
use super::strace::{SystemCall, run_traced};
use super::{Output, random};

/// What a command did to the disk under its home, and to the world, in order.
#[derive(Debug)]
pub(crate) enum Step {
    MakeFolder(PathBuf),
    /// A name for a new, empty file.
    Make(PathBuf),
    Write(PathBuf, usize, Vec<u8>),
    Resize(PathBuf, usize),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
    Sync(PathBuf),
    /// The first byte of a booking request left.
    Sent,
    /// The result was written.
    Told,
}

/// Runs the binary to its end; how it ended, the disk before it, and every step it took. Paths are
/// relative to the home's folder.
pub(crate) fn run_recorded(home: &Home, arguments: &[&str]) -> (Output, Disk, Vec<Step>) {
    run_recorded_injected(home, arguments, &[])
}

/// The same with these injections, each as `SystemCall::inject` writes it.
pub(crate) fn run_recorded_injected(
    home: &Home,
    arguments: &[&str],
    injections: &[String],
) -> (Output, Disk, Vec<Step>) {
    let calls = "trace=openat,open,creat,mkdir,mkdirat,write,pwrite64,writev,pwritev,pwritev2,sendto,sendmsg,\
                 ftruncate,truncate,fallocate,copy_file_range,sendfile,fsync,fdatasync,unlink,unlinkat,rename,\
                 renameat,renameat2,link,linkat,symlink,symlinkat";
    let before = Disk::found(home.folder());
    let mut flags = vec!["-xx", "-s", "100000", "-e", calls];
    let injections: Vec<String> = injections.iter().map(|it| format!("inject={it}")).collect();
    flags.extend(injections.iter().flat_map(|it| ["-e", it]));
    let (output, calls) = run_traced(home, arguments, &flags);
    let mut disk = before.clone();
    let mut steps = Vec::new();
    for call in &calls {
        if let Some(step) = step(home.folder(), &disk, call) {
            disk.take(&step);
            steps.push(step);
        }
    }
    (output, before, steps)
}

fn step(folder: &Path, disk: &Disk, call: &SystemCall) -> Option<Step> {
    let (given, result) = call.line.rsplit_once(" = ")?;
    if result.starts_with('-') {
        return None;
    }
    let under = |bytes: Option<Vec<u8>>| -> Option<PathBuf> {
        let path = PathBuf::from(String::from_utf8(bytes?).unwrap());
        path.strip_prefix(folder).ok().map(Path::to_owned)
    };
    let descriptor = || given.split_once('<').and_then(|(_, rest)| decoded(rest, '>'));
    let text = || given.split_once('"').and_then(|(_, rest)| decoded(rest, '"'));
    let number = || given.trim_end_matches(')').rsplit(", ").next()?.parse().ok();
    match call.name.as_str() {
        "openat" => {
            let path = under(text())?;
            assert!(!given.contains("O_TRUNC"), "the model does not know {}", call.line);
            let makes = given.contains("O_CREAT") && !disk.names.contains_key(&path);
            makes.then_some(Step::Make(path))
        }
        "mkdir" | "mkdirat" => Some(Step::MakeFolder(under(text())?)),
        "pwrite64" => Some(Step::Write(under(descriptor())?, number()?, text()?)),
        "ftruncate" => Some(Step::Resize(under(descriptor())?, number()?)),
        "unlink" | "unlinkat" => Some(Step::Remove(under(text())?)),
        "rename" => {
            // The first text ends where the second begins.
            let (from, to) = given.split_once(", ")?;
            let named = |given: &str| decoded(given.split_once('"')?.1, '"');
            Some(Step::Rename(under(named(from))?, under(named(to))?))
        }
        "fsync" | "fdatasync" => Some(Step::Sync(under(descriptor())?)),
        "write" if given.starts_with("write(1<") => Some(Step::Told),
        "write" | "writev" | "sendto" | "sendmsg" if under(descriptor()).is_none() => {
            let create = text().is_some_and(|text| text.starts_with(b"POST /v1/bookings HTTP"));
            create.then_some(Step::Sent)
        }
        _ => panic!("the model does not know {}", call.line),
    }
}

/// `\xNN…` up to the end mark, as bytes.
fn decoded(text: &str, end: char) -> Option<Vec<u8>> {
    let digits = text.split_once(end)?.0.split("\\x").skip(1);
    digits.map(|byte| u8::from_str_radix(byte, 16).ok()).collect()
}

/// What the disk is asked to hold, and what of it is certain.
#[derive(Clone, Default)]
pub(crate) struct Disk {
    files: Vec<File>,
    /// The names as the running system sees them; `None` for a folder.
    names: BTreeMap<PathBuf, Option<usize>>,
    /// The names that are synced.
    kept: BTreeMap<PathBuf, Option<usize>>,
    /// Changes of names that are not synced: each is kept whole or not at all.
    changes: Vec<Vec<Name>>,
}

/// A name, and what it then stands for.
type Name = (PathBuf, Option<Option<usize>>);

#[derive(Clone, Default)]
struct File {
    kept: Vec<u8>,
    changes: Vec<Change>,
}

#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Resize(usize),
}

impl Disk {
    /// What is in a folder, all of it synced long ago.
    fn found(folder: &Path) -> Self {
        let mut disk = Disk::default();
        let mut folders = vec![folder.to_owned()];
        while let Some(inner) = folders.pop() {
            for entry in std::fs::read_dir(inner).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(folder).unwrap().to_owned();
                if path.is_dir() {
                    disk.take(&Step::MakeFolder(name));
                    folders.push(path);
                } else {
                    let content = std::fs::read(path).unwrap();
                    disk.take(&Step::Make(name.clone()));
                    disk.take(&Step::Write(name.clone(), 0, content));
                    disk.take(&Step::Sync(name));
                }
            }
        }
        disk.changes.clear();
        disk.kept = disk.names.clone();
        disk
    }

    /// The disk after the first steps of a run.
    pub(crate) fn after(&self, steps: &[Step]) -> Self {
        let mut disk = self.clone();
        steps.iter().for_each(|step| disk.take(step));
        disk
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::MakeFolder(path) => self.name(vec![(path.clone(), Some(None))]),
            Step::Make(path) => {
                self.files.push(File::default());
                self.name(vec![(path.clone(), Some(Some(self.files.len() - 1)))]);
            }
            Step::Remove(path) => self.name(vec![(path.clone(), None)]),
            Step::Rename(from, to) => {
                let moved = self.names[from];
                self.name(vec![(from.clone(), None), (to.clone(), Some(moved))]);
            }
            Step::Write(path, offset, bytes) => {
                self.file(path).changes.push(Change::Write(*offset, bytes.clone()));
            }
            Step::Resize(path, length) => self.file(path).changes.push(Change::Resize(*length)),
            Step::Sync(path) => match self.names.get(path) {
                Some(Some(_)) => {
                    let file = self.file(path);
                    for change in std::mem::take(&mut file.changes) {
                        apply(&mut file.kept, &change);
                    }
                }
                // A folder, the one that was there before among them.
                _ => {
                    let (synced, rest) = std::mem::take(&mut self.changes)
                        .into_iter()
                        .partition(|change| change[0].0.parent() == Some(path));
                    self.changes = rest;
                    rename(&mut self.kept, &synced);
                }
            },
            Step::Sent | Step::Told => {}
        }
    }

    fn name(&mut self, change: Vec<Name>) {
        rename(&mut self.names, std::slice::from_ref(&change));
        self.changes.push(change);
    }

    fn file(&mut self, path: &Path) -> &mut File {
        let number = self.names[path].unwrap();
        &mut self.files[number]
    }

    /// Whether anything could be lost.
    pub(crate) fn is_all_kept(&self) -> bool {
        self.changes.is_empty() && self.files.iter().all(|file| file.changes.is_empty())
    }

    /// Puts into a folder what a power cut now leaves: nothing that is not synced (0), all of it
    /// (1), or what chance leaves of it.
    pub(crate) fn cut_power(&self, chance: u64, folder: &Path) {
        let mut chance = Chance { which: chance, drawn: 0 };
        let mut names = self.kept.clone();
        let survive: Vec<_> = self.changes.iter().filter(|_| chance.keeps()).cloned().collect();
        rename(&mut names, &survive);
        // In the order of their names folders come before what is in them.
        for (path, file) in &names {
            let there = path.parent().is_none_or(|parent| folder.join(parent).is_dir());
            match file {
                // The folder around it is lost, and it with it.
                _ if !there => {}
                None => std::fs::create_dir(folder.join(path)).unwrap(),
                Some(number) => {
                    let content = self.files[*number].after_a_cut(&mut chance);
                    std::fs::write(folder.join(path), content).unwrap();
                }
            }
        }
    }
}

fn rename(names: &mut BTreeMap<PathBuf, Option<usize>>, changes: &[Vec<Name>]) {
    for (path, stands_for) in changes.iter().flatten() {
        match stands_for {
            Some(file) => names.insert(path.clone(), *file),
            None => names.remove(path),
        };
    }
}

/// What a disk writes whole or not at all.
const SECTOR: usize = 512;

impl File {
    fn after_a_cut(&self, chance: &mut Chance) -> Vec<u8> {
        let mut content = self.kept.clone();
        for change in &self.changes {
            match change {
                Change::Write(offset, bytes) => {
                    for (number, sector) in bytes.chunks(SECTOR).enumerate() {
                        if chance.keeps() {
                            let place = offset + number * SECTOR;
                            apply(&mut content, &Change::Write(place, sector.to_vec()));
                        }
                    }
                }
                Change::Resize(_) if !chance.keeps() => {}
                resize => apply(&mut content, resize),
            }
        }
        content
    }
}

fn apply(content: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write(offset, bytes) => {
            let end = offset + bytes.len();
            content.resize(content.len().max(end), 0);
            content[*offset..end].copy_from_slice(bytes);
        }
        Change::Resize(length) => content.resize(*length, 0),
    }
}

/// Draws what survives, the same in each run.
struct Chance {
    which: u64,
    drawn: u64,
}

impl Chance {
    fn keeps(&mut self) -> bool {
        self.drawn += 1;
        match self.which {
            0 => false,
            1 => true,
            // Some cuts lose little, some nearly all.
            which => random(which * 1_000_003 + self.drawn) < random(which),
        }
    }
}
