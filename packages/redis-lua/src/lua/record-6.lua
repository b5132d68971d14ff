-- Adds a tally to the counts of the period it belongs to, and to no other.
--
-- counted: whether it is among them, by this delivery or an earlier one.
--
-- @include time text lag circuit snapshot counts
-- @keys circuit instances numbers counts failed failing
-- @args instance nonce deadline:optional window_ms:number window_span_ms:number fleet_span_ms:number idle_ms:number
-- @args digits:number period
-- @args seq:number successes:number failures:number slow:number trailing_failures:number
-- @reply counted:flag @snapshot @counts

local circuit = present()
local counts = load_counts()

local function count()
  if circuit.digits ~= digits or circuit.nonce ~= period then return false end
  local last = tonumber(redis.call('HGET', numbers_key, instance) or -1)
  if seq <= last then return true end
  if deadline and circuit.now > deadline then return false end
  -- Where a key turns out to be another one's, nothing was counted yet.
  mark_reporters(circuit.now)
  redis.call('HSET', numbers_key, instance, whole(seq))
  add_tally(counts, circuit.now)
  return true
end

local counted = count()
keep(circuit)
local reply = {}
put_flag(reply, counted)
put_snapshot(reply, snapshot_of(circuit))
put_counts(reply, counters_of(counts, circuit.now))
return reply
