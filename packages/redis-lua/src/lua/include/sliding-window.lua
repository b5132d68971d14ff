-- What was consumed, slice by slice: `stamp, count` of each, the oldest first. The stamp
-- is the latest of its slice, with which all of it leaves the window.
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

-- Until so much of the oldest has left that the rest leaves room.
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
