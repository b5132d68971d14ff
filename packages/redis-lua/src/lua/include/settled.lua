-- Which reservations of a key were settled: all up to `floor`, and the latest beyond it.

-- The most that are remembered one by one; the lowest makes room, and none up to it is
-- settled any more.
local MAX_SETTLED = 1024
local BATCH = 64

local function is_settled(limits, seq)
  if seq > limits.seq or seq <= limits.floor then return true end
  return redis.call('ZSCORE', settled_key, whole(seq)) and true
end

-- What follows the floor without a gap needs no place of its own: mostly nothing is left.
-- How high it is then, and how many are below it.
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

-- Looks first, then writes it with the limits, and those before it.
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
