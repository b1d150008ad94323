//! Nothing outside takes a link down, and no stranger makes the source work. Time is paused in these tests: it moves
//! only when all tasks wait for it.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{Instant, advance};

use crate::support::{Answer, Script, TestApp};

fn with(source: &Script) -> TestApp {
    TestApp::builder().file("_redirects", "floor https://example.com/floor").source(source).start()
}

#[tokio::test(start_paused = true)]
async fn a_new_line_at_the_source_works_on_its_first_request() {
    let source = Script::text("a https://example.com/a");
    let app = with(&source);
    app.get("/a").await.assert_status(302);
    source.answer(Answer::Text("a https://example.com/a\nb https://example.com/b".to_owned()));
    app.get("/b").await.assert_redirects_to(302, "https://example.com/b");
    assert_eq!(source.fetches(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_known_link_never_asks_the_source() {
    let source = Script::text("a https://example.com/a");
    let app = with(&source);
    app.app().links.refresh_now().await.unwrap();
    for _ in 0..100 {
        app.get("/a").await.assert_status(302);
        app.get("/floor").await.assert_status(302);
    }
    assert_eq!(source.fetches(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_source_is_asked_once_at_start_and_that_counts() {
    let source = Script::text("a https://example.com/a");
    let app = with(&source);
    app.app().links.load();
    app.get("/a").await.assert_status(302);
    assert_eq!(source.fetches(), 1, "the request waited for the first fetch instead of causing another");
    for path in 0..100 {
        app.get(&format!("/unknown-{path}")).await.assert_status(404);
    }
    assert_eq!(source.fetches(), 4);
}

#[tokio::test(start_paused = true)]
async fn unknown_paths_cause_a_burst_of_four_and_then_one_a_minute() {
    let source = Script::text("a https://example.com/a");
    let app = with(&source);
    for path in 0..1000 {
        app.get(&format!("/unknown-{path}")).await.assert_status(404);
    }
    assert_eq!(source.fetches(), 4);
    advance(Duration::from_secs(60)).await;
    for path in 0..1000 {
        app.get(&format!("/unknown-{path}")).await.assert_status(404);
    }
    assert_eq!(source.fetches(), 5);
}

#[tokio::test(start_paused = true)]
async fn names_that_cannot_be_links_never_ask_the_source() {
    let source = Script::text("a https://example.com/a");
    let app = with(&source);
    for path in ["/.env", "/wp-login.php", "/favicon.ico", "/a/b/c/d", "//", "/%00", "/x'or'1", "/%ff"] {
        app.get(path).await.assert_status(404);
    }
    assert_eq!(source.fetches(), 0);
}

#[tokio::test(start_paused = true)]
async fn only_get_and_head_ask_the_source() {
    let source = Script::text("a https://example.com/a");
    let app = with(&source);
    app.request("POST", "/a", &[]).await.assert_status(405);
    app.request("OPTIONS", "/a", &[]).await.assert_status(204);
    assert_eq!(source.fetches(), 0);
    app.request("HEAD", "/a", &[]).await.assert_status(302);
    assert_eq!(source.fetches(), 1);
}

#[tokio::test(start_paused = true)]
async fn all_who_miss_at_one_time_share_one_fetch() {
    let source = Script::new(Answer::Held("new https://example.com/new".to_owned()));
    let app = with(&source);
    let release = async {
        // Lets every request reach the point where it waits.
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        source.release();
    };
    let (replies, ()) = tokio::join!(join_all((0..100).map(|_| app.get("/new"))), release);
    for reply in replies {
        reply.assert_redirects_to(302, "https://example.com/new");
    }
    assert_eq!(source.fetches(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_miss_waits_two_seconds_at_most_and_pages_and_links_not_at_all() {
    let source = Script::new(Answer::Hangs);
    let app = with(&source);
    let started = Instant::now();
    app.get("/new").await.assert_status(404);
    assert_eq!(started.elapsed(), Duration::from_secs(2));

    let started = Instant::now();
    let (miss, page, link) = tokio::join!(app.get("/new"), app.get("/"), app.get("/floor"));
    assert_eq!(started.elapsed(), Duration::from_secs(2), "the miss waited");
    miss.assert_status(404);
    page.assert_status(200);
    link.assert_status(302);
    let started = Instant::now();
    let _ = tokio::join!(app.get("/"), app.get("/floor"));
    assert_eq!(started.elapsed(), Duration::ZERO, "pages and links did not");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_goes_away_does_not_take_the_fetch_with_it() {
    let source = Script::new(Answer::Held("new https://example.com/new".to_owned()));
    let app = with(&source);
    let gone = tokio::time::timeout(Duration::from_secs(1), app.get("/new")).await;
    assert!(gone.is_err(), "the request was dropped while it waited");
    source.release();
    app.get("/new").await.assert_redirects_to(302, "https://example.com/new");
    assert_eq!(source.fetches(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_failed_or_useless_fetch_keeps_the_last_good_table() {
    let source = Script::text("a https://example.com/a");
    let app = with(&source);
    app.app().links.refresh_now().await.unwrap();
    for (answer, result) in [
        (Answer::Fails, "unreachable"),
        (Answer::Text(String::new()), "no_links"),
        (Answer::Text("# nothing\n\n".to_owned()), "no_links"),
        (Answer::Text("not a list of links".to_owned()), "no_links"),
    ] {
        let series = format!("homebody_redirects_refreshes_total{{result=\"{result}\"}}");
        let before = app.metric(&series).await;
        source.answer(answer.clone());
        assert!(app.app().links.refresh_now().await.is_err(), "{answer:?}");
        app.get("/a").await.assert_redirects_to(302, "https://example.com/a");
        app.get("/floor").await.assert_status(302);
        assert_eq!(app.metric(&series).await, before + 1, "{answer:?} is counted");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_says_it_is_empty_empties_the_table_down_to_its_floor() {
    let source = Script::text("a https://example.com/a");
    let app = with(&source);
    app.app().links.refresh_now().await.unwrap();
    source.answer(Answer::Text("# empty\n".to_owned()));
    app.app().links.refresh_now().await.unwrap();
    assert!(app.app().links.table().get("a").is_none());
    app.get("/floor").await.assert_status(302);
}

#[tokio::test(start_paused = true)]
async fn after_a_failure_the_next_miss_asks_again() {
    let source = Script::new(Answer::Fails);
    let app = with(&source);
    app.get("/new").await.assert_status(404);
    source.answer(Answer::Text("new https://example.com/new".to_owned()));
    app.get("/new").await.assert_redirects_to(302, "https://example.com/new");
}

#[tokio::test(start_paused = true)]
async fn edited_and_removed_links_follow_with_the_next_fetch() {
    let source = Script::text("a https://example.com/old\nb https://example.com/b");
    let app = with(&source);
    app.app().links.refresh_now().await.unwrap();
    source.answer(Answer::Text("a https://example.com/new".to_owned()));
    app.get("/a").await.assert_redirects_to(302, "https://example.com/old");
    app.get("/something-unknown").await.assert_status(404);
    app.get("/a").await.assert_redirects_to(302, "https://example.com/new");
    app.get("/b").await.assert_status(404);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_unknown_paths_from_fifty_clients_are_five_fetches_at_most() {
    let source = Script::text("a https://example.com/a");
    let app = with(&source);
    let client = async |client: usize| {
        for path in 0..20 {
            app.get(&format!("/unknown-{client}-{path}")).await.assert_status(404);
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    };
    join_all((0..50).map(client)).await;
    assert!(source.fetches() <= 5, "{} fetches", source.fetches());
}

#[tokio::test(start_paused = true)]
async fn a_source_that_does_not_want_to_be_asked_is_not_asked() {
    let source = Script::new(Answer::Busy(Duration::from_secs(300)));
    let app = with(&source);
    app.get("/new").await.assert_status(404);
    source.answer(Answer::Text("new https://example.com/new".to_owned()));
    advance(Duration::from_secs(299)).await;
    app.get("/new").await.assert_status(404);
    let refused = app.admin_post("/-/refresh", &[]).await;
    refused.assert_status(503).assert_header("retry-after", "2");
    assert_eq!(source.fetches(), 1, "though the bucket has tokens, and for the owner too");
    advance(Duration::from_secs(1)).await;
    app.get("/new").await.assert_redirects_to(302, "https://example.com/new");
}

#[tokio::test(start_paused = true)]
async fn a_fetch_that_takes_too_long_is_given_up() {
    let source = Script::new(Answer::Hangs);
    let app = with(&source);
    app.get("/new").await.assert_status(404);
    source.answer(Answer::Text("new https://example.com/new".to_owned()));
    app.get("/new").await.assert_status(404);
    assert_eq!(source.fetches(), 1, "the first one is still under way");
    tokio::time::sleep(Duration::from_secs(2)).await;
    app.get("/new").await.assert_redirects_to(302, "https://example.com/new");
    assert_eq!(app.metric("homebody_redirects_refreshes_total{result=\"timed_out\"}").await, 1);
}

#[tokio::test(start_paused = true)]
async fn only_so_many_wait_at_one_time() {
    let app = with(&Script::new(Answer::Hangs));
    let waited = async |_| {
        let started = Instant::now();
        app.get("/new").await.assert_status(404);
        started.elapsed()
    };
    let waits = join_all((0..300).map(waited)).await;
    assert_eq!(waits.iter().filter(|wait| wait.is_zero()).count(), 300 - 256);
    assert_eq!(waits.iter().filter(|wait| **wait == Duration::from_secs(2)).count(), 256);
    app.get("/new").await.assert_status(404);
}

#[tokio::test(start_paused = true)]
async fn pages_and_links_do_not_wait_for_who_waits() {
    let app = with(&Script::new(Answer::Hangs));
    let others = async {
        let started = Instant::now();
        for _ in 0..100 {
            app.get("/").await.assert_status(200);
            app.get("/floor").await.assert_status(302);
        }
        started.elapsed()
    };
    let (_, elapsed) = tokio::join!(join_all((0..200).map(|_| app.get("/new"))), others);
    assert_eq!(elapsed, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn what_is_there_already_is_not_asked_for_again_but_a_rejected_text_is() {
    let source = Script::new(Answer::Version("\"1\"", "a https://example.com/a".to_owned()));
    let app = with(&source);
    let links = &app.app().links;
    links.refresh_now().await.unwrap();
    assert_eq!(source.last_asked().validator, None);
    links.refresh_now().await.unwrap();
    assert_eq!(source.last_asked().validator.unwrap(), "\"1\"");
    assert_eq!(app.metric("homebody_redirects_refreshes_total{result=\"unchanged\"}").await, 1);
    source.answer(Answer::Version("\"2\"", "nonsense".to_owned()));
    assert!(links.refresh_now().await.is_err());
    assert!(links.refresh_now().await.is_err(), "it is judged again, not taken for unchanged");
    assert_eq!(source.last_asked().validator.unwrap(), "\"1\"");
    app.get("/a").await.assert_status(302);
}

#[tokio::test(start_paused = true)]
async fn an_interval_brings_edits_without_a_miss_and_lets_caches_answer() {
    let source = Script::text("a https://example.com/old");
    let app = with(&source);
    app.app().links.refresh_now().await.unwrap();
    assert!(source.last_asked().newest);
    app.app().links.poll(Duration::from_secs(600));
    source.answer(Answer::Text("a https://example.com/new".to_owned()));
    tokio::time::sleep(Duration::from_secs(539)).await;
    assert_eq!(source.fetches(), 1, "no sooner than a tenth before its time");
    tokio::time::sleep(Duration::from_secs(122)).await;
    assert_eq!(source.fetches(), 2, "no later than a tenth after it");
    assert!(!source.last_asked().newest);
    app.get("/a").await.assert_redirects_to(302, "https://example.com/new");
    tokio::time::sleep(Duration::from_secs(6000)).await;
    assert!((10..=13).contains(&source.fetches()), "{} fetches", source.fetches());
}

#[tokio::test(start_paused = true)]
async fn the_owner_can_refresh_now_and_hears_what_has_changed() {
    let source = Script::text("a https://example.com/a\nb https://example.com/b\nc https://example.com/c");
    let app = with(&source);
    app.app().links.refresh_now().await.unwrap();
    source.answer(Answer::Text(
        "a https://example.com/a\nb https://example.com/other\nd https://example.com/d\nbad".to_owned(),
    ));
    let reply = app.admin_post("/-/refresh", &[]).await;
    reply.assert_status(200).assert_header("content-type", "application/json");
    let counts: serde_json::Value = serde_json::from_str(reply.text()).unwrap();
    let expected = serde_json::json!({ "added": 1, "changed": 1, "removed": 1, "rejected": 1, "links": 4 });
    assert_eq!(counts, expected);
    app.get("/d").await.assert_status(302);
    for _ in 0..20 {
        app.admin_post("/-/refresh", &[]).await.assert_status(200);
    }
    assert_eq!(source.fetches(), 22, "past the bucket");
    source.answer(Answer::Fails);
    let failed = app.admin_post("/-/refresh", &[]).await;
    failed.assert_status(502);
    assert!(failed.text().contains("cannot be reached"), "{failed:?}");
}

#[tokio::test(start_paused = true)]
async fn nobody_else_can_refresh_now() {
    let source = Script::text("a https://example.com/a");
    let app = with(&source);
    for header in
        [("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site"), ("origin", "https://evil.example")]
    {
        app.admin_post("/-/refresh", &[header]).await.assert_status(403);
    }
    app.admin("/-/refresh").await.assert_status(405);
    app.request("POST", "/-/refresh", &[]).await.assert_status(405);
    assert_eq!(source.fetches(), 0);
    for header in [("sec-fetch-site", "same-origin"), ("origin", "http://test"), ("accept", "*/*")] {
        app.admin_post("/-/refresh", &[header]).await.assert_status(200);
    }
    let without = TestApp::builder().start().admin_post("/-/refresh", &[]).await;
    without.assert_status(409);
    assert!(without.text().contains("--redirects-url"), "{without:?}");
}
