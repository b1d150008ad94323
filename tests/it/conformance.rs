//! What a static server must get right of HTTP, statement by statement, with the tests that hold it.
//!
//! Sections: S1 conditional requests, S2 validators and encodings, S3 negotiation, S4 ranges, S5 methods, framing and
//! connections, S6 paths and redirects, S7 types and fields that protect, S8 caching. A test is named by its file in this
//! folder, or by its path in `src/`.

use std::{collections::BTreeSet, fs, path::Path};

/// Number, statement, tests.
const TABLE: &[(&str, &str, &[&str])] = &[
    (
        "S1.1",
        "304 repeats ETag, Cache-Control and Vary of the 200, and has no body",
        &[
            "conditional::a_client_that_has_the_page_hears_304_with_what_a_cache_must_update",
            "owner_headers::a_304_repeats_what_the_owner_says_of_caching_and_nothing_else",
        ],
    ),
    (
        "S1.2",
        "what would not be 2xx is never 304 or 412",
        &[
            "conditional::neither_a_missing_page_nor_a_redirect_is_ever_304",
            "conditional::a_client_that_means_another_version_hears_412",
        ],
    ),
    (
        "S1.3",
        "If-Match, then If-None-Match, then If-Range",
        &[
            "src/site/conditional::a_failed_if_match_comes_before_if_none_match",
            "ranges::preconditions_come_before_ranges",
        ],
    ),
    (
        "S1.4",
        "If-None-Match: weak, a list over several lines, commas in quotes, the star alone",
        &[
            "src/site/conditional::if_none_match_is_read_as_the_rfc_says",
            "conditional::several_header_lines_are_one_list",
        ],
    ),
    ("S1.5", "If-Match: strong; a weak tag never passes", &["src/site/conditional::if_match_is_compared_strongly"]),
    (
        "S1.6",
        "no Last-Modified without a true date",
        &["conditional::dates_are_no_conditions_since_no_date_is_known", "folder::file_times_do_not_matter"],
    ),
    ("S1.7", "Cache-Control on every answer", &["headers::every_answer_says_how_long_it_may_be_kept"]),
    (
        "S2.1",
        "a strong tag of its own for each encoding",
        &[
            "encoding::each_encoding_is_the_same_page_under_a_tag_of_its_own",
            "embedded::every_tag_is_well_formed_and_names_one_representation",
        ],
    ),
    (
        "S2.2",
        "only the tag of the representation that would be sent gives 304",
        &["conditional::each_encoding_is_validated_by_its_own_tag"],
    ),
    ("S2.3", "a tag that a proxy made weak still matches", &["conditional::lists_weak_tags_and_the_star_count"]),
    (
        "S2.4",
        "a tag names its own bytes, whatever the encoder",
        &[
            "pages::the_etag_is_the_sha1_of_the_bytes_that_are_sent",
            "prepare::the_same_files_make_the_same_output_whatever_their_order_and_time",
        ],
    ),
    ("S2.5", "quotes are part of a tag", &["src/site/conditional::if_none_match_is_read_as_the_rfc_says"]),
    (
        "S3.1",
        "no Accept-Encoding, or an empty one: identity",
        &["src/site/negotiate::accept_encoding_is_read_as_the_rfc_says"],
    ),
    (
        "S3.2",
        "tokens without case, x-gzip, several lines, weights in thousandths",
        &[
            "src/site/negotiate::accept_encoding_is_read_as_the_rfc_says",
            "src/site/negotiate::weights_are_compared_as_the_numbers_they_are",
        ],
    ),
    (
        "S3.3",
        "what is refused by q=0 is not sent",
        &["src/site/negotiate::accept_encoding_is_read_as_the_rfc_says", "encoding::weights_are_honoured"],
    ),
    (
        "S3.4",
        "the star speaks for what is not named, identity included",
        &["src/site/negotiate::accept_encoding_is_read_as_the_rfc_says"],
    ),
    ("S3.5", "nothing acceptable: identity", &["encoding::a_client_that_accepts_nothing_gets_the_page_all_the_same"]),
    (
        "S3.6",
        "the higher weight wins, then the smaller body",
        &["encoding::weights_are_honoured", "encoding::browsers_get_the_smallest"],
    ),
    (
        "S3.7",
        "Vary on every answer of what has variants, and on nothing else",
        &[
            "encoding::each_encoding_is_the_same_page_under_a_tag_of_its_own",
            "encoding::what_has_one_representation_does_not_vary",
            "encoding::the_page_for_missing_paths_is_negotiated_too",
            "ranges::a_part_is_always_of_the_identity_under_its_tag",
        ],
    ),
    (
        "S3.8",
        "the codings are called br, zstd and gzip",
        &["encoding::each_encoding_is_the_same_page_under_a_tag_of_its_own"],
    ),
    (
        "S3.9",
        "type of the decoded file, length of the encoded body",
        &["encoding::each_encoding_is_the_same_page_under_a_tag_of_its_own"],
    ),
    ("S3.10", "nothing is encoded twice", &["embedded::every_file_is_served_as_it_lies_in_content"]),
    (
        "S4.1",
        "ranges are for GET; what is malformed is ignored",
        &["ranges::head_has_no_parts", "ranges::what_is_no_single_range_gets_the_whole"],
    ),
    (
        "S4.2",
        "one byte, the end, clamping, 416, the empty file",
        &[
            "ranges::each_form_of_a_range_means_its_bytes",
            "ranges::a_range_without_a_byte_hears_the_length",
            "src/site/range::a_range_means_the_bytes_that_the_rfc_says",
        ],
    ),
    ("S4.3", "several ranges: the whole", &["ranges::what_is_no_single_range_gets_the_whole"]),
    (
        "S4.4",
        "If-Range by the strong tag",
        &[
            "ranges::a_client_goes_on_only_with_the_version_it_began_with",
            "src/site/range::if_range_is_compared_strongly",
        ],
    ),
    ("S4.5", "a part is of the identity", &["ranges::a_part_is_always_of_the_identity_under_its_tag"]),
    (
        "S4.6",
        "the fields of a 206, and none of them on a 416",
        &[
            "ranges::a_part_is_sent_with_its_place_and_the_fields_of_the_whole",
            "ranges::a_range_without_a_byte_hears_the_length",
        ],
    ),
    (
        "S4.7",
        "Accept-Ranges on 200, 206 and HEAD",
        &["pages::a_page_is_sent_with_these_header_fields_and_no_others", "ranges::head_has_no_parts"],
    ),
    (
        "S5.1",
        "HEAD is GET without the body",
        &["methods::head_is_get_without_the_body", "conditional::head_hears_304_too"],
    ),
    ("S5.2", "405 has Allow", &["methods::other_methods_are_refused_with_those_that_work"]),
    ("S5.3", "OPTIONS: 204 with Allow", &["methods::options_tells_the_methods"]),
    (
        "S5.4",
        "time-outs for a head, for idleness and for a stalled reader; a cap; a deadline for draining",
        &[
            "src/server/connection::a_head_that_comes_byte_by_byte_is_cut",
            "src/server/connection::a_client_that_says_nothing_is_cut",
            "src/server/connection::a_client_that_does_not_take_its_answer_is_cut",
            "process::above_the_cap_a_connection_is_refused_at_once_and_below_it_served_again",
            "process::a_stop_does_not_wait_longer_than_its_grace",
        ],
    ),
    ("S5.5", "an error of accept() ends nothing", &["process::it_goes_on_after_running_out_of_file_descriptors"]),
    (
        "S5.6",
        "431 for too many fields, 414 above 8 KiB",
        &["framing::heads_without_end_are_refused", "framing::an_address_of_more_than_eight_kibibytes_is_too_long"],
    ),
    ("S5.7", "exactly one Host over HTTP/1.1", &["framing::a_request_names_its_host_exactly_once"]),
    (
        "S5.8",
        "of an absolute address only the path counts; OPTIONS *",
        &[
            "framing::a_request_names_its_host_exactly_once",
            "paths::what_a_request_says_of_its_host_is_never_in_the_answer",
        ],
    ),
    (
        "S5.9",
        "a body is neither read nor taken for a request",
        &[
            "framing::a_body_that_nobody_asked_for_is_no_reason_to_refuse",
            "framing::a_body_is_never_taken_for_the_next_request",
            "framing::who_expects_100_continue_is_answered_without_sending_the_body",
            "framing::a_connection_ends_after_a_chunked_request",
            "framing::lengths_that_contradict_each_other_are_refused",
        ],
    ),
    (
        "S5.10",
        "over HTTP/1.0 a length, never chunks",
        &["framing::over_http_1_0_an_answer_has_its_length_and_is_never_chunked"],
    ),
    (
        "S5.11",
        "both stop signals drain",
        &[
            "process::it_stops_with_exit_code_0_on_each_stop_signal",
            "process::a_stop_lets_the_request_in_flight_finish_and_is_not_ready_meanwhile",
        ],
    ),
    ("S5.12", "signals have handlers, as process 1 needs", &["process::it_stops_with_exit_code_0_on_each_stop_signal"]),
    (
        "S6.1",
        "decoded once, looked up exactly, never an error",
        &[
            "paths::any_path_is_answered_without_error_and_without_leaving",
            "not_found::a_path_that_is_no_text_is_not_found",
        ],
    ),
    (
        "S6.2",
        "one handler for all paths, the root included",
        &["pages::names_of_any_letters_are_found_encoded", "embedded::what_the_site_needs_is_there"],
    ),
    (
        "S6.3",
        "what the parser lets through is not found; what it does not is 400",
        &[
            "paths::hostile_paths_are_not_found_or_stay_on_this_host",
            "paths::requests_that_are_no_http_end_only_themselves",
        ],
    ),
    (
        "S6.4",
        "no hostile path is an error of ours, or leads away",
        &["paths::hostile_paths_are_not_found_or_stay_on_this_host"],
    ),
    (
        "S6.5",
        "canonical redirects come from the site's table, with the query as it came",
        &[
            "pages::a_folder_has_its_slash_and_its_other_names_lead_there",
            "pages::a_page_has_the_name_of_its_file_and_is_found_without_the_extension",
            "src/site/canonical::the_location_is_encoded_and_keeps_the_query",
        ],
    ),
    ("S6.6", "no host in our own redirects", &["paths::what_a_request_says_of_its_host_is_never_in_the_answer"]),
    (
        "S6.7",
        "targets are judged when the table is read",
        &[
            "src/links/line::a_bad_line_is_rejected_with_its_reason",
            "src/links/target::what_is_accepted_leads_to_a_host_on_the_web_or_stays_here",
        ],
    ),
    ("S6.8", "a target keeps its bytes", &["src/links/target::a_target_is_sent_as_it_was_written"]),
    ("S6.9", "fragments are the browser's; the README says so", &["readme::what_a_reader_must_know_is_said"]),
    (
        "S6.10",
        "links are temporary by default, and kept for a minute whatever their status",
        &["short_links::a_link_of_the_site_redirects", "short_links::even_a_permanent_link_is_kept_only_for_a_minute"],
    ),
    (
        "S6.11",
        "canonical redirects: 308, kept for minutes",
        &["pages::a_folder_has_its_slash_and_its_other_names_lead_there"],
    ),
    (
        "S6.12",
        "links: noindex, a Referrer-Policy, a page with the address",
        &["short_links::a_link_of_the_site_redirects"],
    ),
    (
        "S6.13",
        "a file wins over a link, and the shadowed link is reported",
        &[
            "short_links::a_file_wins_over_a_link_of_its_name",
            "cli::check_finds_what_is_odd_and_fails_on_what_is_wrong",
        ],
    ),
    (
        "S6.14",
        "redirects have neither parts nor conditions",
        &[
            "ranges::neither_a_missing_page_nor_a_redirect_has_parts",
            "conditional::neither_a_missing_page_nor_a_redirect_is_ever_304",
        ],
    ),
    (
        "S6.15",
        "names with a dot in front are reserved; the README says so",
        &["pages::well_known_is_served_and_what_configures_the_site_is_not", "readme::what_a_reader_must_know_is_said"],
    ),
    (
        "S7.1",
        "the right type for each extension",
        &[
            "src/site/prepare/kinds::types_are_the_registered_ones_with_the_charset_they_need_and_no_other_parameter",
            "headers::each_file_has_the_type_of_its_extension",
        ],
    ),
    (
        "S7.2",
        "types that usual crates have wrong",
        &["src/site/prepare/kinds::types_are_the_registered_ones_with_the_charset_they_need_and_no_other_parameter"],
    ),
    (
        "S7.3",
        "a charset where it is needed, none for JSON",
        &["src/site/prepare/kinds::types_are_the_registered_ones_with_the_charset_they_need_and_no_other_parameter"],
    ),
    (
        "S7.4",
        "nosniff, and an unknown extension is reported",
        &[
            "headers::what_browsers_show_as_a_document_has_defaults_that_protect_it",
            "prepare::what_is_odd_is_warned_of_and_goes_on",
        ],
    ),
    (
        "S7.5",
        "what is compressed already is left alone",
        &["src/site/prepare/kinds::only_what_is_not_compressed_already_is_compressed"],
    ),
    (
        "S7.6",
        "fields that protect, HSTS and a strict policy only by the owner's word",
        &[
            "headers::what_browsers_show_as_a_document_has_defaults_that_protect_it",
            "owner_headers::every_default_can_be_removed_but_type_and_caching",
            "owner_headers::strict_transport_security_is_sent_where_the_owner_says_so",
        ],
    ),
    ("S8.1", "pages are validated each time", &["headers::how_long_a_file_is_kept_follows_from_its_name"]),
    (
        "S8.2",
        "immutable only for hashed names, and only where there is a file",
        &[
            "headers::how_long_a_file_is_kept_follows_from_its_name",
            "headers::what_is_missing_is_never_kept_whatever_its_name",
        ],
    ),
    (
        "S8.3",
        "a hash is known by its pattern",
        &["src/site/prepare/caching::only_hashes_in_names_make_files_immutable"],
    ),
    (
        "S8.4",
        "a 404 is not kept",
        &[
            "not_found::an_unknown_path_shows_the_sites_404_page",
            "owner_headers::the_page_for_missing_paths_follows_the_rules_but_is_never_kept",
        ],
    ),
    ("S8.5", "feeds and robots are kept briefly", &["src/site/prepare/caching::feeds_and_robots_are_kept_briefly"]),
];

/// How many statements each section has.
const SECTIONS: [usize; 8] = [7, 5, 10, 7, 12, 15, 6, 5];

#[test]
fn every_statement_has_its_row() {
    let expected: Vec<String> =
        (1..).zip(SECTIONS).flat_map(|(section, count)| (1..=count).map(move |n| format!("S{section}.{n}"))).collect();
    let rows: Vec<&str> = TABLE.iter().map(|(number, _, _)| *number).collect();
    assert_eq!(rows, expected);
    assert!(TABLE.iter().all(|(_, _, tests)| !tests.is_empty()), "every statement is held by something");
}

#[test]
fn every_test_in_the_table_is_there() {
    let named: BTreeSet<&str> = TABLE.iter().flat_map(|(_, _, tests)| *tests).copied().collect();
    for name in named {
        let (file, test) = name.split_once("::").unwrap();
        let file = if file.starts_with("src/") { format!("{file}.rs") } else { format!("tests/it/{file}.rs") };
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file)).unwrap();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let is_test = lines.windows(2).any(|pair| {
            pair[0].starts_with("#[") && pair[0].contains("test") && pair[1].contains(&format!("fn {test}("))
        });
        assert!(is_test, "{file} has no test {test}");
    }
}
