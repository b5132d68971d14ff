-- Puts the real cost in the place of the reserved one, once.
--
-- settled: whether it did, and did so now.
--
-- @include time text lag end quotas gcra sliding-window fixed-window limits settled
-- @keys limits settled
-- @args quotas born:number seq:number at:number reserved:number cost:number
-- @reply settled:flag

local limits = present_limits()
if not limits then return {} end

-- Those of the quotas in whose window the reservation still is.
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
return reply
