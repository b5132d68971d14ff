-- A window that a consumption began, and what was consumed in it: `start, used`, and
-- nothing where there is none.
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
