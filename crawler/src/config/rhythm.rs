//! `schedule.every` and `schedule.cron`: one of them counts, and a stronger layer chooses which. Sections must have a faster rhythm.

use super::{
    ConfigFault, ConfigFaults, Layers, RawSettings, RawValue, Resolved, Source, print_duration,
    settings::{CRON, EVERY, SECTIONS},
};

impl Resolved {
    /// Refuses sections that are to be visited no more often than sequences begin: each of these asks for all pages.
    ///
    /// # Errors
    /// A fault for each of them.
    pub fn refuse_slow_sections(&self) -> Result<(), ConfigFaults> {
        let Some(every) = self.settings.schedule.every else { return Ok(()) };
        let source = self.origins.iter().find(|(of, _)| *of == SECTIONS).map(|(_, source)| source.clone());
        let place = source.unwrap_or(Source::Default).place(SECTIONS);
        let rules = self.settings.revisit.sections.rules().iter();
        let slow = rules.filter(|rule| rule.interval >= every).map(|rule| {
            let [interval, every] = [rule.interval, every].map(print_duration);
            let problem = format!(
                "\"{}={interval}\" has no effect, because each sequence asks for all pages and one begins every {every}; give a shorter \
                 interval than that, or leave the entry out",
                rule.pattern
            );
            ConfigFault::new(place.clone(), problem)
        });
        ConfigFaults::check(slow.collect())
    }
}

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
                let problem = format!("{CRON} is set too: say how often or when, not both");
                ConfigFaults::check(vec![ConfigFault::new(place, problem)])?;
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
        assert_eq!(refused, "f: schedule.every: schedule.cron is set too: say how often or when, not both");
    }

    #[test]
    fn sections_are_visited_more_often_than_sequences_begin() {
        let with = |schedule: &str| {
            let sections = "[revisit]\nsections = ['/a=30m', '/b=1h', '/c=1d']\n";
            Layers::new().file_text("f", &format!("{sections}{schedule}")).resolve().unwrap().refuse_slow_sections()
        };
        with("").unwrap();
        with(DAILY).unwrap();
        with("[schedule]\nevery = \"2d\"").unwrap();
        let refused = with(EVERY_HOUR).unwrap_err();
        let first = "f: revisit.sections: \"/b=1h\" has no effect, because each sequence asks for all pages and one begins every 1h; \
                     give a shorter interval than that, or leave the entry out";
        assert_eq!((refused.faults().len(), &*refused.faults()[0].to_string()), (2, first));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            ("every = 0", "f: schedule.every: 0 is not allowed: give a duration from 1s to 3650d, or \"none\""),
            ("cron = \"61 3 * * *\"", "f: schedule.cron: \"61 3 * * *\" is not allowed: not a cron line: "),
            ("cron = \"0 0 30 2 *\"", "f: schedule.cron: \"0 0 30 2 *\" is not allowed: "),
            (
                "tz = \"Mars\"",
                "f: schedule.tz: \"Mars\" is not allowed: there is no time zone with this name; give a name",
            ),
            (
                "windows = [\"mon\"]",
                "f: schedule.windows: [\"mon\"] is not allowed: entry 1: not a window: there are no times",
            ),
            ("overlap = \"stop\"", "f: schedule.overlap: \"stop\" is not allowed: give \"skip\" or"),
        ] {
            let faults =
                Layers::new().file_text("f", &format!("[schedule]\n{text}")).resolve().unwrap_err().to_string();
            assert!(faults.starts_with(named), "{faults}");
        }
    }
}
