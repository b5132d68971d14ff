-- Extends a lease that is still held under this fence.
--
-- @include time text lag end leases
-- @keys leases holders
-- @args owner digits:number lease_ms:number idle_ms:number
-- @reply held:flag

local leases = present_leases(owner)
local held = leases.held == digits
if leases.exists then
  -- The first write of all: with the memory full it is refused, and nothing is half done.
  save_time(leases)
  drop_lapsed(leases)
  if held then
    local ends = math.max(leases.ends, after(leases.now, lease_ms))
    redis.call('ZADD', leases_key, whole(ends), owner)
  end
  keep_leases(leases, idle_ms)
end
local reply = {}
put_flag(reply, held)
return reply
