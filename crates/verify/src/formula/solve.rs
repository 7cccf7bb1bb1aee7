//! Who wins a parity game, and how: component by component from the ends, inside each by
//! Zielonka's algorithm. Where a formula has no alternation a component has one parity, and the
//! whole takes time linear in the game.

use super::game::Game;
use crate::components::{Arrows, components};
use crate::watch::Watch;

/// The result: for each vertex who wins, and for the winner's own vertices where to go.
pub struct Solution {
    /// Does the verifier win?
    pub verifier: Vec<bool>,
    /// Where the winner goes, if it is the winner's turn there.
    pub choice: Vec<u32>,
}

/// No choice.
const NONE: u32 = u32::MAX;
/// In no subgame any more: the winner is known.
const DECIDED: u32 = 0;

/// Solves the whole game. When the watch runs out, the solution means nothing.
pub fn solve(game: &Game, watch: &Watch<'_>) -> Solution {
    let parts = components(game, watch);
    let mut members: Vec<Vec<u32>> = Vec::new();
    members.resize_with(parts.count as usize, Vec::new);
    for (vertex, part) in parts.of.iter().enumerate() {
        members[*part as usize].push(vertex as u32);
    }
    let size = game.vertices.len();
    let mut solver = Solver {
        game,
        watch,
        predecessors: Backwards::new(game),
        winner: vec![false; size],
        choice: vec![NONE; size],
        region: vec![1; size],
        regions: 1,
        open: vec![0; size],
    };
    // Every edge leads to the same component or to one with a lower number.
    for part in members {
        if watch.is_over() {
            break;
        }
        solver.solve_component(part);
    }
    Solution { verifier: solver.winner, choice: solver.choice }
}

struct Solver<'a> {
    game: &'a Game,
    watch: &'a Watch<'a>,
    predecessors: Backwards,
    winner: Vec<bool>,
    choice: Vec<u32>,
    /// Which subgame a vertex belongs to.
    region: Vec<u32>,
    regions: u32,
    /// While attracting: how many edges within the subgame are left for the player who would escape.
    open: Vec<u32>,
}

impl Solver<'_> {
    fn solve_component(&mut self, part: Vec<u32>) {
        let own = self.new_region();
        for vertex in &part {
            self.region[*vertex as usize] = own;
        }
        let mut rest = part;
        for player in [true, false] {
            let seeds = self.already_won(&rest, own, player);
            if !seeds.is_empty() {
                let won = self.attract(seeds, own, player);
                self.decide(&won, player);
                rest.retain(|vertex| self.region[*vertex as usize] == own);
            }
        }
        if !rest.is_empty() {
            self.zielonka(rest, own);
        }
    }

    fn new_region(&mut self) -> u32 {
        self.regions += 1;
        self.regions
    }

    fn decide(&mut self, vertices: &[u32], player: bool) {
        for vertex in vertices {
            self.winner[*vertex as usize] = player;
            self.region[*vertex as usize] = DECIDED;
        }
    }

    /// Vertices from which the player wins by one step out of the component, or where the other
    /// has no step at all that leads elsewhere.
    fn already_won(&mut self, part: &[u32], own: u32, player: bool) -> Vec<u32> {
        let mut seeds = Vec::new();
        for vertex in part.iter().copied().filter(|vertex| self.region[*vertex as usize] == own) {
            let targets = self.game.targets(vertex);
            let wins = |target: &&u32| {
                self.region[**target as usize] == DECIDED
                    && self.winner[**target as usize] == player
            };
            if self.game.verifier[vertex as usize] == player {
                if let Some(target) = targets.iter().find(wins) {
                    self.choice[vertex as usize] = *target;
                    seeds.push(vertex);
                }
            } else if targets.iter().all(|target| wins(&target)) {
                seeds.push(vertex);
            }
        }
        seeds
    }

    /// All vertices of the subgame from which the player can force the play into the seeds.
    fn attract(&mut self, seeds: Vec<u32>, own: u32, player: bool) -> Vec<u32> {
        let mark = self.new_region();
        for seed in &seeds {
            self.region[*seed as usize] = mark;
        }
        let mut attracted = seeds;
        let mut touched: Vec<u32> = Vec::new();
        let mut next = 0;
        while let Some(vertex) = attracted.get(next).copied() {
            next += 1;
            if self.watch.is_over() {
                break;
            }
            let range = self.predecessors.range(vertex);
            for place in range {
                let from = self.predecessors.sources[place];
                if self.region[from as usize] != own {
                    continue;
                }
                if self.game.verifier[from as usize] == player {
                    self.choice[from as usize] = vertex;
                } else {
                    if self.open[from as usize] == 0 {
                        self.open[from as usize] = self.ways_out(from, own, mark, player) + 1;
                        touched.push(from);
                    }
                    self.open[from as usize] -= 1;
                    if self.open[from as usize] > 1 {
                        continue;
                    }
                }
                self.region[from as usize] = mark;
                attracted.push(from);
            }
        }
        for vertex in touched {
            self.open[vertex as usize] = 0;
        }
        attracted
    }

    /// How many edges lead to the subgame, attracted vertices included, or to where the other
    /// player wins already.
    fn ways_out(&self, vertex: u32, own: u32, mark: u32, player: bool) -> u32 {
        let counts = |target: &&u32| {
            let region = self.region[**target as usize];
            let elsewhere = region == DECIDED && self.winner[**target as usize] != player;
            region == own || region == mark || elsewhere
        };
        self.game.targets(vertex).iter().filter(counts).count() as u32
    }

    /// Zielonka's algorithm on a subgame in which every vertex has an edge to another one of it.
    fn zielonka(&mut self, mut vertices: Vec<u32>, own: u32) {
        while !vertices.is_empty() && !self.watch.is_over() {
            let highest = vertices.iter().map(|vertex| self.game.priority[*vertex as usize]).max();
            let highest = highest.unwrap_or(0);
            let player = highest.is_multiple_of(2);
            let top: Vec<u32> = vertices
                .iter()
                .copied()
                .filter(|vertex| self.game.priority[*vertex as usize] == highest)
                .collect();
            let near = self.attract(top.clone(), own, player);
            let rest: Vec<u32> = vertices
                .iter()
                .copied()
                .filter(|vertex| self.region[*vertex as usize] == own)
                .collect();
            let inner = self.new_region();
            for vertex in &rest {
                self.region[*vertex as usize] = inner;
            }
            self.zielonka(rest.clone(), inner);
            let lost: Vec<u32> = rest
                .iter()
                .copied()
                .filter(|vertex| self.winner[*vertex as usize] != player)
                .collect();
            if lost.is_empty() {
                self.finish(&vertices, &top, player);
                let all = std::mem::take(&mut vertices);
                self.decide(&all, player);
                return;
            }
            // Everything is open again but what the other player wins for certain.
            for vertex in near.iter().chain(&rest) {
                self.region[*vertex as usize] = own;
            }
            let won = self.attract(lost, own, !player);
            self.decide(&won, !player);
            vertices.retain(|vertex| self.region[*vertex as usize] == own);
        }
    }

    /// The player wins all of it: from the highest vertices any step within it will do.
    fn finish(&mut self, all: &[u32], top: &[u32], player: bool) {
        let mark = self.new_region();
        for vertex in all {
            self.region[*vertex as usize] = mark;
        }
        for vertex in top {
            if self.game.verifier[*vertex as usize] == player {
                let targets = self.game.targets(*vertex).iter();
                let mut inside =
                    targets.copied().filter(|target| self.region[*target as usize] == mark);
                self.choice[*vertex as usize] = inside.next().unwrap_or(NONE);
            }
        }
    }
}

/// The edges of a game backwards.
struct Backwards {
    offsets: Vec<u32>,
    sources: Vec<u32>,
}

impl Backwards {
    fn new(game: &Game) -> Backwards {
        let size = game.vertices.len();
        let mut offsets = vec![0u32; size + 1];
        for target in &game.targets {
            offsets[*target as usize + 1] += 1;
        }
        for place in 0..size {
            offsets[place + 1] += offsets[place];
        }
        let mut next = offsets.clone();
        let mut sources = vec![0; game.targets.len()];
        for vertex in 0..size as u32 {
            for target in game.targets(vertex) {
                let place = &mut next[*target as usize];
                sources[*place as usize] = vertex;
                *place += 1;
            }
        }
        Backwards { offsets, sources }
    }

    fn range(&self, vertex: u32) -> std::ops::Range<usize> {
        self.offsets[vertex as usize] as usize..self.offsets[vertex as usize + 1] as usize
    }
}
