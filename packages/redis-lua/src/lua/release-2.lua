-- Frees a slot that is still held under this fence.
--
-- @include time text lag leases
-- @keys leases holders
-- @args owner digits:number idle_ms:number
-- @reply released:flag

local leases = present_leases(owner)
local held = leases.held == digits
if leases.exists then
  -- First what makes room, which is done though the memory be full.
  if held then
    redis.call('ZREM', leases_key, owner)
    redis.call('HDEL', holders_key, owner)
  end
  save_time(leases)
  drop_lapsed(leases)
  keep_leases(leases, idle_ms)
end
local reply = {}
put_flag(reply, held)
return reply
