-- A level that each consumption raises and that sinks by `limit` a window. It is kept
-- times the window, so that it stays a whole number: `at, used`, and nothing where it is 0.
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

-- What the level of a consumption would be above the brim.
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

-- What was reserved has been draining since: only what is left of it can be given back.
function gcra.settle(quota, values, at, difference, now)
  if difference >= 0 then return gcra.consume(quota, values, difference, now) end
  local held = math.max(0, -difference * quota.window - math.max(0, now - at) * quota.limit)
  return with_level(level_of(values) - held, now)
end

function gcra.ends(quota, values) return values[1] + gcra.reset_ms(quota, values) end
