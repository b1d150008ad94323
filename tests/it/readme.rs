//! What the README and the site's own pages say is what the program does.

use std::{collections::BTreeSet, fs, path::Path};

use clap::CommandFactory;
use homebody::{config::Cli, metrics::DEFINITIONS};

use crate::support::Server;

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// The cells of the rows of the table whose head begins with `first`.
fn table(text: &str, first: &str) -> Vec<Vec<String>> {
    let from_head = text.lines().skip_while(|line| !line.starts_with(&format!("| {first} |")));
    let rows = from_head.skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn the_table_of_flags_is_the_command_line() {
    let mut cli = Cli::command();
    cli.build();
    let serve = cli.find_subcommand("serve").unwrap();
    let flags = serve.get_arguments().filter(|flag| !["help", "version"].contains(&flag.get_id().as_str()));
    let expected: BTreeSet<(String, String)> = flags
        .map(|flag| {
            let default = flag.get_default_values().first().map(|value| format!("`{}`", value.to_str().unwrap()));
            (format!("--{}", flag.get_long().unwrap()), default.unwrap_or_default())
        })
        .collect();
    let readme = read("README.md");
    let written: BTreeSet<(String, String)> = table(&readme, "flag")
        .iter()
        .map(|row| {
            let flag = row[0].trim_matches('`').split(' ').next().unwrap().to_owned();
            (flag, if row[1].starts_with('`') { row[1].clone() } else { String::new() })
        })
        .collect();
    assert_eq!(written, expected);
}

#[test]
fn the_table_of_metrics_is_what_is_exposed() {
    let readme = read("README.md");
    let written: BTreeSet<(String, String, String)> = table(&readme, "metric")
        .iter()
        .map(|row| (row[0].trim_matches('`').to_owned(), row[1].clone(), row[2].trim_matches('`').to_owned()))
        .collect();
    let defined = DEFINITIONS.iter().map(|definition| {
        (definition.name.to_owned(), definition.kind.to_string(), definition.label.unwrap_or_default().to_owned())
    });
    assert_eq!(written, defined.collect());
}

#[test]
fn what_a_reader_must_know_is_said() {
    let readme = read("README.md").replace('\n', " ");
    for (said, why) in [
        ("fragment", "what becomes of a fragment is decided by browsers, not by the target alone"),
        ("begin with a dot are reserved", "neither pages nor links can have such names"),
        ("`/about.html`", "which form of a path is the canonical one"),
    ] {
        assert!(readme.contains(said), "{said:?} is not in the README: {why}");
    }
}

#[test]
fn the_about_page_names_every_flag() {
    let page = read("content/about/index.html");
    let mut cli = Cli::command();
    cli.build();
    let serve = cli.find_subcommand("serve").unwrap();
    for flag in serve.get_arguments().filter_map(clap::Arg::get_long).filter(|flag| *flag != "help") {
        assert!(page.contains(&format!("<code>--{flag}")), "--{flag} is missing");
    }
}

#[test]
fn the_exchange_on_the_first_screen_is_what_one_gets() {
    let readme = read("README.md");
    let screen = readme.split("```console").find(|part| part.contains("curl -i ")).unwrap();
    let screen = screen.split("```").next().unwrap();
    let server = Server::start(&[]);
    let mut asked = 0;
    for exchange in screen.split("$ curl -i ").skip(1) {
        let (command, shown) = exchange.split_once('\n').unwrap();
        let port = if command.contains(":8081") { server.admin_address() } else { server.public() };
        let path = command.split(":808").nth(1).unwrap().split([' ', '\'']).next().unwrap()[1..].to_owned();
        let header = command.split('\'').find(|part| part.starts_with("If-None-Match")).unwrap_or("accept: */*");
        let request = format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n{header}\r\n\r\n");
        let reply = crate::support::exchange(port, &request);
        let (status, fields) = shown.split_once('\n').unwrap();
        assert!(status.contains(&format!(" {} ", reply.status)), "{command}: {status}");
        for field in fields.lines().take_while(|line| line.contains(": ")) {
            let (name, value) = field.split_once(": ").unwrap();
            reply.assert_header(name, value);
        }
        asked += 1;
    }
    assert_eq!(asked, 5, "page, 304, link, unknown path, metrics");
}
