-- @reply allowed:flag born seq at retry_after_ms:optional states:integers

-- Whether all quotas have room for a cost. Each then has its values as they are now, and
-- in `wait` how long until there is room, 0 where there is, nil where there never is.
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

-- In `states` three numbers to a quota: whether it had too little left, what remains, and
-- how long until nothing is consumed.
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
