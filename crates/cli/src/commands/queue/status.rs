//! What `strait queue status` prints. Names and reasons come from the network and are escaped where they
//! are printed, like everything else ([`crate::ui`]).

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use strait_queue::{Address, CampaignStatus, MAX_INDEX, QueueStatus, WorkerState, WorkerStatus};

use crate::ui::grouped;

/// The word for a state.
fn word(state: WorkerState) -> &'static str {
    match state {
        WorkerState::Working => "working",
        WorkerState::Idle => "idle",
        WorkerState::Lost => "lost",
    }
}

/// How many programs or tests a campaign has, if that is limited.
fn programs(campaign: &CampaignStatus) -> Option<u64> {
    let counts = &campaign.job.counts;
    let is_limited = counts.iter().all(|count| *count < MAX_INDEX);
    is_limited.then(|| counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count)))
}

/// The JSON document.
pub fn document(address: &Address, status: &QueueStatus) -> Value {
    let campaign = |one: &CampaignStatus| {
        let work = one.work.unwrap_or_default();
        json!({
            "id": one.job.id,
            "kind": one.job.kind,
            "programs": programs(one),
            "lease_seconds": one.job.lease().as_secs_f64(),
            "items_waiting": work.waiting,
            "items_leased": work.leased,
            "items_leased_again": work.again,
            "results_waiting": one.results.map_or(0, |results| results.waiting + results.leased),
            "dead_letters": one.dead_letters,
        })
    };
    let worker = |one: &WorkerStatus| {
        json!({
            "name": one.record.name,
            "state": word(one.state),
            "accepts": one.record.accepts,
            "campaign": one.record.campaign,
            "items": one.record.items,
            "programs": one.record.programs,
            "programs_per_second": one.record.per_second,
            "since": one.record.since,
            "heard_seconds_ago": one.age.as_secs_f64(),
        })
    };
    let foreign: Vec<Value> = (status.foreign.iter())
        .map(|(id, why)| json!({ "id": id, "why": why.to_string() }))
        .collect();
    let letters: Vec<Value> = (status.dead_letters.iter())
        .map(|(id, count)| json!({ "campaign": id, "count": count }))
        .collect();
    json!({
        "queue": address.to_string(),
        "campaigns": status.campaigns.iter().map(campaign).collect::<Vec<_>>(),
        "other_campaigns": foreign,
        "workers": status.workers.iter().map(worker).collect::<Vec<_>>(),
        "dead_letters": letters,
    })
}

/// The tables for people.
pub fn text(address: &Address, status: &QueueStatus) -> String {
    let mut text = format!("Queue {address}\n");
    let campaigns: Vec<[String; 7]> = status.campaigns.iter().map(campaign_row).collect();
    let heads = ["Campaign", "Kind", "Programs", "Waiting", "Leased", "Results", "Dead letters"];
    text += &section("No campaign is under way.", heads, &campaigns);
    for (id, why) in &status.foreign {
        let why = one_line(&why.to_string());
        text += &format!("Campaign {} cannot be read: {why}\n", one_line(id));
    }
    let workers: Vec<[String; 7]> = status.workers.iter().map(worker_row).collect();
    let heads = ["Worker", "State", "Accepts", "Campaign", "Programs", "Per second", "Uptime"];
    text += &section("No worker was heard of during the last hour.", heads, &workers);
    let is_over = |id: &String| status.campaigns.iter().all(|one| one.job.id != *id);
    let over = status.dead_letters.iter().filter(|(id, _)| is_over(id));
    let letters: u64 = over.map(|(_, count)| count).sum();
    if letters > 0 {
        let stream = address.letters();
        text += &format!(
            "\n{} dead letters of campaigns that are over are in the stream {stream}.\n",
            grouped(letters)
        );
    }
    text
}

fn campaign_row(one: &CampaignStatus) -> [String; 7] {
    let of = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), grouped);
    [
        short(&one.job.id),
        one_line(&one.job.kind),
        of(programs(one)),
        of(one.work.map(|work| work.waiting)),
        of(one.work.map(|work| work.leased)),
        of(one.results.map(|results| results.waiting + results.leased)),
        grouped(one.dead_letters),
    ]
}

fn worker_row(one: &WorkerStatus) -> [String; 7] {
    let record = &one.record;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let state = match one.state {
        WorkerState::Lost => format!("lost ({} ago)", rough(one.age)),
        state => word(state).to_owned(),
    };
    [
        one_line(&record.name),
        state,
        one_line(&record.accepts.join(",")),
        record.campaign.as_deref().map_or_else(|| "-".to_owned(), short),
        grouped(record.programs),
        format!("{:.1}", record.per_second),
        rough(now.saturating_sub(Duration::from_secs(record.since))),
    ]
}

/// The beginning of a campaign's name, which tells it from others: tables have to fit 80 columns.
fn short(id: &str) -> String {
    const SHOWN: usize = 8;
    one_line(id).chars().take(SHOWN).collect()
}

/// A text in one line of moderate length. What else could deceive is escaped where it is printed.
fn one_line(name: &str) -> String {
    const LONGEST: usize = 100;
    let plain: String =
        name.chars().map(|char| if char.is_whitespace() { ' ' } else { char }).collect();
    match plain.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain,
    }
}

/// A time, to the largest unit that fits.
fn rough(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds @ 7200..=172_799 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

/// A table with a head, or a sentence if it is empty.
fn section<const N: usize>(empty: &str, heads: [&str; N], rows: &[[String; N]]) -> String {
    if rows.is_empty() {
        return format!("\n{empty}\n");
    }
    let mut widths = heads.map(|head| head.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String; N]| {
        let cells: Vec<String> = (cells.iter().zip(widths))
            .map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.chars().count())))
            .collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    let heads = heads.map(ToOwned::to_owned);
    format!("\n{}{}", line(&heads), rows.iter().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use strait_queue::WorkerRecord;

    use super::*;

    fn status() -> QueueStatus {
        let worker = |name: &str, state, campaign: Option<&str>, age| WorkerStatus {
            record: WorkerRecord {
                name: name.to_owned(),
                accepts: vec!["fuzz".to_owned(), "go".to_owned()],
                campaign: campaign.map(ToOwned::to_owned),
                items: 4,
                programs: 1024,
                per_second: 81.25,
                since: u64::MAX,
            },
            age: Duration::from_secs(age),
            state,
        };
        QueueStatus {
            campaigns: Vec::new(),
            foreign: Vec::new(),
            workers: vec![
                worker("alpha-7", WorkerState::Working, Some("J1"), 1),
                worker("line\nbreak", WorkerState::Lost, None, 300),
            ],
            dead_letters: vec![("J0".to_owned(), 3)],
        }
    }

    #[test]
    fn a_queue_is_shown_as_tables() {
        let address: Address = "nats://h:4222/night".parse().expect("an address");
        assert_eq!(
            text(&address, &status()),
            "Queue nats://h:4222/night\n\
             \n\
             No campaign is under way.\n\
             \n\
             Worker      State             Accepts  Campaign  Programs  Per second  Uptime\n\
             alpha-7     working           fuzz,go  J1        1,024     81.2        0 s\n\
             line break  lost (5 min ago)  fuzz,go  -         1,024     81.2        0 s\n\
             \n\
             3 dead letters of campaigns that are over are in the stream STRAIT_night_DEAD.\n"
        );
        let document = document(&address, &status());
        assert_eq!(document["workers"][1]["state"], "lost");
        assert_eq!(document["dead_letters"][0], json!({ "campaign": "J0", "count": 3 }));
    }
}
