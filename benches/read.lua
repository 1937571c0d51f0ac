-- Reads bookings drawn at random from a file of ids:   wrk … -s read.lua URL -- IDS
local requests = {}

function init(arguments)
  for id in io.lines(arguments[1]) do
    table.insert(requests, wrk.format("GET", "/v1/bookings/" .. id, { ["Authorization"] = "Bearer sk_live_sandbox" }))
  end
  math.randomseed(os.time())
end

function request()
  return requests[math.random(#requests)]
end
