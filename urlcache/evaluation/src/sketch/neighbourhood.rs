//! [`Neighbourhoods`]: how many nodes lie within d links of each node, for all nodes at once.
//!
//! The neighbourhood n(u,d) is u itself and the union of n(v,d-1) over its neighbours v. Only sketches are united, never
//! sets: a step costs one union a link. With tail lengths ([`FlajoletMartin`](super::FlajoletMartin)) this is the slides'
//! recurrence (ANF of Palmer, Gibbons and Faloutsos, 2002), with registers ([`HyperLogLog`](urlcache::sketch::HyperLogLog)) `HyperANF`
//! (Boldi, Rosa and Vigna, 2011).
//!
//! Invariant: after d steps the sketch of a node is exactly the one that n(u,d) itself would give. So its error is that of
//! the sketch, whatever the graph is.

use urlcache::sketch::{DistinctCount, Mismatch};

use super::LinkGraph;

/// The sketches of the neighbourhoods of all nodes at one distance.
///
/// ```
/// use urlcache::{HashSeed, sketch::Precision};
/// use urlcache_evaluation::sketch::{Direction, LinkGraph, Neighbourhoods};
/// use xxhash_rust::xxh3::xxh3_128;
///
/// let links = [(0, 1), (0, 2), (1, 2), (1, 3), (3, 4), (3, 5), (3, 6), (4, 5), (5, 6)];
/// let graph = LinkGraph::new(7, &links, Direction::Undirected)?;
/// let empty = Precision::new(12)?.sketch(HashSeed::new(7));
/// let mut reached = Neighbourhoods::new(&graph, &empty, |node| xxh3_128(&node.to_le_bytes()));
/// let mut sizes = Vec::new();
/// for _ in 0..=3 {
///     sizes.push(reached.estimate(4).round()); // of E
///     reached.step()?;
/// }
/// assert_eq!(sizes, [1.0, 3.0, 5.0, 7.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Neighbourhoods<'graph, S> {
    graph: &'graph LinkGraph,
    sketches: Vec<S>,
    distance: u32,
}

impl<'graph, S: DistinctCount> Neighbourhoods<'graph, S> {
    /// At distance 0: each node alone, in a copy of an empty sketch. Two nodes with one fingerprint count as one.
    pub fn new(graph: &'graph LinkGraph, empty: &S, fingerprint: impl Fn(u32) -> u128) -> Self {
        let of = |node| {
            let mut sketch = empty.clone();
            sketch.insert(fingerprint(node));
            sketch
        };
        Self { graph, sketches: (0..graph.nodes()).map(of).collect(), distance: 0 }
    }

    /// Goes on to the next distance; false if no neighbourhood has grown, and so none will.
    ///
    /// # Errors
    /// None: all sketches are copies of one.
    pub fn step(&mut self) -> Result<bool, Mismatch> {
        let mut next = self.sketches.clone();
        let mut grown = false;
        for (node, sketch) in (0..).zip(&mut next) {
            for neighbour in self.graph.neighbours(node) {
                sketch.unite(&self.sketches[*neighbour as usize])?;
            }
            grown |= *sketch != self.sketches[node as usize];
        }
        self.sketches = next;
        self.distance += 1;
        Ok(grown)
    }

    /// Its distance d.
    pub fn distance(&self) -> u32 {
        self.distance
    }

    /// How many nodes lie within that distance of a node, by estimate; 0 if there is no such node.
    pub fn estimate(&self, node: u32) -> f64 {
        self.sketches.get(node as usize).map_or(0.0, S::estimate)
    }
}

#[cfg(test)]
mod tests {
    use urlcache::{
        HashSeed,
        hash::mix,
        sketch::{Precision, Theory},
    };

    use super::*;
    use crate::sketch::{Direction, TailShape, trials};

    /// Two links from each of 300 nodes, to nodes at random.
    fn random() -> Vec<(u32, u32)> {
        let to = |link: u32| u32::try_from(mix(u64::from(link)) % 300).unwrap();
        (0..600).map(|link| (link / 2, to(link))).collect()
    }

    fn within(graph: &LinkGraph, empty: &impl DistinctCount, node: u32, distance: u32) -> f64 {
        let mut reached = Neighbourhoods::new(graph, empty, |node| trials::fingerprint(node.into()));
        (0..distance).for_each(|_| assert_eq!(reached.step(), Ok(true)));
        reached.estimate(node)
    }

    #[test]
    fn the_sketch_is_that_of_the_neighbourhood() {
        let graph = LinkGraph::new(300, &random(), Direction::Out).unwrap();
        let empty = Precision::new(8).unwrap().sketch(HashSeed::new(1));
        let mut reached = Neighbourhoods::new(&graph, &empty, |node| trials::fingerprint(node.into()));
        let mut there = vec![5];
        for _ in 0..3 {
            reached.step().unwrap();
            let next: Vec<u32> = there.iter().flat_map(|node| graph.neighbours(*node)).copied().collect();
            there.extend(next);
        }
        let mut alone = empty.clone();
        for node in there {
            alone.insert(trials::fingerprint(node.into()));
        }
        assert_eq!((&reached.sketches[5], reached.distance()), (&alone, 3));
    }

    #[test]
    fn it_ends_when_nothing_grows() {
        let graph = LinkGraph::new(4, &[(0, 1), (1, 2)], Direction::Out).unwrap();
        let empty = TailShape::new(5, 1).unwrap().sketch(HashSeed::new(1));
        let mut reached = Neighbourhoods::new(&graph, &empty, |node| u128::from(node) << 70);
        let steps = (0..10).take_while(|_| reached.step().unwrap()).count();
        assert!(steps <= 2, "{steps}");
        assert!(reached.estimate(4).abs() < 1e-9, "there is no node 4");
    }

    /// Over 100 seeds, in both directions, with both sketches.
    #[test]
    fn errors_are_those_of_the_sketch() {
        for (direction, distance) in [(Direction::Out, 4), (Direction::In, 4), (Direction::Undirected, 3)] {
            let graph = LinkGraph::new(300, &random(), direction).unwrap();
            let size = |node| *graph.sizes_from(node, distance).last().unwrap();
            let node = (0..300).max_by_key(|node| size(*node)).unwrap();
            let exact = size(node) as f64;
            assert!(exact > 25.0, "{exact}");
            let of =
                |theory: Theory, sketch: &dyn Fn(HashSeed) -> f64| trials::check(theory, |seed| sketch(seed) / exact);
            let registers = Precision::new(6).unwrap();
            of(registers.theory(exact), &|seed| within(&graph, &registers.sketch(seed), node, distance));
            let tails = TailShape::new(31, 2).unwrap();
            of(tails.theory(exact), &|seed| within(&graph, &tails.sketch(seed), node, distance));
        }
    }
}
