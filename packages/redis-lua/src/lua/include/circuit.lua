-- The circuit as it is kept: its state, the period it is in, and who came by.
--
--   circuit    hash    one field for each name in FIELDS
--   instances  zset    instance -> when it last touched the circuit, ms
--   numbers    hash    instance -> the seq of its latest tally that was counted
--                      !instance -> the nonce of its latest swap that the present did not allow
--   counts     hash    what was counted in this period: see counts.lua
--   failed     zset    instance -> when a failure of it was last counted, ms
--   failing    set     instances that failed since the last success
local FIELDS = {
  'state', 'digits', 'nonce', 'latest', 'lag',
  'since', 'opened_at', 'probe_after', 'trips', 'probe_successes', 'owner', 'lease_until',
}

-- The most instances a circuit remembers.
local MAX_INSTANCES = 1024

local function load_circuit()
  local values = redis.call('HMGET', circuit_key, unpack(FIELDS))
  if not values[1] then return nil end
  local circuit = {}
  for place, field in ipairs(FIELDS) do circuit[field] = tonumber(values[place]) end
  circuit.state = values[1]
  circuit.nonce = values[3]
  circuit.owner = values[11]
  return circuit
end

local TEXTS = { state = true, nonce = true, owner = true }

local function save_circuit(circuit)
  local values = {}
  for _, field in ipairs(FIELDS) do
    local value = circuit[field]
    values[#values + 1] = field
    values[#values + 1] = value and (TEXTS[field] and value or whole(value)) or ''
  end
  redis.call('HSET', circuit_key, unpack(values))
end

-- Any touch renews the lease of what is idle, and none shortens it. Isolation has no end.
local function keep(circuit)
  local lease = whole(math.max(idle_ms, redis.call('PTTL', circuit_key)))
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, lease) end
  if circuit.state == 'isolated' then redis.call('PERSIST', circuit_key) end
end

-- Few enough for unpack: there is never more than one beyond the most.
local function forget_instances(names)
  if #names == 0 then return end
  local fields = {}
  for _, name in ipairs(names) do
    fields[#fields + 1] = name
    fields[#fields + 1] = '!' .. name
  end
  redis.call('ZREM', instances_key, unpack(names))
  redis.call('HDEL', numbers_key, unpack(fields))
end

local function touch(circuit)
  -- The first write of all: with the memory full it is refused, and nothing is half done.
  redis.call('ZADD', instances_key, whole(circuit.now), instance)
  local before = '(' .. whole(circuit.now - fleet_span_ms)
  forget_instances(redis.call('ZRANGEBYSCORE', instances_key, '-inf', before))
  circuit.fleet = redis.call('ZCARD', instances_key)
  if circuit.fleet > MAX_INSTANCES then
    forget_instances(redis.call('ZRANGE', instances_key, 0, circuit.fleet - MAX_INSTANCES - 1))
    circuit.fleet = MAX_INSTANCES
  end
end

-- The circuit, created if it is not there, and touched either way.
local function present()
  local circuit = load_circuit()
  if circuit then
    tell_time(circuit)
    touch(circuit)
    redis.call('HSET', circuit_key, 'latest', whole(circuit.latest), 'lag', whole(circuit.lag))
  else
    local now = clock_us()
    circuit = {
      state = 'closed', digits = now, nonce = '~' .. nonce, latest = now, lag = 0,
      now = math.floor(now / 1000), trips = 0, probe_successes = 0,
    }
    circuit.since = circuit.now
    touch(circuit)
    -- What another circuit of this name may have left: it can be evicted key by key.
    redis.call('DEL', counts_key, failed_key, failing_key)
    save_circuit(circuit)
  end
  return circuit
end

-- Begins the period that a swap won, with nothing of the one before counted in it.
local function begin(circuit, phase)
  circuit.digits = math.max(circuit.digits + 1, circuit.latest)
  circuit.nonce = nonce
  for _, field in ipairs({ 'since', 'opened_at', 'probe_after', 'owner', 'lease_until' }) do
    circuit[field] = phase[field]
  end
  circuit.state = phase.state
  circuit.trips = phase.trips
  circuit.probe_successes = phase.probe_successes or 0
  redis.call('DEL', counts_key, failed_key, failing_key)
  save_circuit(circuit)
end

-- Open periods in a row, as of now: a circuit that stayed closed for a window starts over.
local function present_trips(circuit)
  if circuit.state == 'closed' and circuit.now - circuit.since >= window_span_ms then return 0 end
  return circuit.trips
end
