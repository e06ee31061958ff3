//! [`Scarcity`]: this machine runs short of disk or of memory.
//!
//! Short of disk, nothing is leased until there is room again. Short of memory, fewer requests are made at once, down to one: a crawl that
//! waited for memory which it holds itself would wait for ever.

use std::time::Duration;

use crate::{
    config::{MachineSettings, MemoryChoice},
    engine::MachineReading,
    time::Moment,
};

/// Leases go on when this share more is free than must be, in percent: not at every few bytes.
const MORE_PERCENT: u64 = 10;

/// From this share of the memory on there are fewer requests at once, in percent,
const MUCH_PERCENT: u64 = 85;
/// and below this share more again.
const LITTLE_PERCENT: u64 = 70;

/// How soon is asked again whether there is room; the machine is read more often.
const PAUSE: Duration = Duration::from_secs(10);

/// What there is too little of.
#[derive(Debug)]
pub(super) struct Scarcity {
    min_free_disk: Option<u64>,
    max_memory: Option<u64>,
    /// Requests at once, as the settings have it.
    usual: usize,
    lacks_disk: bool,
    /// Requests at once while memory is short.
    most: Option<usize>,
    has_said: bool,
}

impl Scarcity {
    pub(super) fn new(machine: &MachineSettings, usual: usize) -> Self {
        let max_memory = if let MemoryChoice::Most(most) = machine.max_memory { Some(most) } else { None };
        let min_free_disk = machine.min_free_disk;
        Self { min_free_disk, max_memory, usual, lacks_disk: false, most: None, has_said: false }
    }

    /// The machine was read, with so many requests in flight.
    pub(super) fn read(&mut self, reading: MachineReading, in_flight: usize) {
        if let Some((free, least)) = self.min_free_disk.and_then(|setting| reading.disk(setting)) {
            self.read_disk(least, free);
        }
        if let (Some(most), Some(taken)) = (self.max_memory, reading.memory) {
            self.read_memory(most, taken, in_flight);
        }
    }

    fn read_disk(&mut self, least: u64, free: u64) {
        let wanted = if self.lacks_disk { least.saturating_add(least / 100 * MORE_PERCENT) } else { least };
        let lacks_disk = free < wanted;
        if lacks_disk && !self.lacks_disk {
            let why = "little is free on the disk of the crawl (machine.min_free_disk)";
            tracing::warn!(free, least, "{why}: nothing is fetched until there is room");
        } else if self.lacks_disk && !lacks_disk {
            tracing::warn!(free, "there is room on the disk of the crawl: it goes on");
        }
        self.lacks_disk = lacks_disk;
    }

    fn read_memory(&mut self, most: u64, taken: u64, in_flight: usize) {
        let of_most = |percent: u64| most / 100 * percent;
        if taken > of_most(MUCH_PERCENT) {
            self.most = Some((self.most.unwrap_or(in_flight) / 2).max(1));
            if !self.has_said {
                tracing::warn!(taken, most, "memory is short (machine.max_memory): fewer requests are made at once");
            }
            self.has_said = true;
        } else if taken < of_most(LITTLE_PERCENT) {
            self.most = self.most.map(|most| most * 2).filter(|most| *most < self.usual);
        }
    }

    /// How many requests may be in flight of the `usual` number.
    pub(super) fn most(&self, usual: usize) -> usize {
        self.most.map_or(usual, |most| most.min(usual))
    }

    /// Until when nothing is to be leased, if there is no room.
    pub(super) fn waits(&self, now: Moment) -> Option<Moment> {
        self.lacks_disk.then(|| now + PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment::from_millis(1);

    fn scarcity() -> Scarcity {
        let machine = MachineSettings { max_memory: MemoryChoice::Most(1_000), min_free_disk: Some(1_000) };
        Scarcity::new(&machine, 64)
    }

    #[test]
    fn waits_for_room_on_the_disk() {
        let mut scarcity = scarcity();
        let mut waits = |free| {
            scarcity.read(MachineReading { free_disk: free, ..MachineReading::default() }, 0);
            scarcity.waits(NOW).is_some()
        };
        let readings = [Some(1_000), Some(999), Some(1_000), None, Some(1_099), Some(1_100), Some(1_000), Some(0)];
        assert_eq!(readings.map(&mut waits), [false, true, true, true, true, false, false, true]);
        let mut small = self::scarcity();
        for (free, waits) in [(100, false), (99, true)] {
            small.read(MachineReading { free_disk: Some(free), whole_disk: Some(1_000), memory: None }, 0);
            assert_eq!(small.waits(NOW).is_some(), waits);
        }
    }

    #[test]
    fn makes_fewer_requests_at_once_and_more_again() {
        let mut scarcity = scarcity();
        let mut most = |memory| {
            scarcity.read(MachineReading { memory: Some(memory), ..MachineReading::default() }, 40);
            scarcity.most(64)
        };
        let readings = [850, 851, 900, 1_200, 2_000, 2_000, 2_000, 800, 700, 699, 100, 100, 100, 100, 100];
        assert_eq!(readings.map(&mut most), [64, 20, 10, 5, 2, 1, 1, 1, 1, 2, 4, 8, 16, 32, 64]);
        assert_eq!(scarcity.waits(NOW), None);
    }
}
