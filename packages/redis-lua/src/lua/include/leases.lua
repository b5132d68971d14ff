-- The slots of a name that are taken.
--
--   leases     zset    owner -> until when, ms
--   holders    hash    owner -> the digits of its fence
--                      .digits, .latest, .lag: the last digits, and the time (no owner begins with a dot)

-- Few enough for unpack.
local BATCH = 1000

-- What there is, or would be; nothing is written. `held`: the digits of this owner's fence.
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

-- The longest lease that is held, and no less than it was kept for before.
local function keep_leases(leases, idle_ms)
  local longest = redis.call('ZRANGE', leases_key, -1, -1, 'WITHSCORES')
  local held = tonumber(longest[2] or 0) - leases.now
  local ttl = whole(math.max(idle_ms, held, redis.call('PTTL', holders_key)))
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ttl) end
end
