// Made from the .lua files by `npm run generate`; changes belong there.
import type { Script } from './script'

export const acquire: Script<{ owner: string; limit: number; leaseMs: number; idleMs: number }, { ok: 'flag'; digits: 'integer'; inUse: 'integer'; retryAfterMs: 'integer' }> = {
  name: 'acquire',
  digest: 'e5c75028d4f202489aee6d417749fd8a39a4262c',
  keys: ['leases', 'holders'],
  args: ['owner', 'limit', 'leaseMs', 'idleMs'],
  reply: { ok: 'flag', digits: 'integer', inUse: 'integer', retryAfterMs: 'integer' },
  text: `local leases_key, holders_key =
  KEYS[1], KEYS[2]
local owner, limit, lease_ms, idle_ms =
  ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
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
local function put_integers(reply, numbers)
  for _, number in ipairs(numbers) do reply[#reply + 1] = number end
end
local function tell_time(record)
  local now = clock_us() + record.lag
  if now < record.latest then
    record.lag = record.lag + record.latest - now
    now = record.latest
  end
  record.latest = now
  record.now = math.floor(now / 1000)
end
local LATEST_MS = 8640000000000000
local function after(now, ms) return math.min(now + ms, LATEST_MS) end
local BATCH = 1000
local function present_leases(owner)
  local values = redis.call('HMGET', holders_key, '.digits', '.latest', '.lag', owner)
  local leases = {
    exists = values[2] and true,
    digits = tonumber(values[1] or 0), latest = tonumber(values[2] or 0), lag = tonumber(values[3] or 0),
  }
  tell_time(leases)
  leases.ends = tonumber(redis.call('ZSCORE', leases_key, owner) or -1)
  leases.held = leases.now < leases.ends and tonumber(values[4] or nil) or nil
  return leases
end
local function save_time(leases)
  redis.call('HSET', holders_key, '.latest', whole(leases.latest), '.lag', whole(leases.lag))
end
local function drop_lapsed(leases)
  local lapsed = redis.call('ZRANGEBYSCORE', leases_key, '-inf', whole(leases.now))
  for first = 1, #lapsed, BATCH do
    local last = math.min(first + BATCH - 1, #lapsed)
    redis.call('ZREM', leases_key, unpack(lapsed, first, last))
    redis.call('HDEL', holders_key, unpack(lapsed, first, last))
  end
end
local function keep_leases(leases, idle_ms)
  local longest = redis.call('ZRANGE', leases_key, -1, -1, 'WITHSCORES')
  local held = tonumber(longest[2] or 0) - leases.now
  local ttl = whole(math.max(idle_ms, held, redis.call('PTTL', holders_key)))
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ttl) end
end
local leases = present_leases(owner)
save_time(leases)
drop_lapsed(leases)
local ends = after(leases.now, lease_ms)
local function take()
  leases.held = math.max(leases.digits + 1, leases.latest)
  redis.call('ZADD', leases_key, whole(ends), owner)
  redis.call('HSET', holders_key, owner, whole(leases.held), '.digits', whole(leases.held))
end
local taken, retry_after_ms = redis.call('ZCARD', leases_key), 0
if leases.held then
  redis.call('ZADD', leases_key, whole(math.max(leases.ends, ends)), owner)
elseif taken < limit then
  take()
  taken = taken + 1
else
  local first = redis.call('ZRANGE', leases_key, 0, 0, 'WITHSCORES')
  retry_after_ms = tonumber(first[2]) - leases.now
end
keep_leases(leases, idle_ms)
local reply = {}
put_flag(reply, leases.held)
put_integer(reply, leases.held or 0)
put_integer(reply, taken)
put_integer(reply, retry_after_ms)
return reply`,
}

export const cacheDelete: Script<{  }, { existed: 'flag' }> = {
  name: 'cache-delete',
  digest: '0fedf731f2432f95e20e358f8358f6bc3fbf405f',
  keys: ['cache'],
  args: [],
  reply: { existed: 'flag' },
  text: `local cache_key =
  KEYS[1]
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
local function put_integers(reply, numbers)
  for _, number in ipairs(numbers) do reply[#reply + 1] = number end
end
local reply = {}
put_flag(reply, redis.call('DEL', cache_key) > 0)
return reply`,
}

export const cacheGet: Script<{  }, { ageMs: 'optional'; value: 'string' }> = {
  name: 'cache-get',
  digest: '86656195bfe3a78a0f0386a3f41bdbf6c65e41d8',
  keys: ['cache'],
  args: [],
  reply: { ageMs: 'optional', value: 'string' },
  text: `local cache_key =
  KEYS[1]
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
local function put_integers(reply, numbers)
  for _, number in ipairs(numbers) do reply[#reply + 1] = number end
end
local function put_string(reply, text) reply[#reply + 1] = '=' .. text end
local function clock_ms() return math.floor(clock_us() / 1000) end
local function found(text)
  local head, stamp, ttl_ms = string.match(text, '^((%d+) (%d+) )')
  if not head then return {} end
  local age, reply = math.max(0, clock_ms() - stamp), {}
  local is_kept = age < tonumber(ttl_ms)
  put_optional(reply, is_kept and age)
  put_string(reply, is_kept and string.sub(text, #head + 1) or '')
  return reply
end
local text = redis.call('GET', cache_key)
if text then return found(text) end
local reply = {}
put_optional(reply)
put_string(reply, '')
return reply`,
}

export const cacheSet: Script<{ value: string; ttlMs: number }, { done: 'flag' }> = {
  name: 'cache-set',
  digest: '27757cc5f09d0b5a8c8d43abff3648ed8ce59fd6',
  keys: ['cache'],
  args: ['value', 'ttlMs'],
  reply: { done: 'flag' },
  text: `local cache_key =
  KEYS[1]
local value, ttl_ms =
  ARGV[1], tonumber(ARGV[2])
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
local function put_integers(reply, numbers)
  for _, number in ipairs(numbers) do reply[#reply + 1] = number end
end
local function clock_ms() return math.floor(clock_us() / 1000) end
local ttl = whole(ttl_ms)
redis.call('SET', cache_key, whole(clock_ms()) .. ' ' .. ttl .. ' ' .. value, 'PX', ttl)
local reply = {}
put_flag(reply, true)
return reply`,
}

export const compareAndSet: Script<{ instance: string; nonce: string; deadline: number | undefined; windowMs: number; windowSpanMs: number; fleetSpanMs: number; idleMs: number; from: string; to: string; pair: boolean; digits: number; period: string; owner: string; yield: boolean; succeeded: boolean; cooldownMs: number; leaseMs: number; channel: string }, { ok: 'flag'; state: ['closed', 'open', 'half-open', 'isolated']; digits: 'integer'; nonce: 'text'; openedAt: 'optional'; probeAfter: 'optional'; trips: 'integer'; probeSuccesses: 'integer'; fleet: 'integer'; now: 'integer'; owner: 'text'; leaseUntil: 'optional' }> = {
  name: 'compare-and-set',
  digest: 'e0ed50531b53b4e4727540de27db86df3ca2f11c',
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
local function put_integers(reply, numbers)
  for _, number in ipairs(numbers) do reply[#reply + 1] = number end
end
local function tell_time(record)
  local now = clock_us() + record.lag
  if now < record.latest then
    record.lag = record.lag + record.latest - now
    now = record.latest
  end
  record.latest = now
  record.now = math.floor(now / 1000)
end
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

export const consume: Script<{ quotas: string; cost: number }, { allowed: 'flag'; born: 'integer'; seq: 'integer'; at: 'integer'; retryAfterMs: 'optional'; states: 'integers' }> = {
  name: 'consume',
  digest: '0642e69f8d88673e2e6e1d4d0ba04a71d5c88d48',
  keys: ['limits', 'settled'],
  args: ['quotas', 'cost'],
  reply: { allowed: 'flag', born: 'integer', seq: 'integer', at: 'integer', retryAfterMs: 'optional', states: 'integers' },
  text: `local limits_key, settled_key =
  KEYS[1], KEYS[2]
local quotas, cost =
  ARGV[1], tonumber(ARGV[2])
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
local function put_integers(reply, numbers)
  for _, number in ipairs(numbers) do reply[#reply + 1] = number end
end
local function tell_time(record)
  local now = clock_us() + record.lag
  if now < record.latest then
    record.lag = record.lag + record.latest - now
    now = record.latest
  end
  record.latest = now
  record.now = math.floor(now / 1000)
end
local LATEST_MS = 8640000000000000
local function after(now, ms) return math.min(now + ms, LATEST_MS) end
local function parse_quotas(packed)
  local list = {}
  local form = '(%S+ (%S+) (%d+)) (%d+) (%d+)'
  for slot, algorithm, window, limit, capacity in string.gmatch(packed, form) do
    list[#list + 1] = {
      slot = slot, algorithm = algorithm,
      window = tonumber(window), limit = tonumber(limit), capacity = tonumber(capacity),
    }
  end
  return list
end
local gcra = {}
local function level_of(values) return values[2] or 0 end
local function with_level(level, now)
  if level <= 0 then return {} end
  return { now, level }
end
function gcra.present(quota, values, now)
  if not values[1] then return values end
  return with_level(values[2] - (now - values[1]) * quota.limit, now)
end
local function excess(quota, values, cost)
  return level_of(values) + (cost - quota.capacity) * quota.window
end
function gcra.fits(quota, values, cost) return excess(quota, values, cost) <= 0 end
function gcra.wait(quota, values, cost) return math.ceil(excess(quota, values, cost) / quota.limit) end
function gcra.consume(quota, values, cost, now)
  return with_level(level_of(values) + cost * quota.window, now)
end
function gcra.remaining(quota, values)
  return math.floor((quota.capacity * quota.window - level_of(values)) / quota.window)
end
function gcra.reset_ms(quota, values) return math.ceil(level_of(values) / quota.limit) end
function gcra.settle(quota, values, at, difference, now)
  if difference >= 0 then return gcra.consume(quota, values, difference, now) end
  local held = math.max(0, -difference * quota.window - math.max(0, now - at) * quota.limit)
  return with_level(level_of(values) - held, now)
end
function gcra.ends(quota, values) return values[1] + gcra.reset_ms(quota, values) end
local sliding_window = {}
local SLICES = 32
local function slice_of(quota, time) return math.floor(time * SLICES / quota.window) end
local function sum_of(values)
  local sum = 0
  for at = 2, #values, 2 do sum = sum + values[at] end
  return sum
end
function sliding_window.present(quota, values, now)
  local kept = {}
  for at = 1, #values, 2 do
    if now - values[at] < quota.window then
      kept[#kept + 1] = values[at]
      kept[#kept + 1] = values[at + 1]
    end
  end
  return kept
end
function sliding_window.fits(quota, values, cost) return sum_of(values) + cost <= quota.capacity end
function sliding_window.wait(quota, values, cost, now)
  local wanted = sum_of(values) + cost - quota.capacity
  for at = 1, #values, 2 do
    wanted = wanted - values[at + 1]
    if wanted <= 0 then return values[at] + quota.window - now end
  end
end
function sliding_window.consume(quota, values, cost, now)
  local last = #values - 1
  if last < 1 or slice_of(quota, values[last]) ~= slice_of(quota, now) then
    last = #values + 1
    values[last + 1] = 0
  end
  values[last] = now
  values[last + 1] = values[last + 1] + cost
  return values
end
function sliding_window.remaining(quota, values) return quota.capacity - sum_of(values) end
function sliding_window.reset_ms(quota, values, now)
  for at = #values - 1, 1, -2 do
    if values[at + 1] > 0 then return values[at] + quota.window - now end
  end
  return 0
end
function sliding_window.settle(quota, values, at, difference)
  for place = 1, #values, 2 do
    if slice_of(quota, values[place]) == slice_of(quota, at) then
      values[place + 1] = math.max(0, values[place + 1] + difference)
    end
  end
  return values
end
function sliding_window.ends(quota, values) return values[#values - 1] + quota.window end
local fixed_window = {}
local function used_of(values) return values[2] or 0 end
function fixed_window.present(quota, values, now)
  if not values[1] or now - values[1] >= quota.window then return {} end
  return values
end
function fixed_window.fits(quota, values, cost) return used_of(values) + cost <= quota.capacity end
function fixed_window.wait(quota, values, _, now) return values[1] + quota.window - now end
function fixed_window.consume(_, values, cost, now) return { values[1] or now, used_of(values) + cost } end
function fixed_window.remaining(quota, values) return quota.capacity - used_of(values) end
function fixed_window.reset_ms(quota, values, now)
  if used_of(values) == 0 then return 0 end
  return values[1] + quota.window - now
end
function fixed_window.settle(_, values, at, difference)
  if not values[1] or values[1] > at then return values end
  return { values[1], math.max(0, values[2] + difference) }
end
function fixed_window.ends(quota, values) return values[1] + quota.window end
local HEAD = { 'born', 'seq', 'floor', 'settled', 'latest', 'lag', 'ends' }
local MAX_SLOTS = 16
local ALGORITHMS = { gcra = gcra, ['sliding-window'] = sliding_window, ['fixed-window'] = fixed_window }
local function numbers_in(text)
  local numbers = {}
  for number in string.gmatch(text, '%d+') do numbers[#numbers + 1] = tonumber(number) end
  return numbers
end
local function parse_limits(text)
  local head = string.match(text, '^[%d ]+')
  local numbers = numbers_in(head or '')
  if #numbers ~= #HEAD then return nil end
  local limits = { slots = {} }
  for place, field in ipairs(HEAD) do limits[field] = numbers[place] end
  for name, ends, values in string.gmatch(text, '\\n(%S+ %S+ %d+) (%d+)([%d ]*)') do
    limits.slots[#limits.slots + 1] = { name = name, ends = tonumber(ends), values = numbers_in(values) }
  end
  return limits
end
local function join(numbers)
  local words = {}
  for place, number in ipairs(numbers) do words[place] = whole(number) end
  return table.concat(words, ' ')
end
local function save_limits(limits)
  local head = {}
  for place, field in ipairs(HEAD) do head[place] = limits[field] end
  local lines = { join(head) }
  for _, slot in ipairs(limits.slots) do
    lines[#lines + 1] = slot.name .. ' ' .. whole(slot.ends) .. ' ' .. join(slot.values)
  end
  local left = whole(limits.ends - limits.now)
  redis.call('SET', limits_key, table.concat(lines, '\\n'), 'PX', left)
  if limits.is_new then redis.call('DEL', settled_key) end
  if limits.settled > 0 then redis.call('PEXPIRE', settled_key, left) end
end
local function present_limits()
  local text = redis.call('GET', limits_key)
  local limits = { latest = 0, lag = 0 }
  if text then limits = parse_limits(text) end
  if not limits then return nil end
  tell_time(limits)
  if text and limits.now < limits.ends then return limits end
  return {
    is_new = true, born = limits.latest, seq = 0, floor = 0, settled = 0,
    latest = limits.latest, lag = limits.lag, now = limits.now, ends = 0, slots = {},
  }
end
local function values_of(limits, quota)
  for _, slot in ipairs(limits.slots) do
    if slot.name == quota.slot then
      return ALGORITHMS[quota.algorithm].present(quota, slot.values, limits.now)
    end
  end
  return {}
end
local function refresh(limits, slot, quota)
  slot.values = quota.values
  slot.ends = limits.now
  if #slot.values > 0 then
    slot.ends = math.min(ALGORITHMS[quota.algorithm].ends(quota, slot.values), LATEST_MS)
  end
  limits.ends = math.max(limits.ends, slot.ends)
  return slot
end
local function refresh_slots(limits, quotas)
  for _, slot in ipairs(limits.slots) do
    for _, quota in ipairs(quotas) do
      if slot.name == quota.slot then refresh(limits, slot, quota) end
    end
  end
end
local function window_of(slot) return tonumber(string.match(slot.name, '%d+$')) end
local function use_slots(limits, quotas)
  local used, slots = {}, {}
  for _, quota in ipairs(quotas) do
    used[quota.slot] = true
    limits.ends = math.max(limits.ends, after(limits.now, quota.window))
  end
  for _, slot in ipairs(limits.slots) do
    if not used[slot.name] and limits.now < slot.ends then
      slots[#slots + 1] = slot
      limits.ends = math.max(limits.ends, after(limits.now, window_of(slot)))
    end
  end
  for _, quota in ipairs(quotas) do
    if #quota.values > 0 then slots[#slots + 1] = refresh(limits, { name = quota.slot }, quota) end
  end
  while #slots > MAX_SLOTS do table.remove(slots, 1) end
  limits.slots = slots
end
local function decide(limits, quotas, cost)
  local allowed = true
  for _, quota in ipairs(quotas) do
    local algorithm = ALGORITHMS[quota.algorithm]
    quota.values = values_of(limits, quota)
    quota.fits = algorithm.fits(quota, quota.values, cost)
    quota.wait = 0
    if not quota.fits then
      allowed = false
      quota.wait = cost <= quota.capacity and algorithm.wait(quota, quota.values, cost, limits.now) or nil
    end
  end
  return allowed
end
local function longest_wait(quotas)
  local longest = 0
  for _, quota in ipairs(quotas) do
    if not quota.wait then return nil end
    longest = math.max(longest, quota.wait)
  end
  return math.min(longest, LATEST_MS)
end
local function decision_of(limits, quotas, allowed, is_reserved)
  local states = {}
  for _, quota in ipairs(quotas) do
    local algorithm = ALGORITHMS[quota.algorithm]
    states[#states + 1] = quota.fits and 0 or 1
    states[#states + 1] = math.max(0, algorithm.remaining(quota, quota.values))
    states[#states + 1] = math.min(algorithm.reset_ms(quota, quota.values, limits.now), LATEST_MS)
  end
  return {
    allowed = allowed,
    born = is_reserved and limits.born or 0,
    seq = is_reserved and limits.seq or 0,
    at = is_reserved and limits.now or 0,
    retry_after_ms = longest_wait(quotas),
    states = states,
  }
end
local function put_decision(reply, record)
  put_flag(reply, record.allowed)
  put_integer(reply, record.born)
  put_integer(reply, record.seq)
  put_integer(reply, record.at)
  put_optional(reply, record.retry_after_ms)
  put_integers(reply, record.states)
end
local limits = present_limits()
if not limits then return {} end
local asked = parse_quotas(quotas)
local allowed = decide(limits, asked, cost)
if allowed then
  for _, quota in ipairs(asked) do
    quota.values = ALGORITHMS[quota.algorithm].consume(quota, quota.values, cost, limits.now)
  end
  limits.seq = limits.seq + 1
  use_slots(limits, asked)
else
  refresh_slots(limits, asked)
end
if allowed or not limits.is_new then save_limits(limits) end
local reply = {}
put_decision(reply, decision_of(limits, asked, allowed, allowed))
return reply`,
}

export const forget: Script<{  }, { existed: 'flag' }> = {
  name: 'forget',
  digest: '1d11fc141085648496e8c24227ff4c608b1144d9',
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
local function put_integers(reply, numbers)
  for _, number in ipairs(numbers) do reply[#reply + 1] = number end
end
local reply = {}
put_flag(reply, redis.call('DEL', unpack(KEYS)) > 0)
return reply`,
}

export const peek: Script<{ quotas: string }, { allowed: 'flag'; born: 'integer'; seq: 'integer'; at: 'integer'; retryAfterMs: 'optional'; states: 'integers' }> = {
  name: 'peek',
  digest: '2962ab9a8a7d05d80678048dec5e5715dc38dab7',
  keys: ['limits', 'settled'],
  args: ['quotas'],
  reply: { allowed: 'flag', born: 'integer', seq: 'integer', at: 'integer', retryAfterMs: 'optional', states: 'integers' },
  text: `local limits_key, settled_key =
  KEYS[1], KEYS[2]
local quotas =
  ARGV[1]
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
local function put_integers(reply, numbers)
  for _, number in ipairs(numbers) do reply[#reply + 1] = number end
end
local function tell_time(record)
  local now = clock_us() + record.lag
  if now < record.latest then
    record.lag = record.lag + record.latest - now
    now = record.latest
  end
  record.latest = now
  record.now = math.floor(now / 1000)
end
local LATEST_MS = 8640000000000000
local function after(now, ms) return math.min(now + ms, LATEST_MS) end
local function parse_quotas(packed)
  local list = {}
  local form = '(%S+ (%S+) (%d+)) (%d+) (%d+)'
  for slot, algorithm, window, limit, capacity in string.gmatch(packed, form) do
    list[#list + 1] = {
      slot = slot, algorithm = algorithm,
      window = tonumber(window), limit = tonumber(limit), capacity = tonumber(capacity),
    }
  end
  return list
end
local gcra = {}
local function level_of(values) return values[2] or 0 end
local function with_level(level, now)
  if level <= 0 then return {} end
  return { now, level }
end
function gcra.present(quota, values, now)
  if not values[1] then return values end
  return with_level(values[2] - (now - values[1]) * quota.limit, now)
end
local function excess(quota, values, cost)
  return level_of(values) + (cost - quota.capacity) * quota.window
end
function gcra.fits(quota, values, cost) return excess(quota, values, cost) <= 0 end
function gcra.wait(quota, values, cost) return math.ceil(excess(quota, values, cost) / quota.limit) end
function gcra.consume(quota, values, cost, now)
  return with_level(level_of(values) + cost * quota.window, now)
end
function gcra.remaining(quota, values)
  return math.floor((quota.capacity * quota.window - level_of(values)) / quota.window)
end
function gcra.reset_ms(quota, values) return math.ceil(level_of(values) / quota.limit) end
function gcra.settle(quota, values, at, difference, now)
  if difference >= 0 then return gcra.consume(quota, values, difference, now) end
  local held = math.max(0, -difference * quota.window - math.max(0, now - at) * quota.limit)
  return with_level(level_of(values) - held, now)
end
function gcra.ends(quota, values) return values[1] + gcra.reset_ms(quota, values) end
local sliding_window = {}
local SLICES = 32
local function slice_of(quota, time) return math.floor(time * SLICES / quota.window) end
local function sum_of(values)
  local sum = 0
  for at = 2, #values, 2 do sum = sum + values[at] end
  return sum
end
function sliding_window.present(quota, values, now)
  local kept = {}
  for at = 1, #values, 2 do
    if now - values[at] < quota.window then
      kept[#kept + 1] = values[at]
      kept[#kept + 1] = values[at + 1]
    end
  end
  return kept
end
function sliding_window.fits(quota, values, cost) return sum_of(values) + cost <= quota.capacity end
function sliding_window.wait(quota, values, cost, now)
  local wanted = sum_of(values) + cost - quota.capacity
  for at = 1, #values, 2 do
    wanted = wanted - values[at + 1]
    if wanted <= 0 then return values[at] + quota.window - now end
  end
end
function sliding_window.consume(quota, values, cost, now)
  local last = #values - 1
  if last < 1 or slice_of(quota, values[last]) ~= slice_of(quota, now) then
    last = #values + 1
    values[last + 1] = 0
  end
  values[last] = now
  values[last + 1] = values[last + 1] + cost
  return values
end
function sliding_window.remaining(quota, values) return quota.capacity - sum_of(values) end
function sliding_window.reset_ms(quota, values, now)
  for at = #values - 1, 1, -2 do
    if values[at + 1] > 0 then return values[at] + quota.window - now end
  end
  return 0
end
function sliding_window.settle(quota, values, at, difference)
  for place = 1, #values, 2 do
    if slice_of(quota, values[place]) == slice_of(quota, at) then
      values[place + 1] = math.max(0, values[place + 1] + difference)
    end
  end
  return values
end
function sliding_window.ends(quota, values) return values[#values - 1] + quota.window end
local fixed_window = {}
local function used_of(values) return values[2] or 0 end
function fixed_window.present(quota, values, now)
  if not values[1] or now - values[1] >= quota.window then return {} end
  return values
end
function fixed_window.fits(quota, values, cost) return used_of(values) + cost <= quota.capacity end
function fixed_window.wait(quota, values, _, now) return values[1] + quota.window - now end
function fixed_window.consume(_, values, cost, now) return { values[1] or now, used_of(values) + cost } end
function fixed_window.remaining(quota, values) return quota.capacity - used_of(values) end
function fixed_window.reset_ms(quota, values, now)
  if used_of(values) == 0 then return 0 end
  return values[1] + quota.window - now
end
function fixed_window.settle(_, values, at, difference)
  if not values[1] or values[1] > at then return values end
  return { values[1], math.max(0, values[2] + difference) }
end
function fixed_window.ends(quota, values) return values[1] + quota.window end
local HEAD = { 'born', 'seq', 'floor', 'settled', 'latest', 'lag', 'ends' }
local MAX_SLOTS = 16
local ALGORITHMS = { gcra = gcra, ['sliding-window'] = sliding_window, ['fixed-window'] = fixed_window }
local function numbers_in(text)
  local numbers = {}
  for number in string.gmatch(text, '%d+') do numbers[#numbers + 1] = tonumber(number) end
  return numbers
end
local function parse_limits(text)
  local head = string.match(text, '^[%d ]+')
  local numbers = numbers_in(head or '')
  if #numbers ~= #HEAD then return nil end
  local limits = { slots = {} }
  for place, field in ipairs(HEAD) do limits[field] = numbers[place] end
  for name, ends, values in string.gmatch(text, '\\n(%S+ %S+ %d+) (%d+)([%d ]*)') do
    limits.slots[#limits.slots + 1] = { name = name, ends = tonumber(ends), values = numbers_in(values) }
  end
  return limits
end
local function join(numbers)
  local words = {}
  for place, number in ipairs(numbers) do words[place] = whole(number) end
  return table.concat(words, ' ')
end
local function save_limits(limits)
  local head = {}
  for place, field in ipairs(HEAD) do head[place] = limits[field] end
  local lines = { join(head) }
  for _, slot in ipairs(limits.slots) do
    lines[#lines + 1] = slot.name .. ' ' .. whole(slot.ends) .. ' ' .. join(slot.values)
  end
  local left = whole(limits.ends - limits.now)
  redis.call('SET', limits_key, table.concat(lines, '\\n'), 'PX', left)
  if limits.is_new then redis.call('DEL', settled_key) end
  if limits.settled > 0 then redis.call('PEXPIRE', settled_key, left) end
end
local function present_limits()
  local text = redis.call('GET', limits_key)
  local limits = { latest = 0, lag = 0 }
  if text then limits = parse_limits(text) end
  if not limits then return nil end
  tell_time(limits)
  if text and limits.now < limits.ends then return limits end
  return {
    is_new = true, born = limits.latest, seq = 0, floor = 0, settled = 0,
    latest = limits.latest, lag = limits.lag, now = limits.now, ends = 0, slots = {},
  }
end
local function values_of(limits, quota)
  for _, slot in ipairs(limits.slots) do
    if slot.name == quota.slot then
      return ALGORITHMS[quota.algorithm].present(quota, slot.values, limits.now)
    end
  end
  return {}
end
local function refresh(limits, slot, quota)
  slot.values = quota.values
  slot.ends = limits.now
  if #slot.values > 0 then
    slot.ends = math.min(ALGORITHMS[quota.algorithm].ends(quota, slot.values), LATEST_MS)
  end
  limits.ends = math.max(limits.ends, slot.ends)
  return slot
end
local function refresh_slots(limits, quotas)
  for _, slot in ipairs(limits.slots) do
    for _, quota in ipairs(quotas) do
      if slot.name == quota.slot then refresh(limits, slot, quota) end
    end
  end
end
local function window_of(slot) return tonumber(string.match(slot.name, '%d+$')) end
local function use_slots(limits, quotas)
  local used, slots = {}, {}
  for _, quota in ipairs(quotas) do
    used[quota.slot] = true
    limits.ends = math.max(limits.ends, after(limits.now, quota.window))
  end
  for _, slot in ipairs(limits.slots) do
    if not used[slot.name] and limits.now < slot.ends then
      slots[#slots + 1] = slot
      limits.ends = math.max(limits.ends, after(limits.now, window_of(slot)))
    end
  end
  for _, quota in ipairs(quotas) do
    if #quota.values > 0 then slots[#slots + 1] = refresh(limits, { name = quota.slot }, quota) end
  end
  while #slots > MAX_SLOTS do table.remove(slots, 1) end
  limits.slots = slots
end
local function decide(limits, quotas, cost)
  local allowed = true
  for _, quota in ipairs(quotas) do
    local algorithm = ALGORITHMS[quota.algorithm]
    quota.values = values_of(limits, quota)
    quota.fits = algorithm.fits(quota, quota.values, cost)
    quota.wait = 0
    if not quota.fits then
      allowed = false
      quota.wait = cost <= quota.capacity and algorithm.wait(quota, quota.values, cost, limits.now) or nil
    end
  end
  return allowed
end
local function longest_wait(quotas)
  local longest = 0
  for _, quota in ipairs(quotas) do
    if not quota.wait then return nil end
    longest = math.max(longest, quota.wait)
  end
  return math.min(longest, LATEST_MS)
end
local function decision_of(limits, quotas, allowed, is_reserved)
  local states = {}
  for _, quota in ipairs(quotas) do
    local algorithm = ALGORITHMS[quota.algorithm]
    states[#states + 1] = quota.fits and 0 or 1
    states[#states + 1] = math.max(0, algorithm.remaining(quota, quota.values))
    states[#states + 1] = math.min(algorithm.reset_ms(quota, quota.values, limits.now), LATEST_MS)
  end
  return {
    allowed = allowed,
    born = is_reserved and limits.born or 0,
    seq = is_reserved and limits.seq or 0,
    at = is_reserved and limits.now or 0,
    retry_after_ms = longest_wait(quotas),
    states = states,
  }
end
local function put_decision(reply, record)
  put_flag(reply, record.allowed)
  put_integer(reply, record.born)
  put_integer(reply, record.seq)
  put_integer(reply, record.at)
  put_optional(reply, record.retry_after_ms)
  put_integers(reply, record.states)
end
local limits = present_limits()
if not limits then return {} end
local asked = parse_quotas(quotas)
local allowed = decide(limits, asked, 1)
local reply = {}
put_decision(reply, decision_of(limits, asked, allowed, false))
return reply`,
}

export const readState: Script<{ instance: string; nonce: string; windowMs: number; windowSpanMs: number; fleetSpanMs: number; idleMs: number }, { state: ['closed', 'open', 'half-open', 'isolated']; digits: 'integer'; nonce: 'text'; openedAt: 'optional'; probeAfter: 'optional'; trips: 'integer'; probeSuccesses: 'integer'; fleet: 'integer'; now: 'integer'; owner: 'text'; leaseUntil: 'optional' }> = {
  name: 'read-state',
  digest: '43906cb3ad6b046be7edb31b2bede587ba733045',
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
local function put_integers(reply, numbers)
  for _, number in ipairs(numbers) do reply[#reply + 1] = number end
end
local function tell_time(record)
  local now = clock_us() + record.lag
  if now < record.latest then
    record.lag = record.lag + record.latest - now
    now = record.latest
  end
  record.latest = now
  record.now = math.floor(now / 1000)
end
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
  digest: '575db81c7e1a9dfe030b765fa5c7d174cbac199c',
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
local function put_integers(reply, numbers)
  for _, number in ipairs(numbers) do reply[#reply + 1] = number end
end
local function tell_time(record)
  local now = clock_us() + record.lag
  if now < record.latest then
    record.lag = record.lag + record.latest - now
    now = record.latest
  end
  record.latest = now
  record.now = math.floor(now / 1000)
end
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

export const release: Script<{ owner: string; digits: number; idleMs: number }, { released: 'flag' }> = {
  name: 'release',
  digest: 'ddce4d656a21016692a52c58b758ac6bd03a0908',
  keys: ['leases', 'holders'],
  args: ['owner', 'digits', 'idleMs'],
  reply: { released: 'flag' },
  text: `local leases_key, holders_key =
  KEYS[1], KEYS[2]
local owner, digits, idle_ms =
  ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
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
local function put_integers(reply, numbers)
  for _, number in ipairs(numbers) do reply[#reply + 1] = number end
end
local function tell_time(record)
  local now = clock_us() + record.lag
  if now < record.latest then
    record.lag = record.lag + record.latest - now
    now = record.latest
  end
  record.latest = now
  record.now = math.floor(now / 1000)
end
local BATCH = 1000
local function present_leases(owner)
  local values = redis.call('HMGET', holders_key, '.digits', '.latest', '.lag', owner)
  local leases = {
    exists = values[2] and true,
    digits = tonumber(values[1] or 0), latest = tonumber(values[2] or 0), lag = tonumber(values[3] or 0),
  }
  tell_time(leases)
  leases.ends = tonumber(redis.call('ZSCORE', leases_key, owner) or -1)
  leases.held = leases.now < leases.ends and tonumber(values[4] or nil) or nil
  return leases
end
local function save_time(leases)
  redis.call('HSET', holders_key, '.latest', whole(leases.latest), '.lag', whole(leases.lag))
end
local function drop_lapsed(leases)
  local lapsed = redis.call('ZRANGEBYSCORE', leases_key, '-inf', whole(leases.now))
  for first = 1, #lapsed, BATCH do
    local last = math.min(first + BATCH - 1, #lapsed)
    redis.call('ZREM', leases_key, unpack(lapsed, first, last))
    redis.call('HDEL', holders_key, unpack(lapsed, first, last))
  end
end
local function keep_leases(leases, idle_ms)
  local longest = redis.call('ZRANGE', leases_key, -1, -1, 'WITHSCORES')
  local held = tonumber(longest[2] or 0) - leases.now
  local ttl = whole(math.max(idle_ms, held, redis.call('PTTL', holders_key)))
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ttl) end
end
local leases = present_leases(owner)
local held = leases.held == digits
if leases.exists then
  if held then
    redis.call('ZREM', leases_key, owner)
    redis.call('HDEL', holders_key, owner)
  end
  save_time(leases)
  drop_lapsed(leases)
  keep_leases(leases, idle_ms)
end
local reply = {}
put_flag(reply, held)
return reply`,
}

export const renew: Script<{ owner: string; digits: number; leaseMs: number; idleMs: number }, { held: 'flag' }> = {
  name: 'renew',
  digest: '05cc92aa7ad9078fd387bebed041f9ce2d5c5707',
  keys: ['leases', 'holders'],
  args: ['owner', 'digits', 'leaseMs', 'idleMs'],
  reply: { held: 'flag' },
  text: `local leases_key, holders_key =
  KEYS[1], KEYS[2]
local owner, digits, lease_ms, idle_ms =
  ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
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
local function put_integers(reply, numbers)
  for _, number in ipairs(numbers) do reply[#reply + 1] = number end
end
local function tell_time(record)
  local now = clock_us() + record.lag
  if now < record.latest then
    record.lag = record.lag + record.latest - now
    now = record.latest
  end
  record.latest = now
  record.now = math.floor(now / 1000)
end
local LATEST_MS = 8640000000000000
local function after(now, ms) return math.min(now + ms, LATEST_MS) end
local BATCH = 1000
local function present_leases(owner)
  local values = redis.call('HMGET', holders_key, '.digits', '.latest', '.lag', owner)
  local leases = {
    exists = values[2] and true,
    digits = tonumber(values[1] or 0), latest = tonumber(values[2] or 0), lag = tonumber(values[3] or 0),
  }
  tell_time(leases)
  leases.ends = tonumber(redis.call('ZSCORE', leases_key, owner) or -1)
  leases.held = leases.now < leases.ends and tonumber(values[4] or nil) or nil
  return leases
end
local function save_time(leases)
  redis.call('HSET', holders_key, '.latest', whole(leases.latest), '.lag', whole(leases.lag))
end
local function drop_lapsed(leases)
  local lapsed = redis.call('ZRANGEBYSCORE', leases_key, '-inf', whole(leases.now))
  for first = 1, #lapsed, BATCH do
    local last = math.min(first + BATCH - 1, #lapsed)
    redis.call('ZREM', leases_key, unpack(lapsed, first, last))
    redis.call('HDEL', holders_key, unpack(lapsed, first, last))
  end
end
local function keep_leases(leases, idle_ms)
  local longest = redis.call('ZRANGE', leases_key, -1, -1, 'WITHSCORES')
  local held = tonumber(longest[2] or 0) - leases.now
  local ttl = whole(math.max(idle_ms, held, redis.call('PTTL', holders_key)))
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ttl) end
end
local leases = present_leases(owner)
local held = leases.held == digits
if leases.exists then
  save_time(leases)
  drop_lapsed(leases)
  if held then
    local ends = math.max(leases.ends, after(leases.now, lease_ms))
    redis.call('ZADD', leases_key, whole(ends), owner)
  end
  keep_leases(leases, idle_ms)
end
local reply = {}
put_flag(reply, held)
return reply`,
}

export const resetLimits: Script<{  }, { existed: 'flag' }> = {
  name: 'reset-limits',
  digest: 'b8996cf5d0c0a9b03c89356db25259ad3146118d',
  keys: ['limits', 'settled'],
  args: [],
  reply: { existed: 'flag' },
  text: `local limits_key, settled_key =
  KEYS[1], KEYS[2]
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
local function put_integers(reply, numbers)
  for _, number in ipairs(numbers) do reply[#reply + 1] = number end
end
local reply = {}
put_flag(reply, redis.call('DEL', unpack(KEYS)) > 0)
return reply`,
}

export const settle: Script<{ quotas: string; born: number; seq: number; at: number; reserved: number; cost: number }, { settled: 'flag' }> = {
  name: 'settle',
  digest: 'a4e1422607ae94f79ec6cb2ab0c22d42531222bc',
  keys: ['limits', 'settled'],
  args: ['quotas', 'born', 'seq', 'at', 'reserved', 'cost'],
  reply: { settled: 'flag' },
  text: `local limits_key, settled_key =
  KEYS[1], KEYS[2]
local quotas, born, seq, at, reserved, cost =
  ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
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
local function put_integers(reply, numbers)
  for _, number in ipairs(numbers) do reply[#reply + 1] = number end
end
local function tell_time(record)
  local now = clock_us() + record.lag
  if now < record.latest then
    record.lag = record.lag + record.latest - now
    now = record.latest
  end
  record.latest = now
  record.now = math.floor(now / 1000)
end
local LATEST_MS = 8640000000000000
local function after(now, ms) return math.min(now + ms, LATEST_MS) end
local function parse_quotas(packed)
  local list = {}
  local form = '(%S+ (%S+) (%d+)) (%d+) (%d+)'
  for slot, algorithm, window, limit, capacity in string.gmatch(packed, form) do
    list[#list + 1] = {
      slot = slot, algorithm = algorithm,
      window = tonumber(window), limit = tonumber(limit), capacity = tonumber(capacity),
    }
  end
  return list
end
local gcra = {}
local function level_of(values) return values[2] or 0 end
local function with_level(level, now)
  if level <= 0 then return {} end
  return { now, level }
end
function gcra.present(quota, values, now)
  if not values[1] then return values end
  return with_level(values[2] - (now - values[1]) * quota.limit, now)
end
local function excess(quota, values, cost)
  return level_of(values) + (cost - quota.capacity) * quota.window
end
function gcra.fits(quota, values, cost) return excess(quota, values, cost) <= 0 end
function gcra.wait(quota, values, cost) return math.ceil(excess(quota, values, cost) / quota.limit) end
function gcra.consume(quota, values, cost, now)
  return with_level(level_of(values) + cost * quota.window, now)
end
function gcra.remaining(quota, values)
  return math.floor((quota.capacity * quota.window - level_of(values)) / quota.window)
end
function gcra.reset_ms(quota, values) return math.ceil(level_of(values) / quota.limit) end
function gcra.settle(quota, values, at, difference, now)
  if difference >= 0 then return gcra.consume(quota, values, difference, now) end
  local held = math.max(0, -difference * quota.window - math.max(0, now - at) * quota.limit)
  return with_level(level_of(values) - held, now)
end
function gcra.ends(quota, values) return values[1] + gcra.reset_ms(quota, values) end
local sliding_window = {}
local SLICES = 32
local function slice_of(quota, time) return math.floor(time * SLICES / quota.window) end
local function sum_of(values)
  local sum = 0
  for at = 2, #values, 2 do sum = sum + values[at] end
  return sum
end
function sliding_window.present(quota, values, now)
  local kept = {}
  for at = 1, #values, 2 do
    if now - values[at] < quota.window then
      kept[#kept + 1] = values[at]
      kept[#kept + 1] = values[at + 1]
    end
  end
  return kept
end
function sliding_window.fits(quota, values, cost) return sum_of(values) + cost <= quota.capacity end
function sliding_window.wait(quota, values, cost, now)
  local wanted = sum_of(values) + cost - quota.capacity
  for at = 1, #values, 2 do
    wanted = wanted - values[at + 1]
    if wanted <= 0 then return values[at] + quota.window - now end
  end
end
function sliding_window.consume(quota, values, cost, now)
  local last = #values - 1
  if last < 1 or slice_of(quota, values[last]) ~= slice_of(quota, now) then
    last = #values + 1
    values[last + 1] = 0
  end
  values[last] = now
  values[last + 1] = values[last + 1] + cost
  return values
end
function sliding_window.remaining(quota, values) return quota.capacity - sum_of(values) end
function sliding_window.reset_ms(quota, values, now)
  for at = #values - 1, 1, -2 do
    if values[at + 1] > 0 then return values[at] + quota.window - now end
  end
  return 0
end
function sliding_window.settle(quota, values, at, difference)
  for place = 1, #values, 2 do
    if slice_of(quota, values[place]) == slice_of(quota, at) then
      values[place + 1] = math.max(0, values[place + 1] + difference)
    end
  end
  return values
end
function sliding_window.ends(quota, values) return values[#values - 1] + quota.window end
local fixed_window = {}
local function used_of(values) return values[2] or 0 end
function fixed_window.present(quota, values, now)
  if not values[1] or now - values[1] >= quota.window then return {} end
  return values
end
function fixed_window.fits(quota, values, cost) return used_of(values) + cost <= quota.capacity end
function fixed_window.wait(quota, values, _, now) return values[1] + quota.window - now end
function fixed_window.consume(_, values, cost, now) return { values[1] or now, used_of(values) + cost } end
function fixed_window.remaining(quota, values) return quota.capacity - used_of(values) end
function fixed_window.reset_ms(quota, values, now)
  if used_of(values) == 0 then return 0 end
  return values[1] + quota.window - now
end
function fixed_window.settle(_, values, at, difference)
  if not values[1] or values[1] > at then return values end
  return { values[1], math.max(0, values[2] + difference) }
end
function fixed_window.ends(quota, values) return values[1] + quota.window end
local HEAD = { 'born', 'seq', 'floor', 'settled', 'latest', 'lag', 'ends' }
local MAX_SLOTS = 16
local ALGORITHMS = { gcra = gcra, ['sliding-window'] = sliding_window, ['fixed-window'] = fixed_window }
local function numbers_in(text)
  local numbers = {}
  for number in string.gmatch(text, '%d+') do numbers[#numbers + 1] = tonumber(number) end
  return numbers
end
local function parse_limits(text)
  local head = string.match(text, '^[%d ]+')
  local numbers = numbers_in(head or '')
  if #numbers ~= #HEAD then return nil end
  local limits = { slots = {} }
  for place, field in ipairs(HEAD) do limits[field] = numbers[place] end
  for name, ends, values in string.gmatch(text, '\\n(%S+ %S+ %d+) (%d+)([%d ]*)') do
    limits.slots[#limits.slots + 1] = { name = name, ends = tonumber(ends), values = numbers_in(values) }
  end
  return limits
end
local function join(numbers)
  local words = {}
  for place, number in ipairs(numbers) do words[place] = whole(number) end
  return table.concat(words, ' ')
end
local function save_limits(limits)
  local head = {}
  for place, field in ipairs(HEAD) do head[place] = limits[field] end
  local lines = { join(head) }
  for _, slot in ipairs(limits.slots) do
    lines[#lines + 1] = slot.name .. ' ' .. whole(slot.ends) .. ' ' .. join(slot.values)
  end
  local left = whole(limits.ends - limits.now)
  redis.call('SET', limits_key, table.concat(lines, '\\n'), 'PX', left)
  if limits.is_new then redis.call('DEL', settled_key) end
  if limits.settled > 0 then redis.call('PEXPIRE', settled_key, left) end
end
local function present_limits()
  local text = redis.call('GET', limits_key)
  local limits = { latest = 0, lag = 0 }
  if text then limits = parse_limits(text) end
  if not limits then return nil end
  tell_time(limits)
  if text and limits.now < limits.ends then return limits end
  return {
    is_new = true, born = limits.latest, seq = 0, floor = 0, settled = 0,
    latest = limits.latest, lag = limits.lag, now = limits.now, ends = 0, slots = {},
  }
end
local function values_of(limits, quota)
  for _, slot in ipairs(limits.slots) do
    if slot.name == quota.slot then
      return ALGORITHMS[quota.algorithm].present(quota, slot.values, limits.now)
    end
  end
  return {}
end
local function refresh(limits, slot, quota)
  slot.values = quota.values
  slot.ends = limits.now
  if #slot.values > 0 then
    slot.ends = math.min(ALGORITHMS[quota.algorithm].ends(quota, slot.values), LATEST_MS)
  end
  limits.ends = math.max(limits.ends, slot.ends)
  return slot
end
local function refresh_slots(limits, quotas)
  for _, slot in ipairs(limits.slots) do
    for _, quota in ipairs(quotas) do
      if slot.name == quota.slot then refresh(limits, slot, quota) end
    end
  end
end
local function window_of(slot) return tonumber(string.match(slot.name, '%d+$')) end
local function use_slots(limits, quotas)
  local used, slots = {}, {}
  for _, quota in ipairs(quotas) do
    used[quota.slot] = true
    limits.ends = math.max(limits.ends, after(limits.now, quota.window))
  end
  for _, slot in ipairs(limits.slots) do
    if not used[slot.name] and limits.now < slot.ends then
      slots[#slots + 1] = slot
      limits.ends = math.max(limits.ends, after(limits.now, window_of(slot)))
    end
  end
  for _, quota in ipairs(quotas) do
    if #quota.values > 0 then slots[#slots + 1] = refresh(limits, { name = quota.slot }, quota) end
  end
  while #slots > MAX_SLOTS do table.remove(slots, 1) end
  limits.slots = slots
end
local MAX_SETTLED = 1024
local BATCH = 64
local function is_settled(limits, seq)
  if seq > limits.seq or seq <= limits.floor then return true end
  return redis.call('ZSCORE', settled_key, whole(seq)) and true
end
local function joined(floor)
  local below = 0
  while true do
    local seqs = redis.call('ZRANGE', settled_key, below, below + BATCH - 1)
    for _, seq in ipairs(seqs) do
      if tonumber(seq) > floor + 1 then return floor, below end
      floor = math.max(floor, tonumber(seq))
      below = below + 1
    end
    if #seqs < BATCH then return floor, below end
  end
end
local function mark_settled(limits, seq)
  local count, floor = redis.call('ZCARD', settled_key), limits.floor
  if seq == floor + 1 then
    floor = seq
  elseif count >= MAX_SETTLED then
    local lowest = tonumber(redis.call('ZRANGE', settled_key, 0, 0)[1])
    floor = math.max(floor, math.min(lowest, seq))
  end
  local below
  limits.floor, below = joined(floor)
  local is_apart = seq > limits.floor
  limits.settled = count - below + (is_apart and 1 or 0)
  save_limits(limits)
  if below > 0 then redis.call('ZREMRANGEBYRANK', settled_key, 0, below - 1) end
  if is_apart then
    redis.call('ZADD', settled_key, whole(seq), whole(seq))
    redis.call('PEXPIRE', settled_key, whole(limits.ends - limits.now))
  end
end
local limits = present_limits()
if not limits then return {} end
local function open_quotas()
  local open = {}
  for _, quota in ipairs(parse_quotas(quotas)) do
    if limits.now - at < quota.window then open[#open + 1] = quota end
  end
  return open
end
local function settle()
  if limits.is_new or limits.born ~= born or is_settled(limits, seq) then return false end
  local open = open_quotas()
  if #open == 0 then return false end
  for _, quota in ipairs(open) do
    local values = values_of(limits, quota)
    quota.values = ALGORITHMS[quota.algorithm].settle(quota, values, at, cost - reserved, limits.now)
  end
  use_slots(limits, open)
  mark_settled(limits, seq)
  return true
end
local reply = {}
put_flag(reply, settle())
return reply`,
}
