-- Forgets a value.
--
-- @include text
-- @keys cache
-- @args
-- @reply existed:flag

local reply = {}
put_flag(reply, redis.call('DEL', cache_key) > 0)
return reply
