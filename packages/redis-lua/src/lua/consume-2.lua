-- Consumes of all quotas, or of none.
--
-- born, seq, at: the reservation, 0 where it was denied. Nothing at all where what stands
-- in the place of the limits is none of ours.
--
-- @include time text lag end quotas gcra sliding-window fixed-window limits decision
-- @keys limits settled
-- @args quotas cost:number
-- @reply @decision

local limits = present_limits()
if not limits then return {} end
local asked = parse_quotas(quotas)
local allowed = decide(limits, asked, cost)
if allowed then
  for _, quota in ipairs(asked) do
    quota.values = ALGORITHMS[quota.algorithm].consume(quota, quota.values, cost, limits.now)
  end
  limits.seq = limits.seq + 1
  use_slots(limits, asked)
else
  -- Denied, it still says what time it was, which is then never earlier again.
  refresh_slots(limits, asked)
end
if allowed or not limits.is_new then save_limits(limits) end
local reply = {}
put_decision(reply, decision_of(limits, asked, allowed, allowed))
return reply
