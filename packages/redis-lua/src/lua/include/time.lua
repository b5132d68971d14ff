-- The server's clock, in microseconds since the epoch. The one place that asks for
-- it, so that a test can put another clock in its stead.
local function clock_us()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end
