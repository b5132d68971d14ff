-- Time never runs backwards in what keeps its `latest` moment and its `lag`, or a lease
-- that lapsed would be live again: what the server's clock was set back by is made up
-- for from then on. `now` is in ms, what is kept is in microseconds.
local function tell_time(record)
  local now = clock_us() + record.lag
  if now < record.latest then
    record.lag = record.lag + record.latest - now
    now = record.latest
  end
  record.latest = now
  record.now = math.floor(now / 1000)
end
