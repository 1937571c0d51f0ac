//! "Versioning".

use crate::service::{BETA, LIVE, Service, TEST};

#[tokio::test]
async fn versioning_1_the_path_says_v1_and_so_does_the_index() {
    let service = Service::start(&[]);
    assert_eq!(service.get("/v1/").await.is(200)["version"], "v1");
    for path in ["/v2/", "/v3/", "/bookings/bk_1", "/v2/bookings/bk_1"] {
        service.get(path).await.refused_plainly(404);
    }
}

#[tokio::test]
async fn versioning_2_beta_keys_are_refused_on_v1_where_live_and_test_keys_are_used() {
    let service = Service::start(&[]);
    let answer = service.with(BETA).get("/v1/").await;
    answer.refused(403, "wrong_key_environment");
    for key in [LIVE, TEST] {
        let order = service.order("ven_confirms").await;
        service.with(key).post("/v1/bookings", order).await.is(201);
    }
}
