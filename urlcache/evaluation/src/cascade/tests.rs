use std::collections::HashMap;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::steps::Step;
use super::*;

const ALL: [Algorithm; 3] = [Algorithm::ONE, Algorithm::TWO, Algorithm::Compact];

/// Keys in classes of these sizes.
fn pairs(sizes: &[usize]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let classes = sizes.iter().enumerate();
    let of_class = |(class, size): (usize, &usize)| {
        (0..*size)
            .map(move |key| (format!("http://h{class}/{key}").into_bytes(), format!("class {class}").into_bytes()))
    };
    classes.flat_map(of_class).collect()
}

fn borrowed(pairs: &[(Vec<u8>, Vec<u8>)]) -> Vec<(&[u8], &[u8])> {
    pairs.iter().map(|(key, class)| (&key[..], &class[..])).collect()
}

fn train(sizes: &[usize], algorithm: Algorithm) -> Classifier {
    Classifier::of(&borrowed(&pairs(sizes)), algorithm).unwrap()
}

/// Every key gets its class, one by one and all together.
fn assert_exact(classifier: &Classifier, pairs: &[(Vec<u8>, Vec<u8>)]) {
    let hashes: Vec<u64> = pairs.iter().map(|(key, _)| classifier.hash(key)).collect();
    let mut classes = vec![77; 3];
    classifier.classify_hashes(&hashes, &mut classes);
    assert_eq!(classes.len(), pairs.len());
    for ((key, class), together) in pairs.iter().zip(classes) {
        assert_eq!(classifier.name(classifier.classify(key)), class);
        assert_eq!(classifier.name(together), class);
    }
}

/// The steps of a cascade.
fn steps(classifier: &Classifier) -> &Steps {
    match &classifier.body {
        Body::Steps(steps) => steps,
        Body::Compact(_) => panic!("no cascade"),
    }
}

#[test]
fn every_shape_of_a_set_is_classified_without_errors() {
    let shapes: [&[usize]; 12] = [
        &[1],
        &[500],
        &[1, 1],
        &[1, 0, 1],
        &[3000, 1],
        &[1, 3000],
        &[400, 400, 400],
        &[2000, 600, 100, 20, 3, 1],
        &[5000, 50, 50],
        &[1; 300],
        &[9000, 3],
        &[6000, 3000],
    ];
    for sizes in shapes {
        for algorithm in [&ALL[..], &[Algorithm::One { probes: 5 }, Algorithm::Two { first: 1, second: 2 }]].concat() {
            let classifier = train(sizes, algorithm);
            assert_exact(&classifier, &pairs(sizes));
            assert_eq!(
                (classifier.keys(), classifier.algorithm()),
                (Some(sizes.iter().sum::<usize>() as u64), algorithm.name())
            );
            assert_eq!(Classifier::read(&classifier.write()).unwrap(), classifier, "{sizes:?} {algorithm:?}");
        }
    }
}

#[test]
fn one_class_needs_no_step() {
    for algorithm in [Algorithm::ONE, Algorithm::TWO] {
        let classifier = train(&[20], algorithm);
        assert_eq!((steps(&classifier).end, classifier.rounds(), classifier.classify(b"anything")), (0, 0, 0));
        let document = classifier.write_document().unwrap();
        assert_eq!(document[1..], *b"\x01\0\0\0\x07class 0\xff\x07class 0");
    }
    assert_eq!(train(&[20], Algorithm::Compact).write().len(), 8 + 4 + 1 + 8 + 8 + 4 + 8 + 7 + 1 + 1 + 8);
}

/// "If the categories that go into a filter are all empty, it stops": the last class has no filter when the others are
/// resolved, within a round. "If all categories but one are empty after a round, it stops."
#[test]
fn a_cascade_stops_where_the_document_says() {
    // With rates near 0 the first step resolves the first class, and the second has no others.
    for algorithm in [Algorithm::One { probes: 32 }, Algorithm::Two { first: 32, second: 32 }] {
        let classifier = train(&[50, 50], algorithm);
        let steps = steps(&classifier);
        assert_eq!((steps.end, steps.filled.len(), steps.last), (1, 1, 1), "{algorithm:?}");
    }
    // Three classes: the third step has no others.
    let classifier = train(&[50, 50, 50], Algorithm::One { probes: 32 });
    assert_eq!((steps(&classifier).end, steps(&classifier).last), (2, 2));
    // Low rates leave keys of several classes, so that there are more rounds; each ends with one class at most, or goes on.
    let classifier = train(&[500, 500, 500], Algorithm::ONE);
    assert!(classifier.rounds() > 3, "{}", classifier.rounds());
}

/// "If nothing is left after filtering, the second filter is not made": a yes of the first then decides.
#[test]
fn no_second_filter_is_made_of_nothing() {
    let classifier = train(&[50, 50, 50], Algorithm::Two { first: 32, second: 4 });
    let made = &steps(&classifier).filled;
    assert!(made.iter().all(|(_, step)| matches!(step, Step::Two(_, None))) && made.len() == 2, "{made:?}");
    assert_exact(&classifier, &pairs(&[50, 50, 50]));
    let document = classifier.write_document().unwrap();
    assert_exact(&Classifier::read(&document).unwrap(), &pairs(&[50, 50, 50]));
}

#[test]
fn a_class_without_keys_has_empty_steps() {
    let mut set = TrainingSet::new(0);
    for class in 0..4 {
        let class = set.class(format!("class {class}").as_bytes());
        (0..300 * (class % 2)).for_each(|key| set.add(class, format!("{class}/{key}").as_bytes()));
    }
    for algorithm in ALL {
        let classifier = Classifier::train(set.clone(), algorithm).unwrap();
        assert!((0..300).all(|key| classifier.classify(format!("1/{key}").as_bytes()) == 1));
        assert!((0..300).all(|key| classifier.classify(format!("3/{key}").as_bytes()) == 3));
        assert_eq!(Classifier::read(&classifier.write()).unwrap(), classifier);
        if let Ok(document) = classifier.write_document() {
            assert_eq!(steps(&Classifier::read(&document).unwrap()), steps(&classifier));
        }
    }
}

#[test]
fn filters_have_the_size_of_the_formula() {
    let sizes = [3000, 2000, 1000];
    let one = train(&sizes, Algorithm::ONE);
    let Step::One(first) = &steps(&one).filled[0].1 else { panic!("no filter") };
    // 3000 k / ln 2 bits, in whole bytes.
    assert_eq!(first.bytes().len(), 542);
    let two = train(&sizes, Algorithm::TWO);
    let Step::Two(class, Some(others)) = &steps(&two).filled[0].1 else { panic!("no filters") };
    assert_eq!((class.seeds().len(), others.seeds().len()), (3, 4));
    assert_eq!(class.bytes().len(), 1624);
    // An eighth of the 3,000 others passes the first filter.
    assert!((220..320).contains(&others.bytes().len()), "{}", others.bytes().len());
}

#[test]
fn a_key_in_two_classes_is_named_and_one_that_comes_twice_is_fine() {
    let mut pairs = pairs(&[3000, 3000]);
    pairs.push(pairs[17].clone());
    for algorithm in ALL {
        assert_exact(&Classifier::of(&borrowed(&pairs), algorithm).unwrap(), &pairs);
    }
    pairs.push((pairs[5].0.clone(), b"class 1".to_vec()));
    for algorithm in ALL {
        let error = Classifier::of(&borrowed(&pairs), algorithm).unwrap_err();
        assert_eq!(error, TrainError::TwoClasses { key: pairs[5].0.clone() }, "{algorithm:?}");
        assert_eq!(error.to_string(), "the key \"http://h0/5\" is in two classes");
    }
    // Nothing but conflicts: what is left never gets less.
    let both: Vec<(&[u8], &[u8])> =
        pairs[..100].iter().flat_map(|(key, _)| [(&key[..], &b"a"[..]), (key, b"b")]).collect();
    for algorithm in ALL {
        assert!(matches!(Classifier::of(&both, algorithm), Err(TrainError::TwoClasses { .. })));
    }
}

/// Two keys of one hash cannot be made, but a set can hold one hash twice.
#[test]
fn a_hash_in_two_classes_is_a_conflict_for_whoever_has_the_keys() {
    for algorithm in ALL {
        let mut set = TrainingSet::new(3);
        for class in [b"a", b"b", b"c"] {
            let class = set.class(class);
            (0..2000 - 500 * class).for_each(|key| set.add(class, &[class, key].map(u32::to_le_bytes).concat()));
        }
        set.add(1, b"same");
        set.add(2, b"same");
        let conflict = Conflict { hash: set.hash(b"same"), classes: [1, 2] };
        assert_eq!(Classifier::train(set, algorithm), Err(TrainError::Conflict(conflict)), "{algorithm:?}");
    }
}

#[test]
fn nothing_and_too_many_functions_are_refused() {
    for algorithm in ALL {
        assert_eq!(Classifier::of(&[], algorithm), Err(TrainError::Empty));
    }
    for (algorithm, probes) in [
        (Algorithm::One { probes: 0 }, 0),
        (Algorithm::Two { first: 33, second: 1 }, 33),
        (Algorithm::Two { first: 1, second: 255 }, 255),
    ] {
        assert_eq!(Classifier::of(&[(b"a", b"b")], algorithm), Err(TrainError::Probes { probes }));
    }
}

/// Classes of like sizes: within a twentieth of the entropy. Where one class has nearly all, a prefix code alone would take a bit a
/// key, 3.5 times the entropy of 95 to 5; with a sieve it is within a sixth of it; what few keys are left then
/// lie in structures that are too short to be full.
#[test]
fn the_compact_form_is_near_the_entropy() {
    for (sizes, most) in [
        (&[10_000; 10][..], 1.05),
        (&[30_000; 3], 1.05),
        (&[17_000; 6], 1.05),
        (&[25_000; 4], 1.05),
        (&[50_000, 25_000, 12_500, 12_500], 1.05),
        (&[95_000, 5_000], 1.16),
        (&[99_000, 400, 300, 300], 1.3),
        (&[70_000, 20_000, 10_000], 1.16),
    ] {
        let counts: Vec<u64> = sizes.iter().map(|size| *size as u64).collect();
        let classifier = train(sizes, Algorithm::Compact);
        let floor = entropy(&counts) * counts.iter().sum::<u64>() as f64 / 8.0;
        let over = classifier.write().len() as f64 / floor;
        assert!(over < most, "{sizes:?}: {over}");
    }
}

#[test]
fn keys_and_names_may_be_long_and_any_bytes() {
    let long = vec![0xff_u8; 100_000];
    let name = vec![b'n'; 70_000];
    let pairs: [(&[u8], &[u8]); 4] = [(&long, &name), (b"", b""), (b"\0\t\n", b"\xff\xfe"), (b"z", &name)];
    for algorithm in ALL {
        let classifier = Classifier::of(&pairs, algorithm).unwrap();
        let again = Classifier::read(&classifier.write()).unwrap();
        assert!(pairs.iter().all(|(key, class)| again.name(again.classify(key)) == *class));
        let expected = match algorithm {
            Algorithm::Compact => DocumentError::Compact,
            Algorithm::One { .. } | Algorithm::Two { .. } => DocumentError::Name { bytes: 70_000 },
        };
        assert_eq!(classifier.write_document(), Err(expected));
    }
    let mut set = TrainingSet::new(1);
    let class = set.class(b"a");
    set.add(class, b"k");
    assert_eq!(Classifier::train(set, Algorithm::ONE).unwrap().write_document(), Err(DocumentError::Seed));
}

/// Small classifiers of every kind.
fn samples() -> Vec<(&'static str, Classifier)> {
    vec![
        ("one", train(&[300, 200, 100], Algorithm::ONE)),
        ("two", train(&[300, 200, 100], Algorithm::TWO)),
        ("two-of-nothing", train(&[40, 30, 20], Algorithm::Two { first: 20, second: 4 })),
        ("single-class", train(&[9], Algorithm::TWO)),
        ("compact-ternary", train(&[300, 200, 100, 90], Algorithm::Compact)),
        ("compact-binary", train(&[300, 150, 70, 70], Algorithm::Compact)),
        ("compact-sieve", train(&[3000, 30, 20], Algorithm::Compact)),
    ]
}

/// All bytes that the samples are written as, in both formats.
fn written() -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for (name, classifier) in samples() {
        all.push((format!("{name}.v2"), classifier.write()));
        all.extend(classifier.write_document().ok().map(|bytes| (format!("{name}.document"), bytes)));
    }
    all
}

/// Files as they were first written: they are read, and are written as they were. `GOLDEN=write` makes those that are
/// missing.
#[test]
fn the_formats_do_not_change() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cascade-golden");
    let kinds: HashMap<_, _> = samples().into_iter().collect();
    for (what, bytes) in written() {
        let path = folder.join(&what);
        if std::env::var("GOLDEN").is_ok_and(|order| order == "write") && !path.exists() {
            std::fs::write(&path, &bytes).unwrap();
        }
        let golden = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(golden == bytes, "{what}: the bytes are others than those of its first version");
        let (name, format) = what.split_once('.').unwrap();
        let again = Classifier::read(&golden).unwrap_or_else(|error| panic!("{what}: {error}"));
        let rewritten = if format == "v2" { again.write() } else { again.write_document().unwrap() };
        assert!(rewritten == golden, "{what}");
        assert!((0..300).all(|key| {
            let key = format!("http://h0/{key}");
            again.classify(key.as_bytes()) == kinds[name].classify(key.as_bytes())
        }));
    }
}

#[test]
fn the_formats_are_distinguished_and_damage_is_noticed() {
    let bytes = train(&[300, 200, 100], Algorithm::TWO).write();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(Classifier::read(&changed).is_err(), "byte {at}");
        assert!(Classifier::read(&bytes[..at]).is_err(), "cut at {at}");
    }
    let document = train(&[300, 200, 100], Algorithm::TWO).write_document().unwrap();
    for at in 0..document.len() {
        assert!(Classifier::read(&document[..at]).is_err(), "cut at {at}");
    }
    for (bytes, error) in [
        (&b""[..], ReadError::Foreign),
        (b"URL", ReadError::Foreign),
        (b"URLCACHE\x01\0\0\0", ReadError::Foreign),
        (b"URLCLASS", ReadError::Damaged),
        (b"URLCLASS\x02\0\0\0", ReadError::Damaged),
        (b"URLCLASS\x03\0\0\0", ReadError::Newer { found: 3 }),
        (b"\x02\0\0\0\0", ReadError::Foreign),
        (b"\0\0\0\0\0\xff\0", ReadError::Senseless("no classes, or two of one name")),
        (b"\0\xff\xff\xff\xff\0\0\0", ReadError::Senseless("two classes of one name")),
        (b"\0\x01\0\0\0\x01a\xff\x01b", ReadError::Senseless("the last class is none of its classes")),
        (b"\x01\x01\0\0\0\x01a\0\xff", ReadError::Senseless("it ends between the two filters of a class")),
        (b"\0\x01\0\0\0\x01a\x01\0\xff\xff\xff\xff\0", ReadError::Senseless("it is shorter than it says")),
        (b"\0\x01\0\0\0\x01a\x01\0\0\0\0\0\xff\x01a", ReadError::Senseless("a filter without bits")),
        (b"\0\x01\0\0\0\x01a\xff\x01a!", ReadError::Senseless("there is more than it says")),
    ] {
        assert_eq!(Classifier::read(bytes), Err(error), "{bytes:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn random_sets_are_classified_without_errors(
        keys in prop::collection::hash_map(prop::collection::vec(any::<u8>(), 0..6), 0_u32..7, 1..400),
        skew in 1_u32..50,
        probes in (1_u8..6, 1_u8..6, 1_u8..6),
    ) {
        let class = |class: u32| if class.is_multiple_of(skew) { b"most".to_vec() } else { class.to_le_bytes().to_vec() };
        let pairs: Vec<_> = keys.into_iter().map(|(key, number)| (key, class(number))).collect();
        let algorithms =
            [Algorithm::One { probes: probes.0 }, Algorithm::Two { first: probes.1, second: probes.2 }, Algorithm::Compact];
        for algorithm in algorithms {
            let classifier = Classifier::of(&borrowed(&pairs), algorithm).unwrap();
            assert_exact(&classifier, &pairs);
            assert_exact(&Classifier::read(&classifier.write()).unwrap(), &pairs);
            if let Ok(document) = classifier.write_document() {
                assert_exact(&Classifier::read(&document).unwrap(), &pairs);
            }
        }
    }

    /// The checksum keeps accidents out, not a forger; the document's format has none.
    #[test]
    fn forged_bytes_are_an_error_or_a_classifier_that_answers(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..6),
        cut in prop::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        static ALL: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(written);
        let (name, bytes) = which.get(&ALL);
        let mut bytes = bytes.clone();
        for (at, value, head) in edits {
            // Most of a file is bits, in which nothing can be wrong.
            let at = at.index(if head { bytes.len().min(90) } else { bytes.len() });
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if name.split('.').nth(1) == Some("v2") {
            bytes = reseal_classifier(&bytes);
        }
        if let Ok(classifier) = Classifier::read(&bytes) {
            let mut classes = Vec::new();
            let hashes: Vec<u64> = (0..200_u64).map(|key| classifier.hash(&key.to_le_bytes())).collect();
            classifier.classify_hashes(&hashes, &mut classes);
            for (hash, class) in hashes.into_iter().zip(classes) {
                prop_assert_eq!(classifier.classify_hash(hash), class);
                prop_assert!((class as usize) < classifier.names().len());
            }
            let again = Classifier::read(&classifier.write()).unwrap();
            prop_assert_eq!(again.classify(b"key"), classifier.classify(b"key"));
        }
    }

    #[test]
    fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200), start in 0_u8..3) {
        let start = [&[][..], &[0, 1, 0, 0, 0, 1, b'a'], &[1, 2, 0, 0, 0, 1, b'a', 1, b'b']][usize::from(start)];
        let _ = Classifier::read(&[start, &bytes].concat());
    }
}
