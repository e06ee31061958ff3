//! [`Sorter`]: puts more numbers in order than memory may hold.
//!
//! Owns: sorted runs of bounded memory in one temporary file without a name, and their merge. Invariant: memory does not
//! grow with the numbers, but for a small buffer a run.
//!
//! Does not know: what the numbers are.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    fs::File,
    io::{self, Write},
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rusqlite::Connection;

use super::directory::OWN;

/// Names that a file may have for the moment between its making and its unlinking.
const NAMES: std::ops::Range<u8> = 0..100;

/// What a run is read by at least.
const LEAST_READ: usize = 4096;

/// What can be sorted.
pub(super) trait Number: Copy + Ord {
    type Bytes: AsRef<[u8]>;

    fn to_bytes(self) -> Self::Bytes;

    fn from_bytes(bytes: &[u8]) -> Self;
}

impl Number for u64 {
    type Bytes = [u8; size_of::<Self>()];

    fn to_bytes(self) -> Self::Bytes {
        self.to_le_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        Self::from_le_bytes(bytes.try_into().expect("8 bytes"))
    }
}

impl Number for u128 {
    type Bytes = [u8; size_of::<Self>()];

    fn to_bytes(self) -> Self::Bytes {
        self.to_le_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        Self::from_le_bytes(bytes.try_into().expect("16 bytes"))
    }
}

/// Takes numbers in any order; gives them back ascending, each once, unless they are counted.
#[derive(Debug)]
pub(super) struct Sorter<N = u64> {
    folders: Vec<PathBuf>,
    most: usize,
    /// How often a number is kept in a run.
    repeats: usize,
    buffer: Vec<N>,
    spilled: Option<Spilled>,
}

#[derive(Debug)]
struct Spilled {
    file: File,
    /// Where each run ends, in bytes.
    ends: Vec<u64>,
}

/// The numbers in order.
#[derive(Debug)]
pub(super) struct Sorted<N = u64> {
    file: Option<File>,
    runs: Vec<Run<N>>,
    heads: BinaryHeap<Reverse<(N, usize)>>,
    last: Option<N>,
    counts: bool,
}

/// What is left of a run: some of it in memory, the rest in the file.
#[derive(Debug)]
struct Run<N> {
    read: std::vec::IntoIter<N>,
    at: u64,
    end: u64,
    chunk: usize,
}

impl<N: Number> Sorter<N> {
    /// A sorter that takes some `memory` bytes, and makes its file when that is not enough: in the first of `folders` that
    /// takes one.
    pub(super) fn new(folders: &[&Path], memory: usize) -> Self {
        let folders = folders.iter().map(|folder| (*folder).to_owned()).collect();
        Self { folders, most: (memory / size_of::<N>()).max(1), repeats: 1, buffer: Vec::new(), spilled: None }
    }

    /// The same, where it is to be counted how often each number was pushed, up to `most` times.
    pub(super) fn counting(self, most: usize) -> Self {
        Self { repeats: most.max(1), ..self }
    }

    /// Takes a number.
    pub(super) fn push(&mut self, number: N) -> io::Result<()> {
        if self.buffer.len() >= self.most {
            self.spill()?;
        }
        self.buffer.push(number);
        Ok(())
    }

    /// All of them in order.
    pub(super) fn sorted(mut self) -> io::Result<Sorted<N>> {
        if self.spilled.is_some() {
            self.spill()?;
        }
        let memory = self.most * size_of::<N>();
        let Some(Spilled { file, ends }) = self.spilled else {
            self.buffer.sort_unstable();
            let whole = Run { read: self.buffer.into_iter(), at: 0, end: 0, chunk: 0 };
            return Sorted::of(None, vec![whole], self.repeats > 1);
        };
        self.buffer = Vec::new();
        let chunk = (memory / ends.len()).max(LEAST_READ) / size_of::<N>() * size_of::<N>();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let run = |(at, &end)| Run { read: Vec::new().into_iter(), at, end, chunk };
        let runs = starts.zip(&ends).map(run).collect();
        Sorted::of(Some(file), runs, self.repeats > 1)
    }

    fn spill(&mut self) -> io::Result<()> {
        self.buffer.sort_unstable();
        let (mut last, mut times) = (None, 0);
        self.buffer.retain(|number| {
            times = if last == Some(*number) { times + 1 } else { 1 };
            last = Some(*number);
            times <= self.repeats
        });
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            none => none.insert(Spilled { file: nameless_in(&self.folders)?, ends: Vec::new() }),
        };
        let mut writer = io::BufWriter::new(&spilled.file);
        self.buffer.iter().try_for_each(|number| writer.write_all(number.to_bytes().as_ref()))?;
        writer.flush()?;
        let end = spilled.ends.last().copied().unwrap_or(0) + (self.buffer.len() * size_of::<N>()) as u64;
        spilled.ends.push(end);
        self.buffer.clear();
        Ok(())
    }
}

impl<N: Number> Sorted<N> {
    fn of(file: Option<File>, runs: Vec<Run<N>>, counts: bool) -> io::Result<Self> {
        let mut sorted = Self { file, runs, heads: BinaryHeap::new(), last: None, counts };
        for run in 0..sorted.runs.len() {
            sorted.advance(run)?;
        }
        Ok(sorted)
    }

    fn advance(&mut self, run: usize) -> io::Result<()> {
        if let Some(number) = self.runs[run].next(self.file.as_ref())? {
            self.heads.push(Reverse((number, run)));
        }
        Ok(())
    }

    /// The next number; `None` at the end. One that is counted comes as often as it was pushed.
    pub(super) fn next(&mut self) -> io::Result<Option<N>> {
        while let Some(Reverse((number, run))) = self.heads.pop() {
            self.advance(run)?;
            if self.counts || self.last != Some(number) {
                self.last = Some(number);
                return Ok(Some(number));
            }
        }
        Ok(None)
    }
}

impl<N: Number> Run<N> {
    fn next(&mut self, file: Option<&File>) -> io::Result<Option<N>> {
        if let Some(number) = self.read.next() {
            return Ok(Some(number));
        }
        let Some(file) = file.filter(|_| self.at < self.end) else { return Ok(None) };
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let mut bytes = vec![0; left.min(self.chunk)];
        file.read_exact_at(&mut bytes, self.at)?;
        self.at += bytes.len() as u64;
        let numbers = bytes.chunks_exact(size_of::<N>()).map(N::from_bytes);
        self.read = numbers.collect::<Vec<_>>().into_iter();
        Ok(self.read.next())
    }
}

/// The reason of the first folder counts when all refuse.
fn nameless_in(folders: &[PathBuf]) -> io::Result<File> {
    let mut made = folders.iter().map(|folder| nameless(folder));
    let first = made.next().unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()));
    first.or_else(|error| made.find_map(Result::ok).ok_or(error))
}

/// A file that is gone when it is closed, whatever ends the process. Another process may make one at the same moment, so
/// each has a name that was free.
fn nameless(folder: &Path) -> io::Result<File> {
    let mut made = Err(io::ErrorKind::AlreadyExists.into());
    for name in NAMES {
        let path = folder.join(format!("sort-{name}.tmp"));
        made = File::options().create_new(true).read(true).write(true).mode(OWN).open(&path);
        match &made {
            Ok(_) => std::fs::remove_file(path)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(_) => {}
        }
        break;
    }
    made
}

/// Where readers of a database sort: beside it, or where that cannot be written in the system's folder for temporary files.
pub(super) fn folders(connection: &Connection) -> Vec<PathBuf> {
    let beside = connection.path().and_then(|path| PathBuf::from(path).parent().map(PathBuf::from));
    beside.into_iter().chain([std::env::temp_dir()]).collect()
}

/// Shows each of `some` that is not among `others` to `each`.
pub(super) fn subtract<E: From<io::Error>>(
    mut some: Sorted,
    mut others: Sorted,
    mut each: impl FnMut(u64) -> Result<(), E>,
) -> Result<(), E> {
    let mut other = others.next()?;
    while let Some(number) = some.next()? {
        while other.is_some_and(|other| other < number) {
            other = others.next()?;
        }
        if other != Some(number) {
            each(number)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn sorted(folder: &Path, memory: usize, numbers: &[u64]) -> Sorted {
        let mut sorter = Sorter::new(&[folder], memory);
        for number in numbers {
            sorter.push(*number).unwrap();
        }
        sorter.sorted().unwrap()
    }

    fn all(mut sorted: Sorted) -> Vec<u64> {
        std::iter::from_fn(|| sorted.next().unwrap()).collect()
    }

    proptest! {
        #[test]
        fn gives_all_in_order_once_whatever_the_memory(
            numbers in prop::collection::vec(prop_oneof![0..50_u64, any::<u64>()], 0..400),
            memory in 1..2_000_usize,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let expected: Vec<_> = numbers.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
            prop_assert_eq!(all(sorted(folder.path(), memory, &numbers)), expected);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }

        #[test]
        fn subtracts_as_sets_do(
            some in prop::collection::vec(0..60_u64, 0..100),
            others in prop::collection::vec(0..60_u64, 0..100),
            memory in 1..300_usize,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let set = |numbers: &[u64]| numbers.iter().copied().collect::<BTreeSet<_>>();
            let expected: Vec<_> = set(&some).difference(&set(&others)).copied().collect();
            let (some, others) = (sorted(folder.path(), memory, &some), sorted(folder.path(), memory, &others));
            let mut left = Vec::new();
            subtract(some, others, |number| { left.push(number); io::Result::Ok(()) }).unwrap();
            prop_assert_eq!(left, expected);
        }
    }

    #[test]
    fn what_is_counted_comes_as_often_as_it_was_pushed() {
        let folder = tempfile::tempdir().unwrap();
        for (memory, most, expected) in
            [(1_000, 9, vec![1, 2, 2, 2, 3]), (24, 9, vec![1, 2, 2, 2, 3]), (24, 2, vec![1, 2, 2, 3])]
        {
            let mut sorter = Sorter::new(&[folder.path()], memory).counting(most);
            for number in [2, 2, 2, 3, 1] {
                sorter.push(number).unwrap();
            }
            assert_eq!(all(sorter.sorted().unwrap()), expected, "{memory} {most}");
        }
    }

    #[test]
    fn a_run_longer_than_what_is_read_at_once_comes_whole() {
        let folder = tempfile::tempdir().unwrap();
        // 40 runs of 20,000 bytes each, read by 4,096.
        let numbers: Vec<u64> = (0..100_000_u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let mut expected = numbers.clone();
        expected.sort_unstable();
        let mut sorter = Sorter::new(&[folder.path()], 20_000);
        for number in &numbers {
            sorter.push(*number).unwrap();
        }
        assert!(sorter.buffer.capacity() * size_of::<u64>() <= 2 * 20_000);
        assert_eq!(all(sorter.sorted().unwrap()), expected);
    }

    #[test]
    fn the_first_folder_that_takes_a_file_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let none = folder.path().join("none");
        let numbers = |folders: &[&Path]| {
            let mut sorter = Sorter::new(folders, 16);
            (0..10).rev().try_for_each(|number| sorter.push(number)).and_then(|()| sorter.sorted()).map(all)
        };
        std::fs::write(folder.path().join("sort-0.tmp"), "somebody else's").unwrap();
        assert_eq!(numbers(&[&none, folder.path()]).unwrap(), (0..10).collect::<Vec<_>>());
        assert_eq!(numbers(&[&none, &none]).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(std::fs::read(folder.path().join("sort-0.tmp")).unwrap(), b"somebody else's");
    }
}
