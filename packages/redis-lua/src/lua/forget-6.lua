-- Removes the circuit and all that belongs to it.
--
-- @include text
-- @keys circuit instances numbers counts failed failing
-- @args
-- @reply existed:flag

local reply = {}
put_flag(reply, redis.call('DEL', unpack(KEYS)) > 0)
return reply
