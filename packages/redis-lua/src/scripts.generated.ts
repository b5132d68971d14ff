// Made from the .lua files by `npm run generate`; changes belong there.
import type { Script } from './script'

export const compareAndSet: Script<{ instance: string; nonce: string; deadline: number | undefined; windowMs: number; windowSpanMs: number; fleetSpanMs: number; idleMs: number; from: string; to: string; pair: boolean; digits: number; period: string; owner: string; yield: boolean; succeeded: boolean; cooldownMs: number; leaseMs: number; channel: string }, { ok: 'flag'; state: ['closed', 'open', 'half-open', 'isolated']; digits: 'integer'; nonce: 'text'; openedAt: 'optional'; probeAfter: 'optional'; trips: 'integer'; probeSuccesses: 'integer'; fleet: 'integer'; now: 'integer'; owner: 'text'; leaseUntil: 'optional' }> = {
  name: 'compare-and-set',
  digest: '4b9d231b43c003052ae67252b6cbee6bf972b8f9',
  keys: ['circuit', 'instances', 'numbers', 'counts', 'failed', 'failing'],
  args: ['instance', 'nonce', 'deadline', 'windowMs', 'windowSpanMs', 'fleetSpanMs', 'idleMs', 'from', 'to', 'pair', 'digits', 'period', 'owner', 'yield', 'succeeded', 'cooldownMs', 'leaseMs', 'channel'],
  reply: { ok: 'flag', state: ['closed', 'open', 'half-open', 'isolated'], digits: 'integer', nonce: 'text', openedAt: 'optional', probeAfter: 'optional', trips: 'integer', probeSuccesses: 'integer', fleet: 'integer', now: 'integer', owner: 'text', leaseUntil: 'optional' },
  text: `local circuit_key, instances_key, numbers_key, counts_key, failed_key, failing_key =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local instance, nonce, deadline, window_ms, window_span_ms, fleet_span_ms, idle_ms, from, to, pair, digits, period, owner, yield, succeeded, cooldown_ms, lease_ms, channel =
  ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8], ARGV[9], ARGV[10] == '1', tonumber(ARGV[11]), ARGV[12], ARGV[13], ARGV[14] == '1', ARGV[15] == '1', tonumber(ARGV[16]), tonumber(ARGV[17]), ARGV[18]
local function clock_us()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end
local function whole(number) return string.format('%.0f', number) end
local function put_text(reply, text)
  reply[#reply + 1] = #text
  for first = 1, #text, 6 do
    local number = 0
    for at = first, math.min(first + 5, #text) do number = number * 256 + string.byte(text, at) end
    reply[#reply + 1] = number
  end
end
local function put_integer(reply, number) reply[#reply + 1] = number end
local function put_optional(reply, number) reply[#reply + 1] = number or -1 end
local function put_flag(reply, flag) reply[#reply + 1] = flag and 1 or 0 end
local FIELDS = {
  'state', 'digits', 'nonce', 'latest', 'lag',
  'since', 'opened_at', 'probe_after', 'trips', 'probe_successes', 'owner', 'lease_until',
}
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
local function keep(circuit)
  local lease = whole(math.max(idle_ms, redis.call('PTTL', circuit_key)))
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, lease) end
  if circuit.state == 'isolated' then redis.call('PERSIST', circuit_key) end
end
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
local function tell_time(circuit)
  local now = clock_us() + circuit.lag
  if now < circuit.latest then
    circuit.lag = circuit.lag + circuit.latest - now
    now = circuit.latest
  end
  circuit.latest = now
  circuit.now = math.floor(now / 1000)
end
local function touch(circuit)
  redis.call('ZADD', instances_key, whole(circuit.now), instance)
  local before = '(' .. whole(circuit.now - fleet_span_ms)
  forget_instances(redis.call('ZRANGEBYSCORE', instances_key, '-inf', before))
  circuit.fleet = redis.call('ZCARD', instances_key)
  if circuit.fleet > MAX_INSTANCES then
    forget_instances(redis.call('ZRANGE', instances_key, 0, circuit.fleet - MAX_INSTANCES - 1))
    circuit.fleet = MAX_INSTANCES
  end
end
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
    redis.call('DEL', counts_key, failed_key, failing_key)
    save_circuit(circuit)
  end
  return circuit
end
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
local function present_trips(circuit)
  if circuit.state == 'closed' and circuit.now - circuit.since >= window_span_ms then return 0 end
  return circuit.trips
end
local function snapshot_of(circuit)
  return {
    state = circuit.state,
    digits = circuit.digits,
    nonce = circuit.nonce,
    opened_at = circuit.opened_at,
    probe_after = circuit.probe_after,
    trips = present_trips(circuit),
    probe_successes = circuit.probe_successes,
    fleet = circuit.fleet,
    now = circuit.now,
    owner = circuit.owner or '',
    lease_until = circuit.lease_until,
  }
end
local function put_snapshot(reply, record)
  put_integer(reply, ({ ['closed'] = 0, ['open'] = 1, ['half-open'] = 2, ['isolated'] = 3 })[record.state])
  put_integer(reply, record.digits)
  put_text(reply, record.nonce)
  put_optional(reply, record.opened_at)
  put_optional(reply, record.probe_after)
  put_integer(reply, record.trips)
  put_integer(reply, record.probe_successes)
  put_integer(reply, record.fleet)
  put_integer(reply, record.now)
  put_text(reply, record.owner)
  put_optional(reply, record.lease_until)
end
local LATEST_MS = 8640000000000000
local function after(now, ms) return math.min(now + ms, LATEST_MS) end
local function half_open(circuit, trips, probe_successes)
  return {
    state = 'half-open', trips = trips, probe_successes = probe_successes,
    opened_at = circuit.opened_at, probe_after = circuit.probe_after,
  }
end
local function with_permit(phase, circuit)
  phase.owner = owner
  phase.lease_until = after(circuit.now, lease_ms)
  return phase
end
local function yielded(circuit, trips)
  if circuit.owner ~= owner then return nil end
  return half_open(circuit, trips, circuit.probe_successes + (succeeded and 1 or 0))
end
local function claimed(circuit, trips)
  if circuit.lease_until and circuit.now < circuit.lease_until then return nil end
  return with_permit(half_open(circuit, trips, circuit.probe_successes), circuit)
end
local function decide_swap(circuit)
  local now, trips = circuit.now, present_trips(circuit)
  if to == 'open' then
    return { state = 'open', opened_at = now, probe_after = after(now, cooldown_ms), trips = trips + 1 }
  elseif to == 'closed' then
    return { state = 'closed', trips = trips, since = circuit.state == 'closed' and circuit.since or now }
  elseif to == 'isolated' then
    return { state = 'isolated', trips = trips }
  elseif circuit.state == 'half-open' then
    if yield then return yielded(circuit, trips) end
    return claimed(circuit, trips)
  end
  if now < circuit.probe_after then return nil end
  return with_permit(half_open(circuit, trips, 0), circuit)
end
local circuit = present()
local refused_field = '!' .. instance
local function lands()
  if circuit.nonce == nonce and circuit.state == to then return true end
  if circuit.digits ~= digits or circuit.nonce ~= period then return false end
  if circuit.state ~= from or not pair then return false end
  if deadline and circuit.now > deadline then return false end
  if redis.call('HGET', numbers_key, refused_field) == nonce then return false end
  local phase = decide_swap(circuit)
  if not phase then
    redis.call('HSET', numbers_key, refused_field, nonce)
    return false
  end
  begin(circuit, phase)
  local message = {}
  put_snapshot(message, snapshot_of(circuit))
  for place, number in ipairs(message) do message[place] = whole(number) end
  redis.pcall('PUBLISH', channel, table.concat(message, ' '))
  return true
end
local landed = lands()
keep(circuit)
local reply = {}
put_flag(reply, landed)
put_snapshot(reply, snapshot_of(circuit))
return reply`,
}

export const forget: Script<{  }, { existed: 'flag' }> = {
  name: 'forget',
  digest: '936bfe1e2e1e208e7e3d2ee73e507d9b90090a24',
  keys: ['circuit', 'instances', 'numbers', 'counts', 'failed', 'failing'],
  args: [],
  reply: { existed: 'flag' },
  text: `local circuit_key, instances_key, numbers_key, counts_key, failed_key, failing_key =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local function whole(number) return string.format('%.0f', number) end
local function put_text(reply, text)
  reply[#reply + 1] = #text
  for first = 1, #text, 6 do
    local number = 0
    for at = first, math.min(first + 5, #text) do number = number * 256 + string.byte(text, at) end
    reply[#reply + 1] = number
  end
end
local function put_integer(reply, number) reply[#reply + 1] = number end
local function put_optional(reply, number) reply[#reply + 1] = number or -1 end
local function put_flag(reply, flag) reply[#reply + 1] = flag and 1 or 0 end
local reply = {}
put_flag(reply, redis.call('DEL', unpack(KEYS)) > 0)
return reply`,
}

export const readState: Script<{ instance: string; nonce: string; windowMs: number; windowSpanMs: number; fleetSpanMs: number; idleMs: number }, { state: ['closed', 'open', 'half-open', 'isolated']; digits: 'integer'; nonce: 'text'; openedAt: 'optional'; probeAfter: 'optional'; trips: 'integer'; probeSuccesses: 'integer'; fleet: 'integer'; now: 'integer'; owner: 'text'; leaseUntil: 'optional' }> = {
  name: 'read-state',
  digest: '5a7a33df05f857e8b6ff0c1e6195697790bb3285',
  keys: ['circuit', 'instances', 'numbers', 'counts', 'failed', 'failing'],
  args: ['instance', 'nonce', 'windowMs', 'windowSpanMs', 'fleetSpanMs', 'idleMs'],
  reply: { state: ['closed', 'open', 'half-open', 'isolated'], digits: 'integer', nonce: 'text', openedAt: 'optional', probeAfter: 'optional', trips: 'integer', probeSuccesses: 'integer', fleet: 'integer', now: 'integer', owner: 'text', leaseUntil: 'optional' },
  text: `local circuit_key, instances_key, numbers_key, counts_key, failed_key, failing_key =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local instance, nonce, window_ms, window_span_ms, fleet_span_ms, idle_ms =
  ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local function clock_us()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end
local function whole(number) return string.format('%.0f', number) end
local function put_text(reply, text)
  reply[#reply + 1] = #text
  for first = 1, #text, 6 do
    local number = 0
    for at = first, math.min(first + 5, #text) do number = number * 256 + string.byte(text, at) end
    reply[#reply + 1] = number
  end
end
local function put_integer(reply, number) reply[#reply + 1] = number end
local function put_optional(reply, number) reply[#reply + 1] = number or -1 end
local function put_flag(reply, flag) reply[#reply + 1] = flag and 1 or 0 end
local FIELDS = {
  'state', 'digits', 'nonce', 'latest', 'lag',
  'since', 'opened_at', 'probe_after', 'trips', 'probe_successes', 'owner', 'lease_until',
}
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
local function keep(circuit)
  local lease = whole(math.max(idle_ms, redis.call('PTTL', circuit_key)))
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, lease) end
  if circuit.state == 'isolated' then redis.call('PERSIST', circuit_key) end
end
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
local function tell_time(circuit)
  local now = clock_us() + circuit.lag
  if now < circuit.latest then
    circuit.lag = circuit.lag + circuit.latest - now
    now = circuit.latest
  end
  circuit.latest = now
  circuit.now = math.floor(now / 1000)
end
local function touch(circuit)
  redis.call('ZADD', instances_key, whole(circuit.now), instance)
  local before = '(' .. whole(circuit.now - fleet_span_ms)
  forget_instances(redis.call('ZRANGEBYSCORE', instances_key, '-inf', before))
  circuit.fleet = redis.call('ZCARD', instances_key)
  if circuit.fleet > MAX_INSTANCES then
    forget_instances(redis.call('ZRANGE', instances_key, 0, circuit.fleet - MAX_INSTANCES - 1))
    circuit.fleet = MAX_INSTANCES
  end
end
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
    redis.call('DEL', counts_key, failed_key, failing_key)
    save_circuit(circuit)
  end
  return circuit
end
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
local function present_trips(circuit)
  if circuit.state == 'closed' and circuit.now - circuit.since >= window_span_ms then return 0 end
  return circuit.trips
end
local function snapshot_of(circuit)
  return {
    state = circuit.state,
    digits = circuit.digits,
    nonce = circuit.nonce,
    opened_at = circuit.opened_at,
    probe_after = circuit.probe_after,
    trips = present_trips(circuit),
    probe_successes = circuit.probe_successes,
    fleet = circuit.fleet,
    now = circuit.now,
    owner = circuit.owner or '',
    lease_until = circuit.lease_until,
  }
end
local function put_snapshot(reply, record)
  put_integer(reply, ({ ['closed'] = 0, ['open'] = 1, ['half-open'] = 2, ['isolated'] = 3 })[record.state])
  put_integer(reply, record.digits)
  put_text(reply, record.nonce)
  put_optional(reply, record.opened_at)
  put_optional(reply, record.probe_after)
  put_integer(reply, record.trips)
  put_integer(reply, record.probe_successes)
  put_integer(reply, record.fleet)
  put_integer(reply, record.now)
  put_text(reply, record.owner)
  put_optional(reply, record.lease_until)
end
local circuit = present()
keep(circuit)
local reply = {}
put_snapshot(reply, snapshot_of(circuit))
return reply`,
}

export const record: Script<{ instance: string; nonce: string; deadline: number | undefined; windowMs: number; windowSpanMs: number; fleetSpanMs: number; idleMs: number; digits: number; period: string; seq: number; successes: number; failures: number; slow: number; trailingFailures: number }, { counted: 'flag'; state: ['closed', 'open', 'half-open', 'isolated']; digits: 'integer'; nonce: 'text'; openedAt: 'optional'; probeAfter: 'optional'; trips: 'integer'; probeSuccesses: 'integer'; fleet: 'integer'; now: 'integer'; owner: 'text'; leaseUntil: 'optional'; successes: 'integer'; failures: 'integer'; slow: 'integer'; consecutiveFailures: 'integer'; reporters: 'integer' }> = {
  name: 'record',
  digest: 'ee1b8c456134dcc9a802ae1586175022765d74da',
  keys: ['circuit', 'instances', 'numbers', 'counts', 'failed', 'failing'],
  args: ['instance', 'nonce', 'deadline', 'windowMs', 'windowSpanMs', 'fleetSpanMs', 'idleMs', 'digits', 'period', 'seq', 'successes', 'failures', 'slow', 'trailingFailures'],
  reply: { counted: 'flag', state: ['closed', 'open', 'half-open', 'isolated'], digits: 'integer', nonce: 'text', openedAt: 'optional', probeAfter: 'optional', trips: 'integer', probeSuccesses: 'integer', fleet: 'integer', now: 'integer', owner: 'text', leaseUntil: 'optional', successes: 'integer', failures: 'integer', slow: 'integer', consecutiveFailures: 'integer', reporters: 'integer' },
  text: `local circuit_key, instances_key, numbers_key, counts_key, failed_key, failing_key =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local instance, nonce, deadline, window_ms, window_span_ms, fleet_span_ms, idle_ms, digits, period, seq, successes, failures, slow, trailing_failures =
  ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9], tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14])
local function clock_us()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end
local function whole(number) return string.format('%.0f', number) end
local function put_text(reply, text)
  reply[#reply + 1] = #text
  for first = 1, #text, 6 do
    local number = 0
    for at = first, math.min(first + 5, #text) do number = number * 256 + string.byte(text, at) end
    reply[#reply + 1] = number
  end
end
local function put_integer(reply, number) reply[#reply + 1] = number end
local function put_optional(reply, number) reply[#reply + 1] = number or -1 end
local function put_flag(reply, flag) reply[#reply + 1] = flag and 1 or 0 end
local FIELDS = {
  'state', 'digits', 'nonce', 'latest', 'lag',
  'since', 'opened_at', 'probe_after', 'trips', 'probe_successes', 'owner', 'lease_until',
}
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
local function keep(circuit)
  local lease = whole(math.max(idle_ms, redis.call('PTTL', circuit_key)))
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, lease) end
  if circuit.state == 'isolated' then redis.call('PERSIST', circuit_key) end
end
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
local function tell_time(circuit)
  local now = clock_us() + circuit.lag
  if now < circuit.latest then
    circuit.lag = circuit.lag + circuit.latest - now
    now = circuit.latest
  end
  circuit.latest = now
  circuit.now = math.floor(now / 1000)
end
local function touch(circuit)
  redis.call('ZADD', instances_key, whole(circuit.now), instance)
  local before = '(' .. whole(circuit.now - fleet_span_ms)
  forget_instances(redis.call('ZRANGEBYSCORE', instances_key, '-inf', before))
  circuit.fleet = redis.call('ZCARD', instances_key)
  if circuit.fleet > MAX_INSTANCES then
    forget_instances(redis.call('ZRANGE', instances_key, 0, circuit.fleet - MAX_INSTANCES - 1))
    circuit.fleet = MAX_INSTANCES
  end
end
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
    redis.call('DEL', counts_key, failed_key, failing_key)
    save_circuit(circuit)
  end
  return circuit
end
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
local function present_trips(circuit)
  if circuit.state == 'closed' and circuit.now - circuit.since >= window_span_ms then return 0 end
  return circuit.trips
end
local function snapshot_of(circuit)
  return {
    state = circuit.state,
    digits = circuit.digits,
    nonce = circuit.nonce,
    opened_at = circuit.opened_at,
    probe_after = circuit.probe_after,
    trips = present_trips(circuit),
    probe_successes = circuit.probe_successes,
    fleet = circuit.fleet,
    now = circuit.now,
    owner = circuit.owner or '',
    lease_until = circuit.lease_until,
  }
end
local function put_snapshot(reply, record)
  put_integer(reply, ({ ['closed'] = 0, ['open'] = 1, ['half-open'] = 2, ['isolated'] = 3 })[record.state])
  put_integer(reply, record.digits)
  put_text(reply, record.nonce)
  put_optional(reply, record.opened_at)
  put_optional(reply, record.probe_after)
  put_integer(reply, record.trips)
  put_integer(reply, record.probe_successes)
  put_integer(reply, record.fleet)
  put_integer(reply, record.now)
  put_text(reply, record.owner)
  put_optional(reply, record.lease_until)
end
local MAX_WINDOWS = 4
local BUCKETS = 10
local WIDTH = 4
local function buckets_in(window) return math.min(BUCKETS, window) end
local function bucket_at(window, now) return math.floor(now * buckets_in(window) / window) end
local function first_bucket(window, now) return bucket_at(window, now) - buckets_in(window) + 1 end
local function field_of(window) return 'w' .. whole(window) end
local function load_counts()
  local values = redis.call('HMGET', counts_key, 'successes', 'failures', 'slow', 'run', 'windows')
  local counts = { windows = {}, buckets = {} }
  for place, field in ipairs({ 'successes', 'failures', 'slow', 'run' }) do
    counts[field] = tonumber(values[place] or 0)
  end
  for window in string.gmatch(values[5] or '', '%d+') do counts.windows[#counts.windows + 1] = tonumber(window) end
  for _, window in ipairs(counts.windows) do
    local numbers = {}
    local packed = redis.call('HGET', counts_key, field_of(window)) or ''
    for number in string.gmatch(packed, '%d+') do numbers[#numbers + 1] = tonumber(number) end
    counts.buckets[window] = numbers
  end
  return counts
end
local function use_window(counts)
  if window_ms == 0 then return end
  local windows = { window_ms }
  for place = #counts.windows, 1, -1 do
    local window = counts.windows[place]
    if window ~= window_ms then
      if #windows < MAX_WINDOWS then
        table.insert(windows, 1, window)
      else
        redis.call('HDEL', counts_key, field_of(window))
      end
    end
  end
  counts.windows = windows
  counts.buckets[window_ms] = counts.buckets[window_ms] or {}
end
local function add_to(window, numbers, now)
  local bucket, first, kept = bucket_at(window, now), first_bucket(window, now), {}
  for at = 1, #numbers, WIDTH do
    if numbers[at] >= first then
      for place = at, at + WIDTH - 1 do kept[#kept + 1] = numbers[place] end
    end
  end
  local at = #kept - WIDTH + 1
  if kept[at] ~= bucket then
    at = #kept + 1
    for place = 0, WIDTH - 1 do kept[at + place] = place == 0 and bucket or 0 end
  end
  kept[at + 1] = kept[at + 1] + successes
  kept[at + 2] = kept[at + 2] + failures
  kept[at + 3] = kept[at + 3] + slow
  return kept
end
local function pack(numbers)
  local texts = {}
  for place, number in ipairs(numbers) do texts[place] = whole(number) end
  return table.concat(texts, ' ')
end
local function mark_reporters(now)
  if failures > 0 then
    redis.call('ZADD', failed_key, whole(now), instance)
    redis.call('ZREMRANGEBYRANK', failed_key, 0, -MAX_INSTANCES - 1)
  end
  if successes > 0 then redis.call('DEL', failing_key) end
  if trailing_failures > 0 and redis.call('SCARD', failing_key) < MAX_INSTANCES then
    redis.call('SADD', failing_key, instance)
  end
end
local function add_tally(counts, now)
  use_window(counts)
  counts.successes = counts.successes + successes
  counts.failures = counts.failures + failures
  counts.slow = counts.slow + slow
  counts.run = successes == 0 and counts.run + failures or trailing_failures
  local values = {
    'successes', whole(counts.successes), 'failures', whole(counts.failures),
    'slow', whole(counts.slow), 'run', whole(counts.run), 'windows', pack(counts.windows),
  }
  for _, window in ipairs(counts.windows) do
    counts.buckets[window] = add_to(window, counts.buckets[window], now)
    values[#values + 1] = field_of(window)
    values[#values + 1] = pack(counts.buckets[window])
  end
  redis.call('HSET', counts_key, unpack(values))
end
local function counters_since(counts, now)
  local first, sums = first_bucket(window_ms, now), { 0, 0, 0 }
  local numbers = counts.buckets[window_ms] or {}
  for at = 1, #numbers, WIDTH do
    if numbers[at] >= first then
      for place = 1, 3 do sums[place] = sums[place] + numbers[at + place] end
    end
  end
  local since = whole(math.ceil(first * window_ms / buckets_in(window_ms)))
  return {
    successes = sums[1],
    failures = sums[2],
    slow = sums[3],
    consecutive_failures = math.min(counts.run, sums[2]),
    reporters = math.min(redis.call('ZCOUNT', failed_key, since, '+inf'), sums[2]),
  }
end
local function counters_of(counts, now)
  if window_ms > 0 then return counters_since(counts, now) end
  return {
    successes = counts.successes,
    failures = counts.failures,
    slow = counts.slow,
    consecutive_failures = counts.run,
    reporters = redis.call('SCARD', failing_key),
  }
end
local function put_counts(reply, record)
  put_integer(reply, record.successes)
  put_integer(reply, record.failures)
  put_integer(reply, record.slow)
  put_integer(reply, record.consecutive_failures)
  put_integer(reply, record.reporters)
end
local circuit = present()
local counts = load_counts()
local function count()
  if circuit.digits ~= digits or circuit.nonce ~= period then return false end
  local last = tonumber(redis.call('HGET', numbers_key, instance) or -1)
  if seq <= last then return true end
  if deadline and circuit.now > deadline then return false end
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
return reply`,
}
