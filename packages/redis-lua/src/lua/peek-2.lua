-- What a consumption of 1 would be told. Writes nothing.
--
-- @include time text lag end quotas gcra sliding-window fixed-window limits decision
-- @keys limits settled
-- @args quotas
-- @reply @decision

local limits = present_limits()
if not limits then return {} end
local asked = parse_quotas(quotas)
local allowed = decide(limits, asked, 1)
local reply = {}
put_decision(reply, decision_of(limits, asked, allowed, false))
return reply
