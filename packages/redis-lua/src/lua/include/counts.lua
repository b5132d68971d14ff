-- What was counted in the present period, in the hash `counts`:
--
--   successes, failures, slow, run   since the period began; run: failures since the last success
--   windows                          lengths of the time windows that are kept, the longest unused first
--   w<ms>                            such a window: bucket, successes, failures, slow, and so on
--
-- While a deploy rolls, instances with the old options and with the new ones record
-- to one circuit. So each window that is asked for counts every tally from then on,
-- and each instance is answered in its own.
--
-- A time window is exact to a tenth of itself: the present bucket and those before
-- it that lie wholly within the window count.
--
-- @reply successes failures slow consecutive_failures reporters

-- Deploys that overlap; a window beyond these takes the place of the longest unused.
local MAX_WINDOWS = 4
local BUCKETS = 10
local WIDTH = 4

-- No clock here tells less than a millisecond apart.
local function buckets_in(window) return math.min(BUCKETS, window) end

-- Whole numbers until the division, which is then exact enough: a tenth of a window,
-- rounded first, would put some moments on either side of the line they lie on.
local function bucket_at(window, now) return math.floor(now * buckets_in(window) / window) end

-- The first bucket that lies wholly within the window.
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

-- The window that this caller asks for, from now on the latest used.
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

-- Adds to the present bucket of a window, and drops those that the window has left behind.
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
    -- The run is the latest of the failures: what is left of it in the window is what is left of them.
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
