-- What a key has consumed, as one text, so that one command writes it with its expiry:
--
--   limits     string  a line with a number for each name in HEAD, then one for each slot:
--                      <name> <algorithm> <window> <when it is as if nothing were consumed, ms> <its values>
--   settled    zset    seq -> seq, of reservations that were settled beyond the `floor`, up to
--                      which all are: `settled` of them
--
-- `limit` and `burst` are the callers', and differ between them while a deploy rolls.
local HEAD = { 'born', 'seq', 'floor', 'settled', 'latest', 'lag', 'ends' }

-- The most slots a key has; one beyond these takes the place of the longest unused.
local MAX_SLOTS = 16

local ALGORITHMS = { gcra = gcra, ['sliding-window'] = sliding_window, ['fixed-window'] = fixed_window }

local function numbers_in(text)
  local numbers = {}
  for number in string.gmatch(text, '%d+') do numbers[#numbers + 1] = tonumber(number) end
  return numbers
end

-- Nil where it is none of ours.
local function parse_limits(text)
  local head = string.match(text, '^[%d ]+')
  local numbers = numbers_in(head or '')
  if #numbers ~= #HEAD then return nil end
  local limits = { slots = {} }
  for place, field in ipairs(HEAD) do limits[field] = numbers[place] end
  for name, ends, values in string.gmatch(text, '\n(%S+ %S+ %d+) (%d+)([%d ]*)') do
    limits.slots[#limits.slots + 1] = { name = name, ends = tonumber(ends), values = numbers_in(values) }
  end
  return limits
end

local function join(numbers)
  local words = {}
  for place, number in ipairs(numbers) do words[place] = whole(number) end
  return table.concat(words, ' ')
end

-- The first write of all: with the memory full it is refused, and nothing is half done.
local function save_limits(limits)
  local head = {}
  for place, field in ipairs(HEAD) do head[place] = limits[field] end
  local lines = { join(head) }
  for _, slot in ipairs(limits.slots) do
    lines[#lines + 1] = slot.name .. ' ' .. whole(slot.ends) .. ' ' .. join(slot.values)
  end
  local left = whole(limits.ends - limits.now)
  redis.call('SET', limits_key, table.concat(lines, '\n'), 'PX', left)
  -- What another life of this key may have left: it can be evicted key by key.
  if limits.is_new then redis.call('DEL', settled_key) end
  if limits.settled > 0 then redis.call('PEXPIRE', settled_key, left) end
end

-- What there is, or would be: nothing is written. Nil where it is none of ours.
local function present_limits()
  local text = redis.call('GET', limits_key)
  local limits = { latest = 0, lag = 0 }
  if text then limits = parse_limits(text) end
  if not limits then return nil end
  tell_time(limits)
  if text and limits.now < limits.ends then return limits end
  -- Anew, and so is what outlived its time because its expiry was lost.
  return {
    is_new = true, born = limits.latest, seq = 0, floor = 0, settled = 0,
    latest = limits.latest, lag = limits.lag, now = limits.now, ends = 0, slots = {},
  }
end

-- The values of a quota as they are now, which are the caller's to change.
local function values_of(limits, quota)
  for _, slot in ipairs(limits.slots) do
    if slot.name == quota.slot then
      return ALGORITHMS[quota.algorithm].present(quota, slot.values, limits.now)
    end
  end
  return {}
end

-- Puts into a slot what time or a command has made of its quota.
local function refresh(limits, slot, quota)
  slot.values = quota.values
  slot.ends = limits.now
  if #slot.values > 0 then
    slot.ends = math.min(ALGORITHMS[quota.algorithm].ends(quota, slot.values), LATEST_MS)
  end
  limits.ends = math.max(limits.ends, slot.ends)
  return slot
end

-- Writes down what time has made of these quotas, by the limits of this caller, and no more.
local function refresh_slots(limits, quotas)
  for _, slot in ipairs(limits.slots) do
    for _, quota in ipairs(quotas) do
      if slot.name == quota.slot then refresh(limits, slot, quota) end
    end
  end
end

local function window_of(slot) return tonumber(string.match(slot.name, '%d+$')) end

-- Puts in place what these quotas have become, as the latest used; without what has
-- become as if it had never been. All is kept for the longest of the windows, and none
-- shorter than it was kept for before, for a reservation can be settled in its window.
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
