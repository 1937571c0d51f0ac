def test_a_one_time_code_confirms_the_booking(sandbox):
    booking = sandbox.book("ven_otp")
    booking = sandbox.call("POST", f"/v1/bookings/{booking['id']}/continue", {"otp": sandbox.code()})
    assert booking["status"] == "confirmed"


def test_a_code_that_is_not_given_expires(sandbox):
    booking = sandbox.book("ven_otp")
    sandbox.clock.advance("21m")
    assert sandbox.call("GET", f"/v1/bookings/{booking['id']}")["status"] == "expired"
