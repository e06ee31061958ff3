//! `schedule.every` and `schedule.cron`: one of them counts, and a stronger layer chooses which.

use super::{
    ConfigFaults, Fault, Layers, RawSettings, RawValue, Source,
    settings::{CRON, EVERY},
};

impl Layers {
    /// Switches off the weaker of two rhythms, as flags above these layers: a flag wins over what the crawl directory holds,
    /// whichever key each is.
    ///
    /// # Errors
    /// All faults of all layers, and one where a layer gives both.
    pub fn weaker_rhythm(&self) -> Result<RawSettings, ConfigFaults> {
        let resolved = self.resolve()?;
        let settings = &resolved.settings.schedule;
        if settings.every.is_none() || settings.cron.is_none() {
            return Ok(RawSettings::default());
        }
        let source = |key| resolved.origins.iter().find(|(of, _)| *of == key).map(|(_, source)| source.clone());
        let (every, cron) = (source(EVERY), source(CRON));
        let mut weaker = RawSettings::default();
        match every.cmp(&cron) {
            std::cmp::Ordering::Less => weaker.schedule.every = Some(RawValue::text("none")),
            std::cmp::Ordering::Greater => weaker.schedule.cron = Some(RawValue::text("none")),
            std::cmp::Ordering::Equal => {
                let place = every.unwrap_or(Source::Default).place(EVERY);
                let problem = format!("{CRON} is set as well: say how often or when, not both");
                ConfigFaults::check(vec![Fault::new(place, problem)])?;
            }
        }
        Ok(weaker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY_HOUR: &str = "[schedule]\nevery = \"1h\"";
    const DAILY: &str = "[schedule]\ncron = \"@daily\"";

    fn rhythm(layers: Layers) -> (bool, bool) {
        let weaker = layers.weaker_rhythm().unwrap();
        let settings = layers.flags(&weaker).resolve().unwrap().settings.schedule;
        (settings.every.is_some(), settings.cron.is_some())
    }

    #[test]
    fn the_stronger_layer_chooses() {
        assert_eq!(rhythm(Layers::new()), (false, false));
        assert_eq!(rhythm(Layers::new().stored(EVERY_HOUR)), (true, false));
        assert_eq!(rhythm(Layers::new().stored(EVERY_HOUR).file_text("f", DAILY)), (false, true));
        assert_eq!(rhythm(Layers::new().stored(DAILY).file_text("f", EVERY_HOUR)), (true, false));
        let mut flags = RawSettings::default();
        flags.schedule.every = Some(RawValue::text("1h"));
        assert_eq!(rhythm(Layers::new().flags(&flags).file_text("f", DAILY)), (true, false));
    }

    #[test]
    fn a_layer_that_gives_both_is_refused() {
        let both = Layers::new().file_text("f", "[schedule]\nevery = \"1h\"\ncron = \"@daily\"");
        let refused = both.weaker_rhythm().unwrap_err().to_string();
        assert_eq!(refused, "f: schedule.every: schedule.cron is set as well: say how often or when, not both");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            ("every = 0", "f: schedule.every: 0 is not allowed: give a duration from 1s to 3650d, or \"none\""),
            ("cron = \"61 3 * * *\"", "f: schedule.cron: \"61 3 * * *\" is not allowed: no cron line: "),
            ("cron = \"0 0 30 2 *\"", "f: schedule.cron: \"0 0 30 2 *\" is not allowed: "),
            (
                "tz = \"Mars\"",
                "f: schedule.tz: \"Mars\" is not allowed: there is no time zone of this name; give a name",
            ),
            (
                "windows = [\"mon\"]",
                "f: schedule.windows: [\"mon\"] is not allowed: entry 1: no window: there are no times",
            ),
            ("overlap = \"stop\"", "f: schedule.overlap: \"stop\" is not allowed: this version has \"skip\" or"),
        ] {
            let faults =
                Layers::new().file_text("f", &format!("[schedule]\n{text}")).resolve().unwrap_err().to_string();
            assert!(faults.starts_with(named), "{faults}");
        }
    }
}
