-- Deliveries that were signed before, each once, from a file with a signature, a tab and a body in each line.
--
--   wrk … -s deliver.lua URL -- FILE
local lines, turn = {}, 0

-- Global, for `done` to ask each thread for it.
refused = 0

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(arguments)
  for line in io.lines(arguments[1]) do
    table.insert(lines, line)
  end
end

function request()
  turn = turn % #lines + 1
  local signature, body = lines[turn]:match("^([^\t]*)\t(.*)$")
  return wrk.format("POST", "/", {
    ["Content-Type"] = "application/json",
    ["Booking-Delivery-Attempt"] = "1",
    ["Booking-Signature"] = signature,
  }, body)
end

function response(status)
  if status ~= 200 then
    refused = refused + 1
  end
end

function done()
  for _, thread in ipairs(threads) do
    io.write("Not taken: ", thread:get("refused") or 0, "\n")
  end
end
