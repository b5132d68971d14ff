-- Takes a slot, if fewer than `limit` are taken, or the owner has one.
--
-- digits: of its fence; 0 where there is no room.
--
-- @include time text lag end leases
-- @keys leases holders
-- @args owner limit:number lease_ms:number idle_ms:number
-- @reply ok:flag digits in_use retry_after_ms

local leases = present_leases(owner)
-- The first write of all: with the memory full it is refused, and nothing is half done.
save_time(leases)
drop_lapsed(leases)
local ends = after(leases.now, lease_ms)

local function take()
  leases.held = math.max(leases.digits + 1, leases.latest)
  redis.call('ZADD', leases_key, whole(ends), owner)
  redis.call('HSET', holders_key, owner, whole(leases.held), '.digits', whole(leases.held))
end

local taken, retry_after_ms = redis.call('ZCARD', leases_key), 0
if leases.held then
  redis.call('ZADD', leases_key, whole(math.max(leases.ends, ends)), owner)
elseif taken < limit then
  take()
  taken = taken + 1
else
  local first = redis.call('ZRANGE', leases_key, 0, 0, 'WITHSCORES')
  retry_after_ms = tonumber(first[2]) - leases.now
end
keep_leases(leases, idle_ms)
local reply = {}
put_flag(reply, leases.held)
put_integer(reply, leases.held or 0)
put_integer(reply, taken)
put_integer(reply, retry_after_ms)
return reply
