-- Creates, each under its own idempotency key, spread over a year's evenings so that slots are not the limit.
local count = 0
local start = os.time()
local hours = { "17:00", "17:30", "18:00", "18:30", "19:00", "19:30", "20:00", "20:30", "21:00", "21:30", "22:00" }

request = function()
  count = count + 1
  local day = os.date("!%Y-%m-%d", start + 86400 * (2 + count % 360))
  local hour = hours[1 + math.floor(count / 360) % #hours]
  local body = string.format(
    '{"venue_id":"ven_confirms","datetime":"%sT%s:00+00:00","party_size":2,"customer":{"name":"Ada Lovelace"}}', day, hour)
  return wrk.format("POST", "/v1/bookings", {
    ["Authorization"] = "Bearer sk_live_sandbox",
    ["Content-Type"] = "application/json",
    ["Idempotency-Key"] = string.format("bench-%d-%d", start, count),
  }, body)
end
