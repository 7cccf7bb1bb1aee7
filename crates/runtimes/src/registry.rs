//! The table of targets: one row each.

use strait_generate::Capabilities;

use crate::error::Error;
use crate::harness::plan::Plan;
use crate::harness::runner::{Runner, Sessions};
use crate::harness::target::{Contract, Flavour, Promise};

/// A channel crate as a target.
#[derive(Clone, Copy)]
pub struct TargetInfo {
    /// What people call it on the command line.
    pub name: &'static str,
    /// The crate on crates.io; none for std and for tests.
    pub package: Option<&'static str>,
    /// Where it is written, for other versions.
    pub(crate) source: Source,
    runner: fn() -> Box<dyn Runner>,
}

/// The file of a target and what it needs.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    pub module: &'static str,
    pub text: &'static str,
    /// The target as an expression within the module.
    pub value: &'static str,
    /// The rest of the dependency's table.
    pub features: &'static str,
    /// Dependencies beyond the crate.
    pub dependencies: &'static str,
    /// Files for versions that this one does not fit, from the newest.
    pub older: &'static [Edition],
}

/// The file of a target for older versions of its crate.
#[derive(Clone, Copy)]
pub(crate) struct Edition {
    pub text: &'static str,
    /// The flavours that it has; its contract for each is that of the newest.
    pub flavours: &'static [Flavour],
}

impl std::fmt::Debug for TargetInfo {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TargetInfo").field("name", &self.name).finish_non_exhaustive()
    }
}

/// One row: name, crate, module and value, then features and further dependencies if any.
macro_rules! row {
    ($name:literal, $package:expr, $module:ident, $value:expr) => {
        row!($name, $package, $module, $value, "", "")
    };
    ($name:literal, $package:expr, $module:ident, $value:expr, $features:literal, $more:literal) => {
        TargetInfo {
            name: $name,
            package: $package,
            source: Source {
                module: stringify!($module),
                text: include_str!(concat!("targets/", stringify!($module), ".rs")),
                value: stringify!($value),
                features: $features,
                dependencies: $more,
                older: &[],
            },
            runner: || {
                use crate::targets::$module::*;
                Box::new(Sessions::new($value))
            },
        }
    };
}

const CROSSFIRE_OLDER: &[Edition] =
    &[Edition { text: include_str!("targets/older/crossfire_2.rs"), flavours: &[Flavour::Tasks] }];

/// All targets.
#[rustfmt::skip]
pub const TARGETS: &[TargetInfo] = &[
    row!("async-channel", Some("async-channel"), async_channel, AsyncChannel),
    row!("async-lock-mutex", Some("async-lock"), async_lock, AsyncLock::Mutex),
    row!("async-lock-semaphore", Some("async-lock"), async_lock, AsyncLock::Semaphore),
    row!("concurrent-queue", Some("concurrent-queue"), concurrent_queue, Concurrent),
    row!("crossbeam-channel", Some("crossbeam-channel"), crossbeam_channel, CrossbeamChannel),
    row!("crossbeam-queue", Some("crossbeam-queue"), crossbeam_queue, CrossbeamQueue),
    row!("crossfire", Some("crossfire"), crossfire, Crossfire).with_older(CROSSFIRE_OLDER),
    row!("event-listener", Some("event-listener"), event_listener, EventListener),
    row!("flume", Some("flume"), flume, Flume),
    row!("futures-channel", Some("futures-channel"), futures_channel, FuturesUnbounded,
        "", "futures-core = \"0.3\"\n"),
    row!("futures-channel-bounded", Some("futures-channel"), futures_channel, FuturesBounded,
        "", "futures-core = \"0.3\"\n"),
    row!("futures-channel-oneshot", Some("futures-channel"), futures_channel, FuturesOneshot,
        "", "futures-core = \"0.3\"\n"),
    row!("kanal", Some("kanal"), kanal, Kanal),
    row!("loole", Some("loole"), loole, Loole),
    row!("oneshot", Some("oneshot"), oneshot_crate, Oneshot,
        ", features = [\"async\", \"std\"]", ""),
    row!("parking_lot", Some("parking_lot"), parking_lot_condvar, ParkingLotCondvar),
    row!("postage", Some("postage"), postage, Postage),
    row!("rtrb", Some("rtrb"), rtrb_crate, Rtrb),
    row!("std", None, std_mpsc, StdMpsc),
    row!("thingbuf", Some("thingbuf"), thingbuf, Thingbuf),
    row!("thingbuf-blocking", Some("thingbuf"), thingbuf, ThingbufBlocking),
    row!("tokio", Some("tokio"), tokio_mpsc, TokioMpsc,
        ", features = [\"rt-multi-thread\", \"sync\"]", ""),
    row!("tokio-broadcast", Some("tokio"), tokio_sync, TokioSync::Broadcast,
        ", features = [\"sync\"]", ""),
    row!("tokio-mutex", Some("tokio"), tokio_sync, TokioSync::Mutex, ", features = [\"sync\"]", ""),
    row!("tokio-notify", Some("tokio"), tokio_sync, TokioSync::Notify,
        ", features = [\"sync\"]", ""),
    row!("tokio-oneshot", Some("tokio"), tokio_sync, TokioSync::Oneshot,
        ", features = [\"sync\"]", ""),
    row!("tokio-semaphore", Some("tokio"), tokio_sync, TokioSync::Semaphore,
        ", features = [\"sync\"]", ""),
    row!("tokio-watch", Some("tokio"), tokio_sync, TokioSync::Watch, ", features = [\"sync\"]", ""),
];

/// Targets for tests: a channel that is right, and the same with a fault each.
#[rustfmt::skip]
pub const TEST_TARGETS: &[TargetInfo] = &[
    row!("reference", None, broken, Broken::new(Fault::None)),
    row!("broken-loses", None, broken, Broken::new(Fault::Loses)),
    row!("broken-doubles", None, broken, Broken::new(Fault::Doubles)),
    row!("broken-swaps", None, broken, Broken::new(Fault::Swaps)),
    row!("broken-deadlocks", None, broken, Broken::new(Fault::Deadlocks)),
    row!("broken-aborts", None, broken, Broken::new(Fault::Aborts)),
    row!("planted-none", None, planted, Planted(Fault::None)),
    row!("planted-loses-wakeup", None, planted, Planted(Fault::LosesWakeup)),
    row!("planted-doubles", None, planted, Planted(Fault::Doubles)),
    row!("planted-overtakes", None, planted, Planted(Fault::Overtakes)),
    row!("planted-closes-early", None, planted, Planted(Fault::ClosesEarly)),
    row!("planted-loses-permit", None, planted, Planted(Fault::LosesPermit)),
    row!("planted-touches-freed", None, planted, Planted(Fault::TouchesFreed)),
];

/// The target of this name.
pub fn target(name: &str) -> Result<&'static TargetInfo, Error> {
    let mut targets = TARGETS.iter().chain(TEST_TARGETS);
    targets.find(|target| target.name == name).ok_or_else(|| Error::NoSuchTarget {
        name: name.to_owned(),
        known: TARGETS.iter().map(|target| target.name).collect(),
    })
}

impl TargetInfo {
    const fn with_older(self, older: &'static [Edition]) -> TargetInfo {
        TargetInfo { source: Source { older, ..self.source }, ..self }
    }

    /// A runner with no thread yet.
    pub fn runner(&self) -> Box<dyn Runner> {
        (self.runner)()
    }

    /// The flavours that it has.
    pub fn flavours(&self) -> Vec<Flavour> {
        let runner = self.runner();
        let flavours = [Flavour::Threads, Flavour::Tasks, Flavour::Mixed];
        flavours
            .into_iter()
            .filter(|flavour| runner.contract(Promise::Full, *flavour).is_some())
            .collect()
    }

    /// What the crate promises for a flavour.
    pub fn contract(&self, flavour: Flavour) -> Option<Contract> {
        self.contract_to(Promise::Full, flavour)
    }

    /// What the crate promises for a flavour, to that degree.
    pub fn contract_to(&self, promise: Promise, flavour: Flavour) -> Option<Contract> {
        self.runner().contract(promise, flavour)
    }

    /// Is the plan within what the crate promises for a flavour?
    pub fn accepts(&self, plan: &Plan, flavour: Flavour) -> Result<(), Error> {
        self.accepts_to(Promise::Full, plan, flavour)
    }

    /// Is the plan within what the crate promises for a flavour, to that degree?
    pub fn accepts_to(&self, promise: Promise, plan: &Plan, flavour: Flavour) -> Result<(), Error> {
        let beyond = |what| Error::Beyond { target: self.name.to_owned(), what };
        let contract =
            self.contract_to(promise, flavour).ok_or(beyond("processes of this flavour"))?;
        contract.covers(plan).map_err(beyond)
    }

    /// What programs the generator may make for it.
    pub fn capabilities(&self, flavour: Flavour) -> Option<Capabilities> {
        self.capabilities_to(Promise::Full, flavour)
    }

    /// What programs the generator may make for it if it is held to that degree.
    pub fn capabilities_to(&self, promise: Promise, flavour: Flavour) -> Option<Capabilities> {
        Some(capabilities(&self.contract_to(promise, flavour)?))
    }
}

/// A contract in the generator's words.
pub fn capabilities(contract: &Contract) -> Capabilities {
    Capabilities {
        rendezvous: contract.rendezvous,
        buffered: contract.bounded,
        max_capacity: contract.max_capacity,
        unbounded: contract.unbounded,
        close: contract.close,
        select_puts: contract.select_puts,
        select_gets: contract.select_gets,
        same_channel_twice: contract.same_channel_twice,
        put_and_get_in_select: contract.put_and_get_in_select,
        default_gets: contract.try_gets,
        default_puts: contract.try_puts,
        timeout_gets: contract.cancel_gets,
        timeout_puts: contract.cancel_puts,
        abandon: contract.abandon,
        channels_over_channels: true,
        recursion: true,
        loops: true,
        integers: true,
        owned_payloads: true,
        shared_ends: true,
        many_receivers: contract.many_receivers,
        many_senders: contract.many_senders,
        one_message: contract.one_message,
        max_processes: Some(24),
    }
}
