-- Which reservations of a key were settled: the latest, by their numbers, and all up to `floor`.

-- The most that are remembered; the lowest makes room, and none up to it is settled any more.
local MAX_SETTLED = 1024

local function is_settled(limits, seq)
  if seq > limits.seq or seq <= limits.floor then return true end
  return redis.call('ZSCORE', settled_key, whole(seq)) and true
end

-- Looks first, then writes it with the limits, and those before it.
local function mark_settled(limits, seq)
  if redis.call('ZCARD', settled_key) >= MAX_SETTLED then
    local lowest = tonumber(redis.call('ZRANGE', settled_key, 0, 0)[1])
    limits.floor = math.max(limits.floor, math.min(lowest, seq))
  end
  limits.settled = 1
  save_limits(limits)
  redis.call('ZADD', settled_key, whole(seq), whole(seq))
  redis.call('ZREMRANGEBYRANK', settled_key, 0, -MAX_SETTLED - 1)
  redis.call('PEXPIRE', settled_key, whole(limits.ends - limits.now))
end
