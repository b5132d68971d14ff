-- Forgets what the key has consumed, and which reservations were settled.
--
-- @include text
-- @keys limits settled
-- @args
-- @reply existed:flag

local reply = {}
put_flag(reply, redis.call('DEL', unpack(KEYS)) > 0)
return reply
