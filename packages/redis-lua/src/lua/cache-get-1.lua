-- What is remembered, if it has not outlived its time. Writes nothing.
--
-- age_ms: left out where there is nothing. No reply at all where what stands there is none
-- of ours.
--
-- @include time text string entry
-- @keys cache
-- @args
-- @reply age_ms:optional value:string

local function found(text)
  local head, stamp, ttl_ms = string.match(text, '^((%d+) (%d+) )')
  if not head then return {} end
  -- Where the clock was set back, it is as if it had been written just now.
  local age, reply = math.max(0, clock_ms() - stamp), {}
  local is_kept = age < tonumber(ttl_ms)
  put_optional(reply, is_kept and age)
  put_string(reply, is_kept and string.sub(text, #head + 1) or '')
  return reply
end

local text = redis.call('GET', cache_key)
if text then return found(text) end
local reply = {}
put_optional(reply)
put_string(reply, '')
return reply
