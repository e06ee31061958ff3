//! [`Membership`]: which groups a host is in, and when its name is looked up.
//!
//! The name of a host is looked up before anything is asked of it, and again when that is too old. What was found is good for one request at
//! least, however long the host's turn is in coming: one that is too old whenever a request may be sent would be looked up for ever.
//! Where nothing was found the host is asked all the same, as one of no machine: the request finds out what is wrong.

use std::{net::IpAddr, sync::Arc};

use super::{ShareBy, groups::HostGroup};
use crate::{time::Moment, url::Origin};

/// Addresses of a name that count. A name with thousands of them, of machines of others, would have all of these wait for it.
const MOST_ADDRESSES: usize = 16;

/// The groups of one host.
#[derive(Debug)]
pub(super) struct Membership {
    /// Its domain first, where that counts, then its addresses.
    pub(super) groups: Vec<HostGroup>,
    looked_up: LookUpState,
    /// It waits in line in one of them.
    pub(super) in_line: bool,
    /// Which of them has called it.
    pub(super) called_by: Option<HostGroup>,
}

/// What is known of its addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LookUpState {
    /// Nobody asks: it is an address itself, or addresses do not count.
    NotNeeded,
    Needed,
    Asked,
    /// Looked up, and good until then; nothing was asked of the host since.
    Unused(Moment),
    GoodUntil(Moment),
}

impl Membership {
    /// That of a host which was never looked up; `None` where it shares nothing.
    pub(super) fn of(origin: &Origin, by: ShareBy) -> Option<Box<Self>> {
        if by == ShareBy::default() {
            return None;
        }
        let url = origin.robots_txt();
        let domain = url.registrable_domain().filter(|_| by.domain);
        let groups: Vec<HostGroup> = domain.map(|domain| HostGroup::Domain(Arc::from(domain))).into_iter().collect();
        let is_name = url.ip_literal().is_none();
        let looked_up = if by.address && is_name { LookUpState::Needed } else { LookUpState::NotNeeded };
        let shares = !groups.is_empty() || looked_up == LookUpState::Needed;
        shares.then(|| Box::new(Self { groups, looked_up, in_line: false, called_by: None }))
    }

    /// Whether its name must be looked up before it is asked for anything.
    pub(super) fn wants_look_up(&self, now: Moment) -> bool {
        match self.looked_up {
            LookUpState::Needed => true,
            LookUpState::GoodUntil(until) => until <= now,
            LookUpState::NotNeeded | LookUpState::Asked | LookUpState::Unused(_) => false,
        }
    }

    /// Whether that is under way, or it waits for one of its groups.
    pub(super) fn waits(&self) -> bool {
        self.in_line || self.looked_up == LookUpState::Asked
    }

    pub(super) fn begins_look_up(&mut self) {
        self.looked_up = LookUpState::Asked;
    }

    /// A look-up has ended, with these addresses, or was not made.
    pub(super) fn looked_up(&mut self, found: Option<(&[IpAddr], Moment)>) {
        self.looked_up = found.map_or(LookUpState::Needed, |(_, until)| LookUpState::Unused(until));
        let addresses = found.map_or(&[][..], |(addresses, _)| addresses);
        self.groups.retain(|group| matches!(group, HostGroup::Domain(_)));
        for address in addresses.iter().take(MOST_ADDRESSES).map(|address| HostGroup::Address(address.to_canonical())) {
            if !self.groups.contains(&address) {
                self.groups.push(address);
            }
        }
    }

    /// Something was asked of the host.
    pub(super) fn is_used(&mut self) {
        if let LookUpState::Unused(until) = self.looked_up {
            self.looked_up = LookUpState::GoodUntil(until);
        }
    }
}
