//! Router of the default route, as Linux reports it.

use std::net::Ipv4Addr;

/// File with the kernel's routes for IPv4.
const ROUTES: &str = "/proc/net/route";

/// Flags of a route that is up and uses a gateway.
const UP_BY_ROUTER: u16 = 0x3;

/// Returns the router that packets to the Internet go to; `None` if there is none, or on systems without [`ROUTES`].
pub(super) fn router() -> Option<Ipv4Addr> {
    router_in(&std::fs::read_to_string(ROUTES).ok()?)
}

/// Returns the router of the default route with the lowest metric.
fn router_in(routes: &str) -> Option<Ipv4Addr> {
    let routes = routes.lines().skip(1).filter_map(default_route);
    routes.min_by_key(|(_, metric)| *metric).map(|(ip, _)| ip)
}

/// Returns the router and metric of a line if it is a default route.
fn default_route(line: &str) -> Option<(Ipv4Addr, u32)> {
    let mut fields = line.split_whitespace().skip(1);
    let destination = fields.next()?;
    let router = u32::from_str_radix(fields.next()?, 16).ok()?;
    let flags = u16::from_str_radix(fields.next()?, 16).ok()?;
    let metric = fields.nth(2)?.parse().ok()?;
    let mask = fields.next()?;
    let is_default = destination == "00000000" && mask == "00000000";
    if !is_default || flags & UP_BY_ROUTER != UP_BY_ROUTER {
        return None;
    }
    // The kernel writes the address as a number in its native byte order.
    Some((Ipv4Addr::from(router.to_ne_bytes()), metric))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n";

    #[test]
    #[cfg(target_endian = "little")]
    fn the_default_route_with_the_least_metric_names_the_router() {
        let routes = [
            "wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0",
            "eth0\t00000000\tFE02A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0",
            "eth0\t0002A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0",
        ];
        let text = format!("{HEAD}{}\n", routes.join("\n"));
        assert_eq!(router_in(&text), Some(Ipv4Addr::new(192, 168, 2, 254)));
    }

    #[test]
    fn a_host_without_default_route_has_no_router() {
        let local = "eth0\t0002A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n";
        assert_eq!(router_in(&format!("{HEAD}{local}")), None);
        // A point-to-point link leads everywhere without a router.
        let link = "ppp0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0\n";
        assert_eq!(router_in(&format!("{HEAD}{link}")), None);
        assert_eq!(router_in("eth0\t00000000\nnonsense\n"), None);
    }
}
