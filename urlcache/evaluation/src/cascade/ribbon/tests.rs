use proptest::prelude::*;

use super::band::{Band, Fit, Solution};
use super::bits::Bits;
use super::trits::Trits;
use super::*;

fn what_was_placed_is_solved_and_what_was_taken_back_is_not_missed<S: Solution>(digits: u32, values: u32) {
    let mut band = S::Band::new(256, digits);
    let equation = |index: u64| {
        let random = mix(index + 1);
        (usize::try_from(random % 193).unwrap(), mix(random), u32::try_from(random >> 40).unwrap() % values)
    };
    let mut held = Vec::new();
    for index in 0..150 {
        let (at, random, value) = equation(index);
        match band.add(at, random, value) {
            Fit::Placed(place) if index % 3 == 0 => band.take_back(place),
            Fit::Placed(_) | Fit::Implied => held.push(index),
            Fit::Contradicted => {}
        }
    }
    assert!(held.len() > 60);
    let mut solution = S::new(digits);
    solution.append(&band);
    solution.append(&band);
    solution.finish();
    for index in held {
        let (at, random, value) = equation(index);
        assert_eq!((solution.value(at, random), solution.value(at + 256, random)), (value, value), "equation {index}");
    }
    band.clear();
    assert_eq!(band.add(3, 0b1000, 1), Fit::Placed(3));
    assert_eq!(band.add(3, 0b1000, 1), Fit::Implied);
    assert_eq!(band.add(3, 0b1000, 0), Fit::Contradicted);
}

#[test]
fn bands_are_solved() {
    what_was_placed_is_solved_and_what_was_taken_back_is_not_missed::<Bits>(3, 8);
    what_was_placed_is_solved_and_what_was_taken_back_is_not_missed::<Bits>(32, u32::MAX);
    what_was_placed_is_solved_and_what_was_taken_back_is_not_missed::<Trits>(1, 3);
}

/// A structure of the first `keys` numbers' hashes, and the value of each.
fn structure<S: Solution>(keys: u64, digits: u32, value: impl Fn(u64) -> u32) -> Retrieval<S> {
    let mut hashes: Vec<u64> = (0..keys).map(mix).collect();
    hashes.sort_unstable();
    let mut builder = RetrievalBuilder::new(keys, digits, 7);
    for shard in 0..builder.shards() {
        let here = hashes.iter().filter(|hash| builder.shard_of(**hash) == shard);
        let mut entries: Vec<_> = here.map(|&hash| Entry { hash, value: value(hash) }).collect();
        entries.reverse();
        builder.shard(&mut entries).unwrap();
    }
    builder.finish().unwrap()
}

/// Some value of a hash below a bound.
fn some(hash: u64, below: u64) -> u32 {
    u32::try_from(mix(hash ^ 0x63) % below).unwrap()
}

#[test]
fn large_structures_take_hardly_more_than_their_values() {
    let keys = 200_000;
    let bits = structure::<Bits>(keys, 4, |hash| some(hash, 16));
    assert!((0..keys).all(|key| bits.get(mix(key)) == some(mix(key), 16)));
    let overhead = bits.bytes() as f64 * 8.0 / (keys as f64 * 4.0);
    assert!((1.0..1.02).contains(&overhead), "{overhead}");
    let trits = structure::<Trits>(keys, 1, |hash| some(hash, 3));
    assert!((0..keys).all(|key| trits.get(mix(key)) == some(mix(key), 3)));
    let overhead = trits.bytes() as f64 * 8.0 / (keys as f64 * 3.0_f64.log2());
    assert!((1.0..1.04).contains(&overhead), "{overhead}");
}

#[test]
fn keys_of_one_hash_must_agree() {
    let entry = |value| Entry { hash: 9, value };
    let mut builder = RetrievalBuilder::<Bits>::new(3, 2, 0);
    assert_eq!(builder.shard(&mut vec![entry(1), entry(1), entry(2)]), Err(Contradiction { hash: 9 }));
    let mut builder = RetrievalBuilder::<Bits>::new(3, 2, 0);
    builder.shard(&mut vec![entry(1), entry(1)]).unwrap();
    assert_eq!(builder.finish().unwrap().get(9), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn every_key_gets_its_value_and_so_it_does_when_written(keys in 0_u64..3000, digits in 1_u32..=32, salt: u64) {
        let value = |hash: u64| u32::try_from(mix(hash ^ salt) >> (64 - digits)).unwrap();
        let built = structure::<Bits>(keys, digits, value);
        let ternary = structure::<Trits>(keys, 1, |hash| some(hash, 3));
        let mut out = Vec::new();
        built.write(&mut out);
        ternary.write(&mut out);
        let mut reader = Reader::new(&out);
        prop_assert_eq!(&Retrieval::<Bits>::read(&mut reader, 7).unwrap(), &built);
        prop_assert_eq!(&Retrieval::<Trits>::read(&mut reader, 7).unwrap(), &ternary);
        prop_assert!(reader.end().is_ok());
        for key in 0..keys {
            prop_assert_eq!(built.get(mix(key)), value(mix(key)));
            prop_assert_eq!(ternary.get(mix(key)), some(mix(key), 3));
        }
    }
}
