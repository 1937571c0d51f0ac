//! `--near`, `--lat` and `--lon`, for all commands that search.

use crate::client::SearchLocation;

/// Where to search.
#[derive(clap::Args, Debug)]
pub(crate) struct Place {
    /// Place to search around: a city or a district
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["lat", "lon"])]
    near: Option<String>,
    /// Latitude, instead of --near; needs --lon
    #[arg(long, value_name = "N", requires = "lon", allow_negative_numbers = true, value_parser = latitude)]
    lat: Option<f64>,
    /// Longitude, instead of --near; needs --lat
    #[arg(long, value_name = "N", requires = "lat", allow_negative_numbers = true, value_parser = longitude)]
    lon: Option<f64>,
}

impl Place {
    pub(crate) fn location(self) -> Option<SearchLocation> {
        match (self.near, self.lat, self.lon) {
            (Some(text), ..) => Some(SearchLocation::Near(text)),
            (None, Some(latitude), Some(longitude)) => Some(SearchLocation::At {
                latitude,
                longitude,
            }),
            _ => None,
        }
    }
}

fn latitude(text: &str) -> Result<f64, String> {
    degrees(text, 90.0)
}

fn longitude(text: &str) -> Result<f64, String> {
    degrees(text, 180.0)
}

fn degrees(text: &str, most: f64) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(degrees) if degrees.abs() <= most => Ok(degrees),
        _ => Err(format!(
            "must be degrees from -{most} to {most}, e.g. 51.5072"
        )),
    }
}
