-- Creates at the scenario venues that confirm at once. Each goes out under a random idempotency key, as clients
-- draw them, and to a slot far from the one before, so that no page of the store is warm by accident. A slot holds
-- 20 bookings; beyond 20 × SLOTS of them tables would be full, and a create another piece of work.
--
--   wrk … -s create.lua URL -- FROM [COUNT IDS]
--
-- FROM: how many creates this store has seen. COUNT: ends after so many answers; every twentieth id is in the
-- file IDS then, which appears when it is complete.
local VENUES = { "confirms", "confirms_b", "confirms_c", "modify_refused", "vault_unavailable", "multi_provider",
  "payment", "payment_declines", "payment_setup_fails", "payment_replay_fails", "payment_outcome_unknown" }
local PROVIDERS = { "a", "b", "c", "a", "a", "a", "a", "a", "a", "a", "a" }
local HOURS = { "17:00", "17:30", "18:00", "18:30", "19:00", "19:30", "20:00", "20:30", "21:00", "21:30", "22:00" }
local DAYS = 1500
local SLOTS = #VENUES * #HOURS * DAYS
-- A prime, so that every slot has its turn before one comes again.
local STRIDE = 48271

local today = os.time()
local turn, wanted, sample, sample_path = 0, nil, {}, nil
local answers = 0
-- Global, for `done` to ask each thread for it.
wrong = 0

local function key()
  local random = math.random
  return string.format("%04x%04x-%04x-4%03x-%04x-%04x%04x%04x", random(0, 65535), random(0, 65535), random(0, 65535),
    random(0, 4095), random(32768, 49151), random(0, 65535), random(0, 65535), random(0, 65535))
end

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(arguments)
  turn = tonumber(arguments[1] or 0)
  math.randomseed(today + turn)
  if arguments[2] then
    wanted, sample_path = tonumber(arguments[2]), arguments[3]
  end
end

function request()
  turn = turn + 1
  local slot = turn * STRIDE % SLOTS
  local venue = slot % #VENUES + 1
  slot = math.floor(slot / #VENUES)
  local hour = HOURS[slot % #HOURS + 1]
  local day = os.date("!%Y-%m-%d", today + 86400 * (2 + math.floor(slot / #HOURS)))
  local body = string.format('{"venue_id":"ven_%s","provider":"provider_%s","datetime":"%sT%s:00+00:00",'
    .. '"party_size":2,"customer":{"name":"Ada Lovelace","email":"ada@example.com"}}', VENUES[venue], PROVIDERS[venue],
    day, hour)
  return wrk.format("POST", "/v1/bookings", {
    ["Authorization"] = "Bearer sk_live_sandbox",
    ["Content-Type"] = "application/json",
    ["Idempotency-Key"] = key(),
  }, body)
end

function response(status, _, body)
  answers = answers + 1
  if status ~= 201 or not body:find('"status":"confirmed"', 1, true) then
    wrong = wrong + 1
  end
  if wanted and answers % 20 == 0 then
    table.insert(sample, body:match('"id":"(bk_%w+)"'))
  end
  if answers == wanted then
    local file = io.open(sample_path .. ".part", "w")
    file:write(table.concat(sample, "\n"), "\n")
    file:close()
    os.rename(sample_path .. ".part", sample_path)
    wrk.thread:stop()
  end
end

function done()
  for _, thread in ipairs(threads) do
    io.write("Not confirmed: ", thread:get("wrong") or 0, "\n")
  end
end
