//! [`HostGroups`]: hosts that share the slots and the pause of one: those of a machine, or of a registrable domain.
//!
//! A host whose turn comes while a group of it has no free slot, or rests, *waits in line* there and leaves the agenda of hosts. When the
//! group is free again, the first in line is *called*: it has its turn before any other host of the group. So five hundred hosts of
//! one machine cost no more than one while they wait, and each has its turn.
//!
//! Invariant: where hosts wait in line, the group is full, or it calls at a known moment, or a host that it called has its turn.
//!
//! Does not know: hosts, but for their numbers; what is asked of them.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    net::IpAddr,
    num::NonZeroUsize,
    sync::Arc,
    time::Duration,
};

use crate::{candidate::HostId, time::Moment};

/// Groups that are remembered before any that has rested is forgotten.
const FEW: usize = 1_024;

/// A group of hosts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum HostGroup {
    /// Those of one machine.
    Address(IpAddr),
    /// Those of one registrable domain.
    Domain(Arc<str>),
}

/// All groups in which something happens.
#[derive(Debug)]
pub(super) struct HostGroups {
    slots: NonZeroUsize,
    known: HashMap<HostGroup, State>,
    /// When groups that hosts wait for are free.
    calls: BTreeSet<(Moment, HostGroup)>,
    /// Hosts that wait in line.
    waiting: usize,
    /// How many groups may be known before those that have rested are forgotten.
    most: usize,
}

/// One of them.
#[derive(Debug)]
struct State {
    in_flight: usize,
    /// Hosts that were called, and have not been asked yet.
    called: usize,
    ready_at: Moment,
    line: VecDeque<HostId>,
    /// When it calls the next.
    call: Option<Moment>,
}

impl Default for State {
    fn default() -> Self {
        Self { in_flight: 0, called: 0, ready_at: Moment::EPOCH, line: VecDeque::new(), call: None }
    }
}

impl State {
    /// Whether a slot is left, apart from those of the hosts that were called, but for so many of them.
    fn has_slot(&self, slots: NonZeroUsize, but: usize) -> bool {
        self.in_flight + self.called - but < slots.get()
    }
}

impl HostGroups {
    /// Groups with so many slots each.
    pub(super) fn new(slots: NonZeroUsize) -> Self {
        Self { slots, known: HashMap::new(), calls: BTreeSet::new(), waiting: 0, most: FEW }
    }

    /// The first of these at which a host cannot be asked now. One that was called goes before those in line.
    pub(super) fn full<'a>(
        &self,
        of: &'a [HostGroup],
        called_by: Option<&HostGroup>,
        now: Moment,
    ) -> Option<&'a HostGroup> {
        of.iter().find(|group| {
            self.known.get(group).is_some_and(|state| {
                let own = usize::from(called_by == Some(group));
                let goes_behind = called_by.is_none() && !state.line.is_empty();
                goes_behind || state.ready_at > now || !state.has_slot(self.slots, own)
            })
        })
    }

    /// Whether one of these rests now.
    pub(super) fn rest(&self, of: &[HostGroup], now: Moment) -> bool {
        of.iter().any(|group| self.known.get(group).is_some_and(|state| state.ready_at > now))
    }

    /// A request begins in these, to a host that one of them may have called.
    pub(super) fn begin(&mut self, at: &[HostGroup], called_by: Option<&HostGroup>, now: Moment) {
        for group in at {
            self.forget(now);
            let state = self.known.entry(group.clone()).or_default();
            state.in_flight += 1;
            state.called -= usize::from(called_by == Some(group));
            self.plan(group, now);
        }
    }

    /// A request has ended in these, or none was sent; where one was, they rest for so long.
    pub(super) fn end(&mut self, at: &[HostGroup], rest: Option<Duration>, now: Moment) {
        for group in at {
            if let Some(state) = self.known.get_mut(group) {
                state.in_flight -= 1;
                state.ready_at = state.ready_at.max(rest.map_or(Moment::EPOCH, |rest| now + rest));
            }
            self.plan(group, now);
        }
    }

    /// A host waits in line.
    pub(super) fn wait(&mut self, at: &HostGroup, host: HostId, now: Moment) {
        self.known.entry(at.clone()).or_default().line.push_back(host);
        self.waiting += 1;
        self.plan(at, now);
    }

    /// A host that this group called has no turn now: the next in line is called.
    pub(super) fn pass(&mut self, at: &HostGroup, now: Moment) {
        if let Some(state) = self.known.get_mut(at) {
            state.called -= 1;
        }
        self.plan(at, now);
    }

    /// The group that calls now.
    pub(super) fn calling(&mut self, now: Moment) -> Option<HostGroup> {
        self.calls.first().filter(|(at, _)| *at <= now)?;
        let (_, group) = self.calls.pop_first()?;
        if let Some(state) = self.known.get_mut(&group) {
            state.call = None;
        }
        Some(group)
    }

    /// The first in line there, which is called, if a slot is left for it.
    pub(super) fn call(&mut self, at: &HostGroup) -> Option<HostId> {
        let state = self.known.get_mut(at).filter(|state| state.has_slot(self.slots, 0))?;
        let host = state.line.pop_front()?;
        state.called += 1;
        self.waiting -= 1;
        Some(host)
    }

    /// When the next group calls.
    pub(super) fn next_moment(&self) -> Option<Moment> {
        self.calls.first().map(|(at, _)| *at)
    }

    /// How many hosts wait in line.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Has a group call when it is free, if anybody waits there.
    fn plan(&mut self, group: &HostGroup, now: Moment) {
        let Some(state) = self.known.get_mut(group) else { return };
        let calls = !state.line.is_empty() && state.has_slot(self.slots, 0);
        let call = calls.then(|| state.ready_at.max(now));
        if call == state.call {
            return;
        }
        if let Some(before) = std::mem::replace(&mut state.call, call) {
            self.calls.remove(&(before, group.clone()));
        }
        if let Some(at) = call {
            self.calls.insert((at, group.clone()));
        }
    }

    /// Forgets groups at which nothing happens, when there are many.
    fn forget(&mut self, now: Moment) {
        if self.known.len() >= self.most {
            let used = |state: &State| state.in_flight + state.called + state.line.len() > 0 || state.ready_at > now;
            self.known.retain(|_, state| used(state));
            self.most = (2 * self.known.len()).max(FEW);
        }
    }
}
