-- Remembers a value for so long.
--
-- @include time text entry
-- @keys cache
-- @args value ttl_ms:number
-- @reply done:flag

local ttl = whole(ttl_ms)
redis.call('SET', cache_key, whole(clock_ms()) .. ' ' .. ttl .. ' ' .. value, 'PX', ttl)
local reply = {}
put_flag(reply, true)
return reply
