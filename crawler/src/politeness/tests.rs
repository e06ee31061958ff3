//! Several crawls at one gate, on a clock that the tests turn.

use std::{
    collections::{BTreeMap, HashMap},
    num::{NonZeroU32, NonZeroU64},
    time::{Duration, Instant},
};

use proptest::prelude::*;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn terms(seconds: u64, slots: u32) -> Terms {
    Terms { pause: Duration::from_secs(seconds), slots }
}

fn host(name: &str) -> SharedPlace {
    SharedPlace::Host(name.into())
}

fn address(last: u8) -> SharedPlace {
    SharedPlace::Address([192, 0, 2, last].into())
}

/// A gate without limits, and a moment.
fn gate() -> (Gate, Instant) {
    (Gate::new(GateLimits::default()), Instant::now())
}

#[test]
fn the_strictest_pause_holds_for_all_that_ask() {
    let (mut gate, now) = gate();
    let quick = gate.ask(vec![host("h")], Member(0), terms(1, 1), now);
    assert_eq!(gate.turn(quick, now), Turn::Go);
    gate.end(quick, now, 0);
    let quick = gate.ask(vec![host("h")], Member(0), terms(1, 1), now);
    assert_eq!(gate.turn(quick, now), Turn::At(now + SECOND));
    let slow = gate.ask(vec![host("h")], Member(1), terms(5, 1), now);
    assert_eq!(gate.turn(quick, now + SECOND), Turn::At(now + 5 * SECOND));
    assert_eq!(gate.turn(quick, now + 5 * SECOND), Turn::Go);
    assert_eq!(gate.turn(slow, now + 9 * SECOND), Turn::Waits);
    gate.end(quick, now + 6 * SECOND, 0);
    assert_eq!(gate.turn(slow, now + 6 * SECOND), Turn::At(now + 11 * SECOND));
}

#[test]
fn one_that_has_gone_is_forgotten_after_a_while() {
    let (mut gate, now) = gate();
    let slow = gate.ask(vec![host("h")], Member(1), terms(5, 1), now);
    assert_eq!(gate.turn(slow, now), Turn::Go);
    gate.end(slow, now, 0);
    for (later, pause) in [(1, 5), (8, 5), (29, 1)] {
        let began = now + later * SECOND;
        let quick = gate.ask(vec![host("h")], Member(0), terms(1, 1), began);
        if let Turn::At(at) = gate.turn(quick, began) {
            assert_eq!(gate.turn(quick, at), Turn::Go);
        }
        gate.end(quick, began + 5 * SECOND, 0);
        let next = gate.ask(vec![host("h")], Member(0), terms(1, 1), began + 5 * SECOND);
        assert_eq!(gate.turn(next, began + 5 * SECOND), Turn::At(began + (5 + pause) * SECOND), "{later}");
        gate.end(next, began + 5 * SECOND, 0);
    }
}

#[test]
fn so_do_the_fewest_slots() {
    let (mut gate, now) = gate();
    let many: Vec<_> = (0..3).map(|_| gate.ask(vec![host("h")], Member(0), terms(0, 3), now)).collect();
    assert!(many.iter().all(|ticket| gate.turn(*ticket, now) == Turn::Go));
    let one = gate.ask(vec![host("h")], Member(1), terms(0, 1), now);
    let behind = gate.ask(vec![host("h")], Member(0), terms(0, 3), now);
    gate.end(many[0], now, 0);
    gate.end(many[1], now, 0);
    assert_eq!((gate.turn(one, now), gate.turn(behind, now)), (Turn::Waits, Turn::Waits));
    gate.end(many[2], now, 0);
    assert_eq!((gate.turn(behind, now), gate.turn(one, now)), (Turn::Waits, Turn::Go));
    assert_eq!(gate.turn(behind, now), Turn::Waits);
    gate.end(one, now, 0);
    assert_eq!(gate.turn(behind, now), Turn::Go);
}

#[test]
fn two_names_of_an_address_share_it_and_other_hosts_do_not_wait() {
    let (mut gate, now) = gate();
    let first = gate.ask(vec![host("a"), address(1)], Member(0), terms(1, 1), now);
    let second = gate.ask(vec![host("b"), address(1), address(2)], Member(1), terms(1, 1), now);
    let third = gate.ask(vec![host("c"), address(2)], Member(1), terms(1, 1), now);
    let apart = gate.ask(vec![host("d"), address(3)], Member(1), terms(1, 1), now);
    let turns = [first, second, third, apart].map(|ticket| gate.turn(ticket, now));
    assert_eq!(turns, [Turn::Go, Turn::Waits, Turn::Waits, Turn::Go]);
    gate.end(first, now, 0);
    assert!(gate.woken().contains(&second) && gate.woken().is_empty());
    assert_eq!(gate.turn(second, now), Turn::At(now + SECOND));
    // One that gives up lets those behind it go.
    gate.end(second, now, 0);
    assert_eq!(gate.turn(third, now), Turn::Go);
}

#[test]
fn all_together_keep_rate_and_number() {
    let now = Instant::now();
    let limits = GateLimits { max_rate: NonZeroU32::new(4), concurrency: NonZeroU32::new(2), ..GateLimits::default() };
    let mut gate = Gate::new(limits);
    let tickets: Vec<_> = (0..4).map(|n| gate.ask(vec![host(&n.to_string())], Member(n), terms(0, 1), now)).collect();
    assert_eq!(gate.turn(tickets[0], now), Turn::Go);
    let Turn::At(at) = gate.turn(tickets[1], now) else { panic!("a quarter of a second") };
    assert_eq!((at - now).as_millis(), 237, "{at:?}");
    assert_eq!(gate.turn(tickets[2], now), Turn::Waits);
    assert_eq!(gate.turn(tickets[1], at), Turn::Go);
    assert_eq!(gate.turn(tickets[2], now + SECOND), Turn::Waits);
    gate.end(tickets[0], now + SECOND, 0);
    // Who came first is first, also if the other looks before.
    assert_eq!((gate.turn(tickets[3], now + SECOND), gate.turn(tickets[2], now + SECOND)), (Turn::Waits, Turn::Go));
    gate.set_limits(GateLimits::default());
    assert_eq!(gate.turn(tickets[3], now + SECOND), Turn::Go);
}

/// The moments, in microseconds, of so many requests to hosts in turn, of which each has one slot and answers after `takes`.
/// Whoever waits looks again at whole milliseconds, as timers do, and a thousandth of all times much later.
fn sent(limits: GateLimits, own: Option<u32>, (hosts, takes): (u64, u64), most: usize) -> Vec<u64> {
    let start = Instant::now();
    let mut gate = Gate::new(limits);
    gate.set_rate(Member(0), MemberRate { requests: own.and_then(NonZeroU32::new), bytes: None });
    let mut looks: BTreeMap<u64, Vec<GateTicket>> = BTreeMap::new();
    let mut ends: BTreeMap<u64, Vec<(GateTicket, u64)>> = BTreeMap::new();
    let mut of: HashMap<GateTicket, u64> = HashMap::new();
    for name in 0..hosts {
        let ticket = gate.ask(vec![host(&name.to_string())], Member(0), terms(0, 1), start);
        of.insert(ticket, name);
        looks.entry(0).or_default().push(ticket);
    }
    let mut sent = Vec::new();
    while sent.len() < most {
        let next = looks.keys().chain(ends.keys()).min().copied().expect("somebody waits");
        let now = start + Duration::from_micros(next);
        for (ticket, name) in ends.remove(&next).unwrap_or_default() {
            gate.end(ticket, now, 0);
            let ticket = gate.ask(vec![host(&name.to_string())], Member(0), terms(0, 1), now);
            of.insert(ticket, name);
            looks.entry(next).or_default().push(ticket);
        }
        let mut looking = looks.remove(&next).unwrap_or_default();
        looking.extend(gate.woken());
        while let Some(ticket) = looking.pop() {
            match gate.turn(ticket, now) {
                Turn::Go => {
                    sent.push(next);
                    ends.entry(next + takes).or_default().push((ticket, of[&ticket]));
                }
                Turn::At(at) => {
                    let millis = u64::try_from((at - start).as_millis()).unwrap() + 1;
                    let late = if millis.is_multiple_of(1_000) { 30 } else { 1 };
                    looks.entry((millis + late) * 1_000).or_default().push(ticket);
                }
                Turn::Waits => {}
            }
            looking.extend(gate.woken());
        }
    }
    sent
}

#[test]
fn a_rate_is_reached_and_over_no_second_exceeded() {
    for rate in [1, 2, 3, 7, 10, 19, 20, 50, 99, 200, 500, 2_000, 10_000] {
        let shared = GateLimits { max_rate: NonZeroU32::new(rate), ..GateLimits::default() };
        for hosts in [1, 1_000] {
            // One host answers as fast as the rate needs it to; of many, each needs a second.
            let takes = if hosts == 1 { 50 } else { 90_000 };
            let count = (4 * rate as usize).clamp(20, 40_000);
            for (limits, own) in [(shared, None), (GateLimits::default(), Some(rate)), (shared, Some(rate))] {
                let sent = sent(limits, own, (hosts, takes), count);
                // As a network may deliver them: some 20 ms later than others.
                let closest = sent.windows(rate as usize + 1).map(|over| over[rate as usize] - over[0]).min();
                assert!(closest.is_none_or(|span| span >= 1_020_000), "{rate} of {hosts}: {closest:?}");
                let seconds = (sent[count - 1] - sent[0]) as f64 / 1e6;
                let reached = (count - 1) as f64 / seconds;
                assert!(reached >= 0.9 * f64::from(rate), "{rate} of {hosts}: {reached}");
            }
        }
    }
}

#[test]
fn a_crawl_keeps_its_own_rate_also_where_it_is_let_go_late() {
    let now = Instant::now();
    let mut gate = Gate::new(GateLimits { max_bandwidth: NonZeroU64::new(1_000), ..GateLimits::default() });
    gate.set_rate(Member(0), MemberRate { requests: NonZeroU32::new(10), bytes: None });
    let large = gate.ask(vec![host("large")], Member(1), terms(0, 1), now);
    assert_eq!(gate.turn(large, now), Turn::Go);
    gate.end(large, now, 60_000);
    let waiting: Vec<_> = (0..30).map(|n| gate.ask(vec![host(&n.to_string())], Member(0), terms(0, 1), now)).collect();
    // For a minute nobody may; then the one that has no rate need not wait for those of the other.
    let late = gate.ask(vec![host("other")], Member(1), terms(0, 1), now);
    let mut went = Vec::new();
    for millis in 0..64_000 {
        let at = now + Duration::from_millis(millis);
        went.extend(waiting.iter().filter(|ticket| gate.turn(**ticket, at) == Turn::Go).map(|_| millis));
        if gate.turn(late, at) == Turn::Go {
            assert!((60_000..60_200).contains(&millis), "{millis}");
        }
    }
    assert_eq!(went.len(), 30);
    assert!(went[0] >= 60_000 && went.windows(11).all(|over| over[10] - over[0] >= 1_000), "{went:?}");
}

#[test]
fn bytes_are_paid_for_with_time() {
    let now = Instant::now();
    let mut gate = Gate::new(GateLimits { max_bandwidth: NonZeroU64::new(1_000), ..GateLimits::default() });
    let (mut at, mut received) = (now, 0);
    for n in 0..50_u64 {
        let ticket = gate.ask(vec![host("h")], Member(0), terms(0, 1), at);
        if let Turn::At(later) = gate.turn(ticket, at) {
            at = later;
            assert_eq!(gate.turn(ticket, at), Turn::Go);
        }
        // What takes its time pays while it does.
        at += Duration::from_millis(if n % 7 == 0 { 900 } else { 10 });
        gate.end(ticket, at, 100 * (n % 5));
        received += 100 * (n % 5);
        assert!((received as f64) <= at.duration_since(now).as_secs_f64() * 1_000.0 + 400.0, "{n}");
    }
    assert!(at.duration_since(now) < Duration::from_secs(20), "{:?}", at.duration_since(now));
}

#[test]
fn a_crawl_with_a_ceiling_on_bytes_holds_no_other_back() {
    let (mut gate, now) = gate();
    gate.set_rate(Member(0), MemberRate { bytes: NonZeroU64::new(1_000), requests: None });
    let mut ask = |name: &str, member| gate.ask(vec![host(name)], Member(member), terms(0, 1), now);
    let [first, second, other] = [ask("a", 0), ask("b", 0), ask("c", 1)];
    assert_eq!(gate.turn(first, now), Turn::Go);
    gate.end(first, now + SECOND, 3_000);
    assert_eq!(gate.turn(second, now + SECOND), Turn::At(now + 3 * SECOND));
    assert_eq!(gate.turn(other, now + SECOND), Turn::Go);
    gate.set_rate(Member(0), MemberRate::default());
    assert_eq!(gate.turn(second, now + SECOND), Turn::Go);
}

#[test]
fn nothing_is_kept_of_places_that_have_rested() {
    let (mut gate, mut now) = gate();
    for n in 0..10_000 {
        let ticket = gate.ask(vec![host(&n.to_string()), address(1)], Member(0), terms(0, 1), now);
        assert_eq!(gate.turn(ticket, now), Turn::Go);
        gate.end(ticket, now, 0);
        now += SECOND;
    }
    assert!(gate.places() <= 64, "{}", gate.places());
}

/// A request of the random ones.
#[derive(Debug, Clone)]
struct Wish {
    places: Vec<SharedPlace>,
    member: u32,
    takes: u64,
}

fn wishes() -> impl Strategy<Value = Vec<Wish>> {
    let wish = (0_u8..3, 0_u8..3, 0_u32..3, 0_u64..30).prop_map(|(name, last, member, takes)| Wish {
        places: vec![host(&name.to_string()), address(last)],
        member,
        takes,
    });
    proptest::collection::vec(wish, 1..40)
}

proptest! {
    /// Everybody's turn comes, and between two requests at a place lies the pause of the strictest that asks there.
    #[test]
    fn each_comes_to_its_turn_and_pauses_are_kept(wishes in wishes(), pauses in [0_u64..40, 0..40, 0..40]) {
        let start = Instant::now();
        let limits = GateLimits { concurrency: NonZeroU32::new(3), max_rate: NonZeroU32::new(200), ..GateLimits::default() };
        let mut gate = Gate::new(limits);
        let tickets: Vec<_> = wishes.iter().map(|wish| {
            let terms = Terms { pause: Duration::from_millis(pauses[wish.member as usize]), slots: 1 };
            gate.ask(wish.places.clone(), Member(wish.member), terms, start)
        }).collect();
        let strictest = |place: &SharedPlace| {
            let asking = wishes.iter().filter(|wish| wish.places.contains(place));
            asking.map(|wish| pauses[wish.member as usize]).max().unwrap_or(0)
        };
        let (mut left, mut running): (Vec<usize>, Vec<(usize, u64)>) = ((0..wishes.len()).collect(), Vec::new());
        let mut ended: HashMap<SharedPlace, u64> = HashMap::new();
        for millis in 0..20_000 {
            let now = start + Duration::from_millis(millis);
            running.retain(|(wish, until)| {
                if *until <= millis {
                    gate.end(tickets[*wish], now, 0);
                    ended.extend(wishes[*wish].places.iter().map(|place| (place.clone(), millis)));
                }
                *until > millis
            });
            left.retain(|wish| {
                if gate.turn(tickets[*wish], now) != Turn::Go {
                    return true;
                }
                for place in &wishes[*wish].places {
                    assert!(running.iter().all(|(other, _)| !wishes[*other].places.contains(place)));
                    assert!(ended.get(place).is_none_or(|ended| ended + strictest(place) <= millis));
                }
                running.push((*wish, millis + wishes[*wish].takes));
                false
            });
            prop_assert!(running.len() <= 3);
            if left.is_empty() {
                return Ok(());
            }
        }
        prop_assert!(false, "{left:?} never come to their turn");
    }
}
