-- What is remembered, as one text, so that one command writes it with its expiry:
--
--   cache      string  <when it was, ms> <for how long, ms> <the value>

local function clock_ms() return math.floor(clock_us() / 1000) end
